"""Work of this library that can be awaited and never needs an event loop of its own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

from attrs import frozen

T_co = TypeVar("T_co", covariant=True)


@frozen
class Deferred(Generic[T_co]):
    """An awaitable that a plain function may return even where nothing may wait.

    What it starts refuses to wait by itself under a synchronous render, so awaiting it there never
    suspends. Nothing is started before it is awaited, so one that is dropped leaves no trace.
    """

    start: Callable[[], Coroutine[Any, Any, T_co]]
    """Begins the work; called once for each `await`."""

    def __await__(self) -> Generator[Any, Any, T_co]:
        return self.start().__await__()
