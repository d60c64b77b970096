"""Reading a history newest first from where it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any

import pytest
import trio
from block_laws import HONEST, SHRINKING, UNBOUNDED, counters, plain_words
from hypothesis import given
from hypothesis import strategies as st

from promptsections.blocks import HistoryBlock, NewestFirst, history_block
from promptsections.blocks.transcript import as_history
from promptsections.counting import Counter
from promptsections.errors import DefinitionError, InvalidHistoryError, NeedsEventLoopError
from promptsections.measurement import Measurement
from promptsections.messages import Message, ToolCall
from promptsections.tokens import CallableTokenizer


def drive(coroutine: Coroutine[Any, Any, HistoryBlock]) -> HistoryBlock:
    """Run a coroutine that never waits, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waited")


def read(value: object, available: int = 9, **options: Any) -> HistoryBlock:
    options.setdefault("counter", plain_words())
    return drive(history_block(value, available=available, **options))


def talk(number: int) -> Message:
    return Message("assistant" if number % 2 else "user", f"w{number}")


class Store:
    """Counts what is read of an endless history and whether it was closed."""

    def __init__(self, length: int = 1_000_000) -> None:
        self.length = length
        self.read = 0
        self.closed = 0

    def newest_first(self) -> Iterator[Message]:
        try:
            for number in reversed(range(self.length)):
                self.read += 1
                yield talk(number)
        finally:
            self.closed += 1

    async def slowly(self) -> AsyncIterator[Message]:
        try:
            for number in reversed(range(self.length)):
                self.read += 1
                yield talk(number)
        finally:
            self.closed += 1


messages = st.lists(
    st.one_of(
        st.sampled_from(["", "a", "b c d"]).map(lambda text: Message("user", text)),
        st.sampled_from(["", "a", "b c d"]).map(lambda text: Message("assistant", text)),
        st.just(Message("system", "s")),
        st.just(Message("assistant", None, tool_calls=[ToolCall("x", "f")])),
        st.just(Message("tool", "r", tool_call_id="x")),
    ),
    max_size=20,
)


@given(
    messages,
    st.integers(0, 60),
    st.integers(0, 60),
    st.booleans(),
    st.none() | st.integers(1, 6),
    st.sampled_from([*HONEST, *counters(SHRINKING)]),
)
def test_it_is_the_same_as_a_list_at_any_size_that_it_was_read_for(
    history: list[Message],
    available: int,
    size: int,
    keep_system: bool,
    max_messages: int | None,
    counter: Counter,
) -> None:
    """Reading no further than what can be given changes nothing of what is sent."""
    options: dict[str, Any] = {"keep_system": keep_system, "max_messages": max_messages}
    source = NewestFirst(lambda: iter(history[::-1]))
    expected = HistoryBlock(history, **options)

    block = read(source, available, counter=counter, **options)

    size = min(size, available)
    assert block.must_send == expected.must_send
    if block.unread:
        beyond = block.measure(counter, available).natural
        assert beyond == available + 1 or max_messages is not None
        # The system messages at the start of what was not read are not known.
        expected = HistoryBlock(block.messages, **options)
    assert block.measure(counter, size).floor == expected.measure(counter, size).floor
    if block.measure(counter, size).floor <= size:
        assert list(block.fit(counter, size)) == list(expected.fit(counter, size))


def test_no_more_is_read_than_fits_and_one_exchange() -> None:
    store = Store()

    block = read(NewestFirst(store.newest_first), 100)

    placed = block.place(plain_words(), 100)
    assert len(placed.messages) == 100
    assert store.read == 102
    assert store.closed == 1
    assert block.unread
    assert (placed.omitted, placed.omitted_is_exact) == (2, False)
    assert block.measure(plain_words(), 100) == Measurement(2, 101)


def test_a_history_that_was_read_to_its_end_is_known_exactly() -> None:
    store = Store(4)

    block = read(NewestFirst(store.newest_first), 100)

    assert not block.unread
    assert block.measure(plain_words(), 100) == Measurement(2, 4)
    assert block.place(plain_words(), 2).omitted_is_exact
    assert store.closed == 1


@pytest.mark.parametrize("run", [asyncio.run, lambda coroutine: trio.run(lambda: coroutine)])
def test_an_async_iterable_is_awaited_and_closed(run: Any) -> None:
    store = Store()

    block = run(history_block(NewestFirst(store.slowly), counter=plain_words(), available=10))

    assert len(block.fit(plain_words(), 10)) == 10
    assert store.read == 12
    assert store.closed == 1


def test_an_async_iterable_without_aclose_is_read_to_its_end() -> None:
    class Three:
        def __init__(self) -> None:
            self.left = 3

        def __aiter__(self) -> Three:
            return self

        async def __anext__(self) -> Message:
            self.left -= 1
            if self.left < 0:
                raise StopAsyncIteration
            return Message("user", str(self.left))

    block = read(NewestFirst(Three))

    assert [message.text for message in block.fit(plain_words(), 9)] == ["0", "1", "2"]
    assert not block.unread


def test_an_async_iterable_is_refused_before_it_starts_where_nothing_may_wait() -> None:
    store = Store()

    with pytest.raises(NeedsEventLoopError, match="arender"):
        read(NewestFirst(store.slowly), may_wait=False)

    assert store.read == 0


def test_a_source_is_closed_when_something_goes_wrong() -> None:
    store = Store()

    def fail(message: Message) -> Message:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        read(NewestFirst(store.newest_first), transform=fail)

    assert store.closed == 1


def test_the_newest_exchange_is_read_whole_however_large_it_is() -> None:
    history = [Message("user", "a b c"), *[Message("assistant", "d e f")] * 20]

    block = read(NewestFirst(lambda: history[::-1]), 5)

    assert block.measure(plain_words(), UNBOUNDED).floor == 63


def test_of_max_messages_no_more_are_read_than_one_exchange() -> None:
    store = Store()

    block = read(NewestFirst(store.newest_first), 1_000, max_messages=4)

    assert store.read == 6
    assert block.measure(plain_words(), 1_000) == Measurement(2, 4)


def test_messages_are_transformed_once() -> None:
    seen: list[str] = []

    def note(message: Message) -> Message | None:
        seen.append(message.text)
        return None if message.text == "w2" else message

    block = read(NewestFirst(lambda: [talk(number) for number in (3, 2, 1, 0)]), transform=note)
    placed = block.place(plain_words(), 9)

    assert [message.text for message in placed.messages] == ["w0", "w1", "w3"]
    assert seen == ["w3", "w2", "w1", "w0"]
    assert placed.omitted == 1


def test_messages_that_cannot_be_sent_do_not_count() -> None:
    orphan = Message("tool", "r " * 1_000, tool_call_id="x")
    history = [Message("user", "a"), orphan, Message("user", "b")]

    assert len(read(NewestFirst(lambda: history[::-1])).fit(plain_words(), 9)) == 2


def test_where_all_is_counted_anew_it_is_counted_less_often_the_more_there_is() -> None:
    read_of_it = 0

    def count(text: str) -> int:
        nonlocal read_of_it
        read_of_it += len(text)
        return len(text.split())

    for counter in counters(CallableTokenizer("words", count)):
        store = Store()
        read_of_it = 0

        block = read(NewestFirst(store.newest_first), 3_000, counter=counter)

        assert block.unread
        sent = block.fit(counter, 3_000)
        assert len(sent) <= store.read <= len(sent) * 9 // 8 + 9
        assert read_of_it < 100 * sum(len(message.text) + 10 for message in sent)


def test_a_missing_history_is_empty() -> None:
    assert read(None).measure(plain_words(), 9) == Measurement(0, 0)


def test_a_list_is_read_no_further_than_it_is_measured() -> None:
    block = read(
        [Message("user", "x"), 7, Message("user", "a"), Message("user", "b")], start_on="any"
    )

    assert block.fit(plain_words(), 1) == (Message("user", "b"),)


@pytest.mark.parametrize("value", [iter([]), Store().newest_first(), Store().slowly()])
def test_what_can_be_read_only_once_is_an_error(value: object) -> None:
    with pytest.raises(InvalidHistoryError, match=r"NewestFirst\(open\)"):
        read(value)


@pytest.mark.parametrize(
    ("value", "kind"), [("text", "str"), ({"role": "user"}, "dict"), (7, "int")]
)
def test_what_is_no_history_is_an_error(value: object, kind: str) -> None:
    with pytest.raises(InvalidHistoryError, match=f"not {kind}"):
        read(value)


async def opened_too_late() -> list[Message]:
    return []


@pytest.mark.parametrize(
    ("opener", "kind"),
    [(lambda: "text", "str"), (lambda: 7, "int"), (opened_too_late, "coroutine")],
)
def test_what_opens_nothing_to_iterate_is_an_error(opener: Any, kind: str) -> None:
    with pytest.raises(InvalidHistoryError, match=f"not {kind}"):
        read(NewestFirst(opener))


def test_a_message_of_a_store_that_is_none_is_an_error_that_says_which() -> None:
    with pytest.raises(InvalidHistoryError, match="message 1 of the history, from the newest"):
        read(NewestFirst(lambda: [talk(1), 7]))


def test_open_must_be_callable() -> None:
    with pytest.raises(DefinitionError, match="not list"):
        NewestFirst([])  # type: ignore[arg-type]


class Watched(list[Any]):
    """A list that notes the places that are read one by one."""

    def __init__(self, *items: Any) -> None:
        super().__init__(*items)
        self.read: list[int] = []

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int):
            self.read.append(place)
        return super().__getitem__(place)


def test_of_a_long_list_only_the_newest_messages_are_copied() -> None:
    messages = Watched({"role": "user", "content": f"word {n}"} for n in range(1000))

    snapshot = as_history(messages, 10)
    messages.append({"role": "user", "content": "later"})
    messages[995:] = []

    assert len(snapshot) == 1000
    assert snapshot[-1] == {"role": "user", "content": "word 999"}
    assert messages.read == []
    assert snapshot[3]["content"] == "word 3"
    assert messages.read == [3]
    assert [message["content"] for message in snapshot[988:991]] == [
        "word 988",
        "word 989",
        "word 990",
    ]
    with pytest.raises(IndexError):
        _ = snapshot[1000]


def test_a_history_can_be_longer_than_what_was_copied_of_it() -> None:
    messages = [Message("user", "word"), *[Message("assistant", "word")] * 500]
    block = drive(history_block(messages, counter=plain_words(), available=10))

    assert block.measure(plain_words(), 1000).natural == 501
    assert block.fit(plain_words(), 1000) == tuple(messages)
