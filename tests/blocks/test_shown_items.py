"""Ranked chunks that are shown in another order, with something in front of each."""

from __future__ import annotations

from typing import Any

import pytest
from block_laws import ALL, CL100K, HONEST, UNBOUNDED, check_sizes, cuts, plain_words, texts
from hypothesis import given
from hypothesis import strategies as st

from promptsections.blocks import Chunk, ItemsBlock
from promptsections.counting import Counter
from promptsections.errors import DefinitionError
from promptsections.markup import XmlElement
from promptsections.messages import Message
from promptsections.profiles import ModelProfile
from promptsections.tokens import CallableTokenizer

heads = st.sampled_from(["", "[1] ", "# Found\n", "so", "\n"])
sizes = st.integers(0, 80)


@st.composite
def blocks(draw: Any) -> ItemsBlock:
    chunks = draw(st.lists(texts, max_size=6))
    return ItemsBlock(
        chunks,
        separator=draw(st.sampled_from(["\n\n", "", " "])),
        cut=draw(st.none() | cuts),
        limit=draw(st.none() | sizes),
        before=draw(heads),
        after=draw(heads),
        heads=draw(st.lists(heads, min_size=len(chunks), max_size=len(chunks))),
        places=draw(st.permutations(range(len(chunks)))),
        encode=draw(st.sampled_from([None, XmlElement("k", escape="xml").encode])),
    )


@given(blocks(), sizes, st.sampled_from(ALL))
def test_it_is_never_larger_than_its_size_and_whole_if_it_fits(
    block: ItemsBlock, size: int, counter: Counter
) -> None:
    """The sizes of chunks hold in whatever order they are shown, for every tokenizer."""
    check_sizes(block, counter, size)


@given(blocks(), sizes, sizes, st.sampled_from(ALL))
def test_a_larger_size_never_sends_fewer_chunks(
    block: ItemsBlock, size: int, more: int, counter: Counter
) -> None:
    """What is sent at a size is sent at a larger one too."""
    floor = block.measure(counter, UNBOUNDED).floor

    less = block.place(counter, max(floor, size))

    assert {*less.items} <= {*block.place(counter, max(floor, size + more)).items}


@given(blocks(), sizes, st.sampled_from(HONEST))
def test_the_first_in_rank_are_sent_and_shown_by_place(
    block: ItemsBlock, size: int, counter: Counter
) -> None:
    """Of the chunks with a text, the first in rank are sent, those of the smallest place first."""
    floor = block.measure(counter, UNBOUNDED).floor
    present = [rank for rank, chunk in enumerate(block.chunks) if chunk.text]

    placed = block.place(counter, max(floor, size))

    sent = [int(item) for item in placed.items]
    assert sorted(sent) == present[: len(sent)]
    assert [block.places[rank] for rank in sent] == sorted(block.places[rank] for rank in sent)
    if len(sent) > 1:
        encode = block.encode or str
        shown = [block.heads[at] + encode(block.chunks[at].text) for at in sent]
        text = block.before + block.separator.join(shown) + block.after
        assert placed.messages == (Message("system", text),)


def test_chunks_are_shown_by_place_and_named_so() -> None:
    counter = plain_words()
    chunks = [Chunk("best", id="b"), Chunk("second", id="s"), Chunk("third one", id="t")]
    block = ItemsBlock(chunks, places=[2, 0, 1], heads=["1. ", "2. ", "3. "], separator="\n")

    assert block.fit(counter, 9) == (Message("system", "2. second\n3. third one\n1. best"),)
    assert block.place(counter, 4).items == ("s", "b")
    assert block.place(counter, 2).items == ("b",)
    assert block.place(counter, 4).omitted == 1


def test_chunks_in_another_order_are_counted_about_once_each() -> None:
    read = 0

    def count(text: str) -> int:
        nonlocal read
        read += len(text)
        return CL100K.tokenizer.count(text)

    profile = ModelProfile.plain(CallableTokenizer("read", count, joints="strong"))
    counter = Counter(profile, profile.tokenizer())
    chunks = [f"Chunk number {number} says this." for number in range(1_000)]
    block = ItemsBlock(chunks, places=range(999, -1, -1))

    natural = block.measure(counter, UNBOUNDED).natural

    assert natural == counter.cost(block.fit(counter, natural))
    assert read < 6 * sum(map(len, chunks))


@pytest.mark.parametrize("options", [{"heads": ["a"]}, {"places": [1]}])
def test_heads_and_places_are_for_every_chunk(options: Any) -> None:
    with pytest.raises(DefinitionError, match="heads and places"):
        ItemsBlock(["a", "b"], **options)
