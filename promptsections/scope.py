"""`Scope`: what a section sees when it resolves: memory, functions, context, and how much room.

It knows no sections by name and no event loop: the render that made it passes in how to wait.
"""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncIterable,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from functools import partial
from types import FunctionType
from typing import Any, Protocol, TypeVar, cast

from attrs import evolve, frozen

from promptsections.counting import Counter, Lines
from promptsections.errors import (
    DataSourceError,
    DefinitionError,
    NeedsEventLoopError,
    PromptSectionsError,
    UndefinedVariableError,
    UnknownFunctionError,
)
from promptsections.memory import MISSING, explain_miss, lookup
from promptsections.notes import Note
from promptsections.templates import Deferred, Function, Template, Undefined, evaluate
from promptsections.templates.evaluate import takes_scope
from promptsections.templates.suggestions import did_you_mean, suggest, suggest_path

T = TypeVar("T")

_NO_DEFAULT = object()
"""Not `MISSING`: templates pass that as a default, to say where they found nothing."""


class Waiting(Protocol):
    """How a render waits: not at all, or on an event loop."""

    @property
    def may_await(self) -> bool:
        """Whether anything may be awaited that is not ours."""
        ...

    async def gather(self, calls: Sequence[Callable[[], Coroutine[Any, Any, T]]], /) -> list[T]:
        """Run all calls, concurrently where that is possible; results in their order."""
        ...

    async def in_thread(self, function: Callable[[], T], /) -> T:
        """Call a plain function where it does not block others."""
        ...


class Report:
    """What a render remarks while sections resolve."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.missing: dict[str, str] = {}
        """Path of a section → the path in memory that it found nothing at."""

    def add(self, code: str, path: str, detail: str) -> None:
        """Remark something once."""
        note = Note(code, path, detail)
        if note not in self.notes:
            self.notes.append(note)


@frozen(kw_only=True)
class Scope:
    """What a section sees when it resolves; the same object serves the functions it calls."""

    memory: object
    """A mapping, or a `Memory` with `get(path, default)`."""
    functions: Mapping[str, Function]
    """Name → function, as they were passed to the renderer."""
    context: Any = None
    """What the framework passed as `context=`; in no layout, template or cache."""
    available: int
    """Tokens: the most that the section could be given; an upper bound, not a promise."""
    path: str = ""
    """Path of the section."""
    undefined: Undefined = "error"
    """What a template's missing variable does."""
    counter: Counter
    """How things count where the section stands."""
    depth: int = 0
    """How many sections resolve around this one."""
    caching: bool = False
    """Whether the provider is asked to cache the beginning of the prompt."""
    cache_marks: int = 0
    """How many marks a request may carry that say up to where to cache; 0 if it takes none."""
    waiting: Waiting
    """How the render waits; for the library itself, as the two below."""
    resolver: Callable[[Any, Scope], Awaitable[Any]]
    report: Report

    @property
    def may_await(self) -> bool:
        """Whether anything may be awaited: true under `arender()`."""
        return self.waiting.may_await

    def read(self, path: str, default: object = _NO_DEFAULT, /) -> Any:
        """Return the value at a path in memory.

        Args:
            path: Names joined by dots; mappings and lists are walked, attributes never read.
            default: What to return if there is none; without it, that is an error.

        Raises:
            UndefinedVariableError: there is no such value, and no default.
        """
        value = lookup(self.memory, path)
        if value is not MISSING:
            return value
        if default is not _NO_DEFAULT:
            return default
        miss = explain_miss(self.memory, path)
        suggestions = suggest_path(path, miss)
        raise UndefinedVariableError(
            f"variable {path!r} {miss.reason}{did_you_mean(path, suggestions)}",
            name=path,
            suggestions=suggestions,
        )

    def call(self, name: str, /, *arguments: object, **keywords: object) -> Any:
        """Call a function by its name, as a template would; its result may be awaitable.

        Raises:
            UnknownFunctionError: no function has that name.
        """
        function = self.functions.get(name)
        if function is None:
            suggestions = suggest(name, self.functions)
            raise UnknownFunctionError(
                f"function {name!r} is not known{did_you_mean(name, suggestions)}",
                name=name,
                suggestions=suggestions,
            )
        if takes_scope(function):
            return function(self, *arguments, **keywords)
        return function(*arguments, **keywords)

    def evaluate(self, template: Template | str, /) -> Deferred[str]:
        """Fill a template from this scope; return it from `resolve`, or await it."""
        parsed = template if isinstance(template, Template) else Template(template)
        return Deferred(partial(evaluate, parsed, self))

    def resolve(self, section: Any, /) -> Deferred[Any]:
        """Resolve another section with this scope; return it from `resolve`, or await it."""

        async def resolved() -> Any:
            return await self.resolver(section, self)

        return Deferred(resolved)

    def count(self, text: str, /) -> int:
        """Count the tokens of a text by itself."""
        return self.counter.count(text)

    def context_as(self, kind: type[T], /) -> T:
        """Return the context, checked to be of a type.

        Raises:
            DefinitionError: if it is not; the text names both types.
        """
        if isinstance(self.context, kind):
            return self.context
        found = type(self.context).__name__ if self.context is not None else "none"
        raise DefinitionError(
            f"section {self.path!r} needs a context of type {kind.__name__}, and got {found}: "
            f"pass context=… to render() or arender()"
        )

    def note(self, code: str, detail: str) -> None:
        """Add a remark about this section to the layout."""
        self.report.add(code, self.path, detail)

    def missing(self, variable: str) -> None:
        """Say that memory does not hold what this section reads, so that it is left out."""
        self.report.missing[self.path] = variable

    def report_missing(self, path: str, position: int, /) -> None:
        """Take note of a variable of a template that rendered as nothing."""
        self.note("undefined_variable", f"{path!r} at position {position} is not in memory")

    async def gather(self, calls: Sequence[Callable[[], Awaitable[object]]], /) -> list[object]:
        """Await all calls, concurrently where that is possible; results in their order."""

        async def awaited(call: Callable[[], Awaitable[object]]) -> object:
            return await call()

        return await self.waiting.gather([partial(awaited, call) for call in calls])

    async def in_thread(self, function: Callable[[], T], /) -> T:
        """Call a plain function in a worker thread, or here where nothing may wait."""
        return await self.waiting.in_thread(function)

    def counter_for(self, lines: Lines) -> Counter:
        """Return the counter for a section that is written as these lines where it is a text."""
        return evolve(self.counter, lines=lines) if self.counter.lines is not None else self.counter

    async def fetch(self, source: Callable[[str, Scope], Any], query: str) -> list[Any]:
        """Ask a data source, in a thread if it is plain and waiting is possible.

        Raises:
            NeedsEventLoopError: the source must be awaited, and nothing may wait; not started.
            DataSourceError: the source raised.
        """
        if not callable(source):
            raise DefinitionError(f"a data source must be callable, not {type(source).__name__}")
        waits = is_async(source)
        if waits and not self.may_await:
            raise self._must_wait(source)
        try:
            if waits:
                return await self._collected(source, source(query, self))
            found = await self.in_thread(lambda: _listed(source(query, self)))
            return (
                cast("list[Any]", found)
                if isinstance(found, list)
                else await self._collected(source, found)
            )
        except PromptSectionsError:
            raise
        except Exception as error:
            raise DataSourceError(
                f"data source {_name(source)} raised {type(error).__name__}: {error}"
            ) from error

    async def _collected(self, source: object, found: Any) -> list[Any]:
        if not self.may_await:
            if inspect.iscoroutine(found):
                found.close()
            raise self._must_wait(source)
        if inspect.isawaitable(found):
            found = await found
        if isinstance(found, AsyncIterable):
            return [item async for item in cast("AsyncIterable[Any]", found)]
        return cast("list[Any]", _listed(found))

    def _must_wait(self, source: object) -> NeedsEventLoopError:
        return NeedsEventLoopError(
            f"data source {_name(source)} must be awaited, and render() does not wait: "
            "write `await ….arender(…)`"
        )


def is_async(source: Any, /) -> bool:
    """Say whether calling this gives a coroutine or an async generator for certain."""
    if isinstance(source, FunctionType):  # the common case, much faster than asking `inspect`
        return bool(source.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR))
    call = getattr(source, "__call__", None)  # noqa: B004
    return any(
        inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f)
        for f in (source, call, getattr(source, "func", None))
    )


def _listed(found: Any) -> Any:
    """Read a plain iterable to its end; give anything that must be awaited back as it is."""
    if found is None:
        return []
    if isinstance(found, list):
        return [*cast("list[Any]", found)]
    if inspect.isawaitable(found) or isinstance(found, AsyncIterable):
        return cast("object", found)
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise DefinitionError(
            f"a data source returned {type(cast('object', found)).__name__}: "
            "return a list of Chunk or str"
        )
    return list(cast("Iterable[Any]", found))


def _name(source: object) -> str:
    return getattr(source, "__qualname__", type(source).__name__)
