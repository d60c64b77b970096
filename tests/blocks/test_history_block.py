"""Blocks of conversation history."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from block_laws import (
    ALL,
    CL100K,
    HONEST,
    UNBOUNDED,
    WORDS,
    check_sizes,
    counters,
    plain_words,
)
from hypothesis import given
from hypothesis import strategies as st

from promptsections.blocks import HistoryBlock
from promptsections.blocks.growth import adds_up
from promptsections.blocks.turns import exchange_of
from promptsections.counting import Counter
from promptsections.errors import DefinitionError, InvalidHistoryError
from promptsections.measurement import Measurement
from promptsections.messages import Message, ToolCall
from promptsections.profiles import ModelProfile
from promptsections.tokens import CallableTokenizer

TEXTS = st.sampled_from(["", "a", "b c", "Desig", "n d e f", "1", "23 456", "g " * 12])


def user(text: str = "u") -> Message:
    return Message("user", text)


def answer(text: str = "a") -> Message:
    return Message("assistant", text)


def system(text: str = "s") -> Message:
    return Message("system", text)


def call(*ids: str) -> Message:
    return Message("assistant", None, tool_calls=[ToolCall(name, f"f{name}") for name in ids])


def result(call_id: str | None, text: str = "r") -> Message:
    return Message("tool", text, tool_call_id=call_id)


step = st.one_of(
    TEXTS.map(lambda text: [answer(text)]),
    TEXTS.map(lambda text: [call("x"), result("x", text)]),
    TEXTS.map(lambda text: [call("x", "y"), result("y", text), result(None, "s")]),
    TEXTS.map(lambda text: [system(text)]),
)
broken = st.one_of(
    TEXTS.map(lambda text: [result("x", text)]),
    st.just([call("x", "y"), result("x")]),
    st.just([call("z")]),
)
turn = st.builds(
    lambda text, steps: [user(text), *(message for part in steps for message in part)],
    TEXTS,
    st.lists(st.one_of(step, step, broken), max_size=4),
)
histories = st.builds(
    lambda start, leading, turns: [
        *(system(text) for text in start),
        *(message for part in (*leading, *turns) for message in part),
    ],
    st.lists(TEXTS, max_size=2),
    st.lists(st.one_of(step, broken), max_size=2),
    st.lists(turn, max_size=5),
)
sizes = st.integers(0, 120)
blocks = st.builds(
    HistoryBlock,
    histories,
    start_on=st.sampled_from(["user", "any"]),
    keep_system=st.booleans(),
    max_messages=st.none() | st.integers(1, 12),
)


def at_least_floor(block: HistoryBlock, counter: Counter, size: int) -> int:
    return max(size, block.measure(counter, UNBOUNDED).floor)


@given(blocks, sizes, st.sampled_from(ALL))
def test_it_is_never_larger_than_its_size_and_whole_if_it_fits(
    block: HistoryBlock, size: int, counter: Counter
) -> None:
    """The sizes of a history hold for every tokenizer, among messages and in a text."""
    check_sizes(block, counter, size)


@given(blocks, sizes, st.sampled_from(ALL))
def test_calls_and_results_are_never_parted(
    block: HistoryBlock, size: int, counter: Counter
) -> None:
    """Whatever the history holds, what is sent has every call answered right behind it."""
    sent = block.fit(counter, at_least_floor(block, counter, size))

    assert exchange_of(sent).notes == ()
    assert exchange_of(sent).messages == tuple(sent)


@given(blocks, sizes, st.sampled_from(ALL))
def test_it_starts_with_a_user_turn(block: HistoryBlock, size: int, counter: Counter) -> None:
    """Behind the system messages at its start comes a user turn, unless any turn may."""
    sent = block.fit(counter, at_least_floor(block, counter, size))

    spoken = [message for message in sent if message.role != "system"]
    if spoken and block.start_on == "user":
        assert spoken[0].role == "user"
    if not block.keep_system:
        assert spoken == list(sent)


@given(blocks, sizes, st.sampled_from(ALL))
def test_order_and_messages_are_the_authors(
    block: HistoryBlock, size: int, counter: Counter
) -> None:
    """Messages that are sent are the very objects of the history, in their order."""
    sent = block.fit(counter, at_least_floor(block, counter, size))

    rest = iter(block.messages)
    assert all(any(message is original for original in rest) for message in sent)


@given(blocks, sizes, sizes, st.sampled_from(ALL))
def test_a_larger_size_sends_all_that_a_smaller_one_does(
    block: HistoryBlock, size: int, more: int, counter: Counter
) -> None:
    """No message is lost when there is more room."""
    size = at_least_floor(block, counter, size)

    larger = {id(message) for message in block.fit(counter, size + more)}

    assert {id(message) for message in block.fit(counter, size)} <= larger


@given(st.lists(turn, max_size=6), sizes, st.sampled_from(HONEST))
def test_whole_exchanges_are_kept_without_a_hole(
    turns: list[list[Message]], size: int, counter: Counter
) -> None:
    """What is sent is the newest exchanges, the next one does not fit, and only the one under way
    is ever without its oldest steps."""
    block = HistoryBlock([message for part in turns for message in part])
    size = at_least_floor(block, counter, size)
    exchanges = [exchange_of(part) for part in turns]

    placed = block.place(counter, size)

    whole = [
        tuple(message for exchange in exchanges[start:] for message in exchange.messages)
        for start in range(len(exchanges) + 1)
    ]
    if placed.messages in whole:
        start = whole.index(placed.messages)
        if start:
            following = exchanges[start - 1]
            if start < len(exchanges) or not following.under_way:
                assert counter.cost(whole[start - 1]) > size
    else:
        newest = exchanges[-1]
        assert newest.under_way
        assert placed.messages[0] is newest.user
        kept = len(placed.messages) - 1
        assert placed.messages[1:] == newest.messages[len(newest.messages) - kept :]
        assert "steps_left_out" in [note.code for note in placed.notes]
    assert placed.omitted == len(block.messages) - len(placed.messages)


@given(blocks, sizes, st.sampled_from(ALL))
def test_no_more_messages_are_kept_than_wished(
    block: HistoryBlock, size: int, counter: Counter
) -> None:
    """`max_messages` bounds what is sent beside the system messages at the start."""
    sent = block.fit(counter, at_least_floor(block, counter, size))

    leading = 0
    while block.messages[leading : leading + 1] and block.messages[leading].role == "system":
        leading += 1
    kept = [message for message in sent if all(message is not m for m in block.messages[:leading])]
    assert block.max_messages is None or len(kept) <= block.max_messages


@given(blocks, st.sampled_from(ALL))
def test_what_is_to_be_answered_is_the_last_thing_sent(
    block: HistoryBlock, counter: Counter
) -> None:
    """At its floor a history that must be sent holds the user turn that waits for its answer."""
    sent = block.fit(counter, at_least_floor(block, counter, 0))

    if block.must_send:
        assert [m for m in sent if m.role in ("user", "assistant", "tool")]
        if block.start_on == "user":
            users = [message for message in block.messages if message.role == "user"]
            assert any(message is users[-1] for message in sent)


# --- examples -----------------------------------------------------------------------------------


def test_an_empty_history_has_no_content() -> None:
    block = HistoryBlock([])

    assert block.measure(plain_words(), 9) == Measurement(0, 0)
    assert block.place(plain_words(), 9).messages == ()
    assert not block.must_send


def test_system_messages_at_the_start_are_kept_and_counted_first() -> None:
    block = HistoryBlock([system("s s"), user(), answer(), user()])

    assert block.measure(plain_words(), 9) == Measurement(3, 5)
    assert block.fit(plain_words(), 4) == (system("s s"), user())
    assert HistoryBlock([system("s s")]).measure(plain_words(), 9) == Measurement(2, 2)
    assert HistoryBlock([system()]).fit(plain_words(), 1) == (system(),)


def test_system_messages_are_left_out_where_they_are_not_wanted() -> None:
    history = [system(), Message("developer", "d"), user(), answer(), system(), user()]
    placed = HistoryBlock(history, keep_system=False).place(plain_words(), 9)

    assert placed.messages == (user(), answer(), user())
    assert [note.code for note in placed.notes] == ["system_left_out"] * 3
    assert placed.omitted == 3


def test_a_system_message_in_the_middle_belongs_to_its_exchange() -> None:
    block = HistoryBlock([user("1"), system("2"), answer("3"), user("4"), answer("5")])

    assert block.fit(plain_words(), 4) == (user("4"), answer("5"))
    assert len(block.fit(plain_words(), 5)) == 5


def test_the_exchange_under_way_loses_its_oldest_steps_but_not_its_user_turn() -> None:
    steps = [message for name in "xyz" for message in (call(name), result(name, name * 2))]
    block = HistoryBlock([user("old"), answer("old"), user("do it"), *steps])

    placed = block.place(plain_words(), 8)

    assert block.measure(plain_words(), 99) == Measurement(2, 13)
    assert placed.messages == (user("do it"), *steps[2:]) or placed.messages == (
        user("do it"),
        *steps[4:],
    )
    assert "steps_left_out" in [note.code for note in placed.notes]
    assert block.must_send


def test_an_answered_exchange_is_whole_or_not_there() -> None:
    block = HistoryBlock([user("u u"), call("x"), result("x"), answer()])

    floor, natural = block.measure(plain_words(), 99)

    assert floor == natural
    assert not block.must_send


def test_a_call_without_a_result_leaves_the_user_to_be_answered() -> None:
    block = HistoryBlock([user(), call("x")])

    assert block.must_send
    assert block.place(plain_words(), 9).messages == (user(),)


def test_turns_before_the_first_user_turn_are_left_out_or_kept() -> None:
    history = [answer("hello"), user(), answer()]

    placed = HistoryBlock(history).place(plain_words(), 9)

    assert placed.messages == (user(), answer())
    assert [note.code for note in placed.notes] == ["leading_turn"]
    assert placed.omitted == 1
    kept = HistoryBlock(history, start_on="any").place(plain_words(), 9)
    assert kept.messages == tuple(history)
    assert kept.notes == ()


def test_any_turn_may_be_under_way() -> None:
    block = HistoryBlock([call("x"), result("x"), call("y"), result("y")], start_on="any")

    assert block.must_send
    assert block.fit(plain_words(), 3) == (call("y"), result("y"))
    with_aside = HistoryBlock([call("x"), result("x"), system()], start_on="any")
    assert with_aside.measure(plain_words(), 9).floor == 4


def test_repairs_are_told_of_what_is_kept_only() -> None:
    history = [user("1"), result("old"), answer(), user("2"), result("new"), answer()]
    block = HistoryBlock(history)

    notes = block.place(plain_words(), 2).notes

    assert [note.detail for note in notes if "'new'" in note.detail]
    assert len(notes) == 1
    details = [note.detail for note in block.place(plain_words(), 9).notes]
    assert ["'old'" in detail for detail in details] == [True, False]


def test_max_messages_that_the_newest_exchange_exceeds_sends_nothing_and_says_so() -> None:
    block = HistoryBlock([system(), user(), answer()], max_messages=1)

    placed = block.place(plain_words(), 9)

    assert placed.messages == (system(),)
    assert [note.code for note in placed.notes] == ["max_messages"]
    assert block.measure(plain_words(), 9) == Measurement(1, 1)
    nothing = HistoryBlock([user(), answer()], max_messages=1)
    assert nothing.measure(plain_words(), 9) == Measurement(0, 0)
    assert [note.code for note in nothing.place(plain_words(), 0).notes] == ["max_messages"]


def test_max_messages_lets_the_exchange_under_way_lose_steps() -> None:
    history = [user(), call("x"), result("x"), call("y"), result("y")]

    placed = HistoryBlock(history, max_messages=3).place(plain_words(), 99)

    assert placed.messages == (history[0], *history[3:])


def test_messages_are_transformed_as_they_are_read() -> None:
    seen: list[str] = []

    def shout(message: Message) -> Message | None:
        seen.append(message.text)
        return None if message.text == "skip" else Message(message.role, message.text.upper())

    history = [user("old")] * 50 + [user("a b"), answer("skip"), user("c")]
    placed = HistoryBlock(history, transform=shout).place(plain_words(), 3)

    assert [message.text for message in placed.messages] == ["A B", "C"]
    assert placed.omitted == 51
    assert len(seen) < 8


def test_system_messages_at_the_start_may_be_transformed_away() -> None:
    def no_rules(message: Message) -> Message | None:
        return None if message.text == "rules" else message

    block = HistoryBlock([system("rules"), system(), user()], transform=no_rules)

    assert block.fit(plain_words(), 9) == (system(), user())


def test_the_history_is_not_changed_and_not_seen_to_change() -> None:
    history: list[Any] = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    before = copy.deepcopy(history)
    block = HistoryBlock(history)

    history.append({"role": "user", "content": "later"})

    assert [message.text for message in block.fit(plain_words(), 9)] == ["a", "b"]
    assert history[:2] == before


class Counted(Sequence[Message]):
    """A history that counts how many of its messages were read."""

    def __init__(self, length: int) -> None:
        self.read: set[int] = set()
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        self.read.add(index)
        return Message("assistant" if index % 2 else "user", f"{index} w w")


@pytest.mark.parametrize("counter", counters(WORDS))
def test_of_a_long_history_no_more_is_read_than_fits_and_one_exchange(counter: Counter) -> None:
    history = Counted(1_000_000)
    block = HistoryBlock(history)

    block.measure(counter, 100)
    block.must_send  # noqa: B018
    placed = block.place(counter, 100)

    sent = len(placed.messages)
    # The first message, the last user turn and one exchange; or an eighth, if all is counted anew.
    assert 0 < sent <= len(history.read) <= sent + 3 + (0 if adds_up(counter) else sent // 8)


def test_a_long_history_in_a_text_is_joined_step_by_step() -> None:
    read = 0

    def count(text: str) -> int:
        nonlocal read
        read += len(text)
        return CL100K.tokenizer.count(text)

    for counter in counters(CallableTokenizer("read", count, joints="strong")):
        read = 0
        block = HistoryBlock([user("What is it?"), answer("It is this.")] * 2_000)

        natural = block.measure(counter, UNBOUNDED).natural

        assert counter.cost(block.fit(counter, natural)) == natural
        assert read < 4_000 * 300


def test_equal_messages_are_no_duplicates() -> None:
    history = [user("ok"), answer("go on")] * 2

    assert HistoryBlock(history).fit(plain_words(), 9) == tuple(history)


def test_threads_may_share_a_block() -> None:
    history = [{"role": "user", "content": f"{number}"} for number in range(300)]
    block = HistoryBlock(history)

    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda size: block.fit(plain_words(), size), [200] * 32))

    assert all(messages == sent[0] for messages in sent)
    assert len(sent[0]) == 200


@pytest.mark.parametrize(
    ("value", "kind"), [("text", "str"), ({"role": "user"}, "dict"), (7, "int"), (b"", "bytes")]
)
def test_what_is_no_list_of_messages_is_an_error(value: Any, kind: str) -> None:
    with pytest.raises(InvalidHistoryError, match=f"not {kind}"):
        HistoryBlock(value)


def test_a_message_that_is_none_is_an_error_that_says_which() -> None:
    block = HistoryBlock([user(), {"content": "no role"}, user()])

    with pytest.raises(InvalidHistoryError, match="message 1 of the history: a message needs"):
        block.measure(plain_words(), 9)


def test_a_transform_that_returns_no_message_is_an_error() -> None:
    with pytest.raises(InvalidHistoryError, match="message 0 of the history"):
        HistoryBlock([user()], transform=lambda _: 7)


def test_impossible_options_are_errors() -> None:
    with pytest.raises(DefinitionError, match="max_messages"):
        HistoryBlock([], max_messages=0)
    with pytest.raises(DefinitionError, match="start_on"):
        HistoryBlock([], start_on="assistant")  # type: ignore[arg-type]


def test_tool_names_in_labels_are_counted_as_they_are_written() -> None:
    profile = ModelProfile.plain(CL100K, form="text")
    for counter in counters(CL100K):
        block = HistoryBlock([user(), call("x"), result("x"), user(), call(""), result(None)])
        size = block.measure(counter, UNBOUNDED).natural

        assert counter.cost(block.fit(counter, size)) == size
    assert profile.form == "text"
