"""Which sections a layout keeps and what each is given, worked out without the solver.

Sections are chosen by the size of whole trees; shares are handed out one token at a time. It holds
among messages, with a tokenizer that adds up: nothing is repaired there.
"""

from __future__ import annotations

from solver_oracles import chosen, cost, demanded, shared, together, tracks_of

from promptsections.layout.resolved import ResolvedContent
from promptsections.layout.tree import Container, Leaf, build
from promptsections.solver import Join

PLENTY = 10**6
NEVER = 10**7
"""The floor of what can never be kept, in tokens."""


def given_by_law(resolved: ResolvedContent, budget: int) -> dict[str, int] | None:
    """Return path → tokens of all sections that are kept before anything is handed on."""
    root = build(resolved).root
    found: dict[str, int] = {}
    return found if _divide(root, budget - resolved.base, found) else None


def _divide(container: Container, tokens: int, found: dict[str, int]) -> bool:
    tree, room = container.plan.root, tokens - container.wrapper
    sizes = {track: _sizes(member) for track, member in container.members.items()}
    kept = chosen(tree, room, sizes) if room >= 0 else None
    if kept is None:
        return False
    for track, size in shared(tree, room, sizes, kept).items():
        member = container.members[track]
        if isinstance(member, Leaf):
            found[member.section.path] = size
        else:
            found[member.group.path] = size
            assert _divide(member, size, found)
    return True


def _sizes(member: Leaf | Container) -> tuple[int, int]:
    """Return floor, reservation included, and natural size, in tokens."""
    if isinstance(member, Leaf):
        floor, natural = member.block.measure(member.counter, PLENTY)
        if not natural and member.block.fit(member.counter, PLENTY):
            natural = 1  # what costs nothing is still there
        floor = max(floor, min(natural, 1))
        budget = member.section.budget
    else:
        floor, natural = _floor(member), _natural(member)
        budget = member.group.budget
    if floor and budget.at_least is not None:
        floor = max(floor, min(budget.at_least, natural))
    return floor, natural


def _natural(container: Container) -> int:
    tree = container.plan.root
    sizes = {track: _sizes(member) for track, member in container.members.items()}
    naturals: dict[int, int] = {}
    for track in tracks_of(tree):
        floor, natural = sizes[track.id]
        if track.ceiling is not None and natural > track.ceiling:
            natural = track.ceiling if floor <= track.ceiling else 0
        naturals[track.id] = natural
    total = cost(tree, naturals)
    return container.wrapper + total if total else 0


def _floor(container: Container) -> int:
    """Return what a group requires, or if that is nothing, its cheapest section; with wrapper."""
    tree = container.plan.root
    sizes = {track: _sizes(member) for track, member in container.members.items()}
    if not any(floor for floor, _ in sizes.values()):
        return 0
    needed = _cost_of(tree, together(tree, demanded(tree)), sizes)
    if needed:
        return container.wrapper + needed
    ways = (_cost_of(tree, together(tree, {track.id}), sizes) for track in tracks_of(tree))
    return container.wrapper + min(filter(None, ways))


def _cost_of(tree: Join, kept: set[int], sizes: dict[int, tuple[int, int]]) -> int:
    floors = {track.id: sizes[track.id][0] for track in tracks_of(tree) if track.id in kept}
    ceilings = {track.id: track.ceiling for track in tracks_of(tree)}
    for track, floor in floors.items():
        ceiling = ceilings[track]
        if ceiling is not None and floor > ceiling:
            return NEVER
    return cost(tree, floors)
