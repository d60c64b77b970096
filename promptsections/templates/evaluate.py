"""Fills a parsed template with values; it knows no event loop, no memory layout and no sections.

What it needs from its surroundings is the protocol `Names`. In order:

1. All variables are read, all functions looked up; a name that is missing, or a function that would
   have to be awaited where nothing may wait, is an error before any function has run.
2. Plain functions run one after the other; what must be awaited goes to `Names.gather` together.
3. Results become text as values do. Neither is ever parsed.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import FunctionType
from typing import Any, Final, Literal, NoReturn, Protocol, assert_never, cast

from attrs import define, field, frozen

from promptsections.errors import (
    FunctionError,
    NeedsEventLoopError,
    PromptSectionsError,
    RecursionLimitError,
    UndefinedVariableError,
    UnknownFunctionError,
)
from promptsections.memory import MISSING, explain_miss
from promptsections.templates.deferred import Deferred
from promptsections.templates.nodes import Argument, Breakpoint, Call, Node, Text, Variable
from promptsections.templates.places import place_of, shorten
from promptsections.templates.suggestions import did_you_mean, suggest, suggest_path
from promptsections.templates.values import takes_long, to_text
from promptsections.unicode import well_formed

Undefined = Literal["error", "empty"]
"""What a missing variable does: raise, or render nothing and be reported."""

Function = Callable[..., object]
"""A template function; its result may be awaitable."""

MOST_LEVELS: Final = 20
"""How deep functions may render templates that call functions."""


class Names(Protocol):
    """How a scope gives a template its values and functions.

    A function whose first parameter is named `scope` gets this object as its first argument.
    """

    @property
    def memory(self) -> object:
        """Where variables come from; only looked into to explain why one is missing."""
        ...

    @property
    def functions(self) -> Mapping[str, Function]:
        """Name → function."""
        ...

    @property
    def undefined(self) -> Undefined:
        """What a missing variable does."""
        ...

    @property
    def may_await(self) -> bool:
        """False under a synchronous render: awaitables are refused, except `Deferred`."""
        ...

    def read(self, path: str, default: object, /) -> object:
        """Return the value at a path, or the default if there is none."""
        ...

    def report_missing(self, path: str, position: int, /) -> None:
        """Take note of a variable that rendered as nothing; once per path and template."""
        ...

    async def gather(self, calls: Sequence[Callable[[], Awaitable[object]]], /) -> Sequence[object]:
        """Await all calls, concurrently where that is possible; results in the order of the calls.

        Only called if `may_await`, with at least one call. If a call fails, the others are
        cancelled or finished before this raises.
        """
        ...

    async def in_thread(self, function: Callable[[], str], /) -> str:
        """Call a plain function where it keeps nobody waiting; only called if `may_await`."""
        ...


class Parsed(Protocol):
    """A template as far as it is needed here."""

    @property
    def source(self) -> str:
        """The template as written; only for lines and columns of errors."""
        ...

    @property
    def nodes(self) -> tuple[Node, ...]:
        """What it is made of."""
        ...


async def evaluate(template: Parsed, names: Names) -> str:
    """Render a template.

    Args:
        template: A `Template`.
        names: Its values and functions.

    Raises:
        UndefinedVariableError: memory has no such value, and `undefined` is `"error"`.
        UnknownFunctionError: no function has that name.
        NeedsEventLoopError: a function must be awaited, and nothing may wait.
        FunctionError: a function raised; `__cause__` is what.
        RecursionLimitError: functions and templates call each other more than 20 levels deep.
        ValueRenderError: a value or result has no text.
    """
    texts, _ = await _evaluate(template, names)
    return well_formed("".join(texts))


async def evaluate_parted(template: Parsed, names: Names) -> tuple[str, str]:
    """Render a template as `evaluate` does; return what stands before and after its breakpoint.

    Without one, everything stands after it.
    """
    texts, stable = await _evaluate(template, names)
    return well_formed("".join(texts[:stable])), well_formed("".join(texts[stable:]))


async def _evaluate(template: Parsed, names: Names) -> tuple[list[str], int]:
    """Return the text of each node, and how many stand before the breakpoint."""
    variables = _Variables(template, names)
    texts: list[str] = []
    stable = 0
    calls: list[tuple[int, _BoundCall]] = []
    for node in template.nodes:
        match node:
            case Text():
                texts.append(node.text)
            case Variable():
                texts.append(await variables.text(node))
            case Call():
                calls.append((len(texts), _bind(node, template, names, variables)))
                texts.append("")
            case Breakpoint():
                stable = len(texts)
            case _:
                assert_never(node)
    if calls:
        results = await _results([bound for _, bound in calls], names)
        for (slot, bound), result in zip(calls, results, strict=True):
            call = bound.call
            texts[slot] = await _written(result, names, call.name, call.position)
    return texts, stable


# --- variables ------------------------------------------------------------------------------------


@frozen
class _Variables:
    """The variables of one evaluation, each read once and written at most once."""

    template: Parsed
    names: Names
    _values: dict[str, object] = field(factory=dict[str, object])
    _texts: dict[str, str] = field(factory=dict[str, str])

    def value(self, variable: Variable) -> object:
        path = variable.path
        if path not in self._values:
            value = self.names.read(path, MISSING)
            if value is MISSING:
                if self.names.undefined == "error":
                    self._fail(variable)
                self.names.report_missing(path, variable.position)
                value = None
            self._values[path] = value
        return self._values[path]

    async def text(self, variable: Variable) -> str:
        path = variable.path
        if path not in self._texts:
            value = self.value(variable)
            self._texts[path] = await _written(value, self.names, path, variable.position)
        return self._texts[path]

    def argument(self, argument: Argument) -> object:
        return argument if isinstance(argument, str) else self.value(argument)

    def _fail(self, variable: Variable) -> NoReturn:
        miss = explain_miss(self.names.memory, variable.path)
        suggestions = suggest_path(variable.path, miss)
        raise UndefinedVariableError(
            f"variable {_shown(variable, self.template)} {miss.reason}"
            f"{did_you_mean(variable.path, suggestions)}",
            name=variable.path,
            position=variable.position,
            suggestions=suggestions,
        )


def _shown(node: Variable | Call, template: Parsed) -> str:
    name = node.path if isinstance(node, Variable) else node.name
    return f"{shorten(name, 80)} ({place_of(template.source, node.position)})"


async def _written(value: object, names: Names, name: str, position: int) -> str:
    """Write a value; what takes long keeps no event loop waiting."""
    if names.may_await and takes_long(value):
        return await names.in_thread(partial(to_text, value, name=name, position=position))
    return to_text(value, name=name, position=position)


# --- functions ------------------------------------------------------------------------------------


@define
class _BoundCall:
    """A call with its function and the values of its arguments."""

    call: Call
    template: Parsed
    function: Function
    arguments: list[object]
    keywords: dict[str, object]
    is_async: bool

    def run(self) -> object:
        """Call the function; what it raises is wrapped."""
        with _level(self.call.name), self._wrapping():
            return self.function(*self.arguments, **self.keywords)

    async def run_and_wait(self) -> object:
        with _level(self.call.name), self._wrapping():
            return await cast("Awaitable[object]", self.function(*self.arguments, **self.keywords))

    async def wait(self, awaitable: Awaitable[object]) -> object:
        with _level(self.call.name), self._wrapping():
            return await awaitable

    @property
    def shown(self) -> str:
        """Its name and place, for messages; counting lines takes time, so only when asked."""
        return _shown(self.call, self.template)

    @contextmanager
    def _wrapping(self) -> Generator[None]:
        try:
            yield
        except PromptSectionsError:  # it already says what, where and what to do
            raise
        except Exception as error:
            raise FunctionError(
                f"function {self.shown} raised {type(error).__name__}",
                name=self.call.name,
                position=self.call.position,
            ) from error


def _bind(call: Call, template: Parsed, names: Names, variables: _Variables) -> _BoundCall:
    if call.name not in names.functions:
        suggestions = suggest(call.name, names.functions)
        raise UnknownFunctionError(
            f"function {_shown(call, template)} is not known"
            f"{did_you_mean(call.name, suggestions)}; pass it in functions={{...}}, "
            "or write $ in front of the name of a variable",
            name=call.name,
            position=call.position,
            suggestions=suggestions,
        )
    function = names.functions[call.name]
    bound = _BoundCall(
        call,
        template,
        function,
        [variables.argument(argument) for argument in call.arguments],
        {key: variables.argument(argument) for key, argument in call.keywords},
        _is_async(function),
    )
    if bound.is_async and not names.may_await:
        _refuse(bound)
    if takes_scope(function):
        bound.arguments.insert(0, names)
    return bound


async def _results(calls: Sequence[_BoundCall], names: Names) -> Sequence[object]:
    """Run all calls: plain functions in place, the rest concurrently."""
    results: list[object] = [None] * len(calls)
    waiting: dict[int, Callable[[], Awaitable[object]]] = {}
    returned: list[object] = []  # by plain functions, and ours to close if nobody awaits it
    try:
        for n, call in enumerate(calls):
            if call.is_async:
                waiting[n] = call.run_and_wait
                continue
            result = call.run()
            if not inspect.isawaitable(result):
                results[n] = result
            elif names.may_await:
                returned.append(result)
                waiting[n] = partial(call.wait, result)
            elif isinstance(result, Deferred):
                results[n] = await call.wait(cast("Deferred[object]", result))
            else:
                returned.append(result)
                _refuse(call)
        if waiting:
            gathered = await names.gather(list(waiting.values()))
            for n, result in zip(waiting, gathered, strict=True):
                results[n] = result
    finally:
        for result in returned:
            if inspect.iscoroutine(result):
                result.close()
    return results


def _refuse(call: _BoundCall) -> NoReturn:
    raise NeedsEventLoopError(
        f"function {call.shown} must be awaited, and render() does not wait: "
        "write `await ….arender(…)`"
    )


def _is_async(function: Any) -> bool:
    """Whether calling it gives a coroutine for certain.

    A plain wrapper of a coroutine function is not asked what it wraps: it may well wait by itself.
    """
    while isinstance(function, partial):
        function = cast("Any", function).func
    kind = cast("Any", type(function))
    call = getattr(kind, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def takes_scope(function: Function) -> bool:
    """Say whether a function wants the scope first: its first parameter is named so."""
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__  # the common case, much faster than a signature
        return code.co_argcount > 0 and code.co_varnames[0] == "scope"
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):  # built in, without a signature
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return first is not None and first.name == "scope" and first.kind in positional


# A context variable, so that a function is found to call itself also when it renders through
# another renderer, or without a scope.
_running: ContextVar[tuple[str, ...]] = ContextVar("promptsections_functions", default=())


@contextmanager
def _level(name: str) -> Generator[None]:
    """Go one level deeper, into a function.

    Raises:
        RecursionLimitError: if that is one level too many.
    """
    around = _running.get()
    if len(around) >= MOST_LEVELS:
        chain = " → ".join(shorten(function, 20) for function in (*around[-3:], name))
        raise RecursionLimitError(
            f"function {shorten(name, 80)} is called more than {MOST_LEVELS} levels deep, "
            f"through templates and functions that call each other: … → {chain}"
        )
    token = _running.set((*around, name))
    try:
        yield
    finally:
        _running.reset(token)
