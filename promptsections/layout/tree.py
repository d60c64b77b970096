"""A resolved prompt, prepared for layout: leaves with their counters, containers with their plans.

A *container* is the prompt itself or a group with a budget of its own; it divides what it is given.
Other groups only join. Everything here depends on the content alone, never on a budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from attrs import define

from promptsections.blocks import Block, HistoryBlock, MessagesBlock, TextBlock
from promptsections.budgets import Budget
from promptsections.counting import Counter
from promptsections.errors import LayoutError
from promptsections.keeping import Kept
from promptsections.layout.resolved import (
    ResolvedContent,
    ResolvedGroup,
    ResolvedNode,
    ResolvedSection,
)
from promptsections.layout.shapes import Shape, shapes
from promptsections.messages import Message
from promptsections.solver import Plan


@define(eq=False)  # not frozen, like what is made below: attrs makes those faster
class Leaf:
    """A section with content, and how things count where it stands."""

    id: int
    section: ResolvedSection
    block: Block
    counter: Counter
    required: bool
    """Whether it must be sent: declared so, or the user's turn under way is in it."""


@define(eq=False)
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


def budget_of(member: Leaf | Container) -> Budget:
    """Return the budget of a leaf or container."""
    return member.section.budget if isinstance(member, Leaf) else member.group.budget


@define(eq=False)
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


def build(resolved: ResolvedContent) -> Tree:
    """Prepare a resolved prompt for layout.

    Raises:
        LayoutError: if the order of the sections parts a required call from its result.
    """
    found = _Found(resolved.counter)
    found.enter(resolved.root, in_text=resolved.profile.form == "text")
    bonds, broken = _bonds(found.leaves)
    if broken:
        found.leaves = [leaf for leaf in found.leaves if leaf.section.path not in broken]
    by_path = {leaf.section.path: leaf for leaf in found.leaves}
    kept: Kept[dict[str, Shape]] = resolved.plans
    ids = {path: leaf.id for path, leaf in by_path.items()}
    counter = found.counter
    made = kept.of(
        (counter.profile, counter.tokenizer, counter.lines, ids, bonds, found.seen),
        partial(shapes, resolved.root, counter, ids, found.insisting, bonds),
    )
    members: dict[int, Leaf | Container] = {leaf.id: leaf for leaf in found.leaves}
    containers: dict[str, Container] = {}
    for path, shape in made.items():  # inner ones first
        inside = {track: members[track] for track in shape.plan.tracks}
        group, in_text = found.groups[path]
        containers[path] = members[shape.id] = Container(
            shape.id, group, shape.plan, inside, shape.wrapper, in_text, shape.required
        )
    root = containers[resolved.root.path]
    return Tree(root, tuple(found.leaves), containers, by_path, frozenset(broken))


class _Found:
    """What stands in a resolved prompt, in document order, so that calls find their results."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self.leaves: list[Leaf] = []
        self.groups: dict[str, tuple[ResolvedGroup, bool]] = {}
        """Path → group, and whether it stands in a text; of those that could divide something."""
        self.insisting: set[str] = set()
        self.seen: list[object] = []
        """All else that shapes depend on."""

    def enter(self, node: ResolvedNode, *, in_text: bool) -> None:
        """Take in a section or a group."""
        if isinstance(node, ResolvedGroup):
            self.groups[node.path] = node, in_text
            self.seen += (
                node.path, node.required, node.priority, node.budget,
                node.role, node.separator, node.prefix, node.suffix,
            )  # fmt: skip
            inside = in_text or node.role is not None
            for child in node.children:
                self.enter(child, in_text=inside)
            return
        block = node.block
        if block is None:
            return
        counter = self.counter
        if in_text:
            counter = Counter(counter.profile, counter.tokenizer, node.lines)
        insists = isinstance(block, HistoryBlock) and block.must_send
        if insists:
            self.insisting.add(node.path)
        required = node.required or insists
        self.leaves.append(Leaf(len(self.leaves) + 1, node, block, counter, required))
        self.seen += node.path, node.required, insists, node.priority, node.budget


_NO_LINKS: tuple[AbstractSet[str], AbstractSet[str]] = frozenset(), frozenset()


def _links(block: Block) -> tuple[AbstractSet[str], AbstractSet[str]]:
    """Return the ids of calls that a block leaves open, and of results whose calls it lacks."""
    if isinstance(block, MessagesBlock):
        messages: Sequence[Message] = block.messages
    elif isinstance(block, TextBlock):
        messages = (block.message,)
    else:
        messages = ()
    if not any(message.tool_calls or message.role == "tool" for message in messages):
        return _NO_LINKS
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
        if not (calls or answers or waiting):
            continue
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
