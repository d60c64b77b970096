"""`python -m benchmarks.cache`: what trimming does to a provider's prompt cache, simulated.

A chat of 300 turns grows past its budget. For each way of trimming it: how much of a prompt is a
prefix of the one before, how full prompts are, and what the input costs relative to no cache, by
the rules of two providers. Nothing is sent; the same numbers on every machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from math import ceil
from pathlib import Path
from statistics import mean

from attrs import frozen

from benchmarks.workload import make_workload
from promptsections import (
    CachePolicy,
    ConversationHistory,
    Message,
    Prompt,
    Renderer,
    SystemMessage,
    UserInput,
    find_profile,
    truncate,
)
from promptsections.caching.billing import Stop, predict

TURNS = 300
MODEL = "gpt-4o"
"""Whose vocabulary and framing everybody is counted by."""
RULES = {"Claude": "claude-sonnet-4-5", "GPT-5": "gpt-5"}
"""Whose cache is simulated: marks and a price for writing; neither."""
PICTURE = Path(__file__).parents[1] / "docs" / "explanation" / "prompt-cache.svg"
WORKER = Path(__file__).with_name("cache_peers.py")
_CACHING = CachePolicy(prompt_caching=True, share_prompt_cache_across_tenants=True)

Kept = Sequence[int]
"""For each turn: how many of the oldest messages are left out."""


@frozen
class Chat:
    """A conversation that grows by a question and an answer in each turn."""

    name: str
    budget: int
    system_tokens: int
    first: int = 0
    """Where in the texts it begins."""
    turns: int = TURNS

    @property
    def system(self) -> Message:
        """The instructions, of so many tokens."""
        return Message("system", _instructions(self.system_tokens))

    @property
    def messages(self) -> tuple[Message, ...]:
        """Questions and answers in turn, the oldest first."""
        return _messages()[2 * self.first : 2 * (self.first + self.turns)]


CHATS = (
    Chat("long instructions", 4_096, 1_600),
    Chat("short instructions", 4_096, 200),
    Chat("larger budget", 8_000, 2_500),
)


@cache
def _messages() -> tuple[Message, ...]:
    return tuple(Message(turn.role, turn.text) for turn in make_workload(4_000).history)


@cache
def _instructions(tokens: int) -> str:
    workload = make_workload(0)
    text = f"{workload.system}\n\n{workload.context}"
    return truncate(text, tokens, tokenizer=find_profile(MODEL).tokenizer())


# --- ways to trim -------------------------------------------------------------------------------


@frozen
class Policy:
    """A way to trim."""

    name: str
    run: Callable[[Chat], Kept]
    is_default: bool = False


def ours(name: str, history: ConversationHistory, *, is_default: bool = False) -> Policy:
    """Trim with this section."""

    def run(chat: Chat) -> Kept:
        prompt = Prompt([SystemMessage(chat.system.text), history, UserInput()])
        renderer = Renderer(MODEL, caching=_CACHING)
        omitted: list[int] = []
        for turn in range(chat.turns):
            memory = {
                "history": chat.messages[: 2 * turn],
                "input": chat.messages[2 * turn].text,
            }
            rendered = renderer.render(prompt, memory, budget=chat.budget)
            omitted.append(rendered.layout["conversation_history"].omitted)
        return omitted

    return Policy(name, run, is_default)


def newest_that_fit(chat: Chat) -> Kept:
    """Do what LangChain's `trim_messages(strategy="last", start_on="human")` does."""
    sums = _sums(chat)
    omitted: list[int] = []
    for turn in range(chat.turns):
        out = omitted[-1] if omitted else 0
        while _tokens(chat, sums, turn, out) > chat.budget:
            out += 2
        omitted.append(out)
    return omitted


def truncation_step(step: int) -> Callable[[Chat], Kept]:
    """Do what prompt-poet's `truncate(truncation_step=…)` does.

    It drops the oldest messages until they are `ceil(surplus / step) * step` tokens.
    """

    def run(chat: Chat) -> Kept:
        sums = _sums(chat)
        omitted: list[int] = []
        for turn in range(chat.turns):
            surplus = max(0, _tokens(chat, sums, turn, 0) - chat.budget)
            wanted = ceil(surplus / step) * step
            omitted.append(next(n for n, dropped in enumerate(sums) if dropped >= wanted))
        return omitted

    return run


POLICIES = (
    ours("plain", ConversationHistory(trim_to=None)),
    ours("step 500", ConversationHistory(trim_step=500)),
    ours("step 1,000", ConversationHistory(trim_step=1_000)),
    ours("step 2,000", ConversationHistory(trim_step=2_000)),
    ours("low water 0.8", ConversationHistory(trim_to=0.8)),
    ours("low water 0.7: the default", ConversationHistory(), is_default=True),
    ours("low water 0.5", ConversationHistory(trim_to=0.5)),
)
_STEPS = {f"rule of prompt-poet, step {step:,}": step for step in (512, 1_024, 2_048)}
RIVALS = (
    Policy("rule of LangChain", newest_that_fit),
    *(Policy(name, truncation_step(step)) for name, step in _STEPS.items()),
)
"""Their published rules, written here; `measured` runs the libraries themselves."""


def measured(policy: Policy, python: str) -> Policy:
    """Let the library itself trim, in an interpreter where it is installed."""

    def run(chat: Chat) -> Kept:
        asked = {
            "step": _STEPS.get(policy.name),
            "budget": chat.budget,
            "system": chat.system.text,
            "messages": [(message.role, message.text) for message in chat.messages],
            "sizes": [_cost(chat.system), *map(_cost, chat.messages)],
        }
        done = subprocess.run(
            [python, str(WORKER)],
            input=json.dumps(asked),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        omitted: list[int] = json.loads(done.stdout.splitlines()[-1])
        return omitted

    return Policy(policy.name.replace("rule of ", "the library "), run)


@cache
def _cost(message: Message) -> int:
    profile = find_profile(MODEL)
    return profile.messages_tokens((message,), profile.tokenizer())


def _sums(chat: Chat) -> list[int]:
    return [*accumulate(map(_cost, chat.messages), initial=0)]


def _tokens(chat: Chat, sums: Sequence[int], turn: int, omitted: int) -> int:
    """Return what a prompt takes: instructions, what is left of the history, and the question."""
    priming = find_profile(MODEL).reply_priming
    return priming + _cost(chat.system) + sums[2 * turn + 1] - sums[omitted]


# --- what the cache makes of it -----------------------------------------------------------------


@frozen
class Turn:
    """One prompt of a chat."""

    tokens: int
    reused: int
    """Of its beginning that the prompt before began with, too."""
    omitted: int


@frozen
class Row:
    """One way to trim one chat."""

    chat: str
    policy: str
    reuse: float
    """Mean part of a prompt that is a prefix of the one before, from the first trim on."""
    fill: float
    """Mean part of the budget that a prompt takes, from the first trim on."""
    trims: int
    """How often the history began at another message than before."""
    costs: dict[str, float]
    """Provider → cost of the input of all turns, relative to no cache."""
    turns: Sequence[Turn]


def simulate(chat: Chat, policy: Policy) -> Row:
    """Trim a chat turn by turn, and have the cache look at it."""
    turns = list(_turns(chat, policy.run(chat)))
    trimmed = [turn for turn in turns if turn.omitted]
    return Row(
        chat=chat.name,
        policy=policy.name,
        reuse=mean(turn.reused / turn.tokens for turn in trimmed),
        fill=mean(turn.tokens / chat.budget for turn in trimmed),
        trims=len({turn.omitted for turn in trimmed}),
        costs={name: _relative_cost(chat, turns, model) for name, model in RULES.items()},
        turns=turns,
    )


def _turns(chat: Chat, kept: Kept) -> Iterator[Turn]:
    sums = _sums(chat)
    before: int | None = None
    for turn, omitted in enumerate(kept):
        tokens = _tokens(chat, sums, turn, omitted)
        if tokens > chat.budget:
            raise AssertionError(f"turn {turn}: {tokens} tokens are more than {chat.budget}")
        reused = 0
        if before is not None:
            reused = _cost(chat.system)
            if omitted == before:  # all of the last prompt: its question is now in the history
                reused += sums[2 * turn - 1] - sums[omitted]
        yield Turn(tokens, reused, omitted)
        before = omitted


def _relative_cost(chat: Chat, turns: Sequence[Turn], model: str) -> float:
    """Price all turns, with marks behind the instructions and the newest message."""
    rule = find_profile(model).cache
    assert rule is not None
    write = rule.lifetimes[0].write if rule.lifetimes else 1.0
    system = _cost(chat.system)
    cost, before = 0.0, list[Stop]()
    for number, turn in enumerate(turns):
        ends = [(system, 0), (turn.tokens - find_profile(MODEL).reply_priming, 2 * number + 1)]
        stops = [Stop(tokens=at, message=message, write=write) for at, message in ends]
        bill = predict(
            rule,
            turn.tokens,
            reused=turn.reused,
            stops=stops if rule.marks else (),
            before=before if rule.marks else (),
        )
        cost += bill.cost(rule)
        before = stops
    return cost / sum(turn.tokens for turn in turns)


# --- tables and the picture ---------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    """Write the rows of one chat as a Markdown table."""
    lines = [
        f"| trimming | reuse | fill | trims | {' | '.join(f'cost, {name}' for name in RULES)} |",
        f"|---|{'---:|' * (3 + len(RULES))}",
    ]
    for row in rows:
        costs = " | ".join(f"{cost:.2f}" for cost in row.costs.values())
        lines.append(f"| {row.policy} | {row.reuse:.3f} | {row.fill:.3f} | {row.trims} | {costs} |")
    return "\n".join(lines)


_WIDTH, _PANEL, _LEFT, _GAP = 860, 130, 60, 46


def picture(chat: Chat, rows: Sequence[Row]) -> str:
    """Draw each prompt as a bar: what the cache knows of it dark, what is new light."""
    height = len(rows) * (_PANEL + _GAP) + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
    ]
    for number, row in enumerate(rows):
        parts += _panel(chat, row, top=number * (_PANEL + _GAP) + 34)
    return "\n".join([*parts, "</svg>", ""])


def _panel(chat: Chat, row: Row, *, top: int) -> Iterator[str]:
    step = (_WIDTH - _LEFT - 20) / len(row.turns)
    scale = _PANEL / chat.budget
    bottom = top + _PANEL
    costs = ", ".join(f"{name} {cost:.2f}" for name, cost in row.costs.items())
    yield (
        f'<text x="{_LEFT}" y="{top - 10}" font-size="14">{row.policy}: {row.reuse:.2f} known, '
        f"{row.fill:.2f} full; cost {costs}</text>"
    )
    for sizes, colour in (
        ([turn.tokens for turn in row.turns], "#f4a582"),
        ([turn.reused for turn in row.turns], "#2166ac"),
    ):
        steps = (f"V{bottom - size * scale:.1f}h{step:.2f}" for size in sizes)
        yield f'<path d="M{_LEFT},{bottom}{"".join(steps)}V{bottom}Z" fill="{colour}"/>'
    yield f'<text x="{_LEFT - 6}" y="{top + 10}" text-anchor="end">{chat.budget:,}</text>'
    yield f'<text x="{_LEFT - 6}" y="{bottom}" text-anchor="end">0</text>'


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate all chats, print tables, and draw the first chat."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cache", description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS, help="of each chat")
    parser.add_argument("--picture", type=Path, help=f"where to draw it, such as {PICTURE.name}")
    parser.add_argument(
        "--python", help="an interpreter with langchain-core and prompt-poet, to run these as well"
    )
    asked = parser.parse_args(arguments)
    libraries = [measured(rival, asked.python) for rival in RIVALS] if asked.python else []
    for chat in CHATS:
        chat = Chat(chat.name, chat.budget, chat.system_tokens, turns=asked.turns)
        rows = [simulate(chat, policy) for policy in (*POLICIES, *RIVALS, *libraries)]
        print(f"\n{chat.name}: {chat.budget:,} tokens, {chat.system_tokens:,} of instructions\n")
        print(table(rows))
        if asked.picture and chat.name == CHATS[0].name:
            shown = [row for row in rows if row.policy in ("plain", *_defaults())]
            asked.picture.write_text(picture(chat, shown), encoding="utf-8")
            print(f"\nWritten: {asked.picture}")


def _defaults() -> tuple[str, ...]:
    return tuple(policy.name for policy in POLICIES if policy.is_default)


if __name__ == "__main__":
    main()
