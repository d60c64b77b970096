"""Cutting a text where it stands: among messages, in a line of text, between a heading and an end.

What a text costs there is more than its own tokens, and not their sum with what is around it: the
joints count. So a cut is guessed from the text alone and judged by what all of it costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import field, frozen

from promptsections.counting import Counter
from promptsections.messages import Message
from promptsections.tokens import Truncate, cut, joints_of, smallest_cut

_SLACK = 4
"""Tokens that joints may save or cost; rarely more than two."""
_TRIES = 12
"""Guesses from the text alone, before all is counted anew for each place of the cut."""


def cost_up_to(counter: Counter, messages: Sequence[Message], at_most: int) -> int:
    """Return what messages cost, exactly up to `at_most` tokens and as `at_most + 1` beyond."""
    if counter.lines is not None:
        return counter.count_up_to(counter.text(messages), at_most)
    cost = 0
    for message in messages:
        if isinstance(message.content, str):
            cost += counter.framing(message)
            left = max(0, at_most - cost)
            cost += counter.count_up_to(message.content, left)
        else:
            cost += counter.cost((message,))
        if cost > at_most:
            return at_most + 1
    return cost


@frozen
class Place:
    """Where a text stands, and what it costs there."""

    counter: Counter
    write: Callable[[str], Sequence[Message]]
    """Gives the messages that are sent with the text in its place."""
    bare: bool = False
    """Whether nothing stands in the same message beside the text."""
    overhead: int = field(init=False)
    """What is around the text costs by itself, in tokens."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "overhead", self.cost(""))

    def cost(self, text: str) -> int:
        """Return what all of it costs with this text, in tokens."""
        return self.counter.cost(self.write(text))

    def cost_up_to(self, text: str, at_most: int) -> int:
        """Return the same exactly up to `at_most` tokens, and as `at_most + 1` beyond."""
        return cost_up_to(self.counter, self.write(text), at_most)

    def around(self) -> tuple[str, str, int]:
        """Return what stands right before and after the text, and what the rest costs, in tokens.

        Only where one message is written; its own text, or its line, is what stands around.
        """
        hole = "\uf8ff"
        while hole in self._whole(""):
            hole += "\uf8fe"
        before, _, after = self._whole(hole).partition(hole)
        return before, after, sum(map(self.counter.framing, self.write("")))

    def _whole(self, text: str) -> str:
        written = self.write(text)
        return self.counter.text(written) if self.counter.lines else written[0].text

    def smallest(self, text: str, how: Truncate, limit: int | None) -> str:
        """Cut the text to the least that is worth sending, or to what `limit` allows of it."""
        smallest = smallest_cut(text, self.counter.tokenizer, how)
        if limit is not None and self.cost(smallest) > limit:
            return self.largest(text, limit, how) or smallest
        return smallest

    def largest(self, text: str, tokens: int, how: Truncate) -> str:
        """Cut the text to the most that costs at most `tokens` in all; `""` if nothing does."""
        tokenizer = self.counter.tokenizer
        if joints_of(tokenizer) == "strong":
            joined = not self.bare or self.counter.lines is not None
            room = tokens - self.overhead + (_SLACK if joined else 0)
            for _ in range(_TRIES):
                guess = cut(text, room, tokenizer, how)
                if not guess or self.cost_up_to(guess, tokens) <= tokens:
                    return guess
                room = min(room, tokenizer.count(guess)) - 1
        return cut(text, tokens - self.overhead, _InPlace(self), how)


@frozen
class _InPlace:
    """Counts a text as what it adds where it stands; it promises nothing about joints."""

    place: Place
    name: str = "in place"
    exact: bool = True

    def count(self, text: str, /) -> int:
        """Return how much more all of it costs with this text, in tokens."""
        return max(0, self.place.cost(text) - self.place.overhead)
