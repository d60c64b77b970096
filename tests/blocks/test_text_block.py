"""Blocks of one text."""

from __future__ import annotations

from xml.etree import ElementTree as ET

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

from promptsections.blocks import TextBlock
from promptsections.counting import Counter, Lines
from promptsections.markup import Escape, XmlElement
from promptsections.measurement import Measurement
from promptsections.messages import Message
from promptsections.profiles import ModelProfile
from promptsections.tokens import CallableTokenizer, Truncate

around = st.sampled_from(["", "# Notes\n", "<doc>", "\n</doc>", " ", "so"])
sizes = st.integers(0, 60)


@given(texts, around, around, cuts, st.none() | sizes, sizes, st.sampled_from(ALL))
def test_it_is_never_larger_than_its_size_and_whole_if_it_fits(
    text: str,
    before: str,
    after: str,
    cut: Truncate,
    limit: int | None,
    size: int,
    counter: Counter,
) -> None:
    """The sizes of a text that may be cut hold for every tokenizer, in both forms."""
    block = TextBlock(text, cut=cut, limit=limit, before=before, after=after)

    sent = check_sizes(block, counter, size)

    for message in sent:
        assert message.text.startswith(before)
        assert message.text.endswith(after)
        assert len(message.text) > len(before) + len(after)


@given(texts, around, around, cuts, st.none() | sizes, sizes, sizes, st.sampled_from(HONEST))
def test_a_larger_size_never_sends_less(
    text: str,
    before: str,
    after: str,
    cut: Truncate,
    limit: int | None,
    size: int,
    more: int,
    counter: Counter,
) -> None:
    """What is sent grows with the size (with `keep="middle"` its start does)."""
    block = TextBlock(text, cut=cut, limit=limit, before=before, after=after)
    floor = block.measure(counter, UNBOUNDED).floor

    less = block.fit(counter, max(floor, size))

    if cut.keep != "middle":
        assert amount(less, cut) <= amount(block.fit(counter, max(floor, size + more)), cut)


@given(texts, around, around, st.sampled_from(["start", "end"]), sizes, st.sampled_from(HONEST))
def test_one_character_more_would_not_fit(
    text: str, before: str, after: str, keep: str, size: int, counter: Counter
) -> None:
    """A text cut at graphemes without a marker takes all that its size allows."""
    cut = Truncate(keep, "grapheme")  # type: ignore[arg-type]
    ascii_text = text.encode("ascii", "ignore").decode().replace("\r", "")
    block = TextBlock(ascii_text, cut=cut, before=before, after=after)
    floor = block.measure(counter, UNBOUNDED).floor

    sent = block.fit(counter, max(floor, size))

    for message in sent:
        kept = len(message.text) - len(before) - len(after)
        if kept < len(ascii_text):
            longer = ascii_text[: kept + 1] if keep == "start" else ascii_text[-kept - 1 :]
            assert counter.cost([Message("system", before + longer + after)]) > max(floor, size)


@given(texts, texts, cuts, st.sampled_from(ALL))
def test_at_its_floor_it_is_at_least_the_smallest_useful_cut(
    text: str, before: str, cut: Truncate, counter: Counter
) -> None:
    """Nothing smaller than the floor is sent, and the floor is what it costs."""
    block = TextBlock(text, cut=cut, before=before)
    floor = block.measure(counter, UNBOUNDED).floor

    sent = block.fit(counter, floor)

    assert counter.cost(sent) == floor if text else sent == ()


@given(texts, cuts, sizes, st.sampled_from(HONEST))
def test_the_floor_asks_for_no_more_than_the_limit_if_anything_fits_there(
    text: str, cut: Truncate, limit: int, counter: Counter
) -> None:
    """A section that may get only 10 tokens need not have 16."""
    free = TextBlock(text, cut=cut).measure(counter, UNBOUNDED).floor

    floor = TextBlock(text, cut=cut, limit=limit).measure(counter, UNBOUNDED).floor

    assert floor <= limit or floor == free


def test_without_a_cut_it_is_whole_or_nothing() -> None:
    counter = plain_words()
    block = TextBlock("one two three")

    assert block.measure(counter, 10) == Measurement(3, 3)
    assert block.measure(counter, 2) == Measurement(3, 3)
    assert block.measure(counter, 1) == Measurement(2, 2)
    assert block.fit(counter, 3) == (Message("system", "one two three"),)


def test_no_text_is_no_content_whatever_is_around_it() -> None:
    block = TextBlock("", before="# Heading\n", cut=Truncate())

    assert block.measure(plain_words(), 10) == Measurement(0, 0)
    assert block.fit(plain_words(), 10) == ()


def test_the_fields_of_the_message_stay() -> None:
    message = Message("tool", "replaced", tool_call_id="c1", name="f")
    block = TextBlock("w " * 50, message, cut=Truncate(), limit=10)

    (sent,) = block.fit(plain_words(), 10)

    assert (sent.role, sent.tool_call_id, sent.name) == ("tool", "c1", "f")
    assert sent.text == " ".join("w" * 10)


def test_only_the_text_between_before_and_after_is_cut() -> None:
    block = TextBlock("a b c d e f", cut=Truncate(), before="# Notes\n", after="\nend")

    assert block.fit(plain_words(), 6) == (Message("system", "# Notes\na b c\nend"),)


def test_lone_surrogates_are_repaired() -> None:
    block = TextBlock("a\ud800", before="\udfff")

    assert block.fit(plain_words(), 10) == (Message("system", "\ufffda\ufffd"),)


def test_a_joint_that_saves_tokens_is_made_use_of() -> None:
    profile = ModelProfile.plain(CL100K)
    counter = Counter(profile, CL100K, Lines(prefix="", labels={"system": "Desig"}))
    block = TextBlock("n of it all", cut=Truncate("start", "grapheme"))

    # "Desig" has two tokens, "Design" has one.
    assert block.fit(counter, 1) == (Message("system", "n"),)


@pytest.mark.parametrize("before", ["", "11"])
def test_a_joint_that_costs_thousands_of_tokens_is_paid_for(before: str) -> None:
    profile = ModelProfile.plain("o200k_base")
    counter = Counter(profile, profile.tokenizer())
    digits = "".join(chr(0x0AE6 + number % 10) for number in range(300))
    block = TextBlock(digits, cut=Truncate("start", "grapheme"), before=before)

    sent = block.fit(counter, 100)

    assert 90 < counter.cost(sent) <= 100


def test_of_a_huge_text_little_more_is_read_than_is_sent() -> None:
    read = 0

    def count(text: str) -> int:
        nonlocal read
        read += len(text)
        return len(text)

    profile = ModelProfile.plain(CallableTokenizer("read", count, joints="strong"))
    counter = Counter(profile, profile.tokenizer())
    block = TextBlock("word " * 1_000_000, cut=Truncate())

    floor, natural = block.measure(counter, 1_000)
    sent = block.fit(counter, 1_000)

    assert (floor, natural) == (14, 1_001)
    assert len(sent[0].text) == 999
    assert read < 30_000


def test_a_custom_tokenizer_is_read_by_parts_too() -> None:
    longest = 0

    def count(text: str) -> int:
        nonlocal longest
        longest = max(longest, len(text))
        return len(text.split())

    profile = ModelProfile.plain(CallableTokenizer("read", count))
    counter = Counter(profile, profile.tokenizer())
    block = TextBlock("word " * 1_000_000, cut=Truncate(), before="# It\n")

    assert block.measure(counter, 100).natural == 101
    assert len(block.fit(counter, 100)[0].text.split()) == 100
    assert longest < 20_000


markup = st.lists(st.sampled_from(["<", "</k>", "&", "]]>", "word ", "x", "\n"]), max_size=15)


@given(
    markup.map("".join),
    st.sampled_from(["xml", "cdata", "closing_tag"]),
    cuts,
    sizes,
    sizes,
    st.sampled_from(HONEST),
)
def test_a_cut_element_is_well_formed(
    text: str, escape: Escape, cut: Truncate, size: int, more: int, counter: Counter
) -> None:
    """The text is cut before it is escaped: no entity is parted, and sizes hold all the same."""
    element = XmlElement("k", escape=escape)
    block = TextBlock(
        text, cut=cut, before=element.before, after=element.after, encode=element.encode
    )

    sent = check_sizes(block, counter, size)
    larger = check_sizes(block, counter, size + more)

    if cut.keep != "middle":  # of which only the start is never less
        assert amount(larger, cut) >= amount(sent, cut)
    for message in sent:
        inner = message.text.removeprefix(element.before).removesuffix(element.after)
        assert len(message.text) == len(element.before) + len(inner) + len(element.after)
        if escape == "closing_tag":
            assert "</k>" not in inner
        else:
            assert len(ET.fromstring(message.text)) == 0


def test_a_text_that_costs_nothing_where_it_stands_is_sent() -> None:
    """ ": " joins the blank behind it, so that it takes no token more than nothing does."""
    counter = Counter(
        ModelProfile.plain("cl100k_base"), ModelProfile.plain("cl100k_base").tokenizer()
    )
    block = TextBlock(": 0", cut=Truncate("start", "grapheme"), before="<doc>", after=" ")

    (message,) = block.fit(counter, block.measure(counter, 100).floor)

    assert message.text == "<doc>:  "
