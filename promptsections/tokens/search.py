"""The search for the longest start or end of a text that fits a number of tokens.

It reads about what it keeps, whatever the length of the text: forward by pieces whose counts add
(`boundaries`), then by bisection in the piece that does not fit. It chooses no units.

A longer text may have fewer tokens ("Desig" 2, "Design" 1), so "the longest that fits" is not what
a bisection finds. What is found instead is still never less for a larger limit: the places that
are tried depend on the answers so far only, never on the limit, so that where two limits part, the
larger one goes on to the right. And one unit more than what is found does not fit.
"""

from __future__ import annotations

from typing import Literal

from promptsections.tokens.boundaries import LOOK, first_strong, last_strong, strong_joint
from promptsections.tokens.limits import (
    SHORT,
    count_up_to,
    longest_of,
    surely_over,
    wider,
)
from promptsections.tokens.tokenizer import Tokenizer, joints_of
from promptsections.tokens.units import ENDS, STARTS, Boundary

Side = Literal["start", "end"]

_FIRST_STEP = 64
"""Characters of the first step into a piece without strong positions; doubled step by step."""


class Search:
    """A search from one side of a text. All offsets are numbers of characters kept there.

    `context` is what stands where the text is cut (a marker), and is counted with what is kept.
    """

    def __init__(self, text: str, side: Side, tokenizer: Tokenizer, context: str = "") -> None:
        self._text = text
        self._side: Side = side
        self._tokenizer = tokenizer
        self._strong = joints_of(tokenizer) == "strong"
        self._anchors = [(0, 0)]
        """Offsets at which the text is strong, and the tokens up to there, ascending."""
        self._fitting = 0
        """Length of the longest text, in characters, that was found to fit."""
        self._unbroken = (0, 0)
        """An anchor, and up to where nothing is strong above it."""
        self._ends: dict[int, int] = {}
        """Limit → characters beyond which nothing is tried."""
        self._apart, self._context = self._split(context)
        """Tokens of the part of the context that what is kept cannot change; the other part."""

    def longest(self, limit: int, boundaries: tuple[Boundary, ...], ceiling: int) -> int:
        """Find how much to keep so that it has, with the context, at most `limit` tokens.

        Cuts at the first of `boundaries` at which anything fits, keeping at most `ceiling`
        characters; 0 if nothing fits.
        """
        own = limit - count_up_to(self._context, limit, self._tokenizer) - self._apart
        self._advance(max(0, own))
        for boundary in boundaries:
            found = self._longest_at(boundary, limit, ceiling)
            if found:
                return found
            first = self.first(boundary, ceiling, limit)
            ceiling = first - 1 if first else ceiling
        return 0

    def first(self, boundary: Boundary, ceiling: int, limit: int) -> int:
        """Find the smallest cut of at most `ceiling` characters that may fit, or 0."""
        near = self._cut_up(boundary, 0, min(ceiling, SHORT))
        return near or self._cut_up(boundary, 0, min(ceiling, self._end(limit))) or 0

    def surpasses(self, kept: int, tokens: int) -> bool:
        """Say whether `kept` characters surely are more than what fits into `tokens` tokens."""
        return any(offset <= kept and there > tokens for offset, there in self._anchors)

    def extend(self, kept: int, boundary: Boundary, limit: int, ceiling: int) -> int:
        """Keep unit after unit more than `kept` characters, as long as it fits."""
        while True:
            longer = self._cut_up(boundary, kept, min(ceiling, kept + SHORT))
            longer = longer or self._cut_up(boundary, kept, min(ceiling, self._end(limit)))
            if longer is None or not self.fits(longer, limit):
                return kept
            kept = longer

    def fits(self, kept: int, limit: int) -> bool:
        """Say whether the context and `kept` characters have at most `limit` tokens."""
        tokens, rest = next(
            (tokens, rest)
            for offset, tokens in reversed(self._anchors)
            if offset <= kept and self._adds(offset, rest := self._with_context(offset, kept))
        )  # the anchor at 0 adds to anything
        return self._has_at_most(limit - tokens - self._apart, rest)

    def _has_at_most(self, limit: int, text: str) -> bool:
        if limit < 0:
            return False
        if len(text) > 2 * self._fitting + SHORT:
            fits = count_up_to(text, limit, self._tokenizer) <= limit
        else:
            fits = self._tokenizer.count(text) <= limit
        if fits:
            self._fitting = max(self._fitting, len(text))
        return fits

    def _end(self, limit: int) -> int:
        """Characters beyond which nothing is tried, because so many surely exceed `limit`."""
        end = self._ends.get(limit)
        if end is None:
            end, _ = self._anchors[-1]
            end += SHORT
            while end < len(self._text) and not self._is_far(end, limit):
                end = 2 * end
            end = self._ends[limit] = min(end, len(self._text))
        return end

    def _is_far(self, kept: int, limit: int) -> bool:
        """Say whether `kept` characters surely exceed `limit`, and what is longer does as well."""
        offset, tokens = self._anchors[-1]
        if kept - offset > longest_of(limit, self._tokenizer):
            return True
        left = max(0, limit - tokens)
        return self._tokenizer.count(self._piece(offset, kept)) > surely_over(left)

    def _longest_at(self, boundary: Boundary, limit: int, ceiling: int) -> int:
        anchor = self._anchors[-1][0]
        found = self._beyond(boundary, anchor, limit, ceiling)
        kept = min(anchor, ceiling)
        while not found:
            cut = self._cut_down(boundary, 0, kept)
            if cut is None:
                return 0
            found = cut if self.fits(cut, limit) else 0
            kept = cut - 1
        return self.extend(found, boundary, limit, ceiling)

    def _beyond(self, boundary: Boundary, anchor: int, limit: int, ceiling: int) -> int:
        """Search the piece that begins at `anchor` and as a whole does not fit; 0 if nothing."""
        low, found, step, goal = anchor, 0, _FIRST_STEP, anchor
        while goal < ceiling:
            goal = min(anchor + step, ceiling)
            end = self._strong_end(anchor, goal) if self._strong else None
            if end is not None:
                goal = ceiling = end
            cut = self._cut_down(boundary, low, goal)
            if cut is not None and not self.fits(cut, limit):
                return self._bisect(boundary, low, cut, limit) or found
            if cut is None and step >= SHORT and self._is_far(goal, limit):
                return found
            low = found = cut or found
            low = max(low, anchor)
            step *= 2
        return found

    def _strong_end(self, anchor: int, goal: int) -> int | None:
        """The first strong offset above an anchor and at most `goal`."""
        searched_from, unbroken = self._unbroken
        if searched_from != anchor:
            unbroken = anchor
        end = self._strong_up(unbroken, goal) if unbroken < goal else None
        self._unbroken = anchor, max(unbroken, goal if end is None else end - 1)
        return end

    def _bisect(self, boundary: Boundary, low: int, high: int, limit: int) -> int:
        """Search between `low`, which fits or is no cut, and `high`, which does not fit."""
        found = 0
        while True:
            middle = (low + high) // 2
            cut = self._cut_down(boundary, low, middle)
            if cut is None:
                cut = self._cut_up(boundary, middle, high - 1)
            if cut is None:
                return found
            if self.fits(cut, limit):
                low = found = cut
            else:
                high = cut

    def _advance(self, limit: int) -> None:
        """Move the last anchor to the last strong offset that has at most `limit` tokens."""
        high: int | None = None
        while self._strong and self._anchors[-1][0] < len(self._text):
            offset, tokens = self._anchors[-1]
            goal = self._next(offset, high, limit - tokens)
            if goal is None:
                return
            tokens += self._tokenizer.count(self._piece(offset, goal))
            if tokens > limit:
                high = goal
            else:
                self._anchors.append((goal, tokens))

    def _next(self, offset: int, high: int | None, left: int) -> int | None:
        """Choose a strong offset above `offset`: below `high`, or as far as `left` may reach."""
        length = len(self._text)
        if high is not None:
            middle = (offset + high) // 2
            return self._strong_down(offset, middle) or self._strong_up(middle, high - 1)
        goal = offset + max(_FIRST_STEP, 3 * left)
        if goal >= length:
            return length
        near = self._strong_down(offset, goal)
        farthest = min(length, offset + longest_of(left, self._tokenizer))
        while near is None and goal < farthest:
            goal = wider(goal - offset, farthest - offset) + offset
            near = self._strong_end(offset, goal)
            over = near is None and goal < farthest
            if over and self._tokenizer.count(self._piece(offset, goal)) > surely_over(left):
                return None
        return near or (length if farthest == length else None)

    # --- what differs between the two sides ---------------------------------------------------

    def _split(self, context: str) -> tuple[int, str]:
        """Count the part of the context that is strongly apart from what is kept."""
        if not self._strong:
            return 0, context
        if self._side == "start":
            cut = first_strong(context)
            near, far = context[:cut], "" if cut is None else context[cut:]
        else:
            cut = last_strong(context)
            near, far = context[cut or 0 :], context[: cut or 0]
        return self._tokenizer.count(far) if far else 0, near

    def _piece(self, low: int, high: int) -> str:
        length = len(self._text)
        return (
            self._text[low:high]
            if self._side == "start"
            else self._text[length - high : length - low]
        )

    def _with_context(self, low: int, high: int) -> str:
        piece = self._piece(low, high)
        return piece + self._context if self._side == "start" else self._context + piece

    def _adds(self, offset: int, rest: str) -> bool:
        """Say whether what is kept up to `offset` and `rest` add exactly."""
        place = offset if self._side == "start" else len(self._text) - offset
        if self._side == "start":
            return strong_joint(self._text[max(0, place - 1) : place], rest)
        return strong_joint(rest, self._text[place : place + LOOK])

    def _cut_down(self, boundary: Boundary, low: int, high: int) -> int | None:
        """The largest cut above `low` and at most `high`."""
        if self._side == "start":
            return ENDS[boundary].last(self._text, low, high)
        length = len(self._text)
        place = STARTS[boundary].first(self._text, length - high - 1, length - low - 1)
        return None if place is None else length - place

    def _cut_up(self, boundary: Boundary, low: int, high: int) -> int | None:
        """The smallest cut above `low` and at most `high`."""
        if self._side == "start":
            return ENDS[boundary].first(self._text, low, high)
        length = len(self._text)
        place = STARTS[boundary].last(self._text, length - high - 1, length - low - 1)
        return None if place is None else length - place

    def _strong_down(self, low: int, high: int) -> int | None:
        """The largest strong offset above `low` and at most `high`."""
        if self._side == "start":
            return last_strong(self._text, high + 1, low)
        length = len(self._text)
        place = first_strong(self._text, length - high - 1, length - low)
        return None if place is None else length - place

    def _strong_up(self, low: int, high: int) -> int | None:
        """The smallest strong offset above `low` and at most `high`."""
        if self._side == "start":
            return first_strong(self._text, low, high + 1)
        length = len(self._text)
        place = last_strong(self._text, length - low, length - high - 1)
        return None if place is None else length - place
