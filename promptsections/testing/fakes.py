"""Data sources and stores of histories that need no network, and remember what they were asked.

They know no test framework.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from time import sleep

from attrs import field, frozen

from promptsections._run import sleep_on_loop
from promptsections.blocks import Chunk, NewestFirst
from promptsections.messages import MessageLike
from promptsections.scope import Scope


def _told(error: Exception | None) -> tuple[object, ...]:
    """Return what two equal errors have in common."""
    return (type(error), *(error.args if error is not None else ()))


@frozen
class FakeSource:
    """A data source that returns what it was made with: `DataSourceSection(FakeSource(["…"]))`."""

    chunks: tuple[Chunk | str, ...] = field(default=(), converter=tuple[Chunk | str, ...])
    """What it finds, best first, whatever it is asked."""
    delay: float = field(default=0.0, kw_only=True)
    """Seconds that it takes."""
    error: Exception | None = field(default=None, kw_only=True, eq=_told)
    """What it raises, instead of finding anything."""
    queries: list[str] = field(factory=list[str], init=False, eq=False, repr=False)
    """What it was asked, in order."""

    def __call__(self, query: str, scope: Scope, /) -> Iterable[Chunk | str]:
        """Find the chunks."""
        self.queries.append(query)
        if self.delay:
            sleep(self.delay)
        if self.error is not None:
            raise self.error
        return self.chunks


@frozen
class AsyncFakeSource:
    """The same as `FakeSource`, to be awaited; so its section needs `arender()`."""

    chunks: tuple[Chunk | str, ...] = field(default=(), converter=tuple[Chunk | str, ...])
    """What it finds, best first, whatever it is asked."""
    delay: float = field(default=0.0, kw_only=True)
    """Seconds that it takes; a timeout or cancellation ends them."""
    error: Exception | None = field(default=None, kw_only=True, eq=_told)
    """What it raises, instead of finding anything."""
    queries: list[str] = field(factory=list[str], init=False, eq=False, repr=False)
    """What it was asked, in order."""

    async def __call__(self, query: str, scope: Scope, /) -> Iterable[Chunk | str]:
        """Find the chunks."""
        self.queries.append(query)
        if self.delay:
            await sleep_on_loop(self.delay)
        if self.error is not None:
            raise self.error
        return self.chunks


@frozen
class FakeStore:
    """A store of conversations: hands messages out from the newest on, and counts how many.

    `{"history": FakeStore(messages).newest_first()}` in memory is read by `ConversationHistory`.
    """

    messages: tuple[MessageLike, ...] = field(default=(), converter=tuple[MessageLike, ...])
    """Oldest first."""
    handed_out: list[MessageLike] = field(
        factory=list[MessageLike], init=False, eq=False, repr=False
    )
    """All that was read, in the order of reading."""

    def newest_first(self) -> NewestFirst:
        """Return what a history reads plainly."""
        return NewestFirst(self._read)

    def newest_first_async(self) -> NewestFirst:
        """Return what a history awaits; it needs `arender()`."""
        return NewestFirst(self._read_async)

    def _read(self) -> Iterator[MessageLike]:
        for message in reversed(self.messages):
            self.handed_out.append(message)
            yield message

    async def _read_async(self) -> AsyncIterator[MessageLike]:
        for message in self._read():
            await sleep_on_loop(0)
            yield message
