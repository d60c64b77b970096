"""Marks for the provider's prompt cache: which block of a request carries which.

A plan says behind which message a mark stands. Here a block is found that may carry it, and the
rules that all providers with marks have are kept: only so many, none on an empty block, and none
that is kept for longer than one before it. It knows no provider's keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from promptsections.caching import CachePlan, Mark
from promptsections.errors import DefinitionError
from promptsections.notes import Note
from promptsections.profiles.caching import lifetime_seconds
from promptsections.providers.plain import Block
from promptsections.providers.source import Source
from promptsections.providers.turns import Piece

MOST = 4
"""Marks of a request, those of tools, system and messages together; more are refused."""


@frozen
class Placed:
    """A mark and the block that carries it."""

    mark: Mark
    blocks: list[Block] | None
    """The blocks of a message; `None` for the definitions of tools."""
    at: int = -1
    """Index of the block that carries it."""
    lifetime: str | None = None
    """Name of how long it is kept; `None` is what the provider does by itself."""

    @property
    def block(self) -> Block:
        """The block that carries the mark of a message."""
        assert self.blocks is not None
        return self.blocks[self.at]


@frozen(eq=False)
class Kept:
    """A mark that a message brought along."""

    in_system: bool
    remove: Callable[[], object]
    """Takes it away."""


def plan_of(source: Source, plan: CachePlan | None) -> CachePlan | None:
    """Return what is said to the cache; `None` if nobody decided anything.

    Raises:
        DefinitionError: if a rendered prompt, which has its own plan, comes with another.
    """
    own = getattr(source, "cache_plan", None)
    if not isinstance(own, CachePlan):
        return plan
    if plan is not None and plan != own:
        raise DefinitionError("cache_plan= is for bare messages: this prompt has a plan of its own")
    return own


def place(
    plan: CachePlan,
    messages: Sequence[Piece],
    can_carry: Callable[[Piece, int], bool],
    *,
    system: int,
    has_tools: bool,
    lifetimes: Sequence[str],
    notes: list[Note],
    field: str | None = None,
) -> list[Placed]:
    """Find blocks for the marks of a plan, in the order in which they are sent.

    What is left out is noted as `cache_mark_dropped`, what has no place where it was wished as
    `cache_mark_moved`.

    Args:
        plan: the marks.
        messages: the blocks of each message, in order.
        can_carry: whether a block, by its index in a message, may carry a mark.
        system: how many messages stand in front of the conversation.
        has_tools: whether there are definitions of tools.
        lifetimes: names of times that the provider takes, the one that it takes by itself first.
        notes: gets the notes.
        field: the plan's, if it is for this provider.
    """
    if plan.field != field:
        without_marks(plan, notes)
        return []
    placed: list[Placed] = []
    for mark in _at_most(sorted(plan.marks, key=_order), system, notes):
        if mark.after < 0:
            found = Placed(mark, None) if has_tools else None
        else:
            found = _place_one(mark, messages, can_carry, notes)
        if found is None:
            detail = f"nothing up to {_named(mark)} can carry a mark"
            notes.append(Note("cache_mark_dropped", mark.path, detail))
        elif any(p.blocks is found.blocks and p.at == found.at for p in placed):
            detail = f"the block of {_named(mark)} carries a mark already"
            notes.append(Note("cache_mark_dropped", mark.path, detail))
        else:
            placed.append(found)
    return _falling(placed, lifetimes, notes)


def _order(mark: Mark) -> tuple[int, float]:
    return mark.after, float("inf") if mark.part is None else mark.part


def _named(mark: Mark) -> str:
    where = "the tools" if mark.after < 0 else f"message {mark.after}"
    return f"{where} ({mark.path!r})" if mark.path else where


def _at_most(marks: Sequence[Mark], system: int, notes: list[Note]) -> list[Mark]:
    """Keep as many as are taken: the last of tools, system and messages, then from the end."""
    last = {_place_of(mark, system): number for number, mark in enumerate(marks)}
    others = [n for n in range(len(marks) - 1, -1, -1) if n not in last.values()]
    kept = {*[*last.values(), *others][:MOST]}
    for number, mark in enumerate(marks):
        if number not in kept:
            detail = f"a request may carry {MOST} marks; the one behind {_named(mark)} is left out"
            notes.append(Note("cache_mark_dropped", mark.path, detail))
    return [mark for number, mark in enumerate(marks) if number in kept]


def _place_of(mark: Mark, system: int) -> str:
    if mark.after < 0:
        return "tools"
    return "system" if mark.after < system else "messages"


def _place_one(
    mark: Mark,
    messages: Sequence[Piece],
    can_carry: Callable[[Piece, int], bool],
    notes: list[Note],
) -> Placed | None:
    """Find the last block up to a place that may carry a mark."""
    for piece in reversed(messages):
        if piece.index > mark.after:
            continue
        if piece.index < mark.not_before:
            return None
        here = piece.index == mark.after
        end = len(piece.blocks) if mark.part is None or not here else mark.part + 1
        for at in range(min(end, len(piece.blocks)) - 1, -1, -1):
            if can_carry(piece, at):
                if not here or at + 1 != end:
                    detail = f"the mark of {_named(mark)} stands behind message {piece.index}"
                    notes.append(Note("cache_mark_moved", mark.path, detail))
                return Placed(mark, piece.blocks, at)
    return None


def _falling(placed: Sequence[Placed], lifetimes: Sequence[str], notes: list[Note]) -> list[Placed]:
    """Keep each mark for at least as long as the ones behind it."""
    found: list[Placed] = []
    longest = lifetimes[0]
    for each in reversed(placed):
        mark = each.mark
        name = lifetimes[0] if mark.lifetime is None else mark.lifetime.name
        if name not in lifetimes:
            detail = f"{name} is not known to this provider, so it is kept for {lifetimes[0]}"
            notes.append(Note("cache_lifetime_changed", mark.path, detail))
            name = lifetimes[0]
        if lifetime_seconds(name) < lifetime_seconds(longest):
            detail = f"kept for {longest}, since a mark behind it is: times never rise"
            notes.append(Note("cache_lifetime_raised", mark.path, detail))
            name = longest
        longest = name
        found.append(evolve(each, lifetime=None if name == lifetimes[0] else name))
    return found[::-1]


def limit_kept(kept: Sequence[Kept], notes: list[Note]) -> None:
    """Remove marks that messages brought along, where there are more than a request may carry."""
    wanted = {mark.in_system: mark for mark in kept}
    others = [mark for mark in reversed(kept) if mark not in wanted.values()]
    for mark in [*wanted.values(), *others][MOST:]:
        mark.remove()
        detail = f"a request may carry {MOST} marks; one that a message brought along is left out"
        notes.append(Note("cache_mark_dropped", "", detail))


def without_marks(plan: CachePlan | None, notes: list[Note]) -> None:
    """Say that the format has no marks, where a plan has some."""
    if plan is not None and plan.marks:
        detail = f"{len(plan.marks)} marks of the prompt are for another provider's cache"
        notes.append(Note("cache_mark_dropped", "", detail))
