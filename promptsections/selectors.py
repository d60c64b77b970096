"""Choosing among things by age, score, sameness and size: pure functions for all who need them.

They keep the order in which things were given, unless they say otherwise. They know no sections.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from math import isnan
from typing import Literal, TypeVar, get_args

from promptsections.errors import DefinitionError

T = TypeVar("T")

Missing = Literal["keep", "drop", "error"]
"""What becomes of a thing without the value that is asked for."""


def fresh(
    things: Iterable[T],
    *,
    last_used: Callable[[T], datetime | None],
    now: datetime,
    max_age: timedelta,
    uses: Callable[[T], int | None] = lambda _: None,
    min_uses: int | None = None,
    missing: Missing = "keep",
    only_above: int = 0,
    at_least: int = 0,
) -> list[T]:
    """Leave out what has not been used for long.

    Args:
        things: What there is.
        last_used: When a thing was used last; naive times are UTC.
        now: The time that ages are measured to; the clock is the caller's.
        max_age: Older than this is stale.
        uses: How often a thing was used.
        min_uses: What was used as often as this is never stale.
        missing: What becomes of a thing that has no date.
        only_above: Leave out nothing unless there are more things than this.
        at_least: Keep as many at any rate, the most recently used of the stale ones first.

    Raises:
        DefinitionError: a date is missing, and `missing` is `"error"`.
    """
    _check(missing)
    given = list(things)
    if len(given) <= only_above:
        return given
    ages = [_age(last_used(thing), now) for thing in given]

    def is_fresh(thing: T, age: timedelta | None) -> bool:
        if min_uses is not None and (uses(thing) or 0) >= min_uses:
            return True
        if age is None:
            return _allowed(missing, "has no date")
        return age <= max_age

    kept = {at for at, thing in enumerate(given) if is_fresh(thing, ages[at])}
    dated = sorted((age, at) for at, age in enumerate(ages) if age is not None)
    undated = [at for at, age in enumerate(ages) if age is None]
    return _filled_up(given, kept, [at for _, at in dated] + undated, at_least)


def similar(
    things: Iterable[T],
    threshold: float,
    *,
    score: Callable[[T], float | None],
    missing: Missing = "drop",
    at_least: int = 0,
) -> list[T]:
    """Leave out what scores below a threshold.

    Args:
        things: What there is.
        threshold: The lowest score that is kept.
        score: A thing's score; NaN counts as missing.
        missing: What becomes of a thing without a score.
        at_least: Keep as many at any rate, the best of the others first.

    Raises:
        DefinitionError: a score is missing, and `missing` is `"error"`.
    """
    _check(missing)
    given = list(things)
    scores = [_score(score(thing)) for thing in given]
    kept = {
        at
        for at, found in enumerate(scores)
        if (found >= threshold if found is not None else _allowed(missing, "has no score"))
    }
    return _filled_up(given, kept, _by_score(scores), at_least)


def best(things: Iterable[T], most: int, *, score: Callable[[T], float | None]) -> list[T]:
    """Return the best `most` things, best first; equals as given, those without a score last."""
    given = list(things)
    return [given[at] for at in _by_score([_score(score(thing)) for thing in given])[:most]]


def distinct(things: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """Return the first of all things that have the same key."""
    found: dict[Hashable, T] = {}
    for thing in things:
        found.setdefault(key(thing), thing)
    return list(found.values())


def within(
    things: Iterable[T], tokens: int, *, cost: Callable[[T], int], skip: bool = True
) -> list[T]:
    """Take things in their order, as long as they fit.

    Args:
        things: What there is.
        tokens: What all of it may cost.
        cost: A thing's size, in tokens.
        skip: Whether to go on behind one that does not fit, or to stop there.
    """
    kept: list[T] = []
    for thing in things:
        size = cost(thing)
        if size <= tokens:
            kept.append(thing)
            tokens -= size
        elif not skip:
            break
    return kept


# --- helpers --------------------------------------------------------------------------------------


def _check(missing: object) -> None:
    if missing not in get_args(Missing):
        raise DefinitionError(f"missing={missing!r} must be one of 'keep', 'drop', 'error'")


def _allowed(missing: Missing, what: str) -> bool:
    if missing == "error":
        raise DefinitionError(f"a thing {what}, and missing='error' does not allow that")
    return missing == "keep"


def _age(date: datetime | None, now: datetime) -> timedelta | None:
    if date is None:
        return None
    return _aware(now) - _aware(date)


def _aware(date: datetime) -> datetime:
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


def _score(value: float | None) -> float | None:
    return None if value is None or isnan(value) else value


def _by_score(scores: Sequence[float | None]) -> list[int]:
    return sorted(
        range(len(scores)),
        key=lambda at: (scores[at] is None, -(scores[at] or 0.0)),
    )


def _filled_up(given: list[T], kept: set[int], ranked: Sequence[int], at_least: int) -> list[T]:
    """Add the first of the ranked ones until there are enough."""
    for at in ranked:
        if len(kept) >= at_least:
            break
        kept.add(at)
    return [thing for at, thing in enumerate(given) if at in kept]
