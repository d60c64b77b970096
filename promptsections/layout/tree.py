"""A resolved prompt, prepared for layout: leaves with their counters, containers with their plans.

A *container* is the prompt itself or a group with a budget of its own; it divides what it is given.
Other groups only join. Everything here depends on the content alone, never on a budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from attrs import evolve, frozen

from promptsections.blocks import Block, HistoryBlock, MessagesBlock, TextBlock
from promptsections.budgets import Auto, Rest, Share, Tokens
from promptsections.counting import Counter
from promptsections.errors import LayoutError
from promptsections.layout.resolved import (
    ResolvedContent,
    ResolvedGroup,
    ResolvedNode,
    ResolvedSection,
)
from promptsections.messages import Message
from promptsections.solver import Join, Kind, Plan, Track


@frozen(eq=False)
class Leaf:
    """A section with content, and how things count where it stands."""

    id: int
    section: ResolvedSection
    block: Block
    counter: Counter

    @property
    def required(self) -> bool:
        """Whether it must be sent: declared so, or the user's turn under way is in it."""
        return self.section.required or self.insists

    @property
    def insists(self) -> bool:
        """Whether the user's turn under way is in it, which is never left out."""
        return isinstance(self.block, HistoryBlock) and self.block.must_send


@frozen(eq=False)
class Container:
    """A group that divides what it is given, or the prompt."""

    id: int
    group: ResolvedGroup
    plan: Plan
    members: dict[int, Leaf | Container]
    """Track of the plan → what it stands for."""
    wrapper: int
    """Tokens of its own, if anything in it is sent."""
    in_text: bool
    """Whether the group itself stands in a text."""
    required: bool
    """Whether it must be sent: declared so, and something in it is required."""


def path_of(member: Leaf | Container) -> str:
    """Return the path of a leaf or container."""
    return member.section.path if isinstance(member, Leaf) else member.group.path


@frozen(eq=False)
class Tree:
    """The whole prompt."""

    root: Container
    leaves: tuple[Leaf, ...]
    """In document order."""
    containers: dict[str, Container]
    """By path."""
    by_path: dict[str, Leaf]
    broken: frozenset[str]
    """Paths of optional sections whose call or result is not there."""


class _Builder:
    def __init__(self, resolved: ResolvedContent) -> None:
        self.counter = resolved.counter
        self.leaves: list[Leaf] = []
        self.bonds: dict[str, int] = {}
        self.by_path: dict[str, Leaf] = {}
        self.containers: dict[str, Container] = {}
        self.number = 0

    def next_id(self) -> int:
        self.number += 1
        return self.number

    def enlist(self, node: ResolvedNode, *, in_text: bool) -> None:
        """Collect the leaves in document order, so that calls find their results."""
        if isinstance(node, ResolvedGroup):
            inside = in_text or node.role is not None
            for child in node.children:
                self.enlist(child, in_text=inside)
        elif node.block is not None:
            counter = evolve(self.counter, lines=node.lines) if in_text else self.counter
            self.leaves.append(Leaf(self.next_id(), node, node.block, counter))

    def container(self, group: ResolvedGroup, *, in_text: bool) -> Container:
        members: dict[int, Leaf | Container] = {}
        wrapper, separator = self.costs(group, in_text=in_text)
        children = self.children(group, members, in_text=in_text or group.role is not None)
        join = Join(children, separator)
        container = Container(
            self.next_id(),
            group,
            Plan(join),
            members,
            wrapper,
            in_text,
            group.required and _demands(join),
        )
        self.containers[group.path] = container
        return container

    def costs(self, group: ResolvedGroup, *, in_text: bool) -> tuple[int, int]:
        """Return what a group costs around its children, and between two of them, in tokens."""
        count = self.counter.count
        if in_text or group.role is not None:
            framing = 0
            if not in_text and group.role is not None:
                framing = self.counter.framing(Message(group.role, ""))
            return framing + (count(group.prefix) if group.prefix else 0), (
                count(group.separator) if group.separator else 0
            )
        return 0, 0

    def children(
        self, group: ResolvedGroup, members: dict[int, Leaf | Container], *, in_text: bool
    ) -> tuple[Track | Join, ...]:
        found: list[Track | Join] = []
        for child in group.children:
            if isinstance(child, ResolvedSection):
                leaf = self.by_path.get(child.path)
                if leaf is not None:
                    members[leaf.id] = leaf
                    found.append(self.track(leaf))
            elif child.limits_itself:
                inner = self.container(child, in_text=in_text)
                members[inner.id] = inner
                found.append(self.track(inner))
            else:
                wrapper, separator = self.costs(child, in_text=in_text)
                inside = in_text or child.role is not None
                children = self.children(child, members, in_text=inside)
                join = Join(children, separator, wrapper, child.required, child.priority)
                if _insists(join, members):
                    join = Join(children, separator, wrapper, True, child.priority)
                found.append(join)
        return tuple(found)

    def track(self, member: Leaf | Container) -> Track:
        node = member.section if isinstance(member, Leaf) else member.group
        budget = node.budget
        kind: Kind
        match budget:
            case Auto() | Tokens():
                kind, weight = "content", (1, 1)
            case Share(fraction=fraction):
                kind, weight = "share", fraction.as_integer_ratio()
            case Rest(weight=part):
                kind, weight = "rest", part.as_integer_ratio()
            case _:
                assert_never(budget)
        bond = self.bonds.get(node.path) if isinstance(member, Leaf) else None
        return Track(member.id, kind, weight, budget.ceiling, member.required, node.priority, bond)


def _demands(join: Join) -> bool:
    """Whether anything in a group is required."""
    return any(
        child.required and (isinstance(child, Track) or _demands(child)) for child in join.children
    )


def _insists(join: Join, members: dict[int, Leaf | Container]) -> bool:
    """Whether a turn under way is in a group, which is required even if the group is not."""
    for child in join.children:
        if isinstance(child, Join):
            if child.required and _insists(child, members):
                return True
            continue
        member = members[child.id]
        if isinstance(member, Leaf) and member.insists:
            return True
    return False


def build(resolved: ResolvedContent) -> Tree:
    """Prepare a resolved prompt for layout.

    Raises:
        LayoutError: if the order of the sections parts a required call from its result.
    """
    builder = _Builder(resolved)
    in_text = resolved.profile.form == "text"
    builder.enlist(resolved.root, in_text=in_text)
    builder.bonds, broken = _bonds(builder.leaves)
    leaves = tuple(leaf for leaf in builder.leaves if leaf.section.path not in broken)
    builder.by_path = {leaf.section.path: leaf for leaf in leaves}
    root = builder.container(resolved.root, in_text=in_text)
    _check_bonds(builder)
    return Tree(root, leaves, builder.containers, builder.by_path, frozenset(broken))


def _links(block: Block) -> tuple[set[str], set[str]]:
    """Return the ids of calls that a block leaves open, and of results whose calls it lacks."""
    if isinstance(block, MessagesBlock):
        messages: Sequence[Message] = block.messages
    elif isinstance(block, TextBlock):
        messages = (block.message,)
    else:
        return set(), set()
    waiting: dict[str, None] = {}
    parted: set[str] = set()
    answers: set[str] = set()
    for message in messages:
        if message.role == "tool":
            identifier = message.tool_call_id or next(iter(waiting), "")
            if identifier in waiting:
                del waiting[identifier]
            else:
                answers.add(identifier)
        else:
            parted.update(waiting)
            waiting = dict.fromkeys(call.id for call in message.tool_calls)
    return parted | waiting.keys(), answers


def _bonds(leaves: Sequence[Leaf]) -> tuple[dict[str, int], set[str]]:
    """Find the sections that hold a call and its results; a result stands right after its call.

    Returns:
        Path → number of what is sent together, and the paths of optional sections whose other half
        is not there.
    """
    bonds: dict[str, int] = {}
    broken: set[str] = set()
    waiting: dict[str, Leaf] = {}
    for leaf in leaves:
        calls, answers = _links(leaf.block)
        if waiting and not answers & waiting.keys():
            broken |= _parted(waiting, leaf)
            waiting = {}
        for identifier in sorted(answers):
            caller = waiting.pop(identifier, None)
            if caller is None or caller.section.path in broken:
                broken |= _orphaned(identifier, leaf)
            else:
                bonds[leaf.section.path] = bonds.setdefault(caller.section.path, caller.id)
        if leaf.section.path not in broken:
            waiting |= dict.fromkeys(sorted(calls), leaf)
    return bonds, broken | _parted(waiting, None)


def _parted(waiting: Mapping[str, Leaf], next_leaf: Leaf | None) -> set[str]:
    for identifier, leaf in waiting.items():
        if leaf.required:
            found = f"{next_leaf.section.path!r} stands there" if next_leaf else "nothing follows"
            raise LayoutError(
                f"section {leaf.section.path!r} calls {identifier!r}, and its result must come "
                f"right after it, but {found}: put a FunctionResponseMessage with that id there",
                section=leaf.section.path,
            )
    return {leaf.section.path for leaf in waiting.values()}


def _orphaned(identifier: str, leaf: Leaf) -> set[str]:
    if leaf.required:
        raise LayoutError(
            f"section {leaf.section.path!r} holds the result of call {identifier!r}, but no "
            "section right before it makes that call",
            section=leaf.section.path,
        )
    return {leaf.section.path}


def _check_bonds(builder: _Builder) -> None:
    homes: dict[int, str] = {}
    for path, container in builder.containers.items():
        for track in container.plan.tracks.values():
            if track.bond is not None and homes.setdefault(track.bond, path) != path:
                path = path or homes[track.bond]  # one of them is the prompt itself
                raise LayoutError(
                    f"group {path!r} has a budget of its own and holds one half of a call and its "
                    "result: put both in the same group",
                    section=path,
                )
