"""Blocks of given messages."""

from __future__ import annotations

import pytest
from block_laws import (
    ALL,
    CL100K,
    HONEST,
    UNBOUNDED,
    amount,
    check_sizes,
    cuts,
    plain_words,
    texts,
)
from hypothesis import given
from hypothesis import strategies as st

from promptsections.blocks import MessagesBlock
from promptsections.counting import Counter, Lines
from promptsections.measurement import Measurement
from promptsections.messages import ImagePart, Message, TextPart, ToolCall
from promptsections.profiles import ModelProfile
from promptsections.tokens import CallableTokenizer, Truncate

CALL = Message("assistant", None, tool_calls=[ToolCall("c1", "f"), ToolCall("c2", "g")])
RESULTS = (Message("tool", "r " * 9, tool_call_id="c1"), Message("tool", "s", tool_call_id="c2"))

single = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts).map(
    lambda message: (message,)
)
called = texts.map(lambda text: (CALL, RESULTS[0], Message("tool", text, tool_call_id="c2")))
shown = texts.map(lambda text: (Message("user", [TextPart(text), ImagePart("data:,")]),))
runs = st.lists(st.one_of(single, single, called, shown), max_size=5).map(
    lambda parts: [message for part in parts for message in part]
)
sizes = st.integers(0, 100)
blocks = st.builds(MessagesBlock, runs, cut=st.none() | cuts, limit=st.none() | sizes)


@given(blocks, sizes, st.sampled_from(ALL))
def test_it_is_never_larger_than_its_size_and_whole_if_it_fits(
    block: MessagesBlock, size: int, counter: Counter
) -> None:
    """The sizes of given messages hold for every tokenizer, among messages and in a text."""
    check_sizes(block, counter, size)


@given(blocks, sizes, sizes, st.sampled_from(HONEST))
def test_a_larger_size_never_sends_less(
    block: MessagesBlock, size: int, more: int, counter: Counter
) -> None:
    """What is sent grows with the size (with `keep="middle"`, the number of messages)."""
    floor = block.measure(counter, UNBOUNDED).floor

    less = block.fit(counter, max(floor, size))
    larger = block.fit(counter, max(floor, size + more))

    assert len(less) <= len(larger)
    if block.cut is None or block.cut.keep != "middle":
        assert amount(less, block.cut) <= amount(larger, block.cut)


@given(blocks, sizes, st.sampled_from(ALL))
def test_calls_are_never_parted_from_their_results(
    block: MessagesBlock, size: int, counter: Counter
) -> None:
    """Every call that is sent is followed by both of its results, and no result stands alone."""
    floor = block.measure(counter, UNBOUNDED).floor

    sent = block.fit(counter, max(floor, size))

    for place, message in enumerate(sent):
        if message.tool_calls:
            assert message == CALL
            assert [m.tool_call_id for m in sent[place + 1 : place + 3]] == ["c1", "c2"]
    assert sum(m.role == "tool" for m in sent) == 2 * sum(bool(m.tool_calls) for m in sent)


@given(blocks, sizes, st.sampled_from(ALL))
def test_what_is_sent_is_one_end_of_the_messages_with_one_text_cut(
    block: MessagesBlock, size: int, counter: Counter
) -> None:
    """Messages go from one end; all but the one at the boundary are the very same objects."""
    floor = block.measure(counter, UNBOUNDED).floor

    sent = block.fit(counter, max(floor, size))

    from_end = block.cut is not None and block.cut.keep == "end"
    there = block.messages[len(block.messages) - len(sent) :] if from_end else block.messages
    changed = [
        (new, old) for new, old in zip(sent, there, strict=False) if new is not old and new != old
    ]
    assert len(changed) <= 1
    for new, old in changed:
        assert (new.role, new.tool_call_id, new.tool_calls) == (old.role, old.tool_call_id, ())


def test_without_a_cut_they_are_sent_all_or_not_at_all() -> None:
    block = MessagesBlock([{"role": "user", "content": "a b"}, Message("assistant", "c")])

    assert block.measure(plain_words(), 9) == Measurement(3, 3)
    assert block.measure(plain_words(), 2) == Measurement(3, 3)
    assert block.measure(plain_words(), 1) == Measurement(2, 2)
    assert [m.text for m in block.fit(plain_words(), 3)] == ["a b", "c"]
    assert block.place(plain_words(), 3).omitted == 0


def test_no_messages_are_no_content() -> None:
    for cut in (None, Truncate()):
        block = MessagesBlock([], cut=cut)

        assert block.measure(plain_words(), 5) == Measurement(0, 0)
        assert block.fit(plain_words(), 5) == ()


@pytest.mark.parametrize(
    ("given_texts", "size", "sent"),
    [
        (["Hello Big World"], 2, ["Hello Big"]),
        (["Hello Big World"], 1, ["Hello"]),
        (["Hello Big", "World"], 2, ["Hello Big"]),
        (["Hello", "Big World"], 2, ["Hello", "Big"]),
    ],
)
def test_the_last_messages_go_first_and_then_the_text_of_the_next_is_cut(
    given_texts: list[str], size: int, sent: list[str]
) -> None:
    profile = ModelProfile.plain(CL100K)
    messages = [Message("user", text) for text in given_texts]
    block = MessagesBlock(messages, cut=Truncate(), limit=2)

    placed = block.place(Counter(profile, CL100K), size)

    assert [message.text for message in placed.messages] == sent
    assert placed.omitted == len(given_texts) - len(sent)


def test_lines_of_a_text_are_cut_in_the_same_way() -> None:
    profile = ModelProfile.plain(CL100K, form="text")
    counter = Counter(profile, CL100K, Lines())
    messages = [Message("user", "Hello World!"), Message("user", "Teams-AI")]
    block = MessagesBlock(messages, cut=Truncate(), limit=5)

    sent = block.fit(counter, 5)

    assert counter.text(sent) == "Hello World!"
    assert counter.cost(sent) <= 5


def test_with_keep_end_the_first_messages_go_first() -> None:
    block = MessagesBlock([Message("user", "a b c"), Message("user", "d")], cut=Truncate("end"))

    assert [m.text for m in block.fit(plain_words(), 3)] == ["b c", "d"]
    assert [m.text for m in block.fit(plain_words(), 1)] == ["d"]


def test_the_text_of_a_result_gives_way_but_not_its_call() -> None:
    call = Message("assistant", None, tool_calls=[ToolCall("c1", "f")])
    result = Message("tool", "r " * 50, tool_call_id="c1", name="f")
    block = MessagesBlock([Message("user", "go"), call, result], cut=Truncate())

    sent = block.fit(plain_words(), 13)

    assert sent[:2] == block.messages[:2]
    assert (sent[2].role, sent[2].tool_call_id, sent[2].name) == ("tool", "c1", "f")
    assert sent[2].text == " ".join("r" * 10)
    assert block.fit(plain_words(), 2) == block.messages[:1]


def test_a_result_by_itself_is_cut_like_any_message() -> None:
    result = Message("tool", "r " * 50, tool_call_id="c1")
    block = MessagesBlock([result], cut=Truncate(), limit=10)

    (sent,) = block.fit(plain_words(), 10)

    assert (sent.role, sent.tool_call_id, len(sent.text.split())) == ("tool", "c1", 10)


def test_a_call_that_goes_last_is_kept_whole() -> None:
    call = Message("assistant", "hm", tool_calls=[ToolCall("c1", "f")])
    result = Message("tool", "r r r", tool_call_id="c1")
    block = MessagesBlock([call, result, Message("user", "u")], cut=Truncate())
    floor = block.measure(plain_words(), 99).floor

    assert floor == plain_words().cost([call, result])
    assert block.fit(plain_words(), floor) == (call, result)


def test_a_text_that_a_tokenizer_counts_lower_than_its_parts_is_sent_whole_where_it_fits() -> None:
    lazy = CallableTokenizer("lazy", lambda text: 3 if len(text) > 5_000 else len(text))
    block = MessagesBlock([Message("user", "word " * 2_000)], cut=Truncate())

    assert block.fit(plain_words(lazy), 5) == block.messages
