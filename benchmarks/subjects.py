"""What is measured: our renderer and the plain loop, ready to run on a workload."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from attrs import define, field

from benchmarks import naive
from benchmarks.workload import Workload
from promptsections import (
    ConversationHistory,
    DataSourceSection,
    Message,
    ModelProfile,
    Prompt,
    Renderer,
    TextSection,
    UserInput,
)
from promptsections.profiles import find_profile
from promptsections.tokens import CachedTokenizer, TiktokenTokenizer

MODEL = "gpt-4o"


@define
class Meter:
    """The real tokenizer, with a record of what it was asked to read."""

    inner: TiktokenTokenizer = field(factory=TiktokenTokenizer)
    calls: int = 0
    characters: int = 0
    name: str = "metered o200k_base"
    exact: bool = True
    joints: str = "strong"

    def count(self, text: str, /) -> int:
        """Count, and note it."""
        self.calls += 1
        self.characters += len(text)
        return self.inner.count(text)


class Result(NamedTuple):
    """What a run sent."""

    messages: int
    """All messages, system and question included."""
    characters: int
    """Of all texts that are sent."""
    tokens: int | None
    """As the layout says; the plain loop does not."""


Run = Callable[[], Result]


def ours(workload: Workload, budget: int, tokenizer: object = None, *, dicts: bool = False) -> Run:
    """Prepare a render as an application would: prompt, renderer and memory exist.

    Args:
        workload: Its texts.
        budget: In tokens.
        tokenizer: What counts; by default the real one, with an empty cache.
        dicts: Whether the history is provider dicts, as it comes from a database, instead of
            `Message` values, as a bot framework keeps them.
    """
    cache = CachedTokenizer(tokenizer or TiktokenTokenizer())  # type: ignore[arg-type]
    renderer = Renderer(MODEL, tokenizer=cache)
    prompt = make_prompt(workload)
    memory = {
        "history": [
            {"role": role, "content": text} if dicts else Message(role, text)  # type: ignore[arg-type]
            for role, text in workload.history
        ],
        "input": workload.question,
    }

    def run() -> Result:
        rendered = renderer.render(prompt, memory, budget=budget)
        characters = sum(len(message.text) for message in rendered.messages)
        return Result(len(rendered.messages), characters, rendered.token_count)

    return run


def make_prompt(workload: Workload) -> Prompt:
    """System message, documents, history, question: the layout of most support bots."""
    chunks = list(workload.chunks)
    return Prompt(
        [
            TextSection(workload.system),
            DataSourceSection(lambda query, scope: chunks),
            ConversationHistory(),
            UserInput(),
        ]
    )


def plain_loop(workload: Workload, budget: int, tokenizer: object = None) -> Run:
    """Prepare the loop that counts anew each time."""
    count = (tokenizer or TiktokenTokenizer()).count  # type: ignore[union-attr]
    return _loop(workload, budget, count)


def remembering_loop(workload: Workload, budget: int) -> Run:
    """Prepare the loop with a dictionary of counts."""
    counted: dict[str, int] = {}
    count = TiktokenTokenizer().count

    def remembered(text: str) -> int:
        known = counted.get(text)
        if known is None:
            known = counted[text] = count(text)
        return known

    return _loop(workload, budget, remembered)


def _loop(workload: Workload, budget: int, count: Callable[[str], int]) -> Run:
    def run() -> Result:
        messages = naive.trim(
            count,
            budget,
            system=workload.system,
            chunks=workload.chunks,
            history=workload.history,
            question=workload.question,
        )
        return Result(len(messages), sum(len(m["content"]) for m in messages), None)

    return run
