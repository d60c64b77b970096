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
_LONGEST_UNKNOWN = 4_096
"""Characters that no token exceeds, of a tokenizer that promises nothing."""


def longest_of(tokens: int, tokenizer: Tokenizer) -> int:
    """Return how many characters have more than so many tokens in any case."""
    strong = joints_of(tokenizer) == "strong"
    return (LONGEST_TOKEN if strong else _LONGEST_UNKNOWN) * (tokens + 1)


def surely_over(limit: int) -> int:
    """Return a number of tokens: the whole of a long text has more than `limit` if a part has more.

    A longer text can have fewer tokens, but within one piece of the splitting rule it is a few.
    """
    return limit + limit // 8 + 16


def count_up_to(text: str, at_most: int, tokenizer: Tokenizer) -> int:
    """Count exactly up to `at_most` tokens; anything more reads `at_most + 1`.

    Of a long text little more is read than `at_most` tokens. Where that depends on how counts add,
    because a tokenizer promises nothing about joints, or in a text of more than 4,096 characters
    without a strong place, it is taken as over when a part of it is over by an eighth and 16
    tokens.
    """
    if len(text) <= SHORT:
        return min(tokenizer.count(text), at_most + 1)
    if joints_of(tokenizer) == "strong":
        return _count_by_pieces(text, at_most, tokenizer)
    length = max(SHORT, at_most)
    while length < len(text):
        if tokenizer.count(text[:length]) > surely_over(at_most):
            return at_most + 1
        length *= 2
    return min(tokenizer.count(text), at_most + 1)


def _count_by_pieces(text: str, at_most: int, tokenizer: Tokenizer) -> int:
    """Add up pieces between strong positions, each as long as what is left might be."""
    start = tokens = 0
    while start < len(text) and tokens <= at_most:
        left = at_most - tokens
        end = _next_strong(text, start, start + max(64, 3 * left), left, tokenizer)
        if end is None:
            return at_most + 1
        tokens += tokenizer.count(text[start:end])
        start = end
    return min(tokens, at_most + 1)


def _next_strong(text: str, start: int, goal: int, left: int, tokenizer: Tokenizer) -> int | None:
    """Find a strong position above `start`, near `goal`; the end of the text is one.

    `None` if the piece that begins at `start` is so long that it exceeds `left` tokens.
    """
    if goal >= len(text):
        return len(text)
    near = last_strong(text, goal + 1, start)
    if near is not None:
        return near
    farthest = min(len(text), start + longest_of(left, tokenizer))
    while goal < farthest:
        low, goal = goal, wider(goal - start, farthest - start) + start
        found = first_strong(text, low, goal + 1)
        if found is not None:
            return found
        if goal < farthest and tokenizer.count(text[start:goal]) > surely_over(left):
            return None
    return len(text) if farthest == len(text) else None


def wider(length: int, most: int) -> int:
    """Return twice a length, and no short one; all of it rather than more than half of it."""
    length = max(2 * length, SHORT)
    return most if 2 * length > most else length
