"""What divides what in a prompt, by which rules; the same while the same sections have content.

It knows groups, budgets and bonds; it knows no content and no sizes but separators and wrappers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import assert_never

from attrs import define, field, frozen

from promptsections.budgets import Auto, Budget, Rest, Share, Tokens
from promptsections.counting import Counter
from promptsections.errors import LayoutError
from promptsections.layout.resolved import ResolvedGroup, ResolvedNode, ResolvedSection
from promptsections.messages import Message
from promptsections.solver import Join, Kind, Plan, Track


@frozen(eq=False)
class Shape:
    """A group that divides what it is given, or the prompt."""

    id: int
    plan: Plan
    """Its tracks are ids of sections and of groups."""
    wrapper: int
    """Tokens of its own, if anything in it is sent."""
    required: bool
    """Whether it must be sent: declared so, and something in it is required."""


def shapes(
    root: ResolvedGroup,
    counter: Counter,
    ids: Mapping[str, int],
    insisting: Collection[str],
    bonds: Mapping[str, int],
) -> dict[str, Shape]:
    """Make the plans of a prompt.

    Args:
        root: the prompt.
        counter: counts separators and wrappers.
        ids: path → id of each section that has content.
        insisting: paths of those that must be sent whatever is declared.
        bonds: path → number of what is sent together.

    Returns:
        Path → shape, inner groups before outer ones.

    Raises:
        LayoutError: if a group with a budget of its own parts a call from its result.
    """
    shaper = _Shaper(counter, ids, insisting, bonds)
    shaper.shape(root, in_text=counter.lines is not None)
    _check_bonds(shaper.found)
    return shaper.found


@define(eq=False)
class _Shaper:
    counter: Counter
    ids: Mapping[str, int]
    insisting: Collection[str]
    bonds: Mapping[str, int]
    found: dict[str, Shape] = field(factory=dict[str, Shape])

    def shape(self, group: ResolvedGroup, *, in_text: bool) -> Shape:
        """Make the plan of a group, and before it those of the groups in it."""
        wrapper, separator = self._costs(group, in_text=in_text)
        children = self._children(group, in_text=in_text)
        join = Join(children, separator)
        number = max(self.ids.values(), default=0) + len(self.found) + 1
        shape = Shape(number, Plan(join), wrapper, group.required and _demands(join))
        self.found[group.path] = shape
        return shape

    def _costs(self, group: ResolvedGroup, *, in_text: bool) -> tuple[int, int]:
        """Return what a group costs around its children, and between two of them, in tokens."""
        if not in_text and group.role is None:
            return 0, 0
        count = self.counter.count
        framing = 0
        if not in_text and group.role is not None:
            framing = self.counter.framing(Message(group.role, ""))
        around = (text for text in (group.prefix, group.suffix) if text)
        wrapper = framing + sum(map(count, around))
        return wrapper, count(group.separator) if group.separator else 0

    def _children(self, group: ResolvedGroup, *, in_text: bool) -> tuple[Track | Join, ...]:
        in_text = in_text or group.role is not None
        found: list[Track | Join] = []
        for child in group.children:
            if isinstance(child, ResolvedSection):
                number = self.ids.get(child.path)
                if number is not None:
                    required = child.required or child.path in self.insisting
                    bond = self.bonds.get(child.path)
                    found.append(_track(child, number, required=required, bond=bond))
            elif child.limits_itself:
                shape = self.shape(child, in_text=in_text)
                found.append(_track(child, shape.id, required=shape.required))
            else:
                wrapper, separator = self._costs(child, in_text=in_text)
                children = self._children(child, in_text=in_text)
                required = child.required or self._insists(child)
                found.append(Join(children, separator, wrapper, required, child.priority))
        return tuple(found)

    def _insists(self, group: ResolvedGroup) -> bool:
        """Whether a turn under way is in a group, which is required even if the group is not."""
        return any(
            child.path in self.insisting
            if isinstance(child, ResolvedSection)
            else not child.limits_itself and self._insists(child)
            for child in group.children
        )


def _track(node: ResolvedNode, number: int, *, required: bool, bond: int | None = None) -> Track:
    kind, weight = _rule(node.budget)
    return Track(number, kind, weight, node.budget.ceiling, required, node.priority, bond)


def _rule(budget: Budget) -> tuple[Kind, tuple[int, int]]:
    """Return how a budget takes part in the division, and with which weight."""
    match budget:
        case Auto() | Tokens():
            return "content", (1, 1)
        case Share(fraction=fraction):
            return "share", fraction.as_integer_ratio()
        case Rest(weight=weight):
            return "rest", weight.as_integer_ratio()
        case _:
            assert_never(budget)


def _demands(join: Join) -> bool:
    """Whether anything in a group is required."""
    return any(
        child.required and (isinstance(child, Track) or _demands(child)) for child in join.children
    )


def _check_bonds(found: Mapping[str, Shape]) -> None:
    homes: dict[int, str] = {}
    for path, shape in found.items():
        for track in shape.plan.tracks.values():
            if track.bond is not None and homes.setdefault(track.bond, path) != path:
                path = path or homes[track.bond]  # one of them is the prompt itself
                raise LayoutError(
                    f"group {path!r} has a budget of its own and holds one half of a call and its "
                    "result: put both in the same group",
                    section=path,
                )
