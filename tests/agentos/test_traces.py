"""Traces of memory in words, byte for byte as recorded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from agentos_cases import Case, of

from promptsections import DefinitionError
from promptsections.recall import (
    Bullets,
    Prose,
    Trace,
    Valence,
    age_words,
    confidence_word,
    style_for,
)
from promptsections.recall.traces import to_trace

NOW = datetime(2026, 3, 1, tzinfo=UTC)
STYLES = {"structured": Bullets(), "narrative": Prose(), "emotional": Valence()}


def trace_of(recorded: dict[str, Any]) -> Trace:
    felt = recorded["emotionalContext"]
    return Trace(
        recorded["content"],
        kind=recorded["type"],
        id=recorded["id"],
        created=NOW - timedelta(hours=recorded["age_hours"]),
        confidence=recorded["provenance"]["confidence"],
        relevance=recorded.get("retrievalScore"),
        tags=recorded["tags"],
        links=recorded["associatedTraceIds"],
        entities=recorded["entities"],
        valence=felt["valence"],
        intensity=felt["intensity"],
        mood=felt["gmiMood"],
    )


@pytest.mark.parametrize("case", of("format_memory_trace"))
def test_a_trace_is_said_as_recorded(case: Case) -> None:
    style = STYLES[case.input["style"]]
    assert style(trace_of(case.input["trace"]), NOW) == case.output


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(0), "just now"),
        (timedelta(days=-3), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1m ago"),
        (timedelta(minutes=59, seconds=59), "59m ago"),
        (timedelta(hours=1), "1h ago"),
        (timedelta(hours=23, minutes=59), "23h ago"),
        (timedelta(days=1), "1d ago"),
        (timedelta(days=6, hours=23), "6d ago"),
        (timedelta(days=7), "1w ago"),
        (timedelta(days=365), "52w ago"),
    ],
)
def test_an_age_in_words(age: timedelta, words: str) -> None:
    assert age_words(NOW - age, NOW) == words
    assert age_words((NOW - age).replace(tzinfo=None), NOW) == words, "naive times are UTC"


def test_confidence_in_a_word() -> None:
    assert [confidence_word(c) for c in (0.0, 0.5, 0.51, 0.8, 0.81, 1.0)] == [
        "low", "low", "moderate", "moderate", "high", "high",
    ]  # fmt: skip


def test_without_a_date_no_age_is_said() -> None:
    trace = Trace("T", confidence=0.7)
    assert Bullets()(trace, NOW) == "- [semantic] T (moderate confidence | relevance: 0.70)"
    assert Prose()(trace, NOW) == "T"
    assert Valence()(trace, NOW) == "(~) T"


def test_how_much_of_the_content_is_said_is_a_choice() -> None:
    assert Prose(limit=3)(Trace("abcdef"), NOW) == "abc"
    with pytest.raises(DefinitionError, match="limit=0 must be 1 character"):
        Valence(limit=0)


@pytest.mark.parametrize(
    ("traits", "style"),
    [
        ({}, Bullets()),
        ({"narrative": 0.6}, Prose()),
        ({"emotional": 0.9, "narrative": 0.6}, Valence()),
        ({"structured": 0.1}, Prose()),
        ({"structured": 0.1, "narrative": 0.1}, Valence()),
    ],
)
def test_the_strongest_trait_chooses_the_style(traits: dict[str, float], style: object) -> None:
    assert style_for(**traits) == style


def test_a_trace_is_read_from_plain_data() -> None:
    read = to_trace({"content": "T", "created": "2026-02-28T22:00:00+00:00", "tags": ["a"]})
    assert read == Trace("T", created=NOW - timedelta(hours=2), tags=("a",))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (5, "int is no memory"),
        ({"content": "T", "text": "x"}, "has no text: its fields are content"),
        ({"kind": "semantic"}, "needs content"),
        ({"content": 5}, "content=5 must be a text"),
        ({"content": "T", "created": "yesterday"}, "is no date"),
        ({"content": "T", "created": 5}, "must be a datetime"),
        ({"content": "T", "tags": "abc"}, "must be a list"),
        ({"content": "T", "confidence": float("nan")}, "must be a finite number"),
        ({"content": "T", "confidence": None}, "must be a finite number"),
    ],
)
def test_what_is_no_trace_is_refused(value: object, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        to_trace(value)
