"""What takes long keeps no loop waiting: large values go to a thread, many sections take turns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import date
from typing import Any, ClassVar

import anyio
import pytest

from promptsections import MemorySection, Prompt, Renderer, SystemMessage
from promptsections.templates import takes_long
from promptsections.testing import WordTokenizer


class Watched(date):
    """A value that knows the threads in which it was written."""

    threads: ClassVar[set[int]] = set()

    def isoformat(self) -> str:
        Watched.threads.add(threading.get_ident())
        return super().isoformat()


def large() -> list[Any]:
    return [Watched(2024, 1, 1), *range(6_000)]


@pytest.fixture(autouse=True)
def _nobody_has_written() -> None:
    Watched.threads.clear()


READS: dict[str, Callable[[], Prompt]] = {
    "memory": lambda: Prompt([MemorySection("value", tokens=50)]),
    "yaml": lambda: Prompt([MemorySection("value", tokens=50, format="yaml")]),
    "variable": lambda: Prompt([SystemMessage("<<$value>>", tokens=50)]),
    "result": lambda: Prompt([SystemMessage("<<get>>", tokens=50)]),
}


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("read", READS)
def test_a_large_value_is_written_in_a_thread(read: str, backend: str) -> None:
    renderer = Renderer(tokenizer=WordTokenizer(), functions={"get": large})
    prompt, memory = READS[read](), {"value": large()}

    on_loop = anyio.run(lambda: renderer.arender(prompt, memory, budget=99), backend=backend)

    assert Watched.threads
    assert threading.get_ident() not in Watched.threads
    assert on_loop == renderer.render(prompt, memory, budget=99)
    assert threading.get_ident() in Watched.threads


def test_a_small_value_is_written_in_place() -> None:
    renderer = Renderer(tokenizer=WordTokenizer())
    prompt = Prompt([MemorySection("value"), SystemMessage("<<$value>>")])

    anyio.run(lambda: renderer.arender(prompt, {"value": [Watched(2024, 1, 1)]}, budget=99))

    assert Watched.threads == {threading.get_ident()}


def _endless() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x" * 10_000_000, False),
        (["x" * 10_000_000], True),
        (["x" * 1_000], False),
        (list(range(10_000)), True),
        (list(range(1_000)), False),
        ({"a": [{"b": n} for n in range(4_000)]}, True),
        ({"a": [{"b": n} for n in range(400)]}, False),
        (frozenset(range(10_000)), True),
        (7, False),
        (None, False),
    ],
)
def test_what_takes_long_follows_from_what_is_in_it(value: object, expected: bool) -> None:
    assert takes_long(value) is expected


def test_a_value_that_holds_itself_is_looked_at_no_further_than_needed() -> None:
    assert takes_long(_endless())


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_others_have_their_turn_while_many_sections_begin(backend: str) -> None:
    prompt = Prompt([SystemMessage(f"<<$x>> {n}", required=False) for n in range(1_000)])
    renderer = Renderer(tokenizer=WordTokenizer())
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async def render() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(others)
            await anyio.lowlevel.checkpoint()
            await renderer.aresolve(prompt, {"x": 1}, budget=50)
            group.cancel_scope.cancel()

    anyio.run(render, backend=backend)

    assert turns >= 9
