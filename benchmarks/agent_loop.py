"""`python -m benchmarks.agent_loop`: what is left of a conversation with tools when it is cut.

An agent loop (one task, twenty steps) and a chat of twelve turns with one to three calls each, cut
to 180 budgets by us and by whichever other libraries are installed, each as its documentation says
and with the same exact token counts. Of what comes out it counts the budgets at which

* a result has no call right before it, or a call no result: providers refuse that;
* the user's last turn is gone;
* the request costs more than the budget, message framing, calls and ids counted;
* an error was raised instead.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from attrs import define

from promptsections import (
    BudgetExceededError,
    ConversationHistory,
    Prompt,
    Renderer,
    find_profile,
    lay_out,
)
from promptsections.messages import to_messages
from promptsections.providers import openai_chat
from promptsections.tokens import TiktokenTokenizer

MODEL = "gpt-4o"
BUDGETS = tuple(round(60 + number * 2340 / 179) for number in range(180))
"""From 60 to 2,400 tokens."""

Message = dict[str, Any]
Cut = Callable[[int], Sequence[Message]]
"""Cuts a conversation to a budget in tokens; raises if that cannot be done."""

_TOKENIZER = TiktokenTokenizer("o200k_base")
_PROFILE = find_profile(MODEL)
_PRIMING = _PROFILE.reply_priming


def cost(messages: Sequence[Message]) -> int:
    """Return what a request of these messages costs, in tokens."""
    read = to_messages(messages)
    return _PRIMING + _PROFILE.messages_tokens(read, _PROFILE.tokenizer())


# --- conversations ------------------------------------------------------------------------------

_WEATHER = ("rain", "wind", "sun", "cloud", "snow", "fog", "hail", "storm", "mist", "frost")
_SYSTEM: Message = {"role": "system", "content": "You are a weather service. Be brief."}


def _words(seed: int, count: int) -> str:
    return " ".join(_WEATHER[(seed * 7 + n * n + n) % len(_WEATHER)] for n in range(count))


def _step(name: str, calls: int, words: int) -> list[Message]:
    ids = [f"call_{name}_{number}" for number in range(calls)]
    asked = [
        {
            "id": call,
            "type": "function",
            "function": {"name": "weather", "arguments": f'{{"city": "City {name}"}}'},
        }
        for call in ids
    ]
    results = [
        {"role": "tool", "tool_call_id": call, "content": _words(len(name) + at, words + 9 * at)}
        for at, call in enumerate(ids)
    ]
    return [{"role": "assistant", "content": None, "tool_calls": asked}, *results]


def agent_loop() -> list[Message]:
    """Make one user task and the twenty steps that have been taken for it."""
    messages = [_SYSTEM, {"role": "user", "content": "Which of twenty cities is the warmest?"}]
    for number in range(20):
        messages += _step(str(number), 1, 90 + 15 * (number % 7))
    return messages


def chat() -> list[Message]:
    """Make twelve turns with one to three calls each; the last is to be answered."""
    messages = [_SYSTEM]
    for number in range(12):
        messages.append({"role": "user", "content": f"And city {number}? {_words(number, 12)}"})
        messages += _step(str(number), 1 + number % 3, 40 + 9 * (number % 5))
        messages.append({"role": "assistant", "content": f"So: {_words(number, 25)}"})
    return messages[:-1]


# --- who cuts -----------------------------------------------------------------------------------


def ours(conversation: Sequence[Message], **options: Any) -> Cut:
    """A history alone in a prompt; resolved once, laid out at every budget."""
    prompt = Prompt([ConversationHistory(**options)])
    resolved = Renderer(MODEL).resolve(prompt, {"history": conversation}, budget=BUDGETS[-1])
    return lambda budget: openai_chat.to_request(lay_out(resolved, budget))["messages"]  # type: ignore[return-value]


def newest_that_fit(conversation: Sequence[Message]) -> Cut:
    """The loop that everybody writes by hand."""
    system, *rest = conversation

    def cut(budget: int) -> Sequence[Message]:
        kept: list[Message] = []
        for message in reversed(rest):
            if cost([system, message, *kept]) > budget:
                break
            kept.insert(0, message)
        return [system, *kept]

    return cut


def langchain(conversation: Sequence[Message], **options: Any) -> Cut:
    """`trim_messages` of langchain-core."""
    messages = importlib.import_module("langchain_core.messages")
    as_dicts = messages.convert_to_openai_messages
    read = messages.convert_to_messages(conversation)

    def cut(budget: int) -> Sequence[Message]:
        kept = messages.trim_messages(
            read,
            max_tokens=budget,
            token_counter=lambda found: cost(as_dicts(found)),
            strategy="last",
            include_system=True,
            **options,
        )
        return as_dicts(kept)

    return cut


def llama_index(conversation: Sequence[Message]) -> Cut:
    """`ChatMemoryBuffer` of llama-index-core."""
    llms = importlib.import_module("llama_index.core.base.llms.types")
    memory = importlib.import_module("llama_index.core.memory")
    beside = ("tool_calls", "tool_call_id")
    read = [
        llms.ChatMessage(
            role=message["role"],
            content=message["content"],
            additional_kwargs={key: message[key] for key in beside if key in message},
        )
        for message in conversation
    ]

    def cut(budget: int) -> Sequence[Message]:
        buffer = memory.ChatMemoryBuffer.from_defaults(
            chat_history=read, token_limit=budget, tokenizer_fn=_TOKENIZER.encode
        )
        return [
            {"role": kept.role.value, "content": kept.content, **kept.additional_kwargs}
            for kept in buffer.get()
        ]

    return cut


def haystack(conversation: Sequence[Message]) -> Cut:
    """`SlidingWindowCompactor` of haystack-ai, without its note."""
    compaction = importlib.import_module("haystack.hooks.compaction")
    chat_message = importlib.import_module("haystack.dataclasses").ChatMessage
    read = [chat_message.from_openai_dict_format(message) for message in conversation]
    compactor = compaction.SlidingWindowCompactor(omission_note=None)

    class Exact:
        def count(self, messages: Sequence[Any], tools: object = None) -> int:
            del tools
            return cost([message.to_openai_dict_format() for message in messages]) - _PRIMING

    def cut(budget: int) -> Sequence[Message]:
        kept = compactor.compact(read, budget - _PRIMING, Exact())
        return [message.to_openai_dict_format() for message in kept or read]

    return cut


def convopack(conversation: Sequence[Message]) -> Cut:
    """`Packer` of convopack, with its own framing and our token counts."""
    package = importlib.import_module("convopack")
    tokenizers = importlib.import_module("convopack.tokenizers.tiktoken_adapter")

    class Exact(tokenizers.TiktokenAdapter):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.name = "exact"

        def count(self, text: str) -> int:
            return _TOKENIZER.count(text)

    def cut(budget: int) -> Sequence[Message]:
        packer = package.Packer(
            budget=budget - _PRIMING, tokenizer=Exact(), pin=["system", "last_user"]
        )
        return packer.pack_openai(conversation)

    return cut


SUBJECTS: Mapping[str, tuple[str | None, Callable[[Sequence[Message]], Cut]]] = {
    "promptsections": (None, ours),
    "- with results cut to 16 tokens": (
        None,
        lambda found: ours(found, max_result_tokens=16, omission_marker="{n} messages omitted"),
    ),
    "newest messages that fit, by hand": (None, newest_that_fit),
    "langchain-core trim_messages": ("langchain-core", langchain),
    '- start_on="human", end_on=("human", "tool")': (
        "langchain-core",
        lambda found: langchain(found, start_on="human", end_on=("human", "tool")),
    ),
    "llama-index-core ChatMemoryBuffer": ("llama-index-core", llama_index),
    "haystack-ai SlidingWindowCompactor": ("haystack-ai", haystack),
    "convopack Packer": ("convopack", convopack),
}
"""Name → distribution that it needs, and how to make it cut a conversation."""


# --- what comes of it ---------------------------------------------------------------------------


@define
class Tally:
    """At how many budgets something was wrong."""

    unpaired: int = 0
    lost: int = 0
    over: int = 0
    most_over: int = 0
    refused: int = 0
    kept: int = 0
    """Messages, over all budgets."""

    def add(self, messages: Sequence[Message], task: str, budget: int) -> None:
        """Look at one result."""
        excess = cost(messages) - budget
        self.unpaired += not is_paired(messages)
        self.lost += all(message.get("content") != task for message in messages)
        self.over += excess > 0
        self.most_over = max(self.most_over, excess)
        self.kept += len(messages)


def is_paired(messages: Sequence[Message]) -> bool:
    """Say whether each call has its one result right behind it, and no result is alone."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return False
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return False
        else:
            waiting = {call["id"] for call in message.get("tool_calls") or ()}
    return not waiting


def tally(make: Callable[[Sequence[Message]], Cut], conversation: Sequence[Message]) -> Tally:
    """Cut a conversation to every budget."""
    found = Tally()
    task = [message["content"] for message in conversation if message["role"] == "user"][-1]
    cut = make(conversation)
    for budget in BUDGETS:
        try:
            messages = cut(budget)
        except (BudgetExceededError, ValueError):
            found.refused += 1
        else:
            found.add(messages, task, budget)
    return found


def rows() -> Iterator[str]:
    """Write a table, a line for each subject, or say that it is not installed."""
    conversations = {"agent loop": agent_loop(), "chat": chat()}
    columns = ("orphans", "task lost", "over (most)", "refused", "messages kept")
    yield f"| of {len(BUDGETS)} budgets | {' | '.join(('conversation', *columns))} |"
    yield "|---" * (2 + len(columns)) + "|"
    for name, (distribution, make) in SUBJECTS.items():
        shown = name
        if distribution is not None:
            try:
                shown = f"{name} ({version(distribution)})"
            except PackageNotFoundError:
                yield f"| {name} | not installed |" + " |" * len(columns)
                continue
        for conversation, messages in conversations.items():
            found = tally(make, messages)
            over = f"{found.over} ({found.most_over})" if found.over else "0"
            numbers = (found.unpaired, found.lost, over, found.refused, found.kept)
            yield f"| {shown} | {conversation} | {' | '.join(map(str, numbers))} |"


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
