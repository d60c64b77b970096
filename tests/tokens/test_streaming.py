"""A text that comes in pieces counts as the whole does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections.tokens import (
    ApproximateTokenizer,
    ScaledTokenizer,
    TiktokenTokenizer,
    cached,
    count_stream,
    streaming,
)

O200K = TiktokenTokenizer()
TEXT = "An order of 12 lamps,\r\n  sent on Monday… 日本語 <|endoftext|> it's\n\n\tdone. "


@given(st.lists(st.one_of(st.text(), st.sampled_from([TEXT, "a" * 40, " " * 30, "\n"]))))
def test_a_text_in_pieces_counts_as_the_whole(pieces: list[str]) -> None:
    """`count_stream(pieces) == count("".join(pieces))`, wherever it is parted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "_HELD", 8)
        assert count_stream(iter(pieces), O200K) == O200K.count("".join(pieces))


def test_little_of_a_long_text_is_held() -> None:
    longest = 0

    class Watching:
        name, exact, joints = "watching", True, "strong"

        def count(self, text: str, /) -> int:
            nonlocal longest
            longest = max(longest, len(text))
            return O200K.count(text)

    def pieces() -> Iterator[str]:
        for _ in range(400):
            yield TEXT * 60

    assert count_stream(pieces(), Watching()) == O200K.count(TEXT * 24_000)
    assert longest < 300_000


def test_a_text_that_cannot_be_parted_is_counted_whole() -> None:
    pieces = ["á" * 50_000] * 12

    assert count_stream(pieces, O200K) == O200K.count("".join(pieces))


def test_an_estimate_rounds_up_once() -> None:
    scaled = ScaledTokenizer(O200K, 1.15)
    by_length = ApproximateTokenizer()

    assert count_stream([TEXT] * 7, cached(scaled)) == scaled.count(TEXT * 7)
    assert count_stream(["abc"] * 7, by_length) == by_length.count("abc" * 7)
