"""Sizes that the solver may ask, and oracles written without it: whole trees and single tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from attrs import define, field
from hypothesis import strategies as st

from promptsections.solver import Join, Track
from promptsections.testing.strategies import joins


@define
class FixedSizes:
    """Sizes from a table: exact up to `at_most`, `at_most + 1` beyond; remembers what was asked."""

    sizes: Mapping[int, tuple[int, int]]
    """Track → floor and natural size."""
    floors_asked: list[tuple[int, int]] = field(factory=list)
    naturals_asked: list[tuple[int, int]] = field(factory=list)

    def floor(self, track: int, at_most: int, /) -> int:
        assert at_most >= 0
        self.floors_asked.append((track, at_most))
        return min(self.sizes[track][0], at_most + 1)

    def natural(self, track: int, at_most: int, /) -> int:
        assert at_most >= 0
        self.naturals_asked.append((track, at_most))
        return min(self.sizes[track][1], at_most + 1)


def tracks_of(join: Join) -> Iterator[Track]:
    """Yield all tracks, in rank order: priority, then position, where paths part."""
    for child in sorted(join.children, key=lambda child: -child.priority):
        if isinstance(child, Join):
            yield from tracks_of(child)
        else:
            yield child


@st.composite
def problems(draw: st.DrawFn) -> tuple[Join, dict[int, tuple[int, int]]]:
    """Draw a tree of tracks, and the floor and natural size of each."""
    tree = draw(joins(bonds=draw(st.sampled_from([0, 0, 2]))))
    sizes: dict[int, tuple[int, int]] = {}
    for track in tracks_of(tree):
        floor = draw(st.integers(0, 12))
        more = draw(st.integers(0, 4) | st.integers(0, 60))
        sizes[track.id] = (floor, floor + more if floor else 0)
    return tree, sizes


# --- choosing, by the size of whole trees ---------------------------------------------------------


def cost(join: Join, tokens: Mapping[int, int], *, root: bool = True) -> int:
    """Add up a tree with these tokens in its tracks: children, separators between, wrapper."""
    parts: list[int] = []
    for child in join.children:
        part = (
            cost(child, tokens, root=False) if isinstance(child, Join) else tokens.get(child.id, 0)
        )
        if part:
            parts.append(part)
    if not parts:
        return 0
    wrapper = 0 if root else join.wrapper
    return wrapper + sum(parts) + join.separator * (len(parts) - 1)


def demanded(join: Join) -> set[int]:
    """Return the tracks that a group cannot be without."""
    found: set[int] = set()
    for child in join.children:
        if child.required:
            found |= demanded(child) if isinstance(child, Join) else {child.id}
    return found


def together(root: Join, wanted: Iterable[int]) -> set[int]:
    """Add what must come along: bound tracks, and what the groups around require."""
    found = set(wanted)
    while True:
        more = set(found)
        bonds = {t.bond for t in tracks_of(root) if t.id in found and t.bond is not None}
        more |= {t.id for t in tracks_of(root) if t.bond in bonds and t.bond is not None}
        for group in _groups(root):
            if any(t.id in more for t in tracks_of(group)):
                more |= demanded(group)
        if more == found:
            return found
        found = more


def _groups(join: Join) -> Iterator[Join]:
    for child in join.children:
        if isinstance(child, Join):
            yield child
            yield from _groups(child)


def chosen(root: Join, available: int, sizes: Mapping[int, tuple[int, int]]) -> set[int] | None:
    """Keep sections in rank order, each if the whole tree at its floors fits; `None` if none."""
    tracks = {track.id: track for track in tracks_of(root)}

    def fits(kept: set[int]) -> bool:
        floors = {track: sizes[track][0] for track in kept}
        ceilings = ((floors[t], tracks[t].ceiling) for t in kept)
        allowed = all(ceiling is None or floor <= ceiling for floor, ceiling in ceilings)
        return allowed and cost(root, floors) <= available

    kept = together(root, demanded(root))
    if not fits(kept):
        return None

    def walk(join: Join) -> None:
        nonlocal kept
        for child in sorted(join.children, key=lambda child: -child.priority):
            if isinstance(child, Track):
                wanted = set() if child.required else {child.id}
            else:
                wanted = set() if child.required else demanded(child)
            trial = kept | together(root, wanted)
            if fits(trial):
                kept = trial
            elif isinstance(child, Join):
                continue
            if isinstance(child, Join):
                walk(child)

    walk(root)
    return {track for track in kept if sizes[track][0]}


# --- sharing, one token at a time -----------------------------------------------------------------


def shared(
    root: Join, available: int, sizes: Mapping[int, tuple[int, int]], kept: set[int]
) -> dict[int, int]:
    """Divide what is available between what is kept, as law 4 says it, token by token."""
    ranked = [track for track in tracks_of(root) if track.id in kept]
    required = together(root, demanded(root))
    given = {track.id: sizes[track.id][0] for track in ranked}
    left = available - cost(root, given)

    def most(track: Track) -> int:
        natural = sizes[track.id][1]
        return natural if track.ceiling is None else min(natural, track.ceiling)

    content = [track for track in ranked if track.kind == "content"]
    for track in sorted(content, key=lambda track: track.id not in required):
        more = max(0, min(most(track) - given[track.id], left))
        given[track.id] += more
        left -= more

    shares = [track for track in ranked if track.kind == "share"]
    rests = [track for track in ranked if track.kind == "rest"]
    space = left + sum(given[track.id] for track in (*shares, *rests))
    for group, limit in ((shares, space), (rests, None)):
        while left:
            keys = [
                (Fraction(given[t.id] + 1) / Fraction(*t.weight), rank)
                for rank, t in enumerate(group)
                if given[t.id] < most(t)
            ]
            if not keys or (limit is not None and min(keys)[0] > limit):
                break
            given[group[min(keys)[1]].id] += 1
            left -= 1
    return given
