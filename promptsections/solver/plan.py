"""A tree of tracks, prepared for solving: ranks, units, and what it costs to keep each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Unit:
    """Tracks that are kept together or not at all."""

    tracks: tuple[int, ...]
    within: int | None
    """Number of the unit that must be kept before this one can be."""


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
        self._paths: dict[int, tuple[tuple[int, Join], ...]] = {}
        optional: list[tuple[Track | int, int | None]] = []
        self._needs: list[tuple[int, ...]] = []
        self._guards: list[int | None] = []
        self._enlist(root, parent=-1, guard=None, optional=optional)
        self._ranks = {track: rank for rank, track in enumerate(self.tracks)}
        self._bonds: dict[int, tuple[int, ...]] = {}
        for track in self.tracks.values():
            if track.bond is not None:
                self._bonds[track.bond] = (*self._bonds.get(track.bond, ()), track.id)
        self.required = self._closure(self._demanded(root))
        """Tracks that must be kept, in rank order."""
        self.units = self._unite(optional)
        """Everything else, in rank order."""
        first = set(self.required)
        self.served = (*self.required, *(track for track in self.tracks if track not in first))
        """All tracks in the order in which they are served: required first, then by rank."""

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
        return tuple(sorted(wanted, key=self._ranks.__getitem__))

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

    def joins_of(self, track: int) -> tuple[tuple[int, Join], ...]:
        """Return the joins that a track stands in, with their numbers, innermost first."""
        known = self._paths.get(track)
        if known is None:
            join, path = self._homes[track], list[tuple[int, Join]]()
            while join >= 0:
                path.append((join, self._joins[join]))
                join = self._parents[join]
            known = self._paths[track] = tuple(path)
        return known


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
        for number, join in self._plan.joins_of(track):
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
        for number, join in self._plan.joins_of(track):
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
