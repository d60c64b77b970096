"""Make placements: read off an engine what happened to every section, and why."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, cast

from attrs import evolve

from promptsections.blocks import Fitted
from promptsections.budgets import Auto, Rest, Share, Tokens
from promptsections.layout.engine import Engine
from promptsections.layout.placement import Outcome, Placement, Reason
from promptsections.layout.resolved import ResolvedGroup, ResolvedNode, ResolvedSection
from promptsections.layout.text_form import remarks
from promptsections.layout.tree import Container, Leaf
from promptsections.notes import Note
from promptsections.sections.stability import least_stable


class Reporter:
    """Reads one finished engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._given: dict[int, int] = {}
        self._entered: set[int] = set()
        for placed in engine.placed.values():
            self._given |= placed.given
            self._entered |= placed.ledger.floors.keys()
        self._bonded: set[int] = set()

    @property
    def space(self) -> int:
        """What content-sized sections of the prompt itself left for shares and rests, in tokens."""
        placed = self._engine.placed.get(self._engine.tree.root.id)
        return placed.space if placed is not None else 0

    def placements(self) -> tuple[Placement, ...]:
        """Return the placements of the prompt's sections, nested, in document order."""
        group = self._engine.resolved.root
        in_text = self._engine.resolved.profile.form == "text"
        return self._children(group, in_text=in_text, group_kept=True)

    def notes(self) -> tuple[Note, ...]:
        """Return what is to be said about what is sent, in document order."""
        found: list[Note] = []
        for leaf in self._engine.tree.leaves:
            fitted = self._engine.fitted.get(leaf.id) or self._emptied(leaf)
            if fitted is not None:
                path = leaf.section.path
                found += [evolve(note, path=path) for note in fitted.notes]
                found += remarks(path, fitted.messages, leaf.counter)
        return tuple(found)

    def _children(
        self, group: ResolvedGroup, *, in_text: bool, group_kept: bool
    ) -> tuple[Placement, ...]:
        inside = in_text or group.role is not None
        return tuple(
            self._group(child, in_text=inside, group_kept=group_kept)
            if isinstance(child, ResolvedGroup)
            else self._section(child, group_kept=group_kept)
            for child in group.children
        )

    # --- sections ---------------------------------------------------------------------------------

    def _section(self, section: ResolvedSection, *, group_kept: bool) -> Placement:
        failure = section.failure
        if failure is not None:
            reason = Reason(failure.reason)
            outcome: Outcome = "empty" if reason is Reason.MISSING else "failed"
            error = failure.error
            described = f"{type(error).__name__}: {error}" if error is not None else None
            return _placement(section, outcome, reason, failure.message, error=described)
        if section.path in self._engine.tree.broken:
            message = "the other half of a call and its result is not there"
            return _placement(section, "dropped", Reason.CALL_DROPPED, message)
        leaf = self._engine.tree.by_path.get(section.path)
        if leaf is None:
            return _placement(section, "empty", Reason.EMPTY, "it has nothing to say")
        piece = self._engine.pieces.get(section.path)
        if piece is not None and piece.messages:
            return self._kept(leaf, piece.tokens)
        floor = self._engine.sizes.floors[leaf.id]
        if leaf.id in self._entered or (floor.is_exact and floor.tokens == 0):
            emptied = self._emptied(leaf) or Fitted(())
            said = "it has nothing to say"
            return _placement(section, "empty", Reason.EMPTY, said, omitted=emptied.omitted)
        return self._dropped(leaf, group_kept=group_kept)

    def _emptied(self, leaf: Leaf) -> Fitted | None:
        """Return what a block says that has left out all it had, such as a history of no use."""
        floor = self._engine.sizes.floors.get(leaf.id)
        place = getattr(leaf.block, "place", None)
        if place is None or floor is None or not floor.is_exact or floor.tokens:
            return None
        return cast("Fitted", place(leaf.counter, 0))

    def _kept(self, leaf: Leaf, used: int) -> Placement:
        sizes, fitted = self._engine.sizes, self._engine.fitted[leaf.id]
        whole = sizes.natural(leaf.id, max(used, 1)) <= max(used, 1)
        outcome, reason, message = self._how(leaf, used, whole=whole)
        return _placement(
            leaf.section,
            outcome,
            reason,
            message,
            self._numbers(leaf),
            used=used,
            items=fitted.items,
            omitted=fitted.omitted,
            omitted_is_exact=fitted.omitted_is_exact,
        )

    def _how(
        self, member: Leaf | Container, used: int, *, whole: bool
    ) -> tuple[Outcome, Reason, str]:
        if whole:
            return "whole", Reason.FITS, "all of it is sent"
        budget = _node(member).budget
        given = self._given.get(member.id, used)
        if budget.ceiling is not None and max(given, used) >= budget.ceiling:
            return "cut", Reason.OWN_LIMIT, f"cut to its own limit of {budget.ceiling} tokens"
        match budget:
            case Share(fraction=fraction):
                part = f"{fraction.numerator}/{fraction.denominator}"
                return "cut", Reason.SHARE, f"cut to its share, {part} of what fixed sections leave"
            case Rest():
                return "cut", Reason.REST, "cut to what the other sections leave"
            case Auto() | Tokens():
                return "cut", Reason.NO_ROOM, "cut to the room there is"

    def _dropped(self, leaf: Leaf, *, group_kept: bool) -> Placement:
        numbers = self._numbers(leaf)
        floor = self._engine.sizes.floors[leaf.id]
        needs = (
            f"needs {'at least' if floor.is_exact else 'more than'} {max(floor.tokens, 0)} tokens"
        )
        bond = self._bonds.get(leaf.id)
        if not group_kept:
            reason, message = Reason.GROUP_DROPPED, "the group that it stands in is left out"
        elif bond is not None and bond in self._bonded:
            reason, message = Reason.CALL_DROPPED, "the call that it belongs to is left out"
        else:
            reason, message = Reason.NO_ROOM, f"{needs}, more than there was left"
        if bond is not None:
            self._bonded.add(bond)
        return _placement(leaf.section, "dropped", reason, message, numbers)

    @cached_property
    def _bonds(self) -> dict[int, int]:
        """Leaf → number of what is sent together with it."""
        plans = (container.plan for container in self._engine.tree.containers.values())
        tracks = (track for plan in plans for track in plan.tracks.values())
        return {track.id: track.bond for track in tracks if track.bond is not None}

    def _numbers(self, member: Leaf | Container) -> _Numbers:
        node = _node(member)
        floor, natural = (
            self._engine.sizes.floors[member.id],
            self._engine.sizes.naturals[member.id],
        )
        reserved = node.budget.at_least
        smallest = max(floor.tokens, 0)
        if reserved is not None:  # if natural is only known to be more, this is at least so
            smallest = max(smallest, min(reserved, natural.tokens))
        given = self._given.get(member.id, 0)
        return _Numbers(smallest, max(natural.tokens, 0), natural.is_exact, given)

    # --- groups -----------------------------------------------------------------------------------

    def _group(self, group: ResolvedGroup, *, in_text: bool, group_kept: bool) -> Placement:
        engine = self._engine
        used = engine.size_of_group(group, in_text=in_text)
        container = engine.tree.containers.get(group.path)
        comes_whole = container is not None or (
            not group.required and any(child.required for child in group.children)
        )
        kept = group_kept and (used > 0 or not comes_whole)
        children = self._children(group, in_text=in_text, group_kept=kept)
        numbers = self._numbers(container) if container else _summed(children)
        outcome, reason, message = _together(children)
        if outcome == "dropped" and not group_kept:
            reason, message = Reason.GROUP_DROPPED, "the group that it stands in is left out"
        if outcome == "cut" and container is not None:
            outcome, reason, message = self._how(container, used, whole=False)
        return _placement(group, outcome, reason, message, numbers, used=used, children=children)


def _node(member: Leaf | Container) -> ResolvedNode:
    return member.section if isinstance(member, Leaf) else member.group


class _Numbers(NamedTuple):
    """What a placement says of sizes, in tokens."""

    floor: int = 0
    natural: int = 0
    natural_is_exact: bool = True
    given: int = 0


_NO_NUMBERS = _Numbers()


def _placement(
    node: ResolvedNode,
    outcome: Outcome,
    reason: Reason,
    message: str,
    numbers: _Numbers = _NO_NUMBERS,
    *,
    used: int = 0,
    error: str | None = None,
    items: tuple[str, ...] = (),
    omitted: int = 0,
    omitted_is_exact: bool = True,
    children: tuple[Placement, ...] = (),
) -> Placement:
    return Placement(
        path=node.path,
        name=node.name,
        kind=node.kind,
        required=node.required,
        priority=node.priority,
        budget=node.budget,
        floor=numbers.floor,
        natural=numbers.natural,
        natural_is_exact=numbers.natural_is_exact,
        given=numbers.given,
        used=used,
        outcome=outcome,
        reason=reason,
        message=message,
        error=error,
        items=items,
        omitted=omitted,
        omitted_is_exact=omitted_is_exact,
        stability=(
            node.stability
            if isinstance(node, ResolvedSection)
            else least_stable(child.stability for child in children)
        ),
        children=children,
    )


def _summed(children: Sequence[Placement]) -> _Numbers:
    """Add up what stands in a group that only joins."""
    kept = any(child.kept for child in children)
    needed = (child for child in children if child.required and (child.kept or not kept))
    return _Numbers(
        floor=sum(child.floor for child in needed),  # a group may be required that requires nothing
        natural=sum(child.natural for child in children),
        natural_is_exact=all(child.natural_is_exact for child in children),
        given=sum(child.given for child in children),
    )


def _together(children: Sequence[Placement]) -> tuple[Outcome, Reason, str]:
    outcomes = {child.outcome for child in children}
    if outcomes <= {"empty"}:
        return "empty", Reason.EMPTY, "it has nothing to say"
    if outcomes <= {"whole", "empty"}:
        return "whole", Reason.FITS, "all of it is sent"
    if outcomes & {"whole", "cut"}:
        return "cut", Reason.NO_ROOM, "some of it is sent"
    if "dropped" in outcomes:
        return "dropped", Reason.NO_ROOM, "nothing in it fits"
    return "failed", Reason.FAILED, "nothing in it could be produced"
