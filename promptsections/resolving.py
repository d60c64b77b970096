"""The one phase that may wait: every section of a prompt turns itself into a block, all at once.

It knows sections and scopes; how to wait is passed in, and nothing is sized here.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from time import perf_counter
from types import MappingProxyType, NoneType
from typing import Any, Literal, Protocol, TypeVar, cast

from attrs import define, evolve, field, frozen

from promptsections._run import SelfCancelled, TimedOut
from promptsections.blocks import Block, HistoryBlock, ItemsBlock, StackBlock, TextBlock, inside
from promptsections.caching import CachePolicy
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
from promptsections.layout import Failure, ResolvedSection
from promptsections.messages import Message
from promptsections.notes import Note
from promptsections.places import Place, is_plain_group, places_of
from promptsections.profiles import ModelProfile
from promptsections.prompt import Prompt
from promptsections.rendered import NO_SUMMARIES, Resolved
from promptsections.scope import Report, Scope, Waiting
from promptsections.sections import Content, GroupSection, PromptSection, to_block
from promptsections.summaries import Summarize, Summary, summarized
from promptsections.templates import Deferred, Function, Undefined
from promptsections.tokens import Tokenizer

T = TypeVar("T")
MOST_SECTIONS_DEEP = 20
"""How deep sections may resolve other sections."""

_FINISHED = (str, Message, TextBlock, ItemsBlock, HistoryBlock, list, NoneType)
"""What is certainly no awaitable; to ask takes longer."""

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
    report: Report = field(factory=Report)


async def resolve(prompt: Prompt, around: Surroundings) -> Resolved:
    """Resolve all sections of a prompt, each exactly once.

    Raises:
        ResolutionError: a required section has no content; `.section` says which.
        DefinitionError: a section or value is wrong.
    """
    started = perf_counter()
    places = places_of(prompt, around.caching, in_text=around.profile.form == "text")
    base = around.profile.base_tokens(places.tools, around.tokenizer)
    here = _Here(
        around,
        room=max(around.budget - base, 1),
        counter=Counter(around.profile, around.tokenizer),
        cache_marks=_marks(around),
    )
    calls: list[Callable[[], Coroutine[Any, Any, ResolvedSection]]] = [
        partial(_resolve_place, place, here) for place in places.all
    ]
    sections = await around.runner.gather(calls) if calls else []
    root = places.root.holding({section.path: section for section in sections})
    if around.tenant_scope is not None:
        root = scoped(root, around.tenant_scope)
    return Resolved(
        root=root,
        profile=around.profile,
        tokenizer=around.tokenizer,
        tools=places.tools,
        budget=around.budget,
        reserved=around.reserved,
        unread=tuple(section.path for section in sections if here.is_unread(section)),
        notes=_notes(around.report.notes, places.all),
        plans=places.plans,
        summaries=here.summaries(places.all),
        caching=around.caching,
        tenant_scope=around.tenant_scope,
        seconds=perf_counter() - started,
    )


def _notes(notes: Sequence[Note], places: Sequence[Place]) -> tuple[Note, ...]:
    """Order notes by document, however the sections happened to run."""
    if not notes:
        return ()
    order = {place.path: index for index, place in enumerate(places)}
    return tuple(sorted(notes, key=lambda note: order.get(note.path, -1)))


# --- one section --------------------------------------------------------------------------------


@define(eq=False)
class _Here:
    """What all sections of a render have in common."""

    around: Surroundings
    room: int
    """Tokens of the budget that are left for sections."""
    counter: Counter
    """How things count among messages."""
    cache_marks: int
    told: dict[str, Mapping[str, Summary]] = field(factory=dict[str, Mapping[str, Summary]])
    """Path of a section that summarizes → its summaries, by key."""
    shortened: set[str] = field(factory=set[str])
    """Paths of sections of which a summary is all that is left."""

    def counter_at(self, place: Place) -> Counter:
        """Return how things count at a place."""
        if not place.in_text:
            return self.counter
        return Counter(self.around.profile, self.around.tokenizer, place.lines)

    async def summarized(
        self, block: Block, how: Summarize, scope: Scope, seconds: float | None
    ) -> Block:
        """Say a section in fewer words where it is over what it may have."""
        within = partial(self.around.runner.within, seconds)
        told, summaries = await summarized(block, how, scope, within)
        if summaries:
            self.told[scope.path] = summaries
        if told is not block:
            self.shortened.add(scope.path)
        return told

    def summaries(self, places: Sequence[Place]) -> Mapping[str, Summary]:
        """Return all summaries in document order, however the sections happened to run."""
        if not self.told:
            return NO_SUMMARIES
        found = (self.told.get(place.path, NO_SUMMARIES) for place in places)
        return MappingProxyType({key: each for some in found for key, each in some.items()})

    def is_unread(self, section: ResolvedSection) -> bool:
        """Whether a larger budget would have needed more than was read or left of the section."""
        block = section.block
        unread = isinstance(block, HistoryBlock) and block.unread
        return unread or section.path in self.shortened


async def _resolve_place(place: Place, here: _Here) -> ResolvedSection:
    section, around = place.section, here.around
    seconds = section.timeout if section.timeout is not None else around.timeout
    scope = Scope(
        memory=around.memory,
        functions=around.functions,
        context=around.context,
        available=place.available(here.room),
        path=place.path,
        undefined=around.undefined,
        counter=here.counter_at(place),
        waiting=around.runner,
        caching=around.caching is not None and around.caching.prompt_caching,
        cache_marks=here.cache_marks,
        resolver=_resolve_inside,
        report=around.report,
    )
    try:
        if place.must_wait and not around.runner.may_await:
            raise _must_wait(section)
        content = await around.runner.within(seconds, partial(_content, section, scope))
        block = to_block(section, content)
        if block is not None and isinstance(section.when_over, Summarize):
            block = await here.summarized(block, section.when_over, scope, seconds)
        block = _enclosed(block, place, scope)
    except Exception as error:
        return place.holding(None, _failed(_named(error, place, seconds), place, around))
    missing = around.report.missing.get(place.path)
    if block is None and missing is not None:
        return place.holding(None, Failure("missing", f"memory holds nothing at {missing!r}"))
    return place.holding(block)


def _enclosed(block: Block | None, place: Place, scope: Scope) -> Block | None:
    """Keep a text from ending the elements of the groups around it."""
    for element in place.elements if block is not None else ():
        block, changed = inside(cast("Block", block), element)
        if changed and element.escape == "closing_tag":
            scope.note("markup_escaped", f"tags named {element.tag!r} in the text are escaped")
    return block


def _marks(around: Surroundings) -> int:
    """Return how many marks a request may carry."""
    if around.caching is None or not around.caching.prompt_caching:
        return 0
    rule = around.caching.rule or around.profile.cache
    return rule.marks if rule is not None else 0


async def _content(section: PromptSection, scope: Scope) -> Content:
    """Ask a section for its content, and wait for it where that is allowed."""
    found: Any = section.resolve(scope)
    while True:
        if isinstance(found, Deferred):
            found = await cast("Deferred[Any]", found)
        elif isinstance(found, _FINISHED) or not inspect.isawaitable(found):
            return cast("Content", found)
        elif scope.may_await:
            found = await found
        else:
            if inspect.iscoroutine(found):
                found.close()
            raise _must_wait(section)


async def _resolve_inside(section: PromptSection, scope: Scope) -> Content:
    """Resolve a section for another one: `scope.resolve()`."""
    if scope.depth >= MOST_SECTIONS_DEEP:
        raise RecursionLimitError(
            f"sections resolve each other more than {MOST_SECTIONS_DEEP} levels deep, last "
            f"{type(section).__name__}"
        )
    deeper = evolve(scope, depth=scope.depth + 1)
    if not is_plain_group(section):
        if not scope.may_await and inspect.iscoroutinefunction(type(section).resolve):
            raise _must_wait(section)
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


def _named(error: Exception, place: Place, seconds: float | None) -> Exception:
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


def _says(error: Exception, place: Place) -> bool:
    """Whether an error names the section already."""
    return repr(place.path) in str(error)


def _may_drop(error: Exception) -> bool:
    """Whether an optional section is left out for this error; others always raise."""
    return isinstance(error, FunctionError | DataSourceError | SourceTimeoutError) or (
        type(error) is ResolutionError
    )


def _failed(error: Exception, place: Place, around: Surroundings) -> Failure:
    if place.section.required or around.on_failure == "raise" or not _may_drop(error):
        raise error
    _log.warning("left out: %s", error, exc_info=(type(error), error, None))
    cause = error.__cause__ or error
    reason = "timeout" if isinstance(error, SourceTimeoutError) else "failed"
    return Failure(reason, str(error), cause)
