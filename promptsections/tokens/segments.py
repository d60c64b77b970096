"""Exact counts of joined texts, from the counts of their parts.

Counts do not add in general: the whole can have fewer tokens than its parts, or more, without
bound. They do at strong boundaries (`boundaries`). So of two texts only what lies between the last
strong position of the left one and the first of the right one must be counted together:

    count(left + right) ==
        count(left) + count(right) + count(tail + head) - count(tail) - count(head)

It knows no message format and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from promptsections.tokens.boundaries import first_strong, last_strong, strong_joint
from promptsections.tokens.tokenizer import Tokenizer, joints_of


@frozen
class Segment:
    """A text as far as joining needs it: its count, and how it begins and ends.

    Segments of one tokenizer form a monoid under `join`, with `EMPTY` as its neutral element: the
    order in which neighbours are joined changes nothing.
    """

    tokens: int
    """The tokens of the whole text."""
    start: str
    """How the text begins: all of it, or as far as some strong position."""
    end: str
    """How the text ends: all of it, or from some strong position on."""
    entire: bool = True
    """Whether `start` and `end` are all of the text."""

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer, tokens: int | None = None) -> Segment:
        """Make the segment of `text`; give `tokens` if they have been counted already."""
        return cls(tokenizer.count(text) if tokens is None else tokens, text, text)

    def join(self, right: Segment, tokenizer: Tokenizer) -> Segment:
        """Join `right` to the end of this segment; both must be of `tokenizer`.

        With a tokenizer that promises nothing about joints, the whole is counted anew.
        """
        if not right.end:
            return self
        if not self.end:
            return right
        if joints_of(tokenizer) == "none":
            return Segment.of(self.start + right.start, tokenizer)
        if strong_joint(self.end, right.start):
            return Segment(self.tokens + right.tokens, self.start, right.end, entire=False)
        return _join_weakly(self, right, tokenizer)


EMPTY = Segment(0, "", "")
"""The segment of the empty text, for any tokenizer."""


def _join_weakly(left: Segment, right: Segment, tokenizer: Tokenizer) -> Segment:
    """Join two texts where a token may span the joint."""
    cut = last_strong(left.end)
    tail = left.end if cut is None else left.end[cut:]
    begin = first_strong(right.start)
    head = right.start if begin is None else right.start[:begin]
    both = tail + head
    count = tokenizer.count
    tokens = left.tokens - count(tail) + count(both) - count(head) + right.tokens

    left_is_tail = left.entire and cut is None
    right_is_head = right.entire and begin is None
    if left_is_tail and right_is_head:
        return Segment(tokens, both, both)
    start = both if left_is_tail else _head(left)
    end = both if right_is_head else _tail(right)
    return Segment(tokens, start, end, entire=False)


def _head(segment: Segment) -> str:
    """The text up to its first strong position; there is one."""
    cut = first_strong(segment.start)
    return segment.start if cut is None else segment.start[:cut]


def _tail(segment: Segment) -> str:
    """The text from its last strong position on; there is one."""
    cut = last_strong(segment.end)
    return segment.end if cut is None else segment.end[cut:]


def join(tokenizer: Tokenizer, *segments: Segment) -> Segment:
    """Join segments in their order; what must be counted anew is counted once."""
    if joints_of(tokenizer) == "none":
        present = [segment for segment in segments if segment.end]
        if len(present) > 1:
            return Segment.of("".join(segment.start for segment in present), tokenizer)
        return present[0] if present else EMPTY
    joined = EMPTY
    for segment in segments:
        joined = joined.join(segment, tokenizer)
    return joined


def running_totals(
    tokenizer: Tokenizer,
    texts: Iterable[str],
    separator: str = "",
    before: str = "",
    after: str = "",
) -> Iterator[int]:
    """Count the first text between `before` and `after`, then the first two, and so on.

    Each total is made from the one before, by what stands at its end and what comes next. The
    tokenizer must promise strong joints.
    """
    closing = Segment.of(after, tokenizer) if after else None
    total, end = tokenizer.count(before) if before else 0, before
    between = ""
    for text in texts:
        for piece in (between, text):
            if strong_joint(end, piece):
                total += tokenizer.count(piece) if piece else 0
                end = piece or end
            else:
                left = Segment(total, end, end, entire=False)
                joined = _join_weakly(left, Segment.of(piece, tokenizer), tokenizer)
                total, end = joined.tokens, joined.end
        between = separator
        if closing is None:
            yield total
        else:
            yield Segment(total, end, end, entire=False).join(closing, tokenizer).tokens


def count_joined(tokenizer: Tokenizer, pieces: Sequence[str | Segment], separator: str = "") -> int:
    """Count `separator.join(pieces)` exactly, from the counts of the pieces.

    A piece may be a segment, so that what has been counted is not counted again. The joined text is
    built and counted whole only for a tokenizer that promises nothing about joints.
    """
    if joints_of(tokenizer) == "none":
        texts = [piece if isinstance(piece, str) else piece.start for piece in pieces]
        return tokenizer.count(separator.join(texts))
    between = Segment.of(separator, tokenizer) if separator else EMPTY
    joined = EMPTY
    for index, piece in enumerate(pieces):
        if index:
            joined = joined.join(between, tokenizer)
        segment = Segment.of(piece, tokenizer) if isinstance(piece, str) else piece
        joined = joined.join(segment, tokenizer)
    return joined.tokens
