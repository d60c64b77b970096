"""Cutting the results of an exchange under way before any step of it is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talks import COUNTERS, O200K, WORDS, answer, call, plain, result, steps, user

from promptsections import ImagePart, Message, TextPart
from promptsections.blocks import HistoryBlock
from promptsections.blocks.results import cut_result
from promptsections.counting import Counter
from promptsections.tokens import CallableTokenizer

LOOP = [user("do it"), *steps("x", "y", "z", words=40)]


def cut(text: str, limit: int) -> str:
    found = cut_result(result("c", text), limit, WORDS)
    return text if found is None else found.message.text


def words(count: int) -> str:
    return " ".join(f"w{number}" for number in range(count))


def test_a_result_is_cut_at_a_word_and_says_how_much_is_missing() -> None:
    assert cut(words(50), 20) == words(15) + "… [35 tokens left out]"
    assert cut(words(20), 20) == words(20)


def test_of_a_very_long_result_no_more_is_read_than_sixteen_times_the_limit() -> None:
    read = 0

    def count(text: str) -> int:
        nonlocal read
        read = max(read, len(text))
        return len(text) // 4

    text = "abc " * 100_000
    found = cut_result(result("c", text), 20, CallableTokenizer("quarters", count, joints="strong"))

    assert found is not None
    assert found.message.text.endswith(" tokens left out]")
    assert "… [more than 3" in found.message.text
    assert "more than" in found.note.detail
    assert read < 10_000


def test_a_limit_with_no_room_for_the_mark_holds_text_alone() -> None:
    assert cut(words(50), 6) == words(6)
    assert cut(words(50), 1) == "w0"


def test_a_mark_that_costs_more_behind_a_text_takes_the_place_of_text() -> None:
    joined = CallableTokenizer(
        "joins", lambda text: len(text.split()) + 3 * ("w" in text and "…" in text)
    )
    found = cut_result(result("c", words(50)), 20, joined)

    assert found is not None
    assert found.message.text == words(13) + "… [37 tokens left out]"
    assert joined.count(found.message.text) == 20


def test_one_token_that_is_missing_is_one_token() -> None:
    counted_alike = CallableTokenizer(
        "marks count little", lambda text: len(text.split("…")[0].split())
    )
    found = cut_result(result("c", words(9)), 8, counted_alike)

    assert found is not None
    assert found.message.text == words(8) + "… [1 token left out]"


def test_of_parts_only_texts_are_cut() -> None:
    image = ImagePart("https://example.com/x.png")
    message = Message(
        "tool",
        [TextPart(words(5)), image, TextPart(words(50)), TextPart(words(9))],
        tool_call_id="c",
        name="f",
    )

    found = cut_result(message, 20, WORDS)

    assert found is not None
    assert found.message == Message(
        "tool",
        [TextPart(words(5)), image, TextPart(words(10) + "… [49 tokens left out]"), TextPart("")],
        tool_call_id="c",
        name="f",
    )
    assert cut_result(Message("tool", [image], tool_call_id="c"), 1, WORDS) is None
    assert cut_result(Message("tool", None, tool_call_id="c"), 1, WORDS) is None


@given(
    st.lists(st.text(max_size=200) | st.integers(1, 300).map(words), min_size=1, max_size=3),
    st.integers(1, 60),
)
def test_a_cut_result_is_within_its_limit(texts: list[str], limit: int) -> None:
    """Its text counts at most the limit, mark included, and begins as the whole does."""
    message = Message("tool", [TextPart(text) for text in texts], tool_call_id="c")

    found = cut_result(message, limit, O200K)

    assert (found is None) == (sum(map(O200K.count, map(str, texts))) <= limit)
    if found is not None:
        assert isinstance(found.message.content, tuple)
        kept = [part.text for part in found.message.content if isinstance(part, TextPart)]
        assert sum(map(O200K.count, kept)) <= limit
        assert len(kept) == len(texts)
        assert "".join(texts).startswith("".join(kept).partition("… [")[0])
        assert found.note.code == "result_cut"


def test_the_oldest_results_are_cut_first_and_no_more_than_needed() -> None:
    block = HistoryBlock(LOOP, max_result_tokens=10)

    lengths = {
        size: [
            len(message.text.split())
            for message in block.fit(plain(), size)
            if message.role == "tool"
        ]
        for size in range(2, 129)
    }

    assert lengths[128] == [40, 40, 40]
    assert lengths[127] == lengths[97] == [9, 40, 40]
    assert lengths[96] == lengths[66] == [9, 9, 40]
    assert lengths[65] == lengths[35] == [9, 9, 9]
    assert lengths[34] == lengths[24] == [9, 9]
    assert lengths[12] == lengths[2] == []


def test_what_was_cut_is_noted_and_keeps_its_call() -> None:
    block = HistoryBlock(LOOP, max_result_tokens=10)

    placed = block.place(plain(), 100)

    assert [note.code for note in placed.notes] == ["result_cut"]
    assert "for call 'x'" in placed.notes[0].detail
    assert "max_result_tokens=10" in placed.notes[0].detail
    assert placed.messages[2].tool_call_id == "x"
    assert placed.messages[2].text == "x0 x1 x2 x3 x4… [35 tokens left out]"
    assert placed.omitted == 0
    assert [note.code for note in block.place(plain(), 128).notes] == []
    codes = [note.code for note in block.place(plain(), 30).notes]
    assert codes == ["result_cut", "result_cut", "steps_left_out"]


def test_several_results_of_one_step_are_cut_one_by_one() -> None:
    both = [user("u"), call("x", "y"), result("x", words(40)), result(None, words(30))]
    block = HistoryBlock(both, max_result_tokens=10)

    def sizes(size: int) -> list[int]:
        return [len(m.text.split()) for m in block.fit(plain(), size)[2:]]

    assert sizes(200) == [40, 30]
    assert sizes(74) == sizes(44) == [9, 30]
    assert sizes(43) == sizes(23) == [9, 9]
    assert sizes(22) == []
    details = [note.detail for note in block.place(plain(), 30).notes]
    assert ["without a call id" in detail for detail in details] == [False, True]


def test_results_of_answered_exchanges_are_whole() -> None:
    block = HistoryBlock([*LOOP, answer()], max_result_tokens=10)

    assert block.measure(plain(), 999) == (129, 129)


def test_older_exchanges_come_once_all_results_are_whole() -> None:
    block = HistoryBlock([user("old"), answer("old"), *LOOP], max_result_tokens=10)

    assert block.fit(plain(), 129) == tuple(LOOP)
    assert len(block.fit(plain(), 130)) == len(LOOP) + 2


@pytest.mark.parametrize("counter", COUNTERS)
def test_at_every_size_it_is_counted_as_it_is_sent(counter: Counter) -> None:
    long = [*LOOP[:-2], call("w", "z"), result("w", words(30)), result("z", words(50))]
    history = [user("old"), answer("said"), *long]
    block = HistoryBlock(history, max_result_tokens=12, omission_marker="{n} left out")
    floor, natural = block.measure(counter, 10_000)
    lengths: list[int] = []

    for size in range(floor, natural + 1):
        sent = block.fit(counter, size)
        assert floor <= counter.cost(sent) <= size
        lengths.append(sum(len(m.text.split()) for m in sent if m.role in ("user", "tool")))

    assert lengths == sorted(lengths)
    assert block.fit(counter, natural) == tuple(history)
    assert len(set(lengths)) >= 4


def test_without_a_user_turn_the_last_step_is_cut_too() -> None:
    block = HistoryBlock(LOOP[1:], max_result_tokens=10, start_on="any")

    assert block.measure(plain(), 999) == (11, 126)
    assert len(block.fit(plain(), 39)) == 6
