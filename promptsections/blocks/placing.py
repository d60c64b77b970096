"""Cutting a text where it stands: among messages, in a line of text, between a heading and an end.

What a text costs there is not the sum of its own tokens and of what is around it: the joints count.
So where they may, every cut is judged by what all of it costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from attrs import frozen

from promptsections.counting import Counter
from promptsections.messages import Message
from promptsections.tokens import Truncate, cut, joints_of, smallest_cut, strong_joint


def cost_up_to(counter: Counter, messages: Sequence[Message], at_most: int) -> int:
    """Return what messages cost, exactly up to `at_most` tokens and as `at_most + 1` beyond."""
    if counter.lines is not None:
        beside = counter.media_tokens(counter.media(messages))
        if beside > at_most:
            return at_most + 1
        return beside + counter.count_up_to(counter.text(messages), at_most - beside)
    cost = 0
    for message in messages:
        known = counter.remembered(message)
        if known is None and isinstance(message.content, str):
            framing = counter.framing(message)
            left = max(0, at_most - cost - framing)
            content = counter.count_up_to(message.content, left)
            known = framing + content
            if content <= left:
                counter.remember(message, known)
        elif known is None:
            known = counter.cost((message,))
        cost += known
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
    as_it_is: bool = True
    """Whether the text is written as it is, not encoded."""

    @cached_property
    def overhead(self) -> int:
        """What is around the text costs by itself, in tokens."""
        return self.cost("")

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
        while True:
            written = self.write(hole)
            whole = self.counter.text(written) if self.counter.lines else written[0].text
            before, _, after = whole.partition(hole)
            if hole not in before + after:
                return before, after, sum(map(self.counter.framing, written))
            hole += "\uf8fe"

    def smallest(self, text: str, how: Truncate, limit: int | None) -> str:
        """Cut the text to the least that is worth sending, or to what `limit` allows of it."""
        smallest = smallest_cut(text, self.counter.tokenizer, how)
        if limit is not None and self.cost(smallest) > limit:
            return self.largest(text, limit, how) or smallest
        return smallest

    def largest(self, text: str, tokens: int, how: Truncate) -> str:
        """Cut the text to the most that costs at most `tokens` in all; `""` if nothing does."""
        room = tokens - self.overhead
        if self._adds_up(text, how):
            return cut(text, room, self.counter.tokenizer, how)
        if room:
            return cut(text, room, _InPlace(self), how)
        # Without any room a text may still join what is around it, and so cost nothing.
        return cut(text, 1, _InPlace(self, toll=1), how)

    def _adds_up(self, text: str, how: Truncate) -> bool:
        """Say whether any cut of the text adds to what is around it."""
        if self.bare and self.counter.lines is None:
            return True
        if not self.as_it_is or joints_of(self.counter.tokenizer) == "none":
            return False
        if len(self.write("")) > 1:
            return False
        before, after, _ = self.around()
        # White space at the start may be all that a cut leaves, and that might join with `before`.
        apart = not text[:1].isspace() and strong_joint(before, text)
        return how.keep == "start" and not after and apart


@frozen
class _InPlace:
    """Counts a text as what it adds where it stands, and so promises nothing about joints."""

    place: Place
    toll: int = 0
    """Tokens that any text costs on top."""
    name: str = "in place"
    exact: bool = True

    def count(self, text: str, /) -> int:
        """Return how much more all of it costs with this text, in tokens."""
        return max(0, self.place.cost(text) - self.place.overhead) + self.toll
