"""Choosing among things by age, score, sameness and size."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import DefinitionError
from promptsections.selectors import best, distinct, fresh, similar, within

NOW = datetime(2026, 3, 1, tzinfo=UTC)
Thing = tuple[str, int | None]
"""A name, and days since it was used."""


def by_age(things: list[Thing], **options: Any) -> list[str]:
    def used(thing: Thing) -> datetime | None:
        return None if thing[1] is None else NOW - timedelta(days=thing[1])

    settings: dict[str, Any] = {"now": NOW, "max_age": timedelta(days=14), **options}
    return [name for name, _ in fresh(things, last_used=used, **settings)]


def test_what_was_not_used_for_long_is_left_out() -> None:
    things: list[Thing] = [("old", 15), ("edge", 14), ("new", 0)]

    assert by_age(things) == ["edge", "new"]
    assert by_age(things, only_above=3) == ["old", "edge", "new"]
    assert by_age(things, uses=lambda thing: 2, min_uses=2) == ["old", "edge", "new"]
    assert by_age(things, uses=lambda thing: 1, min_uses=2) == ["edge", "new"]
    assert by_age(things, min_uses=2) == ["edge", "new"]


def test_something_is_kept_at_any_rate() -> None:
    things: list[Thing] = [("none", None), ("older", 30), ("old", 20)]

    assert by_age(things, missing="drop") == []
    assert by_age(things, missing="drop", at_least=1) == ["old"]
    assert by_age(things, missing="drop", at_least=2) == ["older", "old"]
    assert by_age(things, missing="drop", at_least=9) == ["none", "older", "old"]


def test_things_without_a_date() -> None:
    things: list[Thing] = [("none", None), ("new", 1)]

    assert by_age(things) == ["none", "new"]
    assert by_age(things, missing="drop") == ["new"]
    with pytest.raises(DefinitionError, match="has no date"):
        by_age(things, missing="error")


def test_times_without_a_zone_are_utc() -> None:
    naive = NOW.replace(tzinfo=None)

    found = fresh([naive], last_used=lambda date: date, now=NOW, max_age=timedelta(0))

    assert found == [naive]


def test_what_scores_low_is_left_out() -> None:
    things = [0.59, 0.6, None, float("nan"), 0.9]

    def chosen(**options: Any) -> list[float | None]:
        return similar(things, 0.6, score=lambda thing: thing, **options)

    assert chosen() == [0.6, 0.9]
    assert chosen(missing="keep") == [0.6, None, things[3], 0.9]
    assert chosen(at_least=3) == [0.59, 0.6, 0.9]
    with pytest.raises(DefinitionError, match="has no score"):
        chosen(missing="error")


def test_the_best_come_first() -> None:
    assert best([("a", 1.0), ("b", None), ("c", 2.0), ("d", 2.0)], 3, score=lambda t: t[1]) == [
        ("c", 2.0),
        ("d", 2.0),
        ("a", 1.0),
    ]


def test_of_equals_the_first_is_kept() -> None:
    assert distinct(["Ab", "c", "aB", "C"], key=str.lower) == ["Ab", "c"]


def test_taking_goes_on_behind_what_does_not_fit_unless_told() -> None:
    assert within([3, 9, 2], 5, cost=lambda size: size) == [3, 2]
    assert within([3, 9, 2], 5, cost=lambda size: size, skip=False) == [3]


def test_wrong_policies_are_errors() -> None:
    with pytest.raises(DefinitionError, match="missing='later' must be one of"):
        similar([1.0], 0.5, score=lambda thing: thing, missing=cast("Any", "later"))


@given(
    st.lists(st.floats(0, 1) | st.none()),
    st.floats(0, 1),
    st.integers(0, 5),
    st.sampled_from(["keep", "drop"]),
)
def test_selection_keeps_order_and_the_minimum(
    scores: list[float | None], threshold: float, at_least: int, missing: Any
) -> None:
    """Order stays, all that reach the threshold are kept, and as many as asked if there are."""
    things = list(enumerate(scores))

    kept = similar(things, threshold, score=lambda t: t[1], missing=missing, at_least=at_least)

    assert kept == sorted(kept, key=lambda thing: thing[0])
    assert len(kept) >= min(at_least, len(things))
    assert all(t in kept for t in things if t[1] is not None and t[1] >= threshold)
    below = [t for t in kept if (t[1] is None and missing == "drop") or (t[1] or 9) < threshold]
    assert len(kept) <= at_least or not below


@given(st.lists(st.integers(0, 9)), st.integers(0, 30))
def test_what_is_taken_fits_and_nothing_left_would(sizes: list[int], tokens: int) -> None:
    """Taken things fit together, and none that was passed over fits what was left then."""
    taken = within(enumerate(sizes), tokens, cost=lambda thing: thing[1])

    assert sum(size for _, size in taken) <= tokens
    for at, size in enumerate(sizes):
        if (at, size) not in taken:
            assert sum(s for a, s in taken if a < at) + size > tokens
