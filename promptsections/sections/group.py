"""`GroupSection`: sections that stand together."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Any, Literal, cast

from attrs import Attribute, field, frozen

from promptsections.errors import DefinitionError, DuplicateNameError
from promptsections.markup import Escape, XmlElement
from promptsections.messages import Role
from promptsections.scope import Scope
from promptsections.sections.base import Content, PromptSection, check_role
from promptsections.sections.stability import Declared, Stability, least_stable
from promptsections.sections.text import TemplateSection
from promptsections.sections.wrapping import element_of
from promptsections.summaries.summarize import Summarize

MAX_DEPTH = 100
"""How deep groups may nest."""


def _sections(value: Iterable[PromptSection]) -> tuple[PromptSection, ...]:
    if isinstance(value, PromptSection):
        raise DefinitionError("sections must be a list: put the section in brackets")
    if not isinstance(value, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"sections must be a list, not {type(value).__name__}")
    sections = tuple(value)
    for index, section in enumerate(cast("tuple[Any, ...]", sections)):
        if not isinstance(section, PromptSection):
            raise DefinitionError(
                f"sections[{index}] is {type(section).__name__}, not a PromptSection; "
                "a text goes in TextSection(…) or SystemMessage(…)"
            )
    return sections


def _check_role(group: PromptSection, attribute: Attribute[Any], value: object) -> None:
    if value is not None:
        check_role(group, attribute, value)


def _check_order(_: PromptSection, __: Attribute[Any], value: object) -> None:
    if value not in ("author", "cache"):
        raise DefinitionError(f'order={value!r} must be "author" or "cache"')


@frozen
class GroupSection(PromptSection):
    """Sections that stand together: they only join, unless the group has a budget of its own."""

    sections: tuple[PromptSection, ...] = field(converter=_sections)
    role: Role | None = field(default=None, validator=_check_role)
    """With a role, the group is one message of that role, images and files behind its text;
    without, its messages stay apart."""
    separator: str = field(default="\n\n", kw_only=True)
    """Stands between the texts of the sections."""
    order: Literal["author", "cache"] = field(
        default="author", kw_only=True, validator=_check_order
    )
    """`"cache"`: what stays the same for longer comes first, as far as the conversation allows."""
    tag: str | None = field(default=None, kw_only=True)
    """Name of an XML element to put the text of the group in; needs a `role`."""
    escape: Escape = field(default="closing_tag", kw_only=True)
    """What is done about markup in the texts of its sections, as in `MemorySection`."""
    element: XmlElement | None = field(init=False, eq=False, repr=False)
    """What its text is put in."""
    names: tuple[str, ...] = field(init=False, eq=False, repr=False)
    """The name of each section, given or made."""
    depth: int = field(init=False, eq=False, repr=False)
    """Levels of groups, this one included."""
    breakpoints: int = field(init=False, eq=False, repr=False)
    """How many templates in it hold `<<cache_breakpoint>>`: none or one."""

    def __attrs_post_init__(self) -> None:
        if isinstance(self.when_over, Summarize):
            raise DefinitionError(
                f"section {self.name or self.kind!r}: a group cannot be summarized: write "
                "when_over=Summarize(…) at the sections in it"
            )
        for section in self.sections:
            _ = section.budget  # a bad default of a subclass is an error here, not at a render
        object.__setattr__(self, "names", _names(self.sections))
        element = element_of(self.tag, self.escape, owner=self.name or self.kind)
        if element is not None and self.role is None:
            raise DefinitionError(
                f"section {self.name or self.kind!r}: tag={self.tag!r} needs a role, since only a "
                "group of one message has a text of its own"
            )
        object.__setattr__(self, "element", element)
        inner = (s.depth for s in self.sections if isinstance(s, GroupSection))
        depth = 1 + max(inner, default=0)
        if depth > MAX_DEPTH:
            raise DefinitionError(
                f"groups nest {depth} deep; at most {MAX_DEPTH} levels are allowed"
            )
        object.__setattr__(self, "depth", depth)
        breakpoints = sum(map(_breakpoints, self.sections))
        if breakpoints > 1:
            raise DefinitionError(
                f"{breakpoints} templates hold a cache breakpoint; a prompt has one place where "
                "its stable text ends: keep one, or mark other places with CacheBreakpoint()"
            )
        object.__setattr__(self, "breakpoints", breakpoints)

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the content of all sections as one block; a layout asks each section instead."""
        return scope.resolve(self)

    def how_stable(self, declared: Declared, /) -> Stability:
        """Return the stability of the least stable section in it."""
        return self.stability or least_stable(s.how_stable(declared) for s in self.sections)


def _breakpoints(section: PromptSection) -> int:
    if isinstance(section, GroupSection):
        return section.breakpoints
    holds = isinstance(section, TemplateSection) and section.template.breakpoint is not None
    return int(holds)


def _names(sections: tuple[PromptSection, ...]) -> tuple[str, ...]:
    """Give every section a name; those without one are called kind, kind-2, …"""
    taken: set[str] = set()
    for section in sections:
        if section.name is None:
            continue
        if section.name in taken:
            raise DuplicateNameError(
                f"two sections beside each other are named {section.name!r}", name=section.name
            )
        taken.add(section.name)
    names: list[str] = []
    numbers: dict[str, int] = {}
    for section in sections:
        name = section.name
        while name is None:
            number = numbers[section.kind] = numbers.get(section.kind, 0) + 1
            made = section.kind if number == 1 else f"{section.kind}-{number}"
            name = made if made not in taken else None
        taken.add(name)
        names.append(name)
    return tuple(names)
