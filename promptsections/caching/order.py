"""`order="cache"`: what stays the same for longer comes first, as far as a conversation allows.

It moves instructions alone. What the user, the assistant and tools say keeps its order, since that
is what a conversation is; so do sections whose role is known only when they resolve. It sizes
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define

from promptsections.sections import (
    CacheBreakpoint,
    ConversationHistory,
    Declared,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    PromptSection,
)
from promptsections.sections.stability import GROWS, RANK, Stability


def in_cache_order(group: GroupSection, declared: Declared) -> Sequence[int]:
    """Return the places of a group's sections, in the order in which they are sent.

    An instruction goes before the first part of the conversation that is less stable, or as stable
    and behind it as the author wrote them; instructions beside each other are sorted, and equal
    ones keep their order.
    """
    if group.order == "author":
        return range(len(group.sections))
    units = _units(group, declared)
    fixed = [unit for unit in units if not unit.moves]
    before: list[list[_Unit]] = [[] for _ in range(len(fixed) + 1)]
    passed = 0
    for unit in units:
        if not unit.moves:
            passed += 1
            continue
        slot = next(
            (n for n, other in enumerate(fixed) if _goes_before(unit, other, is_ahead=n >= passed)),
            len(fixed),
        )
        if slot == len(fixed) and passed < slot:
            slot -= 1  # who spoke last still does
        before[slot].append(unit)
    ordered: list[int] = []
    for slot, moved in enumerate(before):
        for unit in sorted(moved, key=lambda unit: unit.rank):
            ordered += unit.places
        if slot < len(fixed):
            ordered += fixed[slot].places
    return ordered


@define
class _Unit:
    """Sections that stay beside each other: a call with its results, a place and its mark."""

    places: list[int]
    rank: float
    moves: bool
    """Whether it may change places with the conversation."""
    waits: bool
    """Whether a call in it may still get results."""


def _goes_before(unit: _Unit, fixed: _Unit, *, is_ahead: bool) -> bool:
    """Say whether an instruction goes before a part of the conversation."""
    return unit.rank < fixed.rank or (unit.rank == fixed.rank and is_ahead)


def _units(group: GroupSection, declared: Declared) -> list[_Unit]:
    units: list[_Unit] = []
    for place, section in enumerate(group.sections):
        rank = rank_of(section, section.how_stable(declared))
        answers = isinstance(section, FunctionResponseMessage)
        if units and (isinstance(section, CacheBreakpoint) or answers or units[-1].waits):
            last = units[-1]
            last.places.append(place)
            if not isinstance(section, CacheBreakpoint):
                last.rank = max(last.rank, rank)
                last.waits = isinstance(section, FunctionCallMessage)
            continue
        moves = group.role is not None or _is_instruction(section)
        units.append(_Unit([place], rank, moves, isinstance(section, FunctionCallMessage)))
    return units


def rank_of(section: PromptSection, stability: Stability) -> float:
    """Return what orders sections: a higher one is less stable; histories stay and grow."""
    return GROWS if stability == "session" and _grows(section) else RANK[stability]


def _grows(section: PromptSection) -> bool:
    if isinstance(section, GroupSection):
        return any(map(_grows, section.sections))
    return isinstance(section, ConversationHistory)


def _is_instruction(section: PromptSection) -> bool:
    """Whether all that a section says is the system's, for certain."""
    if isinstance(section, GroupSection) and section.role is None:
        return all(map(_is_instruction, section.sections))
    return getattr(section, "role", None) in ("system", "developer")
