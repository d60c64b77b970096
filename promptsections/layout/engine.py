"""The pure phases after resolve: place what was solved, hand on what is left, count, repair.

`docs/explanation/design.md` has the reasons. In short: every node is placed once; what shares,
units and reservations leave over is offered once more in rank order; then the finished messages are
counted, and if joints made them too large, the same sections share less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import cast

from attrs import define, field

from promptsections.blocks import Fitted
from promptsections.errors import BudgetExceededError, LayoutError
from promptsections.layout.compose import Composed, Piece, compose, measure_piece, size_of
from promptsections.layout.resolved import ResolvedContent, ResolvedGroup
from promptsections.layout.sizes import UNBOUNDED, Sizes
from promptsections.layout.tree import Container, Leaf, Tree, build, path_of
from promptsections.messages import Message
from promptsections.solver import Ledger, Solution, serving_order, solve
from promptsections.tokens import joints_of


@define
class Placed:
    """One container while it is laid out."""

    container: Container
    ledger: Ledger
    given: dict[int, int]
    """Track → what the solver gave it."""
    caps: dict[int, int | None]
    space: int
    used: dict[int, int] = field(factory=dict[int, int])
    """Track → size of what it sends."""


@define
class Engine:
    """One layout of one prompt at one budget."""

    resolved: ResolvedContent
    tree: Tree
    sizes: Sizes
    budget: int
    pieces: dict[str, Piece] = field(factory=dict[str, Piece])
    """Path → what the section sends, as `compose` wants it."""
    fitted: dict[int, Fitted] = field(factory=dict[int, Fitted])
    """Leaf → what its block had to say."""
    asked: dict[int, int] = field(factory=dict[int, int])
    """Leaf → the size that its block was asked for last: a smaller one gives no more."""
    placed: dict[int, Placed] = field(factory=dict[int, Placed])
    """Container → how it was divided."""

    # --- place ----------------------------------------------------------------------------------

    def place(self, container: Container, given: int, only: frozenset[int] | None = None) -> bool:
        """Divide what a container is given and fit what is kept; `False` if it does not fit."""
        room = given - container.wrapper
        solution = solve(container.plan, room, self.sizes, only=only) if room >= 0 else None
        return solution is not None and self._settle(container, solution, only)

    def _settle(
        self, container: Container, solution: Solution, only: frozenset[int] | None
    ) -> bool:
        placed = Placed(container, solution.ledger, solution.given, solution.caps, solution.space)
        self.placed[container.id] = placed
        for track, tokens in solution.given.items():
            if not self._put(placed, track, tokens, only):
                return False
        return True

    def _put(
        self, placed: Placed, track: int, tokens: int, only: frozenset[int] | None = None
    ) -> bool:
        """Fit a track that is kept, for the first time; `False` if it does not fit.

        A group always fits its floor, unless more is kept in it (`only`) than that was measured of.
        """
        member = placed.container.members[track]
        if isinstance(member, Leaf):
            placed.used[track] = self._fit(member, tokens)
            return True
        if not self.place(member, tokens, only):
            return False
        placed.used[track] = self._size(member)
        return True

    def _fit(self, leaf: Leaf, tokens: int) -> int:
        """Ask a block for its messages at a size, check its promises, and return what they take."""
        path = leaf.section.path
        fitted = _ask(leaf, tokens)
        before = self.pieces.get(path)
        piece = (
            before
            if before is not None and before.messages is fitted.messages
            else measure_piece(fitted.messages, leaf.counter)
        )
        size = max(piece.tokens, 1) if piece.messages else 0  # as `Sizes` counts what costs nothing
        smallest = min(self.sizes.smallest(leaf.id, tokens), tokens)
        if not smallest <= size <= tokens:
            raise LayoutError(
                f"section {path!r}: {type(leaf.block).__name__}.fit() was given {tokens} tokens "
                f"and took {piece.tokens}; at least its floor of {smallest} and at most {tokens} "
                "are needed",
                section=path,
            )
        self.fitted[leaf.id] = fitted
        self.asked[leaf.id] = tokens
        self.pieces[path] = piece
        return size

    def _size(self, container: Container) -> int:
        return self.size_of_group(container.group, in_text=container.in_text)

    def size_of_group(self, group: ResolvedGroup, *, in_text: bool) -> int:
        """Return what a group takes as it is laid out now, in tokens."""
        return size_of(group, self.pieces, self.resolved.counter, in_text=in_text)

    # --- hand on --------------------------------------------------------------------------------

    def hand_on(self, container: Container, left: int, *, revive: bool = True) -> int:
        """Offer what is left to what was cut, then to what was dropped; return what remains."""
        placed = self.placed[container.id]
        for track in serving_order(container.plan, placed.used):
            left = self._grow(placed, track, left, revive=revive)
        if revive:
            left = self._revive(placed, left)
        return left

    def _grow(self, placed: Placed, track: int, left: int, *, revive: bool = True) -> int:
        used = placed.used[track]
        cap = placed.caps.get(track)
        room = left if cap is None else min(left, cap - used)
        if room <= 0:
            return left
        member = placed.container.members[track]
        if isinstance(member, Container):
            self.hand_on(member, room, revive=revive)
            size = self._size(member)
        else:
            if used + room <= self.asked[track] or self.sizes.natural(track, used) <= used:
                return left
            before = self.fitted[member.id], self.pieces[member.section.path]
            size = self._fit(member, used + room)
            if size <= used:
                self.fitted[member.id], self.pieces[member.section.path] = before
                size = used
        placed.used[track] = size
        return left - (size - used)

    def _revive(self, placed: Placed, left: int) -> int:
        """Take in dropped units whose floors fit what is left, in rank order."""
        plan, ledger = placed.container.plan, placed.ledger
        refused: set[int] = set()
        for number, unit in enumerate(plan.units):
            if all(track in ledger.floors for track in unit.tracks):
                continue
            need = ledger.need
            known = set(ledger.floors)
            if unit.within in refused or not ledger.try_unit(unit.tracks, left, self.sizes.floor):
                refused.add(number)
                continue
            left -= ledger.need - need
            for track in unit.tracks:
                floor = ledger.floors[track]
                if track in known or not floor:
                    continue
                placed.given[track] = floor
                placed.caps[track] = self._cap(placed, track, floor)
                self._put(placed, track, floor)
                left = self._grow(placed, track, left + floor - placed.used[track])
        return left

    def _cap(self, placed: Placed, track: int, floor: int) -> int | None:
        shape = placed.container.plan.tracks[track]
        if shape.kind != "share":
            return shape.ceiling
        numerator, denominator = shape.weight
        part = placed.space * numerator // denominator
        return max(floor, part if shape.ceiling is None else min(part, shape.ceiling))

    # --- count and repair -----------------------------------------------------------------------

    def run(self) -> Composed:
        """Lay out; raise if even the required floors do not fit."""
        base = self.resolved.base
        room = self.budget - base
        if room >= 0 and self.place(self.tree.root, room):
            composed = self._spread(room)
            if composed.tokens <= room:
                self._check_required(room)
                return composed
            return self._repair(room, self._kept(), composed.tokens - room)
        return self._choose_by_recount(room)

    def _check_required(self, room: int) -> None:
        """Recount what is required, where a tokenizer may count less text higher than more."""
        in_text = any(leaf.counter.lines is not None for leaf in self.tree.leaves)
        if in_text and joints_of(self.resolved.tokenizer) == "none":
            alone = Engine(self.resolved, self.tree, self.sizes, self.budget)
            needed = alone.at_floors(None).tokens
            if needed > room:
                raise alone._exceeded(needed)

    def _spread(self, room: int, *, revive: bool = True) -> Composed:
        """Hand on what is left until exact counting finds nothing more to give."""
        composed = self._compose()
        for _ in range(_SPREADS):
            left = room - composed.tokens
            if left <= 0:
                break
            if self.hand_on(self.tree.root, left, revive=revive) == left:
                break
            before, composed = composed, self._compose()
            if composed.tokens in (before.tokens, room):
                break
        return composed

    def _compose(self) -> Composed:
        return compose(self.resolved.root, self.pieces, self.resolved.counter)

    def _kept(self) -> frozenset[int]:
        floors = (placed.ledger.floors.items() for placed in self.placed.values())
        return frozenset(track for track, floor in chain.from_iterable(floors) if floor)

    def _reset(self) -> None:
        self.pieces.clear()
        self.fitted.clear()
        self.placed.clear()

    def at_floors(self, kept: frozenset[int] | None) -> Composed:
        """Lay out these tracks (or what is required) at their floors, however large they are."""
        self._reset()
        self._floor(self.tree.root, kept)
        return self._compose()

    def _floor(self, container: Container, kept: frozenset[int] | None) -> None:
        plan = container.plan
        wanted: Iterable[int] = [t for t in plan.tracks if t in kept] if kept is not None else ()
        if not wanted:
            nothing_needed = plan.required or container is self.tree.root
            wanted = plan.required if nothing_needed else self._cheapest(container)
        floors = {track: self._checked_floor(container, track) for track in wanted}
        floors = {track: floor for track, floor in floors.items() if floor}
        ledger = Ledger(plan)
        ledger.try_unit(floors, UNBOUNDED, lambda track, _: floors[track])
        placed = Placed(container, ledger, dict(floors), {}, 0)
        self.placed[container.id] = placed
        for track, floor in floors.items():
            placed.caps[track] = self._cap(placed, track, floor)
            member = container.members[track]
            if isinstance(member, Leaf):
                placed.used[track] = self._fit(member, floor)
            else:
                self._floor(member, kept)
                placed.used[track] = self._size(member)

    def _cheapest(self, container: Container) -> Iterable[int]:
        best: tuple[int, tuple[int, ...]] = (UNBOUNDED, ())
        for unit in container.plan.units:
            ledger = Ledger(container.plan)
            if ledger.try_unit(unit.tracks, best[0] - 1, self.sizes.floor) and ledger.need:
                best = ledger.need, unit.tracks
        return best[1]

    def _checked_floor(self, container: Container, track: int) -> int:
        """Return a floor; raise if it is above the section's own ceiling."""
        member = container.members[track]
        if isinstance(member, Container):
            for inner in member.plan.required:
                self._checked_floor(member, inner)
        floor = self.sizes.exact_floor(track)
        ceiling = container.plan.tracks[track].ceiling
        if ceiling is not None and floor > ceiling:
            path = path_of(member)
            raise BudgetExceededError(
                f"section {path!r} may take at most {ceiling} tokens, but the smallest size at "
                f"which it is of use is {floor}: raise its budget or let it be cut (when_over)",
                budget=ceiling,
                needed=floor,
                floors={path: floor},
                section=path,
            )
        return floor

    def _repair(self, room: int, kept: frozenset[int], excess: int) -> Composed:
        """Keep the same sections, that share less: so much less that the recount fits."""
        floors = self.at_floors(kept).tokens
        if floors > room:
            return self._choose_by_recount(room)
        reserve = excess
        for _ in range(_TRIES):
            if room - reserve <= floors:
                break
            self._reset()
            if not self.place(self.tree.root, room - reserve, kept):
                break
            composed = self._spread(room - reserve, revive=False)
            if composed.tokens <= room:
                return composed
            reserve += composed.tokens - room
        self.at_floors(kept)
        composed = self._spread(room, revive=False)  # what reservations have not used
        return composed if composed.tokens <= room else self.at_floors(kept)

    def _choose_by_recount(self, room: int) -> Composed:
        """Choose sections again, by recounting the whole at its floors; then let them share."""
        required = self.at_floors(None)
        if required.tokens > room:
            raise self._exceeded(required.tokens)
        kept = self._kept()
        refused: set[tuple[int, int]] = set()
        for container in self._containers():
            for number, unit in enumerate(container.plan.units):
                if container.id not in {self.tree.root.id, *kept}:
                    continue
                trial = kept | set(unit.tracks)
                if trial == kept:
                    continue
                if unit.within is not None and (container.id, unit.within) in refused:
                    refused.add((container.id, number))
                elif self._may_fit(unit.tracks, room) and self._fits_at_floors(trial, room):
                    kept = self._kept()
                else:
                    refused.add((container.id, number))
        return self._repair(room, kept, excess=0)

    def _may_fit(self, tracks: Iterable[int], room: int) -> bool:
        """Say whether floors are worth an exact count; joints save a few tokens of them."""
        bound = room + room // 8 + _JOINTS_SAVE
        return all(self.sizes.floor(track, bound) <= bound for track in tracks)

    def _fits_at_floors(self, kept: frozenset[int], room: int) -> bool:
        try:
            return self.at_floors(kept).tokens <= room
        except BudgetExceededError:  # a floor above its own ceiling
            return False

    def _containers(self) -> list[Container]:
        """Return all containers, outer ones before those in them, in rank order."""
        found = [self.tree.root]
        for container in found:
            members = (container.members[track] for track in container.plan.tracks)
            found += [member for member in members if isinstance(member, Container)]
        return found

    def _exceeded(self, tokens: int) -> BudgetExceededError:
        """Describe that what is required needs more than the budget."""
        base = self.resolved.base
        floors = {path_of(self.tree.root.members[t]): used for t, used in self._required().items()}
        listed = ", ".join(f"{path!r} {size}" for path, size in floors.items())
        needed = base + tokens
        around = f"{base} for reply priming and tools" if base else ""
        parts = "; ".join(part for part in (listed, around) if part)
        return BudgetExceededError(
            f"the budget is {self.budget} tokens, but what is required needs at least {needed}: "
            f"{parts}",
            budget=self.budget,
            needed=needed,
            floors=floors,
        )

    def _required(self) -> dict[int, int]:
        return self.placed[self.tree.root.id].used


_TRIES = 3
_JOINTS_SAVE = 16
_SPREADS = 3


def _ask(leaf: Leaf, tokens: int) -> Fitted:
    """Ask a block for its messages, and for what it has to say about them if it can."""
    block = leaf.block
    place = cast("Callable[..., Fitted] | None", getattr(block, "place", None))
    if place is not None:
        return place(leaf.counter, tokens)
    messages = tuple(block.fit(leaf.counter, tokens))
    for message in messages:
        if not isinstance(message, Message):  # pyright: ignore[reportUnnecessaryIsInstance]
            path, kind = leaf.section.path, type(message).__name__
            raise LayoutError(
                f"section {path!r}: {type(block).__name__}.fit() returned {kind} among its "
                "messages: return Message values",
                section=path,
            )
    return Fitted(messages)


def engine_for(resolved: ResolvedContent, budget: int) -> Engine:
    """Prepare a layout."""
    tree = build(resolved)
    return Engine(resolved, tree, Sizes(tree), budget)
