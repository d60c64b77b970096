"""Blocks of ranked chunks."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from block_laws import (
    ALL,
    CL100K,
    HONEST,
    UNBOUNDED,
    check_sizes,
    counters,
    cuts,
    plain_words,
    texts,
)
from hypothesis import given
from hypothesis import strategies as st

from promptsections.blocks import Chunk, ItemsBlock, TextBlock
from promptsections.counting import Counter
from promptsections.markup import Escape, XmlElement
from promptsections.measurement import Measurement
from promptsections.messages import Message
from promptsections.profiles import ModelProfile
from promptsections.tokens import CallableTokenizer, Truncate

around = st.sampled_from(["", "# Found\n", "\n</doc>", "so", "\uf8ff"])
separators = st.sampled_from(["\n\n", "", " ", "\n---\n"])
sizes = st.integers(0, 80)
blocks = st.builds(
    ItemsBlock,
    st.lists(texts, max_size=8),
    separator=separators,
    cut=st.none() | cuts,
    limit=st.none() | sizes,
    before=around,
    after=around,
)


@given(blocks, sizes, st.sampled_from(ALL))
def test_it_is_never_larger_than_its_size_and_whole_if_it_fits(
    block: ItemsBlock, size: int, counter: Counter
) -> None:
    """The sizes of ranked chunks hold for every tokenizer, among messages and in a text."""
    check_sizes(block, counter, size)


@given(blocks, sizes, sizes, st.sampled_from(ALL))
def test_a_larger_size_never_sends_fewer_chunks(
    block: ItemsBlock, size: int, more: int, counter: Counter
) -> None:
    """The number of chunks that are sent grows with the size."""
    floor = block.measure(counter, UNBOUNDED).floor

    less = block.place(counter, max(floor, size))

    assert len(less.items) <= len(block.place(counter, max(floor, size + more)).items)


@given(blocks, sizes, st.sampled_from(HONEST))
def test_the_chunks_sent_are_the_first_ones_and_the_next_would_not_fit(
    block: ItemsBlock, size: int, counter: Counter
) -> None:
    """No chunk is sent after one that is left out, and none is left out that fits."""
    floor = block.measure(counter, UNBOUNDED).floor
    present = [chunk.text for chunk in block.chunks if chunk.text]

    placed = block.place(counter, max(floor, size))

    sent = len(placed.items)
    assert placed.omitted == len(present) - sent
    if sent > 1:
        text = block.separator.join(present[:sent])
        assert placed.messages == (Message("system", block.before + text + block.after),)
    if 0 < sent < len(present):
        longer = block.before + block.separator.join(present[: sent + 1]) + block.after
        assert counter.cost([Message("system", longer)]) > max(floor, size)


@given(st.lists(texts.filter(bool), min_size=1, max_size=3), cuts, sizes, st.sampled_from(HONEST))
def test_a_first_chunk_beyond_the_limit_is_cut_as_a_text_is(
    chunks: list[str], cut: Truncate, limit: int, counter: Counter
) -> None:
    """A chunk that cannot be sent whole gives way; others behind it are left out."""
    alone = TextBlock(chunks[0], cut=cut, limit=limit)
    block = ItemsBlock(chunks, cut=cut, limit=limit)
    size = max(limit, alone.measure(counter, UNBOUNDED).floor)

    if alone.measure(counter, UNBOUNDED).natural > size:
        assert block.measure(counter, limit).floor == alone.measure(counter, limit).floor
        assert block.fit(counter, size) == alone.fit(counter, size)


def test_chunks_are_kept_in_order_until_one_does_not_fit() -> None:
    counter = plain_words()
    block = ItemsBlock([Chunk("a b", id="first"), Chunk("c d e", source="wiki"), "f"])

    assert block.measure(counter, 10) == Measurement(2, 6)
    assert block.place(counter, 4).items == ("first",)
    assert block.place(counter, 5).items == ("first", "wiki")
    assert block.place(counter, 6).items == ("first", "wiki", "2")
    assert block.place(counter, 4).omitted == 2
    assert block.fit(counter, 5) == (Message("system", "a b\n\nc d e"),)


def test_empty_chunks_are_passed_over_and_keep_their_place_in_the_count() -> None:
    placed = ItemsBlock(["", "a", "", "b"]).place(plain_words(), 5)

    assert placed.items == ("1", "3")
    assert placed.omitted == 0
    assert placed.messages == (Message("system", "a\n\nb"),)


def test_no_chunks_are_no_content() -> None:
    block = ItemsBlock([Chunk("")], before="# Found\n")

    assert block.measure(plain_words(), 5) == Measurement(0, 0)
    assert block.fit(plain_words(), 5) == ()


def test_the_first_of_several_chunks_is_not_cut_where_it_could_be_sent_whole() -> None:
    block = ItemsBlock(["a b c d", "e"], cut=Truncate(), limit=4)

    assert block.measure(plain_words(), 9) == Measurement(4, 5)
    assert ItemsBlock(["a b c d"], cut=Truncate()).measure(plain_words(), 9).floor == 1


def test_ten_thousand_chunks_are_counted_once_each() -> None:
    read = 0

    def count(text: str) -> int:
        nonlocal read
        read += len(text)
        return CL100K.tokenizer.count(text)

    profile = ModelProfile.plain(CallableTokenizer("read", count, joints="strong"))
    counter = Counter(profile, profile.tokenizer())
    chunks = [f"Chunk number {number} says this." for number in range(10_000)]
    block = ItemsBlock(chunks, before="# Found\n")

    natural = block.measure(counter, UNBOUNDED).natural

    assert natural == counter.cost(block.fit(counter, natural))
    assert read < 12 * sum(map(len, chunks))


def test_no_more_chunks_are_read_than_fit_and_one() -> None:
    seen: set[str] = set()

    def count(text: str) -> int:
        seen.update(text.split())
        return len(text.split())

    profile = ModelProfile.plain(CallableTokenizer("read", count, joints="strong"))
    counter = Counter(profile, profile.tokenizer())
    block = ItemsBlock([f"w{number}" for number in range(1_000)])

    assert block.measure(counter, 10) == Measurement(1, 11)
    assert len(block.place(counter, 10).items) == 10
    assert seen == {f"w{number}" for number in range(11)}


def test_a_tokenizer_that_promises_nothing_is_not_asked_for_every_number_of_chunks() -> None:
    asked = 0

    def count(text: str) -> int:
        nonlocal asked
        asked += 1
        return len(text.split())

    profile = ModelProfile.plain(CallableTokenizer("asked", count))
    counter = Counter(profile, profile.tokenizer())
    block = ItemsBlock([f"w{number}" for number in range(10_000)])

    assert len(block.place(counter, 9_000).items) == 9_000
    assert asked < 200


def test_chunks_are_joined_in_the_line_of_a_text() -> None:
    for counter in counters(CL100K):
        block = ItemsBlock(["12", "34", "56"], separator="", before="0")
        natural = block.measure(counter, UNBOUNDED).natural

        assert natural == counter.cost([Message("system", "0123456")])


@given(
    st.lists(st.sampled_from(["a & b", "</k>", "]]>", "word word", "<k>"]), min_size=1, max_size=5),
    st.sampled_from(["xml", "cdata", "closing_tag"]),
    cuts,
    st.integers(0, 60),
    st.sampled_from(HONEST),
)
def test_chunks_in_an_element_keep_it_well_formed(
    chunks: list[str], escape: Escape, cut: Truncate, size: int, counter: Counter
) -> None:
    """Whatever of the chunks is sent, the element around them is whole, and sizes hold."""
    element = XmlElement("k", escape=escape)
    block = ItemsBlock(
        chunks, cut=cut, before=element.before, after=element.after, encode=element.encode
    )

    for message in check_sizes(block, counter, size):
        assert message.text.startswith(element.before)
        assert message.text.endswith(element.after)
        if escape == "closing_tag":
            assert message.text.count("</k>") == 1
        else:
            assert len(ET.fromstring(message.text)) == 0
