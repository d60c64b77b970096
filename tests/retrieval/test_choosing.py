"""Which chunks are offered, in which rank, and what is said of the others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    Chunk,
    DataSourceSection,
    DefinitionError,
    InvalidBudgetError,
    Prompt,
    Renderer,
    Share,
)
from promptsections.config import dumps, loads
from promptsections.retrieval import ChunkRules, choose_chunks
from promptsections.testing import FakeSource

CHUNKS = [
    Chunk("one one", id="a", score=0.2, source="x"),
    Chunk("two", id="b", score=0.9, source="y"),
    Chunk("One  ONE!", id="c", score=0.5, source="x"),
    Chunk("four", id="d"),
]


def names(chosen: Any) -> list[str]:
    return [chunk.id for chunk in chosen.chunks]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, "abcd"),
        ({"top_k": 2}, "ab"),
        ({"order": "relevance"}, "bcad"),
        ({"order": "given"}, "bcad"),
        ({"order": "relevance", "top_k": 2}, "bc"),
        ({"min_relevance": 0.5}, "bc"),
        ({"min_relevance": 0.5, "unscored": "keep"}, "bcd"),
        ({"distinct": "words"}, "abd"),
        ({"distinct": "words", "order": "relevance"}, "bcd"),
        ({"distinct": "text"}, "abcd"),
        ({"distinct": "source"}, "abd"),
        ({"distinct": "id"}, "abcd"),
        ({"distinct": lambda chunk: len(chunk.text)}, "abcd"),
        ({"distinct": lambda chunk: chunk.score is None}, "ad"),
    ],
)
def test_chunks_are_chosen_by_score_rank_and_sameness(rules: Any, expected: str) -> None:
    assert names(choose_chunks(CHUNKS, ChunkRules(**rules))) == list(expected)


def test_what_is_not_offered_is_named_with_the_reason() -> None:
    rules = ChunkRules(min_relevance=0.3, distinct="words", top_k=1, order="relevance")
    more = [*CHUNKS, Chunk("two", score=0.4, id="e")]

    refused = choose_chunks(more, rules).refused

    assert [(one.code, one.names) for one in refused] == [
        ("chunk_unscored", ("d",)),
        ("chunk_below_relevance", ("a",)),
        ("chunk_duplicate", ("e",)),
        ("chunk_over_top_k", ("c",)),
    ]


@given(
    st.lists(st.builds(Chunk, st.text("ab ", max_size=3), score=st.none() | st.floats(0, 1))),
    st.builds(
        ChunkRules,
        top_k=st.none() | st.integers(1, 5),
        min_relevance=st.none() | st.floats(0, 1),
        unscored=st.sampled_from(["keep", "drop"]),
        distinct=st.sampled_from([None, "text", "words", "id", "source"]),
        order=st.sampled_from(["source", "relevance", "given"]),
    ),
)
def test_every_chunk_is_offered_or_refused_once(chunks: list[Chunk], rules: ChunkRules) -> None:
    """Offered and refused together are all that was given, and places say which."""
    chosen = choose_chunks(chunks, rules)

    refused = [int(name) for one in chosen.refused for name in one.names]
    assert sorted([*chosen.places, *refused]) == list(range(len(chunks)))
    assert [c.text for c in chosen.chunks] == [chunks[at].text for at in chosen.places]


def test_the_place_of_a_chunk_is_no_id_of_another() -> None:
    chosen = choose_chunks([Chunk("a", id="1"), Chunk("b"), Chunk("c")], ChunkRules(distinct="id"))

    assert [(chunk.text, chunk.id) for chunk in chosen.chunks] == [
        ("a", "1"),
        ("b", "1"),
        ("c", "2"),
    ]


def by_words(**options: Any) -> Any:
    section = DataSourceSection(FakeSource(CHUNKS), name="docs", **({"tokens": 1.0} | options))
    renderer = Renderer(tokenizer=lambda text: len(text.split()))
    return renderer.render(Prompt([section]), budget=options.pop("budget", 50))


def test_chunks_chosen_by_score_are_shown_in_the_order_of_the_source() -> None:
    by_score = by_words(order="relevance", max_tokens=3)
    as_given = by_words(order="given", max_tokens=3)
    everything = by_words(order="given")

    assert by_score.layout["docs"].items == as_given.layout["docs"].items[::1] == ("b", "c")
    assert by_words(order="given", max_tokens=5).layout["docs"].items == ("a", "b", "c")
    assert everything.messages[0].text == "one one\n\ntwo\n\nOne  ONE!\n\nfour"


def test_refusals_stand_in_the_layout() -> None:
    rendered = by_words(min_relevance=0.5)

    notes = {note.code: note.detail for note in rendered.layout.notes}
    assert notes["chunk_below_relevance"] == "'a': scores below 0.5"
    assert notes["chunk_unscored"].startswith("'d': has no score")
    assert rendered.layout["docs"].items == ("b", "c")


def test_max_tokens_is_the_most_that_its_budget_gives() -> None:
    assert by_words(max_tokens=2).layout["docs"].items == ("a",)
    assert DataSourceSection(FakeSource([]), max_tokens=5, tokens=Share(0.5)).budget == Share(
        0.5, at_most=5
    )
    assert DataSourceSection(FakeSource([]), max_tokens=5, tokens=3).budget.ceiling == 3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"top_k": 0}, "top_k=0"),
        ({"top_k": True}, "top_k=True"),
        ({"min_relevance": "high"}, "min_relevance='high'"),
        ({"min_relevance": float("nan")}, "min_relevance=nan"),
        ({"order": "best"}, "order='best'"),
        ({"unscored": "maybe"}, "unscored='maybe'"),
        ({"distinct": "meaning"}, "distinct='meaning'"),
        ({"attribution": "{source.name}"}, "attribution="),
        ({"attribution": "{}"}, "attribution="),
        ({"attribution": "{source!r}"}, "attribution="),
        ({"attribution": "{source"}, "attribution="),
        ({"attribution": 3}, "attribution=3"),
    ],
)
def test_rules_that_nothing_can_follow_are_errors(options: Any, says: str) -> None:
    with pytest.raises(DefinitionError, match=r"section 'docs'.*") as caught:
        DataSourceSection(FakeSource([]), name="docs", **options)
    assert says in str(caught.value)


def test_a_limit_below_the_reservation_is_an_error() -> None:
    with pytest.raises(InvalidBudgetError, match="max_tokens=3"):
        DataSourceSection(FakeSource([]), tokens=Share(0.5, at_least=9), max_tokens=3)


def test_a_missing_score_may_be_an_error() -> None:
    with pytest.raises(DefinitionError, match="no score"):
        by_words(min_relevance=0.1, unscored="error")


def test_all_rules_can_stand_in_a_file() -> None:
    text = """
sections:
  - kind: data_source
    source: docs
    max_tokens: 300
    min_relevance: 0.4
    unscored: keep
    distinct: words
    top_k: 5
    order: given
    attribution: "[{source}] "
    fence: {variable: request.nonce, label: found}
"""
    source = FakeSource(CHUNKS)
    [section] = loads(text, format="yaml", callables={"docs": source}).prompt.sections

    assert isinstance(section, DataSourceSection)
    assert section.rules == ChunkRules(
        min_relevance=0.4, unscored="keep", distinct="words", top_k=5, order="given"
    )
    assert section.fence is not None
    assert (section.max_tokens, section.fence.variable) == (300, "request.nonce")
    assert "request.nonce" in dumps(Prompt([section]), callables={"docs": source})
