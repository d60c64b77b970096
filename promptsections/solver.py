"""Divide a budget: which sections are kept, and how many tokens each is given.

Integers in, integers out. It sees no text, no sections and no tokenizer, and imports nothing of
ours; sizes are asked for through `Sizes`, never further than what could be given.

The definition (laws 3 and 4 of `docs/design.md`), in five sentences:

1. *Floors.* Every required track is entered at its floor.
2. *Choose.* Optional units are walked in rank order; one is kept if and only if its floors, with
   the separators and wrappers they bring, fit beside all that is kept.
3. *Serve.* Content-sized tracks grow to their natural size, required ones first, then by rank.
4. *Share.* What they leave is `space`; each further token goes to the share with the smallest
   `(size + 1) / fraction` while that is at most `space`, up to its ceiling and natural size.
5. *Rest.* What the shares leave goes to the rests in the same way, by weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from math import lcm
from typing import Literal, Protocol

Kind = Literal["content", "share", "rest"]


@dataclass(frozen=True, slots=True)
class Track:
    """One section as the solver sees it."""

    id: int
    """Names the track; unique in a tree."""
    kind: Kind = "content"
    weight: tuple[int, int] = (1, 1)
    """Numerator and denominator: a share's fraction, a rest's weight; above 0."""
    ceiling: int | None = None
    """The most tokens it may get."""
    required: bool = False
    priority: int = 0
    bond: int | None = None
    """Tracks with the same bond are sent together or not at all."""


@dataclass(frozen=True, slots=True)
class Join:
    """Tracks and joins that stand beside each other; it costs only what it writes between them."""

    children: tuple[Track | Join, ...]
    separator: int = 0
    """Tokens between two children that are kept."""
    wrapper: int = 0
    """Tokens around the children, if any is kept."""
    required: bool = True
    priority: int = 0


class Sizes(Protocol):
    """Sizes of tracks in tokens: exact up to `at_most`, `at_most + 1` beyond."""

    def floor(self, track: int, at_most: int, /) -> int:
        """The smallest useful size, reservations included; 0 if there is no content."""
        ...

    def natural(self, track: int, at_most: int, /) -> int:
        """The size of all of it."""
        ...


@dataclass(frozen=True, slots=True)
class Unit:
    """Tracks that are kept together or not at all."""

    tracks: tuple[int, ...]
    within: int | None
    """Number of the unit that must be kept before this one can be."""


@dataclass(frozen=True, slots=True)
class Solution:
    """What the solver decided."""

    given: Mapping[int, int]
    """Track → tokens, for the tracks that are kept; a track without content is not among them."""
    floors: Mapping[int, int]
    caps: Mapping[int, int | None]
    """Track → the most it may use: its ceiling, and a share's fraction of `space`."""
    space: int
    """What content-sized tracks left, floors of shares and rests included, in tokens."""


class Plan:
    """A tree of tracks, prepared: ranks, units, and where each track stands.

    Immutable after construction; made once and solved at any number of budgets.
    """

    def __init__(self, root: Join) -> None:
        self.root = root
        self.tracks: dict[int, Track] = {}
        """All tracks, in rank order."""
        self._joins: list[Join] = []
        self._parents: list[int] = []
        self._homes: dict[int, int] = {}
        optional: list[tuple[Track | int, int | None]] = []
        self._needs: list[tuple[int, ...]] = []
        self._guards: list[int | None] = []
        self._enlist(root, parent=-1, guard=None, optional=optional)
        self._bonds: dict[int, tuple[int, ...]] = {}
        for track in self.tracks.values():
            if track.bond is not None:
                self._bonds[track.bond] = (*self._bonds.get(track.bond, ()), track.id)
        self.required = self._closure(self._demanded(root))
        """Tracks that must be kept, in rank order."""
        self.units = self._unite(optional)
        """Everything else, in rank order."""

    def _enlist(
        self,
        join: Join,
        *,
        parent: int,
        guard: int | None,
        optional: list[tuple[Track | int, int | None]],
    ) -> None:
        number = len(self._joins)
        self._joins.append(join)
        self._parents.append(parent)
        demanded = self._demanded(join) if parent >= 0 and not join.required else ()
        if demanded:
            optional.append((number, guard))
            guard = number
        self._needs.append(tuple(demanded))
        self._guards.append(guard)
        order = sorted(join.children, key=lambda child: -child.priority)
        for child in order:
            if isinstance(child, Join):
                self._enlist(child, parent=number, guard=guard, optional=optional)
            else:
                self.tracks[child.id] = child
                self._homes[child.id] = number
                if not child.required:
                    optional.append((child, guard))

    def _demanded(self, join: Join) -> list[int]:
        """Return the tracks that a join cannot be without."""
        found: list[int] = []
        for child in join.children:
            if not child.required:
                continue
            if isinstance(child, Join):
                found.extend(self._demanded(child))
            else:
                found.append(child.id)
        return found

    def _closure(self, tracks: Iterable[int]) -> tuple[int, ...]:
        """Add what the tracks cannot be without: bonds, and what their optional groups require."""
        wanted: set[int] = set()
        waiting = list(tracks)
        while waiting:
            track = waiting.pop()
            if track in wanted:
                continue
            wanted.add(track)
            bond = self.tracks[track].bond
            if bond is not None:
                waiting.extend(self._bonds[bond])
            guard = self._guards[self._homes[track]]
            while guard is not None:
                waiting.extend(self._needs[guard])
                guard = self._guards[self._parents[guard]]
        if len(wanted) < 2:
            return tuple(wanted)
        return tuple(track for track in self.tracks if track in wanted)

    def _unite(self, optional: Sequence[tuple[Track | int, int | None]]) -> tuple[Unit, ...]:
        units: list[Unit] = []
        by_join: dict[int, int] = {}
        held = set(self.required)
        for entry, guard in optional:
            within = by_join.get(guard) if guard is not None else None
            if isinstance(entry, Track):
                if entry.id not in held:
                    units.append(Unit(self._closure((entry.id,)), within))
            else:
                tracks = self._closure(self._needs[entry])
                by_join[entry] = len(units)
                units.append(Unit(tracks, within))
        return tuple(units)

    def path(self, track: int) -> Iterator[int]:
        """Yield the joins that a track stands in, innermost first."""
        join = self._homes[track]
        while join >= 0:
            yield join
            join = self._parents[join]

    def join(self, number: int) -> Join:
        """Return a join by its number."""
        return self._joins[number]


class Ledger:
    """What is kept, and what it needs: floors, separators and wrappers, in tokens."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._kept_beside: dict[int, int] = {}
        self.floors: dict[int, int] = {}
        """Kept tracks → floor, without content 0; in the order in which they were kept."""
        self.need = 0
        """Tokens that all that is kept needs at its floors."""

    def enter(self, track: int, floor: int) -> None:
        """Keep a track; one without content costs nothing."""
        self.floors[track] = floor
        if not floor:
            return
        self.need += floor
        for number in self._plan.path(track):
            join = self._plan.join(number)
            beside = self._kept_beside.get(number, 0)
            self._kept_beside[number] = beside + 1
            if beside:
                self.need += join.separator
                return
            self.need += join.wrapper

    def leave(self, track: int) -> None:
        """Undo the entry of the track that was entered last."""
        floor = self.floors.pop(track)
        if not floor:
            return
        self.need -= floor
        for number in self._plan.path(track):
            join = self._plan.join(number)
            beside = self._kept_beside[number] = self._kept_beside[number] - 1
            if beside:
                self.need -= join.separator
                return
            self.need -= join.wrapper

    def try_unit(
        self, tracks: Iterable[int], room: int, floor_of: Callable[[int, int], int]
    ) -> bool:
        """Enter all of the tracks if what they bring is at most `room` tokens, or none of them.

        `floor_of(track, at_most)` gives a floor; a track whose floor is above its ceiling fails.
        """
        limit = self.need + room
        entered: list[int] = []
        for track in tracks:
            if track in self.floors:
                continue
            floor = floor_of(track, max(limit - self.need, 0))
            ceiling = self._plan.tracks[track].ceiling
            self.enter(track, floor)
            entered.append(track)
            if self.need > limit or (ceiling is not None and floor > ceiling):
                for undone in reversed(entered):
                    self.leave(undone)
                return False
        return True


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
    return Solution(given, floors, caps, space)


def choose(plan: Plan, ledger: Ledger, available: int, sizes: Sizes) -> None:
    """Walk the optional units in rank order and keep each that fits; law 3."""
    refused: set[int] = set()
    for number, unit in enumerate(plan.units):
        if unit.within in refused or not ledger.try_unit(
            unit.tracks, available - ledger.need, sizes.floor
        ):
            refused.add(number)


def serving_order(plan: Plan, tracks: Iterable[int]) -> list[int]:
    """Return tracks in the order in which they are served: required first, then by rank."""
    kept = set(tracks)
    required = [track for track in plan.required if track in kept]
    first = set(required)
    return required + [track for track in plan.tracks if track in kept and track not in first]


def _serve(plan: Plan, given: dict[int, int], left: int, sizes: Sizes) -> int:
    """Let content-sized tracks grow to their natural size; return what is left."""
    content = [track for track in given if plan.tracks[track].kind == "content"]
    for track in serving_order(plan, content):
        floor = given[track]
        offer = _lowest(floor + left, plan.tracks[track].ceiling)
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


def apportion(
    space: int,
    floors: Sequence[int],
    limits: Sequence[int],
    weights: Sequence[tuple[int, int]],
) -> list[int]:
    """Divide `space` whole tokens in proportion to weights, by d'Hondt's rule.

    Each starts at its floor; each further token goes to the one with the smallest
    `(size + 1) / weight` that is below its limit (ties: the first). The sum of the floors is at
    most `space`. The same result as handing out token by token, in O(n log n): at the level
    `v = size / weight` that the real-valued division reaches, all keys up to `v` are taken, and
    fewer than n tokens remain.
    """
    if sum(limits) <= space:
        return list(limits)
    scale = lcm(*(denominator for _, denominator in weights))
    parts = [numerator * (scale // denominator) for numerator, denominator in weights]
    whole = lcm(*parts)
    steps = [whole // part for part in parts]  # level at which the first token is due
    bounds = list(zip(floors, limits, steps, strict=True))

    def sizes_at(level: int) -> list[int]:
        return [max(floor, min(level // step, limit)) for floor, limit, step in bounds]

    corners = sorted({f * s for f, _, s in bounds} | {c * s for _, c, s in bounds})
    low, high = 0, len(corners)
    while high - low > 1:
        middle = (low + high) // 2
        if sum(sizes_at(corners[middle])) <= space:
            low = middle
        else:
            high = middle
    level = corners[low]
    growing = [floor * step <= level < limit * step for floor, limit, step in bounds]
    if any(growing):
        still = sum(size for size, grows in zip(sizes_at(level), growing, strict=True) if not grows)
        pace = sum(part for part, grows in zip(parts, growing, strict=True) if grows)
        level = max(level, (space - still) * whole // pace)
        if high < len(corners):
            level = min(level, corners[high])
    result = sizes_at(level)
    left = space - sum(result)
    heap = [((result[i] + 1) * s, i) for i, (_, c, s) in enumerate(bounds) if result[i] < c]
    heapify(heap)
    while left and heap:
        _, index = heap[0]
        result[index] += 1
        left -= 1
        if result[index] < limits[index]:
            heapreplace(heap, ((result[index] + 1) * steps[index], index))
        else:
            heappop(heap)
    return result


def _lowest(value: int, limit: int | None) -> int:
    return value if limit is None else min(value, limit)
