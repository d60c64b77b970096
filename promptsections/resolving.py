"""The one phase that may wait: every section of a prompt turns itself into a block, all at once.

It knows sections and scopes; how to wait is passed in, and nothing is sized here.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Protocol, TypeVar, cast

from attrs import evolve, field, frozen

from promptsections._run import SelfCancelled, TimedOut
from promptsections.blocks import HistoryBlock, PartedTextBlock, StackBlock
from promptsections.budgets import Share
from promptsections.caching import CachePolicy
from promptsections.caching.order import in_cache_order
from promptsections.caching.tenants import scoped
from promptsections.counting import Counter
from promptsections.errors import (
    DataSourceError,
    DefinitionError,
    FunctionError,
    NeedsEventLoopError,
    PromptSectionsError,
    RecursionLimitError,
    ResolutionError,
    SourceTimeoutError,
)
from promptsections.layout import Failure, ResolvedGroup, ResolvedNode, ResolvedSection
from promptsections.messages import Tool
from promptsections.notes import Note
from promptsections.profiles import ModelProfile
from promptsections.prompt import Prompt
from promptsections.rendered import Resolved
from promptsections.scope import Report, Scope, Waiting
from promptsections.sections import (
    CacheBreakpoint,
    Content,
    Declared,
    GroupSection,
    PromptSection,
    Stability,
    TemplateSection,
    to_block,
)
from promptsections.sections.stability import NOTHING_DECLARED
from promptsections.templates import Deferred, Function, Undefined
from promptsections.tokens import Tokenizer

T = TypeVar("T")
MOST_SECTIONS_DEEP = 20
"""How deep sections may resolve other sections."""

_log = logging.getLogger("promptsections")


class Runner(Waiting, Protocol):
    """How a render waits, and for how long."""

    async def within(self, seconds: float | None, call: Callable[[], Awaitable[T]], /) -> T:
        """Run a call; `TimedOut` if it takes longer."""
        ...


@frozen(kw_only=True)
class Surroundings:
    """All that a render has beside its prompt."""

    memory: object
    functions: Mapping[str, Function]
    context: Any
    profile: ModelProfile
    tokenizer: Tokenizer
    budget: int
    reserved: int
    undefined: Undefined
    on_failure: Literal["drop", "raise"]
    timeout: float | None
    runner: Runner
    caching: CachePolicy | None = None
    """What the operator decided about the provider's cache; `None` is nothing."""
    tenant_scope: str | None = None
    """What stands for the tenant, where tenants are kept apart."""
    declared: Declared = NOTHING_DECLARED
    """What is known of how long values in memory and results of functions stay the same."""
    report: Report = field(factory=Report)


@frozen
class _Place:
    """A section in the tree, and the most that it could be given."""

    section: PromptSection
    path: str
    name: str
    available: int
    in_text: bool
    stability: Stability | None
    """What the section or a group around it says of how long it stays the same."""


def _places(group: GroupSection, within: _Place, declared: Declared) -> Iterator[_Place]:
    """Yield every section with content of its own, in the order in which they are sent."""
    before = f"{within.path}/" if within.path else ""
    inside = within.in_text or group.role is not None
    for name, section in _children(group, declared):
        place = _Place(
            section,
            f"{before}{name}",
            name,
            _available(section, within.available),
            inside,
            section.stability or within.stability,
        )
        if is_plain_group(section):
            yield from _places(cast("GroupSection", section), place, declared)
        else:
            yield place


def _children(group: GroupSection, declared: Declared) -> Iterable[tuple[str, PromptSection]]:
    """Return names and sections of a group, in the order in which they are sent."""
    if group.order == "author":
        return zip(group.names, group.sections, strict=True)
    order = in_cache_order(group, declared)
    return [(group.names[place], group.sections[place]) for place in order]


def is_plain_group(section: PromptSection) -> bool:
    """Whether a layout looks into the section, instead of asking it for its content."""
    return isinstance(section, GroupSection) and type(section).resolve is GroupSection.resolve


def _available(section: PromptSection, around: int) -> int:
    budget = section.budget
    most = around if budget.ceiling is None else min(around, budget.ceiling)
    if isinstance(budget, Share):
        part = around * budget.fraction.numerator // budget.fraction.denominator
        most = min(most, max(part, budget.at_least or 0))
    return max(most, 1)


async def resolve(prompt: Prompt, around: Surroundings) -> Resolved:
    """Resolve all sections of a prompt, each exactly once.

    Raises:
        ResolutionError: a required section has no content; `.section` says which.
        DefinitionError: a section or value is wrong.
    """
    tools: tuple[Tool, ...] = prompt.all_tools()
    in_text = around.profile.form == "text"
    base = around.profile.base_tokens(tools, around.tokenizer)
    whole = _Place(prompt, "", "", max(around.budget - base, 1), in_text, prompt.stability)
    places = list(_places(prompt, whole, around.declared))
    calls: list[Callable[[], Coroutine[Any, Any, ResolvedSection]]] = [
        partial(_resolve_place, place, around) for place in places
    ]
    sections = await around.runner.gather(calls) if calls else []
    resolved = {section.path: section for section in sections}
    root = _group(prompt, "", prompt.name or prompt.kind, resolved, around.declared)
    if around.tenant_scope is not None:
        root = scoped(root, around.tenant_scope)
    return Resolved(
        root=root,
        profile=around.profile,
        tokenizer=around.tokenizer,
        tools=tools,
        budget=around.budget,
        reserved=around.reserved,
        unread=tuple(section.path for section in sections if _is_unread(section)),
        notes=_notes(around.report.notes, places),
        caching=around.caching,
        tenant_scope=around.tenant_scope,
    )


def _is_unread(section: ResolvedSection) -> bool:
    return isinstance(section.block, HistoryBlock) and section.block.unread


def _notes(notes: Sequence[Note], places: Sequence[_Place]) -> tuple[Note, ...]:
    """Order notes by document, however the sections happened to run."""
    order = {place.path: index for index, place in enumerate(places)}
    return tuple(sorted(notes, key=lambda note: order.get(note.path, -1)))


def _group(
    group: GroupSection,
    path: str,
    name: str,
    resolved: Mapping[str, ResolvedSection],
    declared: Declared,
) -> ResolvedGroup:
    children: list[ResolvedNode] = []
    for child_name, section in _children(group, declared):
        child_path = f"{path}/{child_name}" if path else child_name
        if is_plain_group(section):
            inner = cast("GroupSection", section)
            children.append(_group(inner, child_path, child_name, resolved, declared))
        else:
            children.append(resolved[child_path])
    return ResolvedGroup(
        path=path,
        name=name,
        kind=group.kind,
        required=group.required,
        priority=group.priority,
        budget=group.budget,
        role=group.role,
        separator=group.separator,
        prefix=group.text_prefix,
        children=tuple(children),
    )


# --- one section --------------------------------------------------------------------------------


async def _resolve_place(place: _Place, around: Surroundings) -> ResolvedSection:
    section, lines = place.section, place.section.lines()
    seconds = section.timeout if section.timeout is not None else around.timeout
    scope = Scope(
        memory=around.memory,
        functions=around.functions,
        context=around.context,
        available=place.available,
        path=place.path,
        undefined=around.undefined,
        counter=Counter(around.profile, around.tokenizer, lines if place.in_text else None),
        waiting=around.runner,
        caching=around.caching is not None and around.caching.prompt_caching,
        cache_marks=_marks(around),
        resolver=_resolve_inside,
        report=around.report,
    )
    block = failure = None
    try:
        content = await around.runner.within(seconds, partial(_content, section, scope))
        block = to_block(section, content)
    except Exception as error:
        failure = _failed(_named(error, place, seconds), place, around)
    else:
        missing = around.report.missing.get(place.path)
        if block is None and missing is not None:
            failure = Failure("missing", f"memory holds nothing at {missing!r}")
    return ResolvedSection(
        path=place.path,
        name=place.name,
        kind=section.kind,
        required=section.required,
        priority=section.priority,
        budget=section.budget,
        lines=lines,
        block=block,
        failure=failure,
        stability=place.stability or section.how_stable(around.declared),
        lead=_lead(place, around.declared) if isinstance(block, PartedTextBlock) else None,
        breakpoint=section if isinstance(section, CacheBreakpoint) else None,
    )


def _lead(place: _Place, declared: Declared) -> Stability | None:
    """Return how long the text before a template's breakpoint stays the same."""
    if place.stability is not None:
        return place.stability
    section = place.section
    return section.lead_stability(declared) if isinstance(section, TemplateSection) else None


def _marks(around: Surroundings) -> int:
    """Return how many marks a request may carry."""
    if around.caching is None or not around.caching.prompt_caching:
        return 0
    rule = around.caching.rule or around.profile.cache
    return rule.marks if rule is not None else 0


async def _content(section: PromptSection, scope: Scope) -> Content:
    """Ask a section for its content, and wait for it where that is allowed."""
    may_await = scope.may_await
    if not may_await and inspect.iscoroutinefunction(type(section).resolve):
        raise _must_wait(section)
    found: Any = section.resolve(scope)
    while isinstance(found, Deferred) or inspect.isawaitable(found):
        if not may_await and not isinstance(found, Deferred):
            if inspect.iscoroutine(found):
                found.close()
            raise _must_wait(section)
        found = await cast("Awaitable[Any]", found)
    return cast("Content", found)


async def _resolve_inside(section: PromptSection, scope: Scope) -> Content:
    """Resolve a section for another one: `scope.resolve()`."""
    if scope.depth >= MOST_SECTIONS_DEEP:
        raise RecursionLimitError(
            f"sections resolve each other more than {MOST_SECTIONS_DEEP} levels deep, last "
            f"{type(section).__name__}"
        )
    deeper = evolve(scope, depth=scope.depth + 1)
    if not is_plain_group(section):
        return await _content(section, deeper)
    group = cast("GroupSection", section)
    blocks = [to_block(child, await _resolve_inside(child, deeper)) for child in group.sections]
    found = [block for block in blocks if block is not None]
    return StackBlock(found) if found else None


def _must_wait(section: PromptSection) -> NeedsEventLoopError:
    return NeedsEventLoopError(
        f"{type(section).__name__}.resolve() must be awaited, and render() does not wait: "
        "write `await ….arender(…)`"
    )


# --- failures -----------------------------------------------------------------------------------


def _named(error: Exception, place: _Place, seconds: float | None) -> Exception:
    """Make a typed error that names the section."""
    match error:
        case TimedOut():
            limit = seconds or 0.0
            return SourceTimeoutError(
                f"took longer than {limit:g} s to resolve", seconds=limit, section=place.path
            )
        case SelfCancelled():
            cancelled = DataSourceError("cancelled itself", section=place.path)
            cancelled.__cause__ = error.__cause__
            return cancelled
        case ResolutionError():
            if error.section is None:
                error.section = place.path
            return error
        case DefinitionError() if type(error) is DefinitionError and not _says(error, place):
            placed = DefinitionError(f"section {place.path!r}: {error}")
            placed.__cause__ = error.__cause__
            return placed.with_traceback(error.__traceback__)
        case PromptSectionsError():
            error.add_note(f"in section {place.path!r}")
            return error
        case _:
            named = ResolutionError(
                f"{type(place.section).__name__}.resolve() raised {type(error).__name__}: {error}",
                section=place.path,
            )
            named.__cause__ = error
            return named


def _says(error: Exception, place: _Place) -> bool:
    """Whether an error names the section already."""
    return repr(place.path) in str(error)


def _may_drop(error: Exception) -> bool:
    """Whether an optional section is left out for this error; others always raise."""
    return isinstance(error, FunctionError | DataSourceError | SourceTimeoutError) or (
        type(error) is ResolutionError
    )


def _failed(error: Exception, place: _Place, around: Surroundings) -> Failure:
    if place.section.required or around.on_failure == "raise" or not _may_drop(error):
        raise error
    _log.warning("left out: %s", error, exc_info=(type(error), error, None))
    cause = error.__cause__ or error
    reason = "timeout" if isinstance(error, SourceTimeoutError) else "failed"
    return Failure(reason, str(error), cause)
