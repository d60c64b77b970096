"""What holds of any list of messages at any size, with every option of a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talks import COUNTERS, any_list, check_sendable, plain, whole

from promptsections import ConversationHistory, InvalidHistoryError, Message, NewestFirst
from promptsections.blocks import Fitted, HistoryBlock, history_block
from promptsections.counting import Counter

UNBOUNDED = 10**9
MARKER = "{n} earlier messages omitted"
STUB = "[no result]"


def is_pinned(message: Message) -> bool:
    return "b c" in message.text


options = st.fixed_dictionaries(
    {
        "max_messages": st.none() | st.integers(1, 8),
        "max_result_tokens": st.none() | st.integers(1, 20),
        "omission_marker": st.sampled_from([None, MARKER]),
        "repair": st.sampled_from(["drop", "stub"]),
        "pinned": st.sampled_from([None, is_pinned]),
        "trim_step": st.none() | st.integers(1, 60),
    }
)
sizes = st.integers(0, 150)
counters = st.sampled_from(COUNTERS)


def place(block: HistoryBlock, counter: Counter, size: int) -> tuple[Fitted, int]:
    """Place a block at a size, or at its floor if that is more; return that size too."""
    size = max(size, block.measure(counter, UNBOUNDED).floor)
    return block.place(counter, size), size


def added(messages: Sequence[Message]) -> list[Message]:
    """Return what did not stand in the history: markers and stubs."""
    return [m for m in messages if m.text == STUB or m.text.endswith(MARKER.partition("}")[2])]


def source(message: Message, history: Sequence[Message]) -> list[int]:
    """Return the places in a history that a message could come from."""
    cut = message.role == "tool" and "left out]" in message.text
    return [
        place
        for place, original in enumerate(history)
        if message is original
        or (message.role == original.role == "tool"
            and message.tool_call_id == original.tool_call_id
            and message.name == original.name
            and (cut or len(message.text) < len(original.text)))
    ]  # fmt: skip


@given(any_list, options, sizes, counters)
def test_no_list_leaves_that_a_provider_refuses(
    history: list[Message], chosen: dict[str, Any], size: int, counter: Counter
) -> None:
    """Each call is answered once right behind it, and the user begins, whatever came in."""
    placed, size = place(HistoryBlock(history, **chosen), counter, size)

    check_sendable(placed.messages)
    assert counter.cost(placed.messages) <= size


@given(any_list, options, sizes, counters)
def test_sizes_are_exact_and_bounded(
    history: list[Message], chosen: dict[str, Any], size: int, counter: Counter
) -> None:
    """Floor and natural size are exact up to what was asked for, and both are kept to."""
    block = HistoryBlock(history, **chosen)
    floor, natural = block.measure(counter, UNBOUNDED)

    assert 0 <= floor <= natural
    assert block.measure(counter, size) == (min(floor, size + 1), min(natural, size + 1))
    placed, size = place(block, counter, size)
    assert floor <= counter.cost(placed.messages) <= size
    if size >= natural:
        assert placed == block.place(counter, UNBOUNDED)


@given(any_list, options, sizes, counters)
def test_nothing_is_edited_moved_or_invented(
    history: list[Message], chosen: dict[str, Any], size: int, counter: Counter
) -> None:
    """But for cut results, stubs and markers, messages are the author's, in their order."""
    placed, _ = place(HistoryBlock(history, **chosen), counter, size)

    extra = added(placed.messages)
    last = -1
    for message in placed.messages:
        if any(message is other for other in extra):
            continue
        last = min(at for at in source(message, history) if at > last)
    assert placed.omitted == len(history) - len(placed.messages) + len(extra)


@given(any_list, options, sizes, sizes, counters)
def test_more_room_never_sends_less(
    history: list[Message], chosen: dict[str, Any], size: int, more: int, counter: Counter
) -> None:
    """What is sent at a size is sent at every larger one, results at least as long."""
    block = HistoryBlock(history, **chosen)

    smaller, size = place(block, counter, size)
    larger, _ = place(block, counter, size + more)

    def seen(placed: Fitted) -> dict[int, int]:
        sent = {}
        last = -1
        for message in placed.messages:
            if message.text == "[no result]":  # a placeholder looks like a result that was cut
                continue
            found = [at for at in source(message, history) if at > last]
            if found:
                last = found[0]
                sent[last] = len(message.text)
        return sent

    assert len(added(larger.messages)) <= len(added(smaller.messages)) or chosen["repair"] == "stub"
    assert larger.omitted <= smaller.omitted
    if all(history.count(message) == 1 for message in history):
        before, after = seen(smaller), seen(larger)
        assert before.keys() <= after.keys()


@given(whole, options, sizes, counters)
def test_the_task_is_never_lost(
    history: list[Message], chosen: dict[str, Any], size: int, counter: Counter
) -> None:
    """The user's turn that waits for its answer is sent at every size that is possible."""
    block = HistoryBlock(history, **chosen)
    placed, _ = place(block, counter, size)

    if history and history[-1].role in ("user", "tool"):
        task = [message for message in history if message.role == "user"][-1]
        assert block.must_send
        assert any(message is task for message in placed.messages)


@given(any_list, options, sizes, counters)
def test_what_is_pinned_and_can_be_sent_is_sent(
    history: list[Message], chosen: dict[str, Any], size: int, counter: Counter
) -> None:
    """Pinned messages are there at every size, if they are there when there is room for all."""
    block = HistoryBlock(history, **{**chosen, "pinned": is_pinned})
    placed, _ = place(block, counter, size)
    all_there = HistoryBlock(history, repair=chosen["repair"]).place(counter, UNBOUNDED).messages

    sent = {id(message) for message in placed.messages}
    assert all(id(m) in sent for m in all_there if is_pinned(m) and m.text != STUB)


@given(any_list, options, sizes)
def test_a_marker_counts_what_is_missing(
    history: list[Message], chosen: dict[str, Any], size: int
) -> None:
    """With nothing to repair, it says how many messages there are but for those that are sent."""
    counter = plain()
    placed, _ = place(HistoryBlock(history, **chosen), counter, size)
    markers = [m.text for m in added(placed.messages) if m.text != STUB]
    codes = {note.code for note in placed.notes}

    assert len(markers) == ("omission" in codes)
    if markers and placed.omitted_is_exact:
        number = int(markers[0].split()[0])
        assert 0 < number <= placed.omitted
        if not HistoryBlock(history, start_on="any").place(counter, UNBOUNDED).notes:
            assert number == placed.omitted


@given(any_list)
def test_an_error_is_raised_exactly_where_something_would_be_repaired(
    history: list[Message],
) -> None:
    """`raise` and the notes of `drop` agree, and the error says which message it is."""
    repairs = {"unanswered_call", "duplicate_result", "orphan_result", "misplaced_call"}
    counter = plain()
    notes = HistoryBlock(history).place(counter, UNBOUNDED).notes
    strict = HistoryBlock(history, repair="raise")

    if repairs & {note.code for note in notes}:
        with pytest.raises(InvalidHistoryError, match=r"message \d+ of the history"):
            strict.place(counter, UNBOUNDED)
    else:
        assert strict.place(counter, UNBOUNDED) == HistoryBlock(history).place(counter, UNBOUNDED)


@given(any_list, options, st.integers(0, 90), st.integers(0, 90), counters)
def test_a_store_gives_the_same_as_a_list(
    history: list[Message], chosen: dict[str, Any], available: int, size: int, counter: Counter
) -> None:
    """Read newest first and no further than it fits, the same is sent: only a marker knows less."""
    store = NewestFirst(lambda: iter(history[::-1]), total=len(history))
    read = reading(store, counter, available, chosen)
    listed = HistoryBlock(read.messages if read.unread else history, earlier=read.earlier, **chosen)

    assert read.must_send == listed.must_send
    floor = max(block.measure(counter, UNBOUNDED).floor for block in (read, listed))
    if floor <= min(size, available) and not (read.unread and chosen["omission_marker"]):
        size = min(size, available)
        assert read.fit(counter, size) == listed.fit(counter, size)


def reading(
    value: object, counter: Counter, available: int, chosen: dict[str, Any]
) -> HistoryBlock:
    coroutine = history_block(value, counter=counter, available=available, **chosen)
    with pytest.raises(StopIteration) as done:
        coroutine.send(None)
    return done.value.value


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_messages": 0}, {"max_messages": True}, {"max_result_tokens": 0},
        {"max_result_tokens": 1.5}, {"omission_marker": " "}, {"omission_marker": 7},
        {"repair": "fix"}, {"stub_text": ""}, {"stub_text": None}, {"pinned": 7},
        {"start_on": "tool"},
    ],
)  # fmt: skip
def test_options_without_meaning_are_errors_when_the_section_is_made(wrong: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)) + "="):
        ConversationHistory(**wrong)
