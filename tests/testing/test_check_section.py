"""`check_section` passes what keeps the contract, and names the rule that something breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    Content,
    ConversationHistory,
    Counter,
    DataSourceSection,
    GroupSection,
    Measurement,
    Message,
    PromptSection,
    Renderer,
    Scope,
    TextBlock,
    TextSection,
    Truncate,
)
from promptsections.testing import AsyncFakeSource, FakeSource, FakeStore, check_section
from promptsections.testing.strategies import memories, sections


@given(sections(), memories(valid=False))
def test_every_section_of_ours_keeps_the_contract(section: PromptSection, memory: object) -> None:
    """Whatever is drawn, with any memory: no rule is broken."""
    check_section(section, memory=memory)


@given(sections(), memories())
def test_they_keep_it_for_a_model_too(section: PromptSection, memory: object) -> None:
    """With the tokens of gpt-4o and its framing, as messages and as a text."""
    check_section(section, memory=memory, renderer=Renderer("gpt-4o"), budgets=[20, 60])


@given(st.lists(sections(), max_size=3), memories())
def test_a_group_is_checked_as_a_whole(children: list[PromptSection], memory: object) -> None:
    """A group keeps the contract if what stands in it does."""
    check_section(GroupSection(children, role="system"), memory=memory)


@frozen
class Waiting(PromptSection):
    """Must be awaited."""

    async def resolve(self, scope: Scope) -> Content:
        return f"waited for {scope.context}"


def test_what_must_be_awaited_is_awaited() -> None:
    source = AsyncFakeSource(["a b", "c d e"], delay=0.001)

    check_section(Waiting(), context="a turn")
    check_section(DataSourceSection(source), memory={"input": "why?"})

    assert set(source.queries) == {"why?"}


def test_a_block_is_checked_by_itself() -> None:
    check_section(TextBlock("one two three. four five.", cut=Truncate(marker="…")))


def test_what_cannot_be_pickled_is_checked_without() -> None:
    section = DataSourceSection(lambda query, scope: ["a b c"])

    check_section(section, picklable=False)
    with pytest.raises(AssertionError, match=r"unchanged: .* cannot be pickled"):
        check_section(section)


def test_a_store_is_read() -> None:
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello there"}]
    store = FakeStore(turns)

    check_section(
        ConversationHistory(),
        memory={"history": store.newest_first()},
        budgets=[5],
    )

    assert turns[0] in store.handed_out


def test_a_source_that_fails_leaves_its_section_out() -> None:
    check_section(DataSourceSection(FakeSource(error=OSError("down"))), memory={"input": "x"})


# --- broken ---------------------------------------------------------------------------------------


@frozen
class Broken:
    """A block of words that breaks one rule."""

    text: str = "one two three four five six"
    floor: Callable[[int], int] = lambda natural: 1
    natural: Callable[[int, int], int] = lambda natural, at_most: min(natural, at_most + 1)
    sent: Callable[[list[str], int], list[str]] = lambda words, tokens: words[:tokens]

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        natural = counter.cost([Message("system", self.text)])
        return Measurement(min(self.floor(natural), at_most + 1), self.natural(natural, at_most))

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        return [Message("system", " ".join(self.sent(self.text.split(), tokens)))]


class Fickle:
    """Answers differently each time."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, words: list[str], tokens: int) -> list[str]:
        self.times += 1
        return words[: min(tokens, 1 + self.times % 2)]


@pytest.mark.parametrize(
    ("block", "says"),
    [
        (Broken(floor=lambda natural: natural + 1), "measure: 'block' has floor=7, natural=6"),
        (
            Broken(natural=lambda natural, at_most: natural),
            "measure: 'block' measured up to 0 tokens is (1, 6), not (1, 1)",
        ),
        (
            Broken(natural=lambda natural, at_most: min(natural, at_most)),
            "measure: 'block' measured up to 0 tokens is (1, 0), not (1, 1)",
        ),
        (Broken(sent=lambda words, tokens: words), "fit: 'block' was given 1 tokens and took 6"),
        (
            Broken(sent=lambda words, tokens: [] if tokens == 1 else words[:tokens]),
            "fit: 'block' was given 1 tokens and took 0, less than its floor of 1",
        ),
        (
            Broken(sent=lambda words, tokens: words[: min(tokens, 5)] if tokens < 99 else words),
            "fit: 'block' is given 6 tokens, all that it needs, and does not send all",
        ),
        (
            Broken(sent=lambda words, tokens: words[: 1 if tokens == 3 else tokens]),
            "fit: 'block' sends 4 characters in 3 tokens, and 8 in fewer",
        ),
        (Broken(sent=Fickle()), "same twice: 'block' fits"),
    ],
)
def test_a_broken_rule_is_named(block: Any, says: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check_section(block, picklable=False)

    assert says in str(caught.value)


def test_a_block_that_reads_everything_is_found() -> None:
    with pytest.raises(AssertionError, match="pay for what is sent: 'block' was measured up to"):
        check_section(Broken("word " * 100_000), picklable=False, budgets=[9])


@frozen
class Careless(PromptSection):
    """Writes into memory."""

    def resolve(self, scope: Scope) -> Content:
        scope.memory["seen"] = True
        return "seen"


def test_a_section_that_changes_memory_is_found() -> None:
    with pytest.raises(AssertionError, match="unchanged: "):
        check_section(Careless(), memory={"seen": False})


def test_a_whole_section_needs_no_more_than_it_is() -> None:
    check_section(TextSection("one two three"), budgets=range(1, 6))
