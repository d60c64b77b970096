"""What happens when a template meets values and functions."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from functools import partial, wraps
from types import coroutine
from typing import Any

import pytest
from attrs import field, frozen

from promptsections.errors import (
    DefinitionError,
    FunctionError,
    NeedsEventLoopError,
    RecursionLimitError,
    UndefinedVariableError,
    UnknownFunctionError,
    ValueRenderError,
)
from promptsections.memory import lookup
from promptsections.templates import Deferred, Function, Template, Undefined, evaluate
from promptsections.templates.suggestions import suggest
from promptsections.templates.template import _finish


@frozen
class Scope:
    """A scope that runs calls concurrently and remembers what was missing."""

    memory: Mapping[str, object] = {}
    functions: Mapping[str, Function] = {}
    undefined: Undefined = "error"
    may_await: bool = True
    reported: list[tuple[str, int]] = field(factory=list)
    reads: list[str] = field(factory=list)

    def read(self, path: str, default: object = None, /) -> object:
        self.reads.append(path)
        return lookup(self.memory, path, default)

    def report_missing(self, path: str, position: int, /) -> None:
        self.reported.append((path, position))

    async def gather(self, calls: Sequence[Callable[[], Awaitable[object]]], /) -> Sequence[object]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(as_coroutine(call)) for call in calls]
        return [task.result() for task in tasks]


async def as_coroutine(call: Callable[[], Awaitable[object]]) -> object:
    return await call()


def run(source: str, scope: Scope) -> str:
    return asyncio.run(evaluate(Template(source), scope))


# --- variables ------------------------------------------------------------------------------------


def test_variable_is_read_once_for_each_evaluation() -> None:
    scope = Scope({"x": 1}, {"f": str})

    assert run("<<$x>> <<$x>> <<f $x>>", scope) == "1 1 1"
    assert scope.reads == ["x"]


def test_missing_variable_says_which_and_where_and_what_is_near() -> None:
    with pytest.raises(UndefinedVariableError) as caught:
        Template("Dear\n <<$user.nmae>>").render({"user": {"name": "A", "age": 1, 2: 3}})

    error = caught.value
    assert (error.name, error.position, error.suggestions) == ("user.nmae", 6, ("user.name",))
    assert str(error) == (
        "variable 'user.nmae' (line 2, column 2) is not in memory; did you mean 'user.name'?"
    )


@pytest.mark.parametrize(
    ("path", "suggestions"),
    [("nmae", ("name",)), ("usr.name", ("user",)), ("a.bb", ("a.b",)), ("user.x.zzz", ())],
)
def test_suggestions_are_made_for_the_part_that_is_missing(
    path: str, suggestions: tuple[str, ...]
) -> None:
    with pytest.raises(UndefinedVariableError) as caught:
        Template(f"<<${path}>>").render({"name": 1, "user": {"x": {"y": 1}}, "a.b": 2})

    assert caught.value.suggestions == suggestions


def test_name_that_only_looks_the_same_is_shown_with_escapes() -> None:
    with pytest.raises(UndefinedVariableError, match=r"did you mean 'cafe\\u0301'\?"):
        Template("<<$café>>").render({"cafe\u0301": 1})


def test_missing_argument_is_an_error_before_any_function_runs() -> None:
    def never() -> None:
        pytest.fail("ran")

    with pytest.raises(UndefinedVariableError):
        Template("<<f>> <<g $x>>").render(functions={"f": never, "g": never})


def test_missing_variable_may_render_as_nothing_and_is_reported_once() -> None:
    scope = Scope(functions={"kind": lambda value: type(value).__name__}, undefined="empty")

    assert run("[<<$x>>] [<<$x>>] <<kind $y>>", scope) == "[] [] NoneType"
    assert scope.reported == [("x", 1), ("y", 18)]


def test_standalone_template_may_render_missing_variables_as_nothing() -> None:
    assert Template("[<<$x>>]").render(undefined="empty") == "[]"


def test_unknown_policy_for_missing_variables_is_refused() -> None:
    wrong: Any = "ignore"
    with pytest.raises(DefinitionError, match="not 'ignore'"):
        Template("x").render(undefined=wrong)


def test_value_without_text_is_reported_at_its_placeholder() -> None:
    with pytest.raises(ValueRenderError) as caught:
        Template("a <<$x>>").render({"x": object()})

    assert (caught.value.name, caught.value.position) == ("x", 2)


def test_values_and_results_are_never_parsed() -> None:
    text = Template("<<$a>> <<f $a>>").render(
        {"a": "<<$b>> \\<<", "b": "SECRET"}, functions={"f": lambda a: a + "<<$b>>"}
    )

    assert text == "<<$b>> \\<< <<$b>> \\<<<<$b>>"


def test_surrogates_of_the_template_itself_leave_as_characters() -> None:
    assert Template("\ud83d\ude00 \ud800<<$x>>").render({"x": 1}) == "😀 \ufffd1"


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("colour", ["color", "size"], ("color",)),
        ("x" * 101, ["x" * 100], ()),
        ("color", ["c" * 101, "colour"], ("colour",)),
        ("name", [f"other{n}" for n in range(1_000)] + ["name"], ()),
    ],
)
def test_suggestions_are_bounded(name: str, known: list[str], near: tuple[str, ...]) -> None:
    assert suggest(name, known) == near


# --- functions ------------------------------------------------------------------------------------


def test_function_gets_strings_values_and_keywords() -> None:
    seen: list[object] = []

    def record(*arguments: object, **keywords: object) -> None:
        seen.extend([arguments, keywords])

    value = {"a": [1]}
    text = Template("[<<f a 'b c' $x key=$x other=1>>]").render(
        {"x": value}, functions={"f": record}
    )

    assert text == "[]"
    assert seen == [("a", "b c", value), {"key": value, "other": "1"}]
    assert seen[0][2] is value  # type: ignore[index]


def test_result_becomes_text_as_values_do() -> None:
    assert (
        Template("<<f>>").render(functions={"f": lambda: {"a": [None, True]}})
        == '{"a":[null,true]}'
    )

    with pytest.raises(ValueRenderError) as caught:
        Template(" <<f>>").render(functions={"f": object})
    assert (caught.value.name, caught.value.position) == ("f", 1)


def test_unknown_function_says_which_and_where_and_what_is_near() -> None:
    with pytest.raises(UnknownFunctionError) as caught:
        Template("x <<toady>>").render(functions={"today": str})

    error = caught.value
    assert (error.name, error.position, error.suggestions) == ("toady", 2, ("today",))
    assert "function 'toady' (line 1, column 3)" in str(error)
    assert "did you mean 'today'?" in str(error)


def test_failing_function_is_wrapped_with_its_place_and_cause() -> None:
    def fail() -> None:
        raise ValueError("secret")

    with pytest.raises(FunctionError) as caught:
        Template("\nx <<fail>>").render(functions={"fail": fail})

    error = caught.value
    assert (error.name, error.position) == ("fail", 3)
    assert str(error) == "function 'fail' (line 2, column 3) raised ValueError"
    assert isinstance(error.__cause__, ValueError)


def test_wrong_arguments_are_a_failure_of_the_function() -> None:
    with pytest.raises(FunctionError) as caught:
        Template("<<f a b>>").render(functions={"f": lambda: ""})

    assert isinstance(caught.value.__cause__, TypeError)


def test_errors_of_this_library_pass_through_unwrapped() -> None:
    def inner(scope: Any) -> object:
        return Template("<<$missing>>").render()

    with pytest.raises(UndefinedVariableError):
        Template("<<f>>").render(functions={"f": inner})


@pytest.mark.parametrize("exception", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_interruptions_pass_through_unwrapped(exception: type[BaseException]) -> None:
    def interrupt() -> None:
        raise exception

    with pytest.raises(exception):
        Template("<<f>>").render(functions={"f": interrupt})


class Method:
    def plain(self, scope: Any, word: str) -> str:
        return f"{type(scope).__name__} {word}"

    def __call__(self, scope: Any, word: str) -> str:
        return self.plain(scope, word)


def with_scope(scope: Any, word: str) -> str:
    return f"{type(scope).__name__} {word}"


def without(word: str, scope: Any = None) -> str:
    return f"{type(scope).__name__} {word}"


def keyword_only(*words: str, scope: Any = None) -> str:
    return f"{type(scope).__name__} {words[0]}"


def only_keyword(*, scope: Any = None, **words: str) -> str:
    return f"{type(scope).__name__} {words['w']}"


@wraps(with_scope)
def wrapped(*arguments: Any) -> str:
    return with_scope(*arguments)


@pytest.mark.parametrize(
    "function", [with_scope, Method(), Method().plain, wrapped, partial(with_scope)]
)
def test_function_whose_first_parameter_is_scope_gets_the_scope(function: Function) -> None:
    assert run("<<f w>>", Scope(functions={"f": function})) == "Scope w"


@pytest.mark.parametrize("function", [without, keyword_only, partial(with_scope, None)])
def test_scope_is_passed_to_no_other_function(function: Function) -> None:
    assert run("<<f w>>", Scope(functions={"f": function})) == "NoneType w"
    assert run("<<f w=w>>", Scope(functions={"f": partial(only_keyword)})) == "NoneType w"


@pytest.mark.parametrize(
    ("function", "text"),
    [(str, "ab"), (dict.fromkeys, '{"a":null,"b":null}'), (max, "b"), ("-".join, "a-b")],
)
def test_builtin_functions_can_be_called(function: Function, text: str) -> None:
    assert run("<<f ab>>", Scope(functions={"f": function})) == text


# --- waiting --------------------------------------------------------------------------------------


async def later(word: str = "w") -> str:
    await asyncio.sleep(0)
    return word.upper()


class AsyncCall:
    async def __call__(self) -> str:
        return await later()


def bound_to(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: function(*arguments)


ASYNC = [later, AsyncCall(), partial(later, "w"), partial(AsyncCall()), bound_to(later)]


@pytest.mark.parametrize("function", ASYNC)
def test_function_that_must_be_awaited_is_awaited(function: Function) -> None:
    functions = {"f": function}

    assert run("<<f>>", Scope(functions=functions)) == "W"
    assert asyncio.run(Template("<<f>> <<f>>").arender(functions=functions)) == "W W"


@pytest.mark.parametrize("function", ASYNC)
def test_function_that_must_be_awaited_is_refused_without_a_loop(function: Function) -> None:
    with pytest.raises(NeedsEventLoopError, match=r"'f' \(line 1, column 2\).*arender"):
        Template(" <<f>>").render(functions={"f": function})


def test_async_function_is_refused_before_any_function_runs() -> None:
    def never() -> None:
        pytest.fail("ran")

    with pytest.raises(NeedsEventLoopError):
        Template("<<never>> <<later>>").render(functions={"never": never, "later": later})


def test_awaitable_that_is_no_coroutine_is_refused_and_left_alone() -> None:
    class Waiting:
        def __await__(self) -> Generator[None, None, str]:
            pytest.fail("awaited")

    with pytest.raises(NeedsEventLoopError):
        Template("<<f>>").render(functions={"f": Waiting})


def test_plain_wrapper_that_waits_by_itself_is_a_plain_function() -> None:
    @wraps(later)
    def bridge() -> str:
        return asyncio.run(later())

    assert Template("<<f>>").render(functions={"f": bridge}) == "W"


def test_functions_that_wait_run_concurrently() -> None:
    ready = 0

    async def meet() -> str:
        nonlocal ready
        ready += 1
        while ready < 3:
            await asyncio.sleep(0)
        return "met"

    functions: dict[str, Function] = {"a": meet, "b": bound_to(meet), "c": lambda: "plain"}
    assert run("<<a>> <<b>> <<c>> <<a>>", Scope(functions=functions)) == "met met plain met"


@pytest.mark.parametrize("failing", ["plain", "async"])
def test_failure_leaves_no_coroutine_behind(failing: str) -> None:
    made: list[Coroutine[Any, Any, str]] = []

    def make() -> Coroutine[Any, Any, str]:
        made.append(later())
        return made[-1]

    def fail() -> None:
        raise ValueError

    async def fail_later() -> None:
        raise ValueError

    functions = {"make": make, "fail": fail if failing == "plain" else fail_later}
    with pytest.raises(FunctionError) as caught:
        asyncio.run(Template("<<fail>> <<make>> <<fail>>").arender(functions=functions))

    assert isinstance(caught.value.__cause__, ValueError)
    assert all(inspect.getcoroutinestate(one) == inspect.CORO_CLOSED for one in made)


def test_plain_function_may_return_the_evaluation_of_another_template() -> None:
    functions: dict[str, Function] = {
        "outer": lambda scope, word: scope.evaluate(Template("(<<inner $x>>)")),
        "inner": lambda word: word * 2,
        "read": lambda scope: scope.read("x"),
    }
    template = Template("<<outer a>> <<read>>")

    assert template.render({"x": "b"}, functions=functions) == "(bb) b"
    assert asyncio.run(template.arender({"x": "b"}, functions=functions)) == "(bb) b"


def test_deferred_work_starts_when_it_is_awaited() -> None:
    assert isinstance(Deferred(later), Awaitable)
    assert asyncio.run(as_coroutine(lambda: Deferred(later))) == "W"


def test_coroutine_that_suspends_is_not_run_without_a_loop() -> None:
    @coroutine
    def suspend() -> Generator[None, None, None]:
        yield

    async def waiting() -> None:
        await suspend()

    work = waiting()
    with pytest.raises(NeedsEventLoopError):
        _finish(work)
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED


# --- recursion ------------------------------------------------------------------------------------


def levels(count: int, render: Callable[[Any], object]) -> dict[str, Function]:
    functions: dict[str, Function] = {
        f"f{n}": partial(call_next, n + 1, render) for n in range(1, count)
    }
    return functions | {f"f{count}": partial(call_next, None, render)}


def call_next(following: int | None, render: Callable[[Any], object], scope: Any) -> object:
    return "end" if following is None else render((scope, f"<<f{following}>>"))


def through_scope(given: Any) -> object:
    scope, source = given
    return scope.evaluate(source)


def through_render(given: Any) -> object:
    scope, source = given
    return Template(source).render(functions=scope.functions)


@pytest.mark.parametrize("render", [through_scope, through_render])
def test_functions_may_nest_twenty_levels(render: Callable[[Any], object]) -> None:
    assert Template("<<f1>>").render(functions=levels(20, render)) == "end"

    with pytest.raises(RecursionLimitError, match=r"'f21' .* 20 levels .* 'f20' → 'f21'"):
        Template("<<f1>>").render(functions=levels(21, render))


def test_async_functions_are_bounded_too() -> None:
    async def again(scope: Any) -> object:
        return await scope.evaluate("<<again>>")

    template = Template("<<again>>")
    with pytest.raises(RecursionLimitError):
        asyncio.run(template.arender(functions={"again": again}))


def test_level_is_left_again_after_a_failure() -> None:
    def fail() -> None:
        raise ValueError

    for _ in range(30):
        with pytest.raises(FunctionError):
            Template("<<f>>").render(functions={"f": fail})
    assert Template("<<f>>" * 30).render(functions={"f": lambda: "x"}) == "x" * 30
