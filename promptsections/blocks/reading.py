"""Read a conversation history from where it is kept, newest first and no further than what fits.

The only block module that may wait. It knows no event loop: plain iterables need none.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
)
from itertools import chain
from typing import Any, Unpack, cast

from attrs import field, frozen

from promptsections.blocks.growth import adds_up
from promptsections.blocks.history import HistoryBlock, HistoryOptions
from promptsections.blocks.repair import DROP, Repair
from promptsections.blocks.transcript import Gap, as_history, read_message
from promptsections.blocks.trimming import BLOCK
from promptsections.blocks.turns import exchange_of, is_system, opens_exchange
from promptsections.counting import Counter, Extent
from promptsections.errors import DefinitionError, InvalidHistoryError, NeedsEventLoopError
from promptsections.messages import Message, MessageLike

_READ_ONCE = (Iterator, AsyncIterable)


def _check_callable(_: object, __: object, value: Any) -> None:
    if not callable(value):
        raise DefinitionError(
            "NewestFirst(open) needs a function that gives a fresh iterable each time, "
            f"not {type(value).__name__}"
        )


def _check_total(_: object, __: object, value: Any) -> None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if value is not None and not is_count:
        raise DefinitionError(f"NewestFirst: total={value!r} must be 0 or more messages, or None")


@frozen
class NewestFirst:
    """A history that a store hands out from its newest message on."""

    open: Callable[[], Iterable[MessageLike] | AsyncIterable[MessageLike]] = field(
        validator=_check_callable
    )
    """Gives a fresh iterable, or async iterable, of messages each time; it is closed after use."""
    total: int | None = field(default=None, kw_only=True, validator=_check_total)
    """How many messages the store holds. Only needed to trim in steps, for the prompt cache: cells
    are counted from the oldest message, which is not read."""


async def history_block(
    value: object,
    *,
    counter: Counter,
    available: int,
    may_wait: bool = True,
    **options: Unpack[HistoryOptions],
) -> HistoryBlock:
    """Make a block of whatever stands for a history: `None`, a list, or `NewestFirst`.

    Args:
        value: Messages, oldest first; or what opens them newest first; `None` is an empty history.
        counter: Counts where the block will stand.
        available: The most that the block can be given, in tokens; no more is read.
        may_wait: Whether there is an event loop that async iterables can be read with.
        options: See `HistoryBlock`.

    Raises:
        InvalidHistoryError: if it is none of these, or holds what is no message.
        NeedsEventLoopError: if `open()` gives an async iterable and nothing may wait.
    """
    if isinstance(value, NewestFirst):
        reader = _Reader(counter, available, options, value.total)
        complete = await _read(value, reader, may_wait=may_wait)
        transformed: HistoryOptions = {**options, "transform": None}
        messages = tuple(reversed(reader.messages))
        earlier = _earlier(value.total, len(messages), complete=complete)
        return HistoryBlock(messages, unread=not complete, earlier=earlier, **transformed)
    if isinstance(value, _READ_ONCE):
        kind = type(cast("object", value)).__name__
        raise InvalidHistoryError(
            f"{kind} can be read only once: pass a list of messages, oldest first, "
            "or NewestFirst(open) where open() gives a fresh iterable, newest first"
        )
    newest = None if options.get("pinned") else _most(counter, available)
    return HistoryBlock(() if value is None else as_history(value, newest), **options)


def _earlier(total: int | None, read: int, *, complete: bool) -> int | None:
    """Return how many messages were not read, as far as that is known."""
    if complete:
        return 0
    if total is not None and total < read:
        raise InvalidHistoryError(
            f"NewestFirst: total={total} messages, but {read} were read and there are more"
        )
    return None if total is None else total - read


def _most(counter: Counter, available: int) -> int:
    """Return how many messages may be read for so many tokens, where each has a token of text."""
    framing = 0 if counter.lines else counter.profile.tokens_per_message
    return available // (framing + 1) + 64


async def _read(source: NewestFirst, reader: _Reader, *, may_wait: bool) -> bool:
    """Read messages until no more is needed; say whether that was all there is."""
    opened = cast("object", source.open())
    kind = type(opened).__name__
    if isinstance(opened, AsyncIterable):
        if not may_wait:
            raise NeedsEventLoopError(
                "the history is read from an async iterable: use arender(), or let open() give a "
                "plain iterable"
            )
        return await _read_async(aiter(cast("AsyncIterable[MessageLike]", opened)), reader)
    if isinstance(opened, Iterable) and not isinstance(opened, str | bytes | Mapping):
        return _read_plain(iter(cast("Iterable[MessageLike]", opened)), reader)
    if isinstance(opened, Coroutine):
        opened.close()  # or Python warns that it was never awaited
    raise InvalidHistoryError(
        "open() of a history must give an iterable or async iterable of messages, newest first, "
        f"not {kind}"
    )


def _read_plain(iterator: Iterator[MessageLike], reader: _Reader) -> bool:
    try:
        return all(reader.take(item) for item in iterator)
    finally:
        close = getattr(iterator, "close", None)
        if callable(close):
            close()


async def _read_async(iterator: AsyncIterator[MessageLike], reader: _Reader) -> bool:
    try:
        async for item in iterator:
            if not reader.take(item):
                return False
        return True
    finally:
        close = getattr(iterator, "aclose", None)
        if callable(close):
            await cast("Awaitable[None]", close())


class _Reader:
    """Collects messages until their exchanges are more than what can be given."""

    def __init__(
        self, counter: Counter, available: int, options: HistoryOptions, total: int | None = None
    ) -> None:
        self.messages: list[Message | Gap] = []
        """What was read, newest first, with a gap for what the transform left out."""
        self._counter = counter
        self._available = available
        self._keep_system = options.get("keep_system", True)
        self._max_messages = options.get("max_messages")
        self._transform = options.get("transform")
        stubs = options.get("repair") == "stub"  # what is to be an error, is one when it is used
        self._repair = Repair("stub", options.get("stub_text", DROP.stub_text)) if stubs else DROP
        self._pending: list[Message] = []
        self._exchanges: list[tuple[Message, ...]] = []
        self._size = Extent(0)
        self._sent = 0
        self._next_check = 1
        self._total = total if options.get("trim_step") else None
        self._until: int | None = None
        """How many messages to read, once their exchanges are more than what can be given."""

    def take(self, value: MessageLike) -> bool:
        """Take the next older message; say whether one more may be needed.

        Only after a user turn an exchange is known as a whole, without what cannot be sent.
        """
        where = f"message {len(self.messages)} of the history, from the newest"
        message = read_message(value, where, self._transform)
        self.messages.append(Gap.LEFT_OUT if message is None else message)
        if message is None:
            return True
        if self._keep_system or not is_system(message):
            self._pending.append(message)
        if not opens_exchange(message):
            return True
        if self._until is None and not self._needs_more():
            self._until = self._up_to_block()
        return self._until is None or len(self.messages) < self._until

    def _up_to_block(self) -> int:
        """Return how many messages to read so that cells can be found: no more than a block."""
        read = len(self.messages)
        return read if self._total is None else read + max(0, self._total - read) % BLOCK

    def _needs_more(self) -> bool:
        """Take the exchange that has just been read; say whether one more may fit."""
        exchange = exchange_of(self._pending[::-1], repair=self._repair).messages
        self._pending.clear()
        self._sent += len(exchange)
        within = self._max_messages is None or self._sent <= self._max_messages
        return within and self._fits(exchange)

    def _fits(self, exchange: tuple[Message, ...]) -> bool:
        counter = self._counter
        self._exchanges.append(exchange)
        if adds_up(counter):
            self._size = counter.joined(counter.extent(exchange), self._size)
            return counter.total(self._size) <= self._available
        # All is counted anew each time, so it is done less often the more there is.
        if len(self._exchanges) < self._next_check:
            return True
        self._next_check += max(1, self._next_check // 8)
        whole = list(chain.from_iterable(reversed(self._exchanges)))
        return counter.cost(whole) <= self._available
