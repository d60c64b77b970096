"""Memories as sections: what fits, what is passed over, what is an error."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    Chunk,
    Counter,
    DefinitionError,
    Message,
    ModelProfile,
    Prompt,
    Renderer,
    Rest,
    Tokens,
    UndefinedVariableError,
)
from promptsections.recall import (
    HEADINGS,
    MEMORY_SHARES,
    RecallBlock,
    RecallSection,
    Trace,
    recall_group,
)
from promptsections.testing import assert_fits
from promptsections.tokens import CallableTokenizer

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CHARACTERS = CallableTokenizer("characters", len, joints="strong")
PLAIN = ModelProfile.plain(CHARACTERS)
COUNTER = Counter(PLAIN, PLAIN.tokenizer())

texts = st.lists(st.text("ab \n", min_size=1, max_size=30), min_size=1, max_size=8)


def sent(block: RecallBlock, tokens: int) -> int:
    return COUNTER.cost(block.fit(COUNTER, tokens))


@given(texts, st.sampled_from(["", "# H\n"]), st.integers(0, 200))
def test_a_block_keeps_what_every_block_promises(said: list[str], before: str, size: int) -> None:
    """It fits, costs at least its floor, is whole where that fits, and never less for more room."""
    block = RecallBlock(tuple(map(Chunk, said)), before=before)
    floor, natural = block.measure(COUNTER, 10_000)
    assert block.measure(COUNTER, size) == (min(floor, size + 1), min(natural, size + 1))
    if size < floor:
        return
    assert floor <= sent(block, size) <= size
    assert sent(block, size) <= sent(block, size + 1)
    if natural <= size:
        assert block.fit(COUNTER, size)[0].text == before + "\n".join(said)


@given(texts, st.integers(0, 200))
def test_nothing_that_still_fits_is_left_out(said: list[str], size: int) -> None:
    """What was passed over does not fit behind what stands before it."""
    block = RecallBlock(tuple(map(Chunk, said)))
    if size < block.measure(COUNTER, 10_000).floor:
        return
    fitted = block.place(COUNTER, size)
    kept = [int(name) for name in fitted.items]
    assert fitted.omitted == len(said) - len(kept)
    for at in set(range(len(said))) - set(kept):
        before = [said[one] for one in kept if one < at]
        assert len("\n".join([*before, said[at]])) > size


def test_a_block_of_nothing_says_nothing() -> None:
    block = RecallBlock(())
    assert block.measure(COUNTER, 9) == (0, 0)
    assert block.fit(COUNTER, 9) == ()


def said_by(section: Any, memory: dict[str, Any], budget: int = 1_000) -> list[Message]:
    rendered = Renderer(PLAIN).render(Prompt([section]), memory, budget=budget)
    assert_fits(rendered, profile=PLAIN)
    return list(rendered.messages)


def test_a_section_says_texts_as_they_are_and_traces_in_its_style() -> None:
    section = RecallSection(
        "m", heading="# M", tokens=Rest(), style=lambda trace, now: f"{trace.content} {now:%Y}"
    )
    memory = {"m": ["a", Trace("b"), {"content": "c"}, "  "], "now": NOW}
    assert [m.text for m in said_by(section, memory)] == ["# M\na\nb 2026\nc 2026"]


def test_one_text_is_cut_where_whole_is_false() -> None:
    section = RecallSection("m", heading="# M", tokens=Rest(), whole=False)
    (message,) = said_by(section, {"m": "word " * 50}, budget=30)
    assert message.text.startswith("# M\nword word")
    assert len(message.text) <= 30


def test_the_time_is_read_only_for_traces() -> None:
    section = RecallSection("m", tokens=Rest(), required=True)
    assert [m.text for m in said_by(section, {"m": "text"})] == ["text"]
    with pytest.raises(UndefinedVariableError, match="now"):
        said_by(section, {"m": [Trace("t")]})


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ({"m": 5}, "must be a text or a list, not int"),
        ({"m": {"content": "x"}}, "must be a text or a list"),
        ({"m": [5]}, "int is no memory"),
        ({"m": [Trace("t")], "now": "today"}, "the time of the call as a datetime"),
    ],
)
def test_what_is_no_memory_is_an_error_that_names_the_section(
    memory: dict[str, Any], said: str
) -> None:
    section = RecallSection("m", name="mine", tokens=Rest(), required=True)
    with pytest.raises(DefinitionError, match=f"'mine'.*{said}"):
        said_by(section, memory)


def test_a_style_is_a_function() -> None:
    with pytest.raises(DefinitionError, match="style='bullet' must be"):
        RecallSection("m", style="bullet")  # type: ignore[arg-type]


@given(st.dictionaries(st.sampled_from(list(MEMORY_SHARES)), texts), st.integers(20, 600))
def test_all_kinds_never_take_more_than_the_group_may(
    memories: dict[str, list[str]], budget: int
) -> None:
    """Headings and preamble are inside the budget, whatever there is to say."""
    said_by(recall_group(tokens=budget, preamble="P" * 40), {"memories": memories}, budget)


def test_shares_and_receivers_are_budgets_of_the_layout() -> None:
    group = recall_group(
        shares={"graph": 0, "semantic": 0.3}, receivers=["episodic", "semantic"], tokens=101
    )
    budgets = {section.name: section.budget for section in group.sections}
    assert "graph" not in budgets
    assert budgets["semantic"] == Rest(0.3)  # type: ignore[arg-type]
    assert budgets["episodic"] == Rest(0.25)  # type: ignore[arg-type]
    assert budgets["working"] == Tokens(15)


def test_headings_may_be_others() -> None:
    group = recall_group(headings={"working": "NOW"}, preamble="", tokens=900)
    (message,) = said_by(group, {"memories": {"working": "w", "semantic": ["s"]}})
    assert message.text == f"NOW\nw\n\n{HEADINGS['semantic']}\ns"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"shares": {"semantik": 0.1}}, "shares name 'semantik'.*did you mean 'semantic'"),
        ({"receivers": ["all"]}, "receivers name 'all'"),
        ({"headings": {"x": "X"}}, "headings name 'x'"),
        ({"shares": {"semantic": 1.5}}, "must be a number from 0 to 1"),
        ({"shares": {"semantic": True}}, "must be a number from 0 to 1"),
        ({"shares": {"semantic": float("nan")}}, "must be a number from 0 to 1"),
        ({"shares": {"semantic": 0.5}}, "add up to 1.1, more than 1"),
    ],
)
def test_shares_that_are_no_parts_of_a_whole_are_an_error(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        recall_group(**wrong)


def test_traces_are_named_in_the_layout() -> None:
    trace = Trace("t", id="t1", created=NOW - timedelta(hours=1))
    prompt = Prompt([recall_group(tokens=900)])
    memory = {"memories": {"semantic": [trace]}, "now": NOW}
    rendered = Renderer(PLAIN).render(prompt, memory, budget=900)
    (semantic,) = (p for p in rendered.layout.walk() if p.path == "memories/semantic")
    assert semantic.items == ("t1",)


def test_where_there_is_room_nothing_is_cut() -> None:
    memory = {"memories": {"persistent": "p" * 40, "working": "w w w", "semantic": ["s"]}}
    (message,) = said_by(recall_group(tokens=2_000, preamble=""), memory, budget=5_000)
    assert "p" * 40 in message.text
    assert "w w w" in message.text
