"""`Prompt`: an immutable tree of sections, with the tools that go along."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import field, frozen

from promptsections.errors import DefinitionError, DuplicateNameError
from promptsections.keeping import Kept, nothing_kept
from promptsections.markup import Escape
from promptsections.messages import Role, Tool
from promptsections.sections.group import GroupSection


def _tools(value: Iterable[Tool]) -> tuple[Tool, ...]:
    tools = tuple(value)
    names: set[str] = set()
    for tool in tools:
        if not isinstance(tool, Tool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"tools must be Tool values, not {type(tool).__name__}")
        if tool.name in names:
            raise DuplicateNameError(f"two tools are named {tool.name!r}", name=tool.name)
        names.add(tool.name)
    return tools


@frozen
class Prompt(GroupSection):
    """A list of sections; prompts nest, since a prompt is a group without a role."""

    role: Role | None = field(default=None, init=False)
    tag: str | None = field(default=None, init=False)
    escape: Escape = field(default="none", init=False)
    tools: tuple[Tool, ...] = field(default=(), kw_only=True, converter=_tools)
    """Tools that the model may call; their definitions are reserved first."""
    kept: Kept[Any] = field(factory=nothing_kept, init=False, eq=False, repr=False)
    """What renders have found out about it."""

    def all_tools(self) -> tuple[Tool, ...]:
        """Return the tools of this prompt and of the prompts in it, in document order."""
        found = list(self.tools)
        groups = [s for s in reversed(self.sections) if isinstance(s, GroupSection)]
        while groups:
            group = groups.pop()
            if isinstance(group, Prompt):
                found.extend(group.tools)
            groups.extend(s for s in reversed(group.sections) if isinstance(s, GroupSection))
        return _tools(found)
