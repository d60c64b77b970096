"""Counting no further than a limit.

It knows no units and cuts nothing.
"""

from __future__ import annotations

from promptsections.tokens.boundaries import first_strong, last_strong
from promptsections.tokens.tokenizer import Tokenizer, joints_of

SHORT = 4_096
"""Characters up to which a text is simply counted."""
LONGEST_TOKEN = 256
"""Characters that no token exceeds, of vocabularies that promise strong joints (they have 128)."""


def count_up_to(text: str, at_most: int, tokenizer: Tokenizer) -> int:
    """Count exactly up to `at_most` tokens; anything more reads `at_most + 1`.

    Of a long text little more is read than `at_most` tokens. A tokenizer that promises nothing
    about joints could count the whole lower than a part of it; of a text longer than 4,096
    characters the count is taken as over when a part of it is over by an eighth and 16 tokens.
    """
    if len(text) <= SHORT:
        return min(tokenizer.count(text), at_most + 1)
    if joints_of(tokenizer) == "strong":
        return _count_by_pieces(text, at_most, tokenizer)
    over = at_most + at_most // 8 + 16
    length = max(SHORT, at_most)
    while length < len(text):
        if tokenizer.count(text[:length]) > over:
            return at_most + 1
        length *= 2
    return min(tokenizer.count(text), at_most + 1)


def _count_by_pieces(text: str, at_most: int, tokenizer: Tokenizer) -> int:
    """Add up pieces between strong positions, each as long as what is left might be."""
    start = tokens = 0
    while start < len(text) and tokens <= at_most:
        left = at_most - tokens
        end = next_strong(text, start, start + max(64, 3 * left), left)
        if end is None:
            return at_most + 1
        tokens += tokenizer.count(text[start:end])
        start = end
    return min(tokens, at_most + 1)


def next_strong(text: str, start: int, goal: int, left: int) -> int | None:
    """Find a strong position above `start`, near `goal`; the end of the text is one.

    `None` if the piece that begins at `start` is so long that it exceeds `left` tokens.
    """
    if goal >= len(text):
        return len(text)
    farthest = start + LONGEST_TOKEN * (left + 1)
    return (
        last_strong(text, goal + 1, start)
        or first_strong(text, goal, farthest)
        or (len(text) if len(text) <= farthest else None)
    )
