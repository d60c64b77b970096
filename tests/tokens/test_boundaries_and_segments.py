"""Counts add at strong boundaries, and joined segments count what the joined text counts."""

from __future__ import annotations

import re
import sys
from unicodedata import category

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from token_samples import BACKENDS, ENCODINGS, texts, tokenizers

from promptsections.tokens import (
    EMPTY,
    Segment,
    TiktokenTokenizer,
    count_joined,
    first_strong,
    is_strong,
    join,
    last_strong,
    strong_joint,
)
from promptsections.tokens.boundaries import BLANKS

encodings = st.sampled_from([kind(name) for kind in BACKENDS for name in ENCODINGS])
CHARACTERS = [chr(i) for i in range(sys.maxunicode + 1) if not 0xD800 <= i < 0xE000]


def in_class(pattern: str) -> set[str]:
    """All characters that tiktoken's tables put in a class."""
    ranks = {bytes([value]): value for value in range(256)}
    one = tiktoken.Encoding("one", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return set(bytes(one.encode_ordinary("".join(CHARACTERS))).decode())


def test_unicode_tables_agree_where_the_rules_rely_on_them():
    word = re.compile(r"[^\W_]")
    marks = {c for c in CHARACTERS if category(c)[0] in "PS"}

    assert {c for c in CHARACTERS if word.match(c)} <= in_class(r"[\p{L}\p{N}]")
    assert not marks & in_class(r"[\p{L}\p{N}\p{M}\s]")
    assert {c for c in CHARACTERS if re.match(BLANKS, c)} | set("\r\n") == in_class(r"\s")


@pytest.mark.parametrize(
    ("text", "position", "strong"),
    [
        ("a b", 1, True),  # P1
        (". b", 1, True),
        ("a b", 2, False),
        ("a\nb", 1, True),  # P2
        (".\nb", 1, False),
        ("a\nb", 2, True),  # P3
        ("a\n/b", 2, False),
        ("a\n\nb", 2, False),
        ("a\n b", 2, True),  # P4
        ("a\n ", 2, False),
        ("a\n \n", 2, False),
        ("a\n" + " " * 200 + "b", 2, True),
        ("a\n" + " " * 201 + "b", 2, False),
        ("a.b", 1, True),  # P5
        ("a_b", 1, True),
        ("1€", 1, True),
        ("a'b", 1, False),
        ("a\u0301", 1, False),
        ("a\u0378", 1, False),
        ("ab", 1, False),
        ("ab", 0, False),
        ("a b", 3, False),
    ],
)
def test_strong_positions_are_those_of_the_rules(text, position, strong):
    assert is_strong(text, position) is strong


@given(texts, encodings)
def test_counts_add_at_every_strong_position(text, tokenizer):
    """The count of a text is the sum of the counts of both sides of any strong position."""
    whole = tokenizer.count(text)
    for position in range(1, len(text)):
        if is_strong(text, position):
            assert tokenizer.count(text[:position]) + tokenizer.count(text[position:]) == whole


@given(texts, st.integers(0, 40), st.integers(0, 40))
def test_searches_find_the_first_and_the_last_strong_position(text, start, end):
    """A search between two places finds what trying every place between them finds."""
    between = [p for p in range(start + 1, min(end, len(text))) if is_strong(text, p)]

    assert first_strong(text, start, end) == (between[0] if between else None)
    assert last_strong(text, min(end, len(text)), start) == (between[-1] if between else None)


def test_a_search_from_the_end_reads_on_until_it_finds_something():
    assert last_strong("a b" + "c" * 1000) == 1
    assert last_strong("c" * 1000) is None


@given(texts, texts)
def test_a_joint_is_strong_as_its_place_in_the_whole_is(left, right):
    """A joint of two texts is strong if its position in the joined text is."""
    expected = not left or not right or is_strong(left + right, len(left))

    assert strong_joint(left, right) is expected


@given(st.lists(texts, max_size=6), st.sampled_from(["", "\n", "\n\n", " ", "/", "x"]), tokenizers)
def test_joined_counts_are_the_counts_of_the_joined_text(pieces, separator, tokenizer):
    """`count_joined` is exact for every tokenizer, separator and way of giving the pieces."""
    expected = tokenizer.count(separator.join(pieces))
    mixed = [Segment.of(p, tokenizer) if i % 2 else p for i, p in enumerate(pieces)]

    assert count_joined(tokenizer, pieces, separator) == expected
    assert count_joined(tokenizer, mixed, separator) == expected


@given(st.lists(texts, min_size=1, max_size=7), st.randoms(use_true_random=False), tokenizers)
def test_the_order_in_which_neighbours_are_joined_changes_nothing(pieces, random, tokenizer):
    """Segments are a monoid: any association gives the count of the whole."""
    segments = [Segment.of(piece, tokenizer) for piece in pieces]
    expected = tokenizer.count("".join(pieces))

    assert join(tokenizer, *segments).tokens == expected
    while len(segments) > 1:
        i = random.randrange(len(segments) - 1)
        segments[i : i + 2] = [segments[i].join(segments[i + 1], tokenizer)]
    assert segments[0].tokens == expected


@given(texts, tokenizers)
def test_nothing_joined_to_a_segment_leaves_it_as_it_is(text, tokenizer):
    """`EMPTY` is neutral on both sides."""
    segment = Segment.of(text, tokenizer)

    assert join(tokenizer) == EMPTY
    assert EMPTY.join(segment, tokenizer) == segment.join(EMPTY, tokenizer) == segment


def test_a_strong_joint_counts_nothing_again():
    counted: list[str] = []

    class Counting:
        name, exact, joints = "counting", True, "strong"

        def count(self, text, /):
            counted.append(text)
            return len(text)

    left, right = Segment.of("one. ", Counting(), 3), Segment.of("\ntwo", Counting(), 4)
    assert (
        Segment.of("one", Counting(), 3).join(Segment.of(" two", Counting(), 2), Counting()).tokens
        == 5
    )
    assert counted == []
    left.join(right, Counting())
    assert counted == [" ", " \n", "\n"]


def test_a_joint_can_cost_more_than_its_parts_without_bound():
    tokenizer = TiktokenTokenizer("o200k_base")
    digits = "૨૦૧" * 1000

    assert tokenizer.count("11") + tokenizer.count(digits) == 1001
    assert count_joined(tokenizer, ["11", digits]) == 3001
