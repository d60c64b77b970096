"""How much of something fits, when more and more of it is tried; integers only."""

from __future__ import annotations

from typing import Protocol

from attrs import frozen

from promptsections.counting import Counter
from promptsections.tokens import joints_of


class Growing(Protocol):
    """Something that can be sent in more or fewer units, counted from the ones that go first."""

    def reach(self, units: int, /) -> int:
        """Return how many units there are, at most `units`; looks at no more than that."""
        ...

    def cost(self, units: int, /) -> int:
        """Return what the first `units` take together, in tokens."""
        ...


@frozen
class Grown:
    """The units that fit."""

    units: int
    """How many; 0 if not even the first fits. They take no less than the first by itself."""
    peak: int
    """The most tokens that were met on the way: a part may count higher than the whole."""
    whole: bool
    """Whether there are no more units."""


def grow(growing: Growing, at_most: int, *, densely: bool) -> Grown:
    """Find how many units fit `at_most` tokens: more and more until they do not.

    Which numbers of units are tried depends on the answers alone, so a larger `at_most` never gives
    fewer units, whatever the tokenizer does, and with `at_most >= peak` it gives all of them.

    Args:
        growing: What grows; `cost` is asked for 1, 2, 3, … if densely.
        at_most: In tokens.
        densely: Try every number. Otherwise steps become longer, an eighth of what is there, and
            what was stepped over is searched: for costs that are counted anew each time.
    """
    first, units, peak = None, 0, 0
    low, high = 0, growing.reach(1)
    while high > low:
        tokens = growing.cost(high)
        if tokens > at_most:
            break
        low, peak = high, max(peak, tokens)
        first = tokens if first is None else first
        # A few tokenizers count more text lower; less than the floor is not what was asked for.
        units = low if tokens >= first else units
        high = growing.reach(low + (1 if densely else max(1, low // 8)))
    whole = high == low
    while high - low > 1:
        middle = (low + high) // 2
        tokens = growing.cost(middle)
        if tokens > at_most:
            high = middle
        else:
            low = middle
            units = low if tokens >= (first or 0) else units
    return Grown(units, peak, whole)


def adds_up(counter: Counter) -> bool:
    """Say whether the size of a whole follows from its parts, so that nothing is counted twice."""
    return counter.lines is None or joints_of(counter.tokenizer) == "strong"
