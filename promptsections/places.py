"""Where the sections of a prompt stand, and what of them is the same in every render.

It is found out once and kept with the prompt. Nothing is resolved and nothing is sized here.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, cast

from attrs import define, field

from promptsections.blocks import Block, PartedTextBlock
from promptsections.budgets import Budget, Share
from promptsections.caching.order import in_cache_order
from promptsections.caching.policy import CachePolicy
from promptsections.counting import Lines
from promptsections.keeping import Kept, nothing_kept
from promptsections.layout import Failure, ResolvedGroup, ResolvedNode, ResolvedSection
from promptsections.markup import XmlElement
from promptsections.messages import Tool
from promptsections.prompt import Prompt
from promptsections.sections import (
    CacheBreakpoint,
    Declared,
    GroupSection,
    PromptSection,
    Stability,
    TemplateSection,
)
from promptsections.sections.stability import NOTHING_DECLARED


@define(eq=False)
class Place:
    """A section with content of its own, and where it stands."""

    section: PromptSection
    path: str
    name: str
    in_text: bool
    lines: Lines
    budget: Budget
    limits: tuple[Budget, ...]
    """Budgets around it and its own, outer ones first, as far as they limit anything."""
    stability: Stability
    lead: Stability | None
    """How long the text before a template's breakpoint stays the same."""
    must_wait: bool
    """Whether its `resolve` is a coroutine function."""
    elements: tuple[XmlElement, ...] = ()
    """What the groups around it put their texts in, inner ones first."""

    def available(self, room: int) -> int:
        """Return the most tokens that the section can get where the prompt has this many."""
        for budget in self.limits:
            room = _available(budget, room)
        return room

    def holding(self, block: Block | None, failure: Failure | None = None) -> ResolvedSection:
        """Return the section with its content."""
        section = self.section
        return ResolvedSection(
            path=self.path,
            name=self.name,
            kind=section.kind,
            required=section.required,
            priority=section.priority,
            budget=self.budget,
            lines=self.lines,
            block=block,
            failure=failure,
            stability=self.stability,
            lead=self.lead if isinstance(block, PartedTextBlock) else None,
            breakpoint=section if isinstance(section, CacheBreakpoint) else None,
        )


@define(eq=False)
class Frame:
    """A group that a layout looks into, and where it stands."""

    group: GroupSection
    path: str
    name: str
    children: tuple[Place | Frame, ...] = ()

    def holding(self, sections: Mapping[str, ResolvedSection]) -> ResolvedGroup:
        """Return the group with the content of its sections, which are found by path."""
        children: list[ResolvedNode] = [
            sections[child.path] if isinstance(child, Place) else child.holding(sections)
            for child in self.children
        ]
        group = self.group
        return ResolvedGroup(
            path=self.path,
            name=self.name,
            kind=group.kind,
            required=group.required,
            priority=group.priority,
            budget=group.budget,
            role=group.role,
            separator=group.separator,
            prefix=group.text_prefix + (group.element.before if group.element else ""),
            suffix=group.element.after if group.element else "",
            children=tuple(children),
        )


@define(eq=False)
class Places:
    """All sections of a prompt, where they stand."""

    root: Frame
    tools: tuple[Tool, ...]
    all: list[Place] = field(factory=list[Place])
    """In the order in which they are sent."""
    plans: Kept[Any] = field(factory=nothing_kept)
    """How layouts divide what there is."""


def places_of(prompt: Prompt, policy: CachePolicy | None, *, in_text: bool) -> Places:
    """Find the sections of a prompt, once for each way in which it is used.

    Args:
        prompt: the prompt.
        policy: says what is declared of how long values stay the same.
        in_text: whether the whole prompt is one text.
    """
    kept: Kept[Places] = prompt.kept
    return kept.of((policy, in_text), partial(_find, prompt, policy, in_text))


def _find(prompt: Prompt, policy: CachePolicy | None, in_text: bool) -> Places:
    declared = NOTHING_DECLARED if policy is None else policy.declared
    root = Frame(prompt, "", prompt.name or prompt.kind)
    found = Places(root, prompt.all_tools())
    _enter(root, found, declared, in_text=in_text, limits=(), stability=prompt.stability)
    return found


def _enter(
    frame: Frame,
    found: Places,
    declared: Declared,
    *,
    in_text: bool,
    limits: tuple[Budget, ...],
    stability: Stability | None,
    elements: tuple[XmlElement, ...] = (),
) -> None:
    """Find what stands in a group; `stability` is what the groups around it say of theirs."""
    if frame.group.element is not None:
        elements = (frame.group.element, *elements)
    in_text = in_text or frame.group.role is not None
    before = f"{frame.path}/" if frame.path else ""
    children: list[Place | Frame] = []
    for name, section in _children(frame.group, declared):
        path = f"{before}{name}"
        inner_limits = (*limits, section.budget) if _limits(section.budget) else limits
        said = section.stability or stability
        if is_plain_group(section):
            inner = Frame(cast("GroupSection", section), path, name)
            _enter(
                inner,
                found,
                declared,
                in_text=in_text,
                limits=inner_limits,
                stability=said,
                elements=elements,
            )
            children.append(inner)
            continue
        lead = section.lead_stability(declared) if isinstance(section, TemplateSection) else None
        place = Place(
            section,
            path,
            name,
            in_text,
            section.lines(),
            section.budget,
            inner_limits,
            said or section.how_stable(declared),
            said or lead,
            inspect.iscoroutinefunction(type(section).resolve),
            elements,
        )
        children.append(place)
        found.all.append(place)
    frame.children = tuple(children)


def _children(group: GroupSection, declared: Declared) -> Iterable[tuple[str, PromptSection]]:
    """Return names and sections of a group, in the order in which they are sent."""
    if group.order == "author":
        return zip(group.names, group.sections, strict=True)
    order = in_cache_order(group, declared)
    return [(group.names[place], group.sections[place]) for place in order]


def is_plain_group(section: PromptSection) -> bool:
    """Whether a layout looks into the section, instead of asking it for its content."""
    return isinstance(section, GroupSection) and type(section).resolve is GroupSection.resolve


def _limits(budget: Budget) -> bool:
    return budget.ceiling is not None or isinstance(budget, Share)


def _available(budget: Budget, around: int) -> int:
    most = around if budget.ceiling is None else min(around, budget.ceiling)
    if isinstance(budget, Share):
        part = around * budget.fraction.numerator // budget.fraction.denominator
        most = min(most, max(part, budget.at_least or 0))
    return max(most, 1)
