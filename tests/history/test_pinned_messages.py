"""Messages of a history that are sent whatever else is left out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from talks import answer, call, plain, result, steps, system, user

from promptsections import (
    BudgetExceededError,
    ConversationHistory,
    Message,
    NewestFirst,
    Prompt,
    Renderer,
    SystemMessage,
)
from promptsections.blocks import HistoryBlock


def important(message: Message) -> bool:
    return "!" in message.text


def texts(block: HistoryBlock, size: int) -> list[str]:
    return [message.text for message in block.fit(plain(), size)]


TURNS = [
    user("u0"), answer("a0 !"),
    user("u1"), answer("a1"),
    user("u2"), answer("a2"),
    user("u3"), answer("a3"),
]  # fmt: skip


def test_a_pinned_message_keeps_its_exchange_in_its_place() -> None:
    block = HistoryBlock(TURNS, pinned=important)

    assert block.must_send
    assert block.measure(plain(), 99) == (3, 9)
    assert texts(block, 3) == ["u0", "a0 !"]
    assert texts(block, 6) == ["u0", "a0 !", "u3", "a3"]
    assert texts(block, 8) == ["u0", "a0 !", "u2", "a2", "u3", "a3"]
    assert texts(block, 9) == [message.text for message in TURNS]


def test_the_marker_stands_in_the_newest_gap() -> None:
    block = HistoryBlock(TURNS, pinned=important, omission_marker="{n} omitted")

    assert texts(block, 5) == ["6 omitted", "u0", "a0 !"]
    assert texts(block, 7) == ["u0", "a0 !", "4 omitted", "u3", "a3"]
    middle = HistoryBlock(
        [user("u9 w w"), answer("a9"), *TURNS[:2], *TURNS[4:]],
        pinned=important,
        omission_marker="{n} omitted",
    )
    assert texts(middle, 9) == ["2 omitted", "u0", "a0 !", "u2", "a2", "u3", "a3"]


def test_of_the_exchange_under_way_only_the_step_is_pinned() -> None:
    loop = [
        user("do it"), *steps("x", words=9), call("y"), result("y", "keep !"), *steps("z", words=9)
    ]  # fmt: skip
    block = HistoryBlock(loop, pinned=important, max_result_tokens=3)

    assert block.measure(plain(), 99).floor == 6
    assert texts(block, 6) == ["do it", "", "keep !"]
    assert block.fit(plain(), 6)[1].tool_calls[0].id == "y"
    assert len(texts(block, 11)) == 5
    assert len(texts(block, 16)) == 7


def test_results_that_are_pinned_are_not_cut() -> None:
    loop = [user("do it"), call("y"), result("y", "! " * 20)]
    block = HistoryBlock(loop, pinned=important, max_result_tokens=3)

    assert block.measure(plain(), 99) == (24, 24)


def test_pinned_messages_are_beside_max_messages() -> None:
    block = HistoryBlock([*TURNS, user("u4")], pinned=important, max_messages=3)

    assert texts(block, 99) == ["u0", "a0 !", "u3", "a3", "u4"]


def test_the_newest_exchange_may_be_pinned_itself() -> None:
    block = HistoryBlock([user("u"), answer("a"), user("u"), answer("!")], pinned=important)

    assert block.must_send
    assert block.measure(plain(), 99) == (2, 4)
    assert not HistoryBlock([user("u"), answer("a")], pinned=important).must_send


def test_the_turn_under_way_is_sent_beside_what_is_pinned() -> None:
    block = HistoryBlock([*TURNS, user("now")], pinned=important)

    assert texts(block, 4) == ["u0", "a0 !", "now"]


def test_a_pinned_user_turn_under_way_pins_none_of_its_steps() -> None:
    block = HistoryBlock([user("do it !"), *steps("x")], pinned=important)

    assert block.measure(plain(), 99) == (3, 8)


def test_where_no_user_has_spoken_nothing_can_be_pinned() -> None:
    block = HistoryBlock([answer("hello !"), user("u")], pinned=important)

    assert texts(block, 9) == ["u"]
    assert texts(HistoryBlock(block.messages, pinned=important, start_on="any"), 9) == [
        "hello !",
        "u",
    ]


def test_what_is_pinned_is_required() -> None:
    prompt = Prompt([SystemMessage("Be brief."), ConversationHistory(pinned=important)])
    renderer = Renderer(tokenizer=lambda text: len(text.split()))

    with pytest.raises(BudgetExceededError) as caught:
        renderer.render(prompt, {"history": TURNS}, budget=4)
    assert caught.value.needed == 5
    rendered = renderer.render(prompt, {"history": TURNS}, budget=5)
    assert [message.text for message in rendered.messages] == ["Be brief.", "u0", "a0 !"]


def test_all_messages_are_asked_about_but_only_what_is_sent_is_counted() -> None:
    asked: list[str] = []

    def ask(message: Message) -> bool:
        asked.append(message.text)
        return False

    history = [user(f"u{n}") for n in range(500)]
    HistoryBlock(history, pinned=ask).fit(plain(), 3)

    assert set(asked) == {f"u{n}" for n in range(500)}


def test_of_a_store_only_what_was_read_can_be_pinned() -> None:
    read: list[Message] = []

    def newest_first() -> Iterator[Message]:
        for message in reversed([user("old !"), *[user("w")] * 1_000, user("pin !"), user("now")]):
            read.append(message)
            yield message

    renderer = Renderer(tokenizer=lambda text: len(text.split()))
    rendered = renderer.render(
        Prompt([ConversationHistory(pinned=important)]),
        {"history": NewestFirst(newest_first)},
        budget=6,
    )

    assert [message.text for message in rendered.messages] == ["w", "w", "w", "pin !", "now"]
    assert len(read) < 10


def test_system_messages_that_the_history_begins_with_come_first() -> None:
    block = HistoryBlock([system("s"), *TURNS], pinned=important)

    assert texts(block, 4) == ["s", "u0", "a0 !"]
