"""The only module that knows event loops: how our coroutines run, with one and without.

Everything that may meet somebody else's I/O is written once, as `async def`. Without a loop such a
coroutine is driven by hand, one step, since nothing of ours waits by itself; with one, sections run
concurrently in a task group, on asyncio and on trio.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar, cast

from promptsections.errors import NeedsEventLoopError

T = TypeVar("T")

_AT_ONCE = 100
"""Calls that begin in one step of an event loop: what stands in memory takes them a millisecond."""


class TimedOut(Exception):  # noqa: N818
    """A call took longer than it may; it is cancelled and awaited before this is raised."""


class SelfCancelled(Exception):  # noqa: N818
    """A call cancelled itself, although nobody cancelled the render."""


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, without an event loop.

    Raises:
        NeedsEventLoopError: if it waits all the same; it is closed first.
    """
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    coroutine.close()
    raise NeedsEventLoopError(
        "something must be awaited, and render() does not wait: write `await ….arender(…)`"
    )


class NoWaiting:
    """One thing after the other, in place: for `render()`."""

    may_await = False

    async def gather(self, calls: Sequence[Callable[[], Coroutine[Any, Any, T]]], /) -> list[T]:
        """Run all calls in their order, each in a copy of the caller's context variables."""
        return [copy_context().run(drive, call()) for call in calls]

    async def in_thread(self, function: Callable[[], T], /) -> T:
        """Call the function here."""
        return function()

    async def within(self, _: float | None, call: Callable[[], Awaitable[T]], /) -> T:
        """Run the call; nothing here can be interrupted."""
        return await call()


class OnLoop:
    """Concurrently, on the event loop that is running: for `arender()`."""

    may_await = True

    async def gather(self, calls: Sequence[Callable[[], Coroutine[Any, Any, T]]], /) -> list[T]:
        """Run all calls at once, each in a copy of the caller's context variables.

        If one fails, the others are cancelled and awaited first.
        """
        import anyio.lowlevel  # heavy: only who renders on a loop pays for it

        results: dict[int, T] = {}

        async def run(index: int, call: Callable[[], Coroutine[Any, Any, T]]) -> None:
            results[index] = await call()

        try:
            async with anyio.create_task_group() as group:
                for index, call in enumerate(calls):
                    if index and index % _AT_ONCE == 0:
                        await anyio.lowlevel.checkpoint()  # others have their turn
                    group.start_soon(run, index, call)
        except BaseExceptionGroup as errors:
            first = _first(errors)
            raise first from first.__cause__  # `from None` would wipe out what stood behind it
        return [results[index] for index in range(len(calls))]

    async def in_thread(self, function: Callable[[], T], /) -> T:
        """Call a plain function in a worker thread, which is left alone on cancellation."""
        from anyio import to_thread

        # In a tuple, since trio refuses functions that return a coroutine.
        (result,) = await to_thread.run_sync(lambda: (function(),), abandon_on_cancel=True)
        return result

    async def within(self, seconds: float | None, call: Callable[[], Awaitable[T]], /) -> T:
        """Run the call for at most so many seconds.

        Raises:
            TimedOut: it took longer.
            SelfCancelled: it cancelled itself.
        """
        import anyio

        try:
            with anyio.move_on_after(seconds):
                return await call()
        except anyio.get_cancelled_exc_class() as error:
            if _cancelled_from_outside():
                raise
            raise SelfCancelled from error
        raise TimedOut


def run_on_loop(function: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on an event loop of its own, also where one is running already; for tests."""
    import anyio

    def run() -> T:
        return anyio.run(function)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(copy_context().run, run).result()


async def sleep_on_loop(seconds: float) -> None:
    """Wait without blocking the event loop; for fakes in tests."""
    import anyio

    await anyio.sleep(seconds)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group of a task group, however deep."""
    first = errors.exceptions[0]
    return (
        _first(cast("BaseExceptionGroup[BaseException]", first))
        if isinstance(first, BaseExceptionGroup)
        else first
    )


def _cancelled_from_outside() -> bool:
    """Say whether the current task was asked to end; only asyncio lets a task fake it."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return True
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True
    return task is None or task.cancelling() > 0
