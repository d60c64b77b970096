"""What is measured: our renderer and the plain loop, ready to run on a workload."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from attrs import define, field

from benchmarks import naive
from benchmarks.workload import Workload
from promptsections import (
    ConversationHistory,
    DataSourceSection,
    Message,
    Prompt,
    Renderer,
    Scope,
    TextSection,
    UserInput,
)
from promptsections.tokens import BundledTokenizer, CachedTokenizer, TiktokenTokenizer, Tokenizer

MODEL = "gpt-4o"


@define(eq=False)
class Meter:
    """The real tokenizer, with a record of what it was asked to read."""

    inner: Tokenizer = field(factory=TiktokenTokenizer)
    calls: int = 0
    characters: int = 0
    name: str = "metered o200k_base"
    exact: bool = True
    joints: Literal["strong"] = "strong"

    def count(self, text: str, /) -> int:
        """Count, and note it."""
        self.calls += 1
        self.characters += len(text)
        return self.inner.count(text)


def fast_tokenizer() -> Tokenizer | str:
    """Return the tokenizer of `promptsections[fast]`, or why there is none."""
    tokenizer = BundledTokenizer()
    if tokenizer.backend == "toktok":
        return tokenizer
    return "promptsections[fast] is not installed, or not sound here"


class Sent(NamedTuple):
    """What a run sent."""

    messages: int
    """All messages, system and question included."""
    characters: int
    """Of all texts that are sent."""


Run = Callable[[], Sequence[Any]]
"""Does the work; returns the messages."""


def sent(messages: Sequence[Any]) -> Sent:
    """Sum up the messages of a run, of ours or of the plain loop."""
    return Sent(len(messages), sum(len(text) for _, text in read(messages)))


def read(messages: Sequence[Any]) -> list[tuple[str, str]]:
    """Return role and text of each message of a run, of ours or of the plain loop."""
    return [
        (message.role, message.text)
        if isinstance(message, Message)
        else (message["role"], message["content"])
        for message in messages
    ]


def ours(
    workload: Workload, budget: int, tokenizer: Tokenizer | None = None, *, dicts: bool = False
) -> Run:
    """Prepare a render as an application would: prompt, renderer and memory exist.

    Args:
        workload: Its texts.
        budget: In tokens.
        tokenizer: What counts; by default the real one. It gets an empty cache.
        dicts: Whether the history is provider dicts, as it comes from a database, instead of
            `Message` values, as a bot framework keeps them.
    """
    cache = CachedTokenizer(tokenizer or TiktokenTokenizer())
    renderer = Renderer(MODEL, tokenizer=cache)
    prompt = make_prompt(workload)
    memory = {"history": make_history(workload, dicts=dicts), "input": workload.question}
    return lambda: renderer.render(prompt, memory, budget=budget).messages


def make_prompt(workload: Workload) -> Prompt:
    """System message, all documents, history, question: the layout of most support bots."""
    chunks = list(workload.chunks)

    def documents(_query: str, _scope: Scope) -> list[str]:
        return chunks

    return Prompt(
        [
            TextSection(workload.system),
            DataSourceSection(documents, tokens=-1, required=True),
            ConversationHistory(),
            UserInput(),
        ]
    )


def make_history(workload: Workload, *, dicts: bool = False) -> list[Any]:
    """Make the history as messages, or as dicts."""
    if dicts:
        return [{"role": role, "content": text} for role, text in workload.history]
    return [Message(role, text) for role, text in workload.history]


def plain_loop(workload: Workload, budget: int, tokenizer: Tokenizer | None = None) -> Run:
    """Prepare the loop that counts anew each time."""
    return _loop(workload, budget, (tokenizer or TiktokenTokenizer()).count)


def remembering_loop(workload: Workload, budget: int, tokenizer: Tokenizer | None = None) -> Run:
    """Prepare the loop with a dictionary of counts, empty at first."""
    counted: dict[str, int] = {}
    count = (tokenizer or TiktokenTokenizer()).count

    def remembered(text: str) -> int:
        known = counted.get(text)
        if known is None:
            known = counted[text] = count(text)
        return known

    return _loop(workload, budget, remembered)


def _loop(workload: Workload, budget: int, count: Callable[[str], int]) -> Run:
    return lambda: naive.trim(count, budget, workload)
