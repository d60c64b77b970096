"""Law 5 as an assert: after a layout nothing more fits that was cut or left out.

It grows each section and takes in each unit that was left out, one by one, in a finished layout.
Something is waste if it fits by the sum of its parts, and the whole with it, counted anew, fits as
well. (Where texts are joined, a whole may have fewer tokens than its parts, so that a sum says no
and a recount would say yes. A layout goes by sums there.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from promptsections.errors import BudgetExceededError
from promptsections.layout import Engine, engine_for
from promptsections.layout.compose import Pieces, compose, measure_piece, size_of
from promptsections.layout.tree import Container, Leaf, path_of
from promptsections.rendered import Resolved
from promptsections.solver import Ledger


def assert_no_waste(resolved: Resolved, budget: int | None = None) -> None:
    """Assert law 5 of one layout.

    No cut section's next unit (word, line, chunk, exchange) and no dropped section's floor fits
    what is left, within its limits and those of the groups around it.

    Args:
        resolved: What `Renderer.resolve()` returned.
        budget: In tokens; by default the one that it was resolved for. At least the minimum.
    """
    engine = engine_for(resolved, resolved.budget if budget is None else budget)
    composed = engine.run()
    left = engine.budget - resolved.base - composed.tokens
    for around in _kept(engine, engine.tree.root, (), left):
        for complaint in (*_cut(around), *_dropped(around)):
            raise AssertionError(f"no waste: {left} tokens are left, and {complaint}")


@frozen
class _Around:
    """A container that is kept, and the containers that it stands in, the prompt first."""

    engine: Engine
    containers: tuple[Container, ...]
    left: int
    """Tokens that are left here, by the limits of all of them."""

    @property
    def innermost(self) -> Container:
        return self.containers[-1]

    def fits(self, pieces: Pieces, reserved: int = 0) -> bool:
        """Say whether these pieces, and so many tokens more, fit the budget and all limits."""
        engine = self.engine
        counter, root = engine.resolved.counter, engine.resolved.root
        room = engine.budget - engine.resolved.base
        if compose(root, pieces, counter).tokens + reserved > room:
            return False
        for outer, inner in zip(self.containers, self.containers[1:], strict=False):
            cap = engine.placed[outer.id].caps[inner.id]
            size = size_of(inner.group, pieces, counter, in_text=inner.in_text)
            if cap is not None and size + reserved > cap:
                return False
        return True


def _kept(
    engine: Engine, container: Container, outer: tuple[Container, ...], left: int
) -> Iterator[_Around]:
    around = _Around(engine, (*outer, container), left)
    yield around
    placed = engine.placed[container.id]
    for track in placed.used:
        member, cap = container.members[track], placed.caps[track]
        if isinstance(member, Container):
            used = engine.size_of_group(member.group, in_text=member.in_text)
            inside = left if cap is None else min(left, cap - used)
            yield from _kept(engine, member, around.containers, inside)


def _cut(around: _Around) -> Iterator[str]:
    """Find sections that could be sent larger."""
    engine, placed = around.engine, around.engine.placed[around.innermost.id]
    for track, used in placed.used.items():
        member = around.innermost.members[track]
        cap = placed.caps[track]
        room = around.left if cap is None else min(around.left, cap - used)
        if not isinstance(member, Leaf) or room <= 0:
            continue
        path = member.section.path
        piece = measure_piece(member.block.fit(member.counter, used + room), member.counter)
        if piece.tokens > used and around.fits({**engine.pieces, path: piece}):
            yield f"{path!r} is sent in {used} tokens and could be in {piece.tokens}"


def _dropped(around: _Around) -> Iterator[str]:
    """Find what was left out and could be sent."""
    engine, plan = around.engine, around.innermost.plan
    kept = frozenset(engine.placed[around.innermost.id].ledger.floors)
    everything = frozenset(
        track for placed in engine.placed.values() for track in placed.ledger.floors
    )
    for unit in plan.units:
        new = [track for track in unit.tracks if track not in kept]
        guard = unit.within
        if not new or (guard is not None and not kept.issuperset(plan.units[guard].tracks)):
            continue
        trial = engine_for(engine.resolved, engine.budget)
        try:
            trial.at_floors(everything | set(new))
        except BudgetExceededError:  # a floor above its own ceiling
            continue
        floors = {track: trial.sizes.exact_floor(track) for track in new}
        if _brought(around, floors) > around.left:
            continue
        sizes = trial.placed[around.innermost.id].used
        reserved = sum(floor - sizes.get(track, 0) for track, floor in floors.items())
        added = {path: piece for path, piece in trial.pieces.items() if path not in engine.pieces}
        if added and around.fits({**engine.pieces, **added}, reserved):
            names = ", ".join(repr(path_of(around.innermost.members[track])) for track in new)
            yield f"{names} could be sent"


def _brought(around: _Around, floors: Mapping[int, int]) -> int:
    """Add up what tracks bring when they are taken in: floors, separators, wrappers."""
    placed = around.engine.placed[around.innermost.id]
    ledger = Ledger(around.innermost.plan)
    for track, floor in placed.ledger.floors.items():
        ledger.enter(track, floor)
    before = ledger.need
    for track, floor in floors.items():
        ledger.enter(track, floor)
    return ledger.need - before
