"""The key of a render: the hash of all its inputs, but for what it reads of memory and functions.

Those are not known before it runs; `trace` is about them.
"""

from __future__ import annotations

import sys
from typing import Final

import attrs
from attrs import frozen

from promptsections import __version__
from promptsections.elements import ElementsSection
from promptsections.prompt import Prompt
from promptsections.render_cache.canonical import Canonical, Unkeyable, name_of
from promptsections.render_cache.declared import check_ttl
from promptsections.resolving import Surroundings
from promptsections.sections import (
    AssistantMessage,
    CacheBreakpoint,
    ConversationHistory,
    DataSourceSection,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    MemorySection,
    PromptSection,
    SystemMessage,
    TemplateSection,
    TextSection,
    UserInput,
    UserMessage,
)

READS_ONLY: Final = frozenset({
    AssistantMessage, CacheBreakpoint, ConversationHistory, DataSourceSection, ElementsSection,
    FunctionCallMessage, FunctionResponseMessage, GroupSection, MemorySection, Prompt,
    SystemMessage, TemplateSection, TextSection, UserInput, UserMessage,
})  # fmt: skip
"""Sections whose content follows from their fields and from what they read of the scope."""


@frozen
class Key:
    """What is known of a render before it runs."""

    digest: str
    """SHA-256 in hexadecimal digits."""
    ttl: float | None
    """Seconds: the least that was declared of functions and sections of the prompt."""


def key_of(prompt: Prompt, around: Surroundings, tenant: str | None, version: str) -> Key:
    """Return the key of a render.

    Args:
        prompt: The sections.
        around: All that the render has beside them.
        tenant: Id of the tenant.
        version: Of the application, which parts entries of one from those of another.

    Raises:
        Unkeyable: it has none.
    """
    writer = Canonical()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"  # tables of characters differ
    writer.tag("render", __version__, python, version)
    for name, value in (
        ("tenant", tenant),
        ("tenant_scope", around.tenant_scope),
        ("profile", around.profile),
        ("budget", around.budget),
        ("reserved", around.reserved),
        ("undefined", around.undefined),
        ("on_failure", around.on_failure),
        ("timeout", around.timeout),
        ("may_await", around.runner.may_await),
        ("caching", around.caching),
        ("context", around.context),
    ):
        writer.tag(name)
        try:
            writer.write(value)
        except Unkeyable as error:
            error.where.append(name)
            raise
    _write_section(writer, prompt, "")
    return Key(writer.digest(), writer.ttl)


def _write_section(writer: Canonical, section: PromptSection, path: str) -> None:
    kind = type(section)
    try:
        writer.tag("section", name_of(kind), *_declared(writer, kind))
        for field in attrs.fields(kind):
            if field.eq and not (field.name == "sections" and isinstance(section, GroupSection)):
                _write_field(writer, section, field.name)
    except Unkeyable as error:
        error.path = error.path or path
        raise
    if isinstance(section, GroupSection):
        writer.tag("sections", str(len(section.sections)))
        before = f"{path}/" if path else ""
        for name, child in zip(section.names, section.sections, strict=True):
            _write_section(writer, child, f"{before}{name}")


def _write_field(writer: Canonical, section: PromptSection, name: str) -> None:
    try:
        writer.write(getattr(section, name))
    except Unkeyable as error:
        error.where.append(name)
        raise


def _declared(writer: Canonical, kind: type[PromptSection]) -> tuple[str, ...]:
    """Return what a class of one's own says of itself; a subclass has to say it again."""
    if kind in READS_ONLY:
        return ()
    key = kind.__dict__.get("render_cache_key")
    if not isinstance(key, str):
        raise Unkeyable(
            f"is a {kind.__qualname__}, of which nothing is declared: write "
            f"`render_cache_key: ClassVar[str] = 'v1'` in the class if its content follows from "
            "its fields and from what it reads of the scope"
        )
    ttl = kind.__dict__.get("render_cache_ttl")
    check_ttl(ttl)
    writer.expire(ttl)
    return (key,)
