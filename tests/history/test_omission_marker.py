"""A message that says how many messages of a history were left out."""

from __future__ import annotations

from collections.abc import Iterator

from talks import answer, plain, result, steps, system, user

from promptsections import (
    ConversationHistory,
    Message,
    NewestFirst,
    Prompt,
    Renderer,
    SystemMessage,
)
from promptsections.blocks import HistoryBlock
from promptsections.tokens import CallableTokenizer

MARKER = "{n} earlier omitted"
TURNS = [message for n in range(4) for message in (user(f"u{n}"), answer(f"a{n} w w w"))]


def texts(block: HistoryBlock, size: int) -> list[str]:
    return [message.text for message in block.fit(plain(), size)]


def test_it_stands_before_the_first_exchange_that_is_kept() -> None:
    block = HistoryBlock([system("s"), *TURNS], omission_marker=MARKER)

    placed = block.place(plain(), 14)

    assert [message.text for message in placed.messages] == [
        "s", "4 earlier omitted", "u2", "a2 w w w", "u3", "a3 w w w"
    ]  # fmt: skip
    assert placed.messages[1] == Message("system", "4 earlier omitted")
    assert placed.omitted == 4
    assert [note.code for note in placed.notes] == ["omission"]
    assert "'4 earlier omitted'" in placed.notes[0].detail


def test_it_is_counted_and_only_there_if_something_is_missing() -> None:
    block = HistoryBlock(TURNS, omission_marker=MARKER)

    assert block.measure(plain(), 99) == (8, 20)
    assert texts(block, 8) == ["6 earlier omitted", "u3", "a3 w w w"]
    assert len(texts(block, 19)) == 7
    assert texts(block, 20) == [message.text for message in TURNS]


def test_the_whole_is_sent_where_it_takes_less_than_the_marker() -> None:
    long_marker = "{n} messages that were said earlier are left out here for want of room"
    block = HistoryBlock([user("a"), answer("b"), user("c")], omission_marker=long_marker)

    assert block.measure(plain(), 99) == (3, 3)
    assert texts(block, 3) == ["a", "b", "c"]


def test_it_stands_in_the_gap_of_the_exchange_under_way_and_counts_all_that_is_missing() -> None:
    loop = [user("old"), answer("w " * 9), user("do it"), *steps("x", "y", "z", words=10)]
    block = HistoryBlock(loop, omission_marker=MARKER)

    assert texts(block, 17)[:3] == ["do it", "6 earlier omitted", ""]
    assert texts(block, 29)[:3] == ["do it", "4 earlier omitted", ""]
    assert texts(block, 41)[:3] == ["2 earlier omitted", "do it", ""]
    assert texts(block, 48)[:3] == ["old", "w " * 9, "do it"]


def test_where_no_step_fits_it_stands_before_the_users_turn() -> None:
    loop = [user("old"), answer("old"), user("do it"), *steps("x", "y", "z", words=10)]
    block = HistoryBlock(loop, omission_marker=MARKER)

    assert block.measure(plain(), 99).floor == 5
    assert texts(block, 5) == ["8 earlier omitted", "do it"]


def test_messages_that_could_not_be_sent_are_counted_where_they_are_missing() -> None:
    history = [
        user("u"),
        result("c9"),
        *steps("x"),
        answer("a"),
        user("u"),
        result("c8"),
        answer("b"),
    ]

    placed = HistoryBlock(history, omission_marker=MARKER).place(plain(), 5)

    assert [message.text for message in placed.messages] == ["5 earlier omitted", "u", "b"]
    assert placed.omitted == 6


def test_messages_before_the_first_user_turn_are_counted() -> None:
    block = HistoryBlock([answer("hello"), user("u")], omission_marker=MARKER)

    assert texts(block, 9) == ["1 earlier omitted", "u"]
    assert block.measure(plain(), 9) == (4, 4)


def test_what_max_messages_keeps_back_is_counted() -> None:
    block = HistoryBlock(TURNS, omission_marker=MARKER, max_messages=2)

    assert texts(block, 99) == ["6 earlier omitted", "u3", "a3 w w w"]
    assert block.measure(plain(), 99) == (8, 8)
    four = HistoryBlock(TURNS, omission_marker=MARKER, max_messages=5)
    assert texts(four, 99) == ["4 earlier omitted", "u2", "a2 w w w", "u3", "a3 w w w"]
    nothing = HistoryBlock([system("s"), *TURNS], omission_marker=MARKER, max_messages=1)
    assert texts(nothing, 99) == ["s"]


def test_what_a_transform_left_out_is_counted_where_it_stood() -> None:
    def shorter(message: Message) -> Message | None:
        return None if message.text in ("u0", "a3 w w w") else message

    listed = HistoryBlock(TURNS, omission_marker=MARKER, transform=shorter)

    assert texts(listed, 10)[0] == "4 earlier omitted"
    assert listed.place(plain(), 10).omitted == 5


def test_of_a_store_that_was_not_read_to_its_end_it_says_more_than() -> None:
    read: list[int] = []

    def newest_first() -> Iterator[Message]:
        for number in reversed(range(1_000)):
            read.append(number)
            yield answer(f"a{number}") if number % 2 else user(f"u{number}")

    words = CallableTokenizer("words", lambda text: len(text.split()))
    history = ConversationHistory(omission_marker="{n} messages omitted")
    rendered = Renderer(tokenizer=words).render(
        Prompt([SystemMessage("Be brief."), history]),
        {"history": NewestFirst(newest_first)},
        budget=20,
    )

    sent = [message.text for message in rendered.messages]
    assert sent[1] == f"more than {len(read) - len(sent) + 2} messages omitted"
    assert rendered.token_count <= 20
    placement = rendered.layout["conversation_history"]
    assert (placement.omitted, placement.omitted_is_exact) == (len(read) - len(sent) + 2, False)


def test_where_older_messages_were_not_read_something_is_missing_for_sure() -> None:
    block = HistoryBlock(TURNS, omission_marker=MARKER, unread=True)

    assert texts(block, 99)[0] == "more than 0 earlier omitted"
    assert block.measure(plain(), 99) == (10, 100)


def test_of_a_store_that_was_read_to_its_end_it_is_exact() -> None:
    words = CallableTokenizer("words", lambda text: len(text.split()))
    prompt = Prompt([ConversationHistory(omission_marker=MARKER, transform=keep_but_u0)])

    for budget in (15, 16, 17):
        stored, listed = (
            Renderer(tokenizer=words).render(prompt, {"history": history}, budget=budget)
            for history in (NewestFirst(lambda: reversed(TURNS)), TURNS)
        )
        assert stored.messages == listed.messages
        assert listed.messages[0].text == "4 earlier omitted"


def keep_but_u0(message: Message) -> Message | None:
    return None if message.text == "u0" else message


def test_a_marker_without_a_number_is_a_text() -> None:
    block = HistoryBlock(TURNS, omission_marker="[…] {omitted}")

    assert texts(block, 7)[0] == "[…] {omitted}"
