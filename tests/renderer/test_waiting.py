"""Renders that wait: all sections at once, within their time, no longer than their caller."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import attrs
import pytest
from renderer_samples import by_words, fates, on_both_loops, run, texts

from promptsections import (
    DataSourceError,
    DataSourceSection,
    FunctionError,
    GroupSection,
    Prompt,
    PromptSection,
    Reason,
    ResolutionError,
    Scope,
    SourceTimeoutError,
    TextSection,
    UserMessage,
    lay_out,
)

REQUEST = contextvars.ContextVar("REQUEST", default="nobody")


def docs(source: Any, name: str = "docs", **options: Any) -> DataSourceSection:
    return DataSourceSection(source, name=name, **({"tokens": 10} | options))


class Meeting:
    """Sources that return only once all of them were started."""

    def __init__(self, expected: int) -> None:
        self.started = 0
        self._expected = expected
        self._all_here: anyio.Event | None = None

    async def __call__(self, query: str, scope: Scope) -> list[str]:
        self._all_here = self._all_here or anyio.Event()
        self.started += 1
        if self.started == self._expected:
            self._all_here.set()
        await self._all_here.wait()
        return [f"found by {scope.path}"]


@on_both_loops
def test_sources_wait_beside_each_other(backend: str) -> None:
    meeting = Meeting(3)
    prompt = Prompt([docs(meeting, "a"), GroupSection([docs(meeting, "b")], name="g"),
                     docs(meeting, "c")])  # fmt: skip

    rendered = run(backend, lambda: by_words().arender(prompt, budget=100))

    assert texts(rendered) == ["found by a", "found by g/b", "found by c"]


@on_both_loops
def test_functions_of_one_template_wait_beside_each_other(backend: str) -> None:
    meeting = Meeting(2)

    async def ask(scope: Scope, name: str) -> str:
        await meeting(name, scope)
        return name

    prompt = Prompt([UserMessage("<<ask one>> and <<ask two>>")])

    rendered = run(backend, lambda: by_words(functions={"ask": ask}).arender(prompt, budget=100))

    assert texts(rendered) == ["one and two"]


@on_both_loops
def test_each_section_resolves_once_however_often_it_is_laid_out(backend: str) -> None:
    asked: list[str] = []

    async def source(query: str, scope: Scope) -> list[str]:
        asked.append(query)
        await anyio.sleep(0)
        return [f"chunk {n} of the found ones" for n in range(20)]

    prompt = Prompt([docs(source, tokens=1.0), UserMessage("<<$input>>")])
    memory = {"input": "what?"}

    resolved = run(backend, lambda: by_words().aresolve(prompt, memory, budget=100))

    layouts = [lay_out(resolved, budget) for budget in (20, 50, 100, 50)]
    assert asked == ["what?"]
    assert layouts[1] == layouts[3]
    again = run(backend, lambda: by_words().arender(prompt, memory, budget=50))
    assert again.messages == layouts[1].messages


def test_both_loops_and_none_give_the_same() -> None:
    prompt = Prompt([docs(lambda q, s: ["one two", "three"]), UserMessage("<<up x>>")])
    renderer = by_words(functions={"up": str.upper})

    results = [
        renderer.render(prompt, budget=50),
        *(run(loop, lambda: renderer.arender(prompt, budget=50)) for loop in ("asyncio", "trio")),
    ]

    assert results[0] == results[1] == results[2]
    assert {frozenset(rendered.timings) for rendered in results} == {
        frozenset({"resolve", "lay_out"})
    }
    assert all(seconds >= 0 for rendered in results for seconds in rendered.timings.values())


# --- sources --------------------------------------------------------------------------------------


def test_a_plain_source_runs_in_a_thread_only_where_it_would_block_others() -> None:
    here = threading.current_thread()
    threads: list[threading.Thread] = []

    def source(query: str, scope: Scope) -> Iterator[str]:
        threads.append(threading.current_thread())
        yield "found"

    prompt = Prompt([docs(source)])

    assert texts(by_words().render(prompt, budget=50)) == ["found"]
    assert threads == [here]
    for loop in ("asyncio", "trio"):
        assert texts(run(loop, lambda: by_words().arender(prompt, budget=50))) == ["found"]
        assert threads.pop() is not here


@on_both_loops
def test_every_shape_of_source_is_read(backend: str) -> None:
    async def generator(query: str, scope: Scope) -> AsyncIterator[str]:
        yield "async"
        await anyio.sleep(0)
        yield "generator"

    async def coroutine(query: str, scope: Scope) -> tuple[str, ...]:
        return ("a coroutine",)

    class Store:
        async def __call__(self, query: str, scope: Scope) -> list[str]:
            return ["an object"]

    class Search:
        async def find(self, query: str, scope: Scope) -> set[str]:
            return {"a method"}

    shapes: list[Any] = [
        generator, coroutine, Store(), Search().find,
        lambda q, s: coroutine(q, s), lambda q, s: generator(q, s),
        lambda q, s: iter(["an iterator"]), lambda q, s: (text for text in ["a", "b"]),
        lambda q, s: None,
    ]  # fmt: skip
    prompt = Prompt([docs(shape, f"s{n}", separator=" ") for n, shape in enumerate(shapes)])

    rendered = run(backend, lambda: by_words().arender(prompt, budget=200))

    assert texts(rendered) == [
        "async generator", "a coroutine", "an object", "a method",
        "a coroutine", "async generator", "an iterator", "a b",
    ]  # fmt: skip
    assert fates(rendered)["s8"] == ("empty", "empty")


# --- context variables ----------------------------------------------------------------------------


@attrs.frozen
class Speaks(PromptSection):
    """Says who asks, and then pretends to be somebody else."""

    def resolve(self, scope: Scope, /) -> str:
        name = REQUEST.get()
        REQUEST.set(f"{name}, changed by {scope.path}")
        return name


def test_sections_run_in_a_copy_of_the_callers_context() -> None:
    prompt = Prompt([Speaks(), Speaks(), docs(lambda q, s: [REQUEST.get()])])
    expected = ["Ann", "Ann", "Ann"]
    token = REQUEST.set("Ann")
    try:
        assert texts(by_words().render(prompt, budget=50)) == expected
        assert REQUEST.get() == "Ann"

        async def inside() -> list[str]:
            found = texts(await by_words().arender(prompt, budget=50))
            assert REQUEST.get() == "Ann"
            return found

        for loop in ("asyncio", "trio"):
            assert run(loop, inside) == expected
    finally:
        REQUEST.reset(token)


@on_both_loops
def test_renders_beside_each_other_do_not_mix(backend: str) -> None:
    @attrs.frozen
    class Asks(PromptSection):
        async def resolve(self, scope: Scope, /) -> str:
            number = scope.context_as(int)
            await anyio.sleep(0.001 * (number % 5))
            assert scope.context_as(int) == number
            return f"{number} {scope.read('x')}"

    prompt = Prompt([Asks(), UserMessage("<<$x>>")])
    renderer = by_words()
    found: dict[int, list[str]] = {}

    async def one(number: int) -> None:
        rendered = await renderer.arender(prompt, {"x": number}, budget=50, context=number)
        found[number] = texts(rendered)

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(one, number)

    run(backend, many)

    assert found == {n: [f"{n} {n}", str(n)] for n in range(50)}


# --- time -----------------------------------------------------------------------------------------


async def forever(query: str, scope: Scope) -> list[str]:
    await anyio.sleep_forever()
    raise AssertionError


@on_both_loops
def test_a_section_that_takes_too_long_is_left_out(
    backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    prompt = Prompt([TextSection("here"), docs(forever, timeout=0.01)])

    with caplog.at_level(logging.WARNING, "promptsections"):
        rendered = run(backend, lambda: by_words().arender(prompt, budget=50))

    placement = rendered.layout["docs"]
    assert texts(rendered) == ["here"]
    assert (placement.outcome, placement.reason) == ("failed", Reason.TIMEOUT)
    assert "0.01 s" in placement.message
    assert ["docs" in record.getMessage() for record in caplog.records] == [True]


@on_both_loops
def test_a_render_has_a_time_for_sections_without_their_own(backend: str) -> None:
    async def quick(query: str, scope: Scope) -> list[str]:
        await anyio.sleep(0.05)
        return ["quick"]

    prompt = Prompt([docs(forever, "a"), docs(quick, "b", timeout=10), TextSection("c", name="c")])

    rendered = run(backend, lambda: by_words().arender(prompt, budget=50, timeout=0.01))

    assert fates(rendered) == {
        "a": ("failed", "timeout"), "b": ("whole", "fits"), "c": ("whole", "fits"),
    }  # fmt: skip


@on_both_loops
def test_a_required_section_that_takes_too_long_is_an_error(backend: str) -> None:
    prompt = Prompt([docs(forever, required=True, timeout=0.01)])

    with pytest.raises(SourceTimeoutError, match=r"'docs'.*0\.01 s") as caught:
        run(backend, lambda: by_words().arender(prompt, budget=50))

    assert (caught.value.section, caught.value.seconds) == ("docs", 0.01)


def test_time_is_not_up_without_an_event_loop() -> None:
    prompt = Prompt([docs(lambda q, s: ["found"], timeout=1e-9)])

    assert texts(by_words().render(prompt, budget=50, timeout=1e-9)) == ["found"]


# --- failures -------------------------------------------------------------------------------------


async def broken(*_: object) -> Any:
    await anyio.sleep(0)
    raise ConnectionError("no route")


@attrs.frozen
class Broken(PromptSection):
    async def resolve(self, scope: Scope, /) -> str:
        raise KeyError("k")


FAILING: dict[str, tuple[Any, type[ResolutionError], type[Exception]]] = {
    "source": (docs, DataSourceError, ConnectionError),
    "function": (
        lambda _, **o: UserMessage("<<broken>>", name="docs", **o), FunctionError, ConnectionError,
    ),
    "section": (lambda _, **o: Broken(name="docs", **o), ResolutionError, KeyError),
}  # fmt: skip


@on_both_loops
@pytest.mark.parametrize("kind", FAILING)
def test_an_optional_section_that_fails_is_left_out_logged_and_noted(
    backend: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    make, _, cause = FAILING[kind]
    prompt = Prompt([TextSection("here"), make(broken, required=False)])
    renderer = by_words(functions={"broken": broken})

    with caplog.at_level(logging.WARNING, "promptsections"):
        rendered = run(backend, lambda: renderer.arender(prompt, budget=50))

    placement = rendered.layout["docs"]
    assert texts(rendered) == ["here"]
    assert (placement.outcome, placement.reason, placement.used) == ("failed", Reason.FAILED, 0)
    assert placement.error is not None
    assert placement.error.startswith(f"{cause.__name__}: ")
    [record] = caplog.records
    assert (record.name, record.levelno) == ("promptsections", logging.WARNING)
    assert "'docs'" in record.getMessage()
    assert record.exc_info is not None
    assert cause.__name__ in (
        record.exc_text or logging.Formatter().formatException(record.exc_info)
    )


@on_both_loops
@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.parametrize("required", [True, False])
def test_a_required_section_that_fails_is_a_typed_error_with_its_cause(
    backend: str, kind: str, required: bool
) -> None:
    make, error, cause = FAILING[kind]
    prompt = Prompt([TextSection("here"), make(broken, required=required)])
    renderer = by_words(functions={"broken": broken}, on_failure="drop" if required else "raise")

    with pytest.raises(error) as caught:
        run(backend, lambda: renderer.arender(prompt, budget=50))

    assert type(caught.value) is error
    assert caught.value.section == "docs"
    assert isinstance(caught.value.__cause__, cause)


@on_both_loops
def test_a_failure_ends_the_others_before_it_is_raised(backend: str) -> None:
    ended: list[str] = []

    async def waits(query: str, scope: Scope) -> list[str]:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(scope.path)
        raise AssertionError

    prompt = Prompt([docs(waits, "a"), docs(broken, "b", required=True), docs(waits, "c")])

    with pytest.raises(DataSourceError, match="'b'"):
        run(backend, lambda: by_words().arender(prompt, budget=50))

    assert sorted(ended) == ["a", "c"]


def test_a_source_that_cancels_itself_has_failed() -> None:
    async def gives_up(query: str, scope: Scope) -> list[str]:
        raise asyncio.CancelledError

    prompt = Prompt([TextSection("here"), docs(gives_up)])
    strict = Prompt([docs(gives_up, required=True)])

    rendered = run("asyncio", lambda: by_words().arender(prompt, budget=50))

    assert fates(rendered)["docs"] == ("failed", "failed")
    assert "cancelled itself" in rendered.layout["docs"].message
    with pytest.raises(DataSourceError, match=r"'docs'.*cancelled itself"):
        run("asyncio", lambda: by_words().arender(strict, budget=50))


# --- cancellation and interruption ----------------------------------------------------------------


@on_both_loops
def test_cancellation_from_outside_passes_and_leaves_nothing_behind(backend: str) -> None:
    ended: list[str] = []
    after: list[str] = []

    async def waits(query: str, scope: Scope) -> list[str]:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(scope.path)
        raise AssertionError

    prompt = Prompt([docs(waits, "a"), docs(waits, "b", timeout=10)])

    async def cancelled() -> None:
        with anyio.move_on_after(0.05) as scope:
            await by_words().arender(prompt, budget=50)
            after.append("it returned")
        assert scope.cancelled_caught

    run(backend, cancelled)

    assert (sorted(ended), after) == (["a", "b"], [])


def test_cancelling_a_task_of_asyncio_leaves_no_task() -> None:
    async def cancelled() -> None:
        prompt = Prompt([docs(forever, "a"), docs(forever, "b", required=True)])
        task = asyncio.create_task(by_words().arender(prompt, budget=50, timeout=10))
        await asyncio.sleep(0.02)
        task.cancel("enough")
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancelled())


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_passes(interruption: type[BaseException]) -> None:
    def plain(query: str, scope: Scope) -> list[str]:
        raise interruption

    async def waiting(query: str, scope: Scope) -> list[str]:
        await anyio.sleep(0)
        raise interruption

    with pytest.raises(interruption):
        by_words().render(Prompt([docs(plain)]), budget=50)
    with pytest.raises(interruption):
        anyio.run(lambda: by_words().arender(Prompt([docs(waiting)]), budget=50), backend="trio")


def test_an_error_inside_a_running_loop_is_the_same() -> None:
    prompt = Prompt([docs(lambda q, s: 1 / 0, required=True)])

    async def inside() -> None:
        with pytest.raises(DataSourceError, match="ZeroDivisionError") as caught:
            by_words().render(prompt, budget=50)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)

    for loop in ("asyncio", "trio"):
        run(loop, inside)


@on_both_loops
def test_a_section_may_await_what_its_scope_offers(backend: str) -> None:
    @attrs.frozen
    class Summary(PromptSection):
        async def resolve(self, scope: Scope, /) -> str:
            greeting = await scope.evaluate("Dear <<$name>>,")
            body: Any = await scope.resolve(TextSection("all is well."))
            assert scope.may_await
            assert scope.count("two words") == 2
            return f"{greeting} {body.text}"

    rendered = run(
        backend, lambda: by_words().arender(Prompt([Summary()]), {"name": "Ann"}, budget=50)
    )

    assert texts(rendered) == ["Dear Ann, all is well."]
