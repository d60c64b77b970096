"""A prompt whose content is there, not yet sized: what `lay_out` works on.

No I/O is left to do: the same `Resolved` can be laid out at any number of budgets.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from attrs import field, frozen

from promptsections.blocks import Block
from promptsections.budgets import Auto, Budget
from promptsections.counting import Counter, Lines
from promptsections.keeping import Kept, nothing_kept
from promptsections.messages import Role, Tool
from promptsections.notes import Note
from promptsections.profiles import ModelProfile
from promptsections.sections import CacheBreakpoint, Stability
from promptsections.tokens import Tokenizer


@frozen
class Failure:
    """Why a section has no content although it should have."""

    reason: str
    """`failed`, `timeout` or `missing`."""
    message: str
    error: BaseException | None = None


@frozen(kw_only=True)
class ResolvedSection:
    """A section with its content."""

    path: str
    name: str
    kind: str
    required: bool
    priority: int
    budget: Budget
    lines: Lines
    """How its messages are written in a text."""
    block: Block | None
    """`None` if there is nothing to say."""
    failure: Failure | None = None
    stability: Stability = "turn"
    """How long the content stays the same."""
    lead: Stability | None = None
    """The same of the text before a template's cache breakpoint, if it has one."""
    breakpoint: CacheBreakpoint | None = None
    """If the section is nothing but a wish to cache what stands before it."""


_ONLY_JOINS = Auto()


@frozen(kw_only=True)
class ResolvedGroup:
    """A group with the content of its sections."""

    path: str
    name: str
    kind: str
    required: bool
    priority: int
    budget: Budget
    role: Role | None
    separator: str
    prefix: str
    """Stands in front of its text."""
    suffix: str = ""
    """Stands behind its text."""
    children: tuple[ResolvedSection | ResolvedGroup, ...]

    @property
    def limits_itself(self) -> bool:
        """Whether it has a budget of its own; otherwise it only joins."""
        return self.budget != _ONLY_JOINS


ResolvedNode = ResolvedSection | ResolvedGroup


@frozen(kw_only=True)
class ResolvedContent:
    """All content of a prompt, for one model profile."""

    root: ResolvedGroup
    profile: ModelProfile
    tokenizer: Tokenizer
    tools: tuple[Tool, ...]
    budget: int
    """Tokens that it was resolved for: the budget of a layout, if none is given."""
    reserved: int = 0
    """Tokens of the context window that this budget leaves for the answer."""
    unread: tuple[str, ...] = ()
    """Paths of sections that were read no further than this budget; a larger one is an error."""
    notes: tuple[Note, ...] = ()
    plans: Kept[Any] = field(factory=nothing_kept, eq=False, repr=False)
    """How layouts of the same sections divide what there is."""

    @cached_property
    def counter(self) -> Counter:
        """Return the counter of the whole prompt."""
        lines = None if self.profile.form == "messages" else Lines()
        return Counter(self.profile, self.tokenizer, lines)

    @cached_property
    def base(self) -> int:
        """Tokens that every prompt of this profile costs: reply priming and tool definitions."""
        return self.profile.base_tokens(self.tools, self.tokenizer)

    def sections(self) -> Iterator[ResolvedSection]:
        """Yield all sections in document order, without groups."""
        waiting: list[ResolvedNode] = [self.root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ResolvedSection):
                yield node
            else:
                waiting.extend(reversed(node.children))
