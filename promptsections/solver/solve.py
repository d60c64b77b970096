"""Choose what is kept, serve content-sized tracks, and divide what they leave."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from promptsections.solver.apportion import apportion
from promptsections.solver.plan import Ledger, Plan, Track


class Sizes(Protocol):
    """Sizes of tracks in tokens: exact up to `at_most`, `at_most + 1` beyond."""

    def floor(self, track: int, at_most: int, /) -> int:
        """The smallest useful size, reservations included; 0 if there is no content."""
        ...

    def natural(self, track: int, at_most: int, /) -> int:
        """The size of all of it."""
        ...


@dataclass(frozen=True, slots=True)
class Solution:
    """What the solver decided."""

    given: dict[int, int]
    """Track → tokens, for the tracks that are kept; a track without content is not among them."""
    floors: Mapping[int, int]
    ledger: Ledger
    """What is kept at these floors."""
    caps: dict[int, int | None]
    """Track → the most it may use: its ceiling, and a share's fraction of `space`."""
    space: int
    """What content-sized tracks left, floors of shares and rests included, in tokens."""


def solve(
    plan: Plan, available: int, sizes: Sizes, *, only: frozenset[int] | None = None
) -> Solution | None:
    """Divide the available tokens between the tracks of a plan.

    Args:
        plan: The tracks.
        available: Tokens to divide, 0 or more.
        sizes: Answers for floors and natural sizes.
        only: Keep exactly these tracks, instead of choosing.

    Returns:
        What each kept track is given, or `None` if what must be kept does not fit.
    """
    ledger = Ledger(plan)
    wanted = plan.required if only is None else [t for t in plan.tracks if t in only]
    if not ledger.try_unit(wanted, available, sizes.floor):
        return None
    if only is None:
        choose(plan, ledger, available, sizes)
    floors = {track: floor for track, floor in ledger.floors.items() if floor}
    given = dict(floors)
    left = _serve(plan, given, available - ledger.need, sizes)
    space, caps = _share(plan, given, left, sizes)
    return Solution(given, floors, ledger, caps, space)


def choose(plan: Plan, ledger: Ledger, available: int, sizes: Sizes) -> None:
    """Walk the optional units in rank order and keep each that fits; law 3."""
    refused: set[int] = set()
    for number, unit in enumerate(plan.units):
        if unit.within in refused or not ledger.try_unit(
            unit.tracks, available - ledger.need, sizes.floor
        ):
            refused.add(number)


def serving_order(plan: Plan, tracks: Container[int]) -> list[int]:
    """Return tracks in the order in which they are served: required first, then by rank."""
    return [track for track in plan.served if track in tracks]


def _serve(plan: Plan, given: dict[int, int], left: int, sizes: Sizes) -> int:
    """Let content-sized tracks grow to their natural size; return what is left."""
    for track in serving_order(plan, given):
        shape = plan.tracks[track]
        if shape.kind != "content":
            continue
        floor = given[track]
        offer = _lowest(floor + left, shape.ceiling)
        given[track] = max(floor, min(sizes.natural(track, offer), offer))
        left -= given[track] - floor
    return left


def _share(
    plan: Plan, given: dict[int, int], left: int, sizes: Sizes
) -> tuple[int, dict[int, int | None]]:
    """Divide what is left between shares, then between rests; return `space` and all caps."""
    ranked = [track for track in plan.tracks.values() if track.id in given]
    shares = [track for track in ranked if track.kind == "share"]
    rests = [track for track in ranked if track.kind == "rest"]
    reserved = sum(given[track.id] for track in rests)
    space = left + reserved + sum(given[track.id] for track in shares)
    caps: dict[int, int | None] = {track.id: track.ceiling for track in ranked}
    for track in shares:
        numerator, denominator = track.weight
        fraction = space * numerator // denominator
        caps[track.id] = max(given[track.id], _lowest(fraction, track.ceiling))
    _divide(shares, given, caps, space - reserved, sizes)
    _divide(rests, given, caps, space - sum(given[track.id] for track in shares), sizes)
    return space, caps


def _divide(
    tracks: Sequence[Track],
    given: dict[int, int],
    caps: Mapping[int, int | None],
    space: int,
    sizes: Sizes,
) -> None:
    """Divide `space` by weight, asking for natural sizes no further than what is given.

    Every round but the last finds one natural size, so there are at most `len(tracks) + 1`.
    """
    if not tracks:
        return
    floors = [given[track.id] for track in tracks]
    limits = [
        max(floor, _lowest(space, caps[t.id])) for floor, t in zip(floors, tracks, strict=True)
    ]
    known = [False] * len(tracks)
    weights = [track.weight for track in tracks]
    while True:
        result = apportion(space, floors, limits, weights)
        again = False
        for index, track in enumerate(tracks):
            if known[index]:
                continue
            natural = sizes.natural(track.id, result[index])
            if natural <= result[index]:
                known[index] = True
                limits[index] = max(floors[index], natural)
                again = again or natural < result[index]
        if not again:
            break
    for track, size in zip(tracks, result, strict=True):
        given[track.id] = size


def _lowest(value: int, limit: int | None) -> int:
    return value if limit is None else min(value, limit)
