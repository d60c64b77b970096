"""How much of something fits, when more and more of it is tried; integers only."""

from __future__ import annotations

from bisect import bisect_right
from threading import RLock
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


class Growth:
    """Finds how many units fit, for any number of limits; every cost is computed once.

    Which numbers of units are tried depends on their costs alone, so a larger limit never gives
    fewer units, whatever the tokenizer does, and one of at least `peak` gives all of them.
    Threads may share it.
    """

    def __init__(self, growing: Growing, *, densely: bool) -> None:
        """Prepare to grow.

        Args:
            growing: What grows; `cost` is asked for 1, 2, 3, … if densely.
            densely: Try every number. Otherwise steps become longer, an eighth of what is there,
                and what was stepped over is searched: for costs that are counted anew each time.
        """
        self._growing = growing
        self._densely = densely
        self._lock = RLock()  # a transform that somebody wrote may run while messages are read
        self._costs: dict[int, int] = {}
        # Of each number of units that was tried on the way up, and of 0:
        self._tried = [0]
        self._peaks = [0]
        self._sendable = [0]

    def up_to(self, at_most: int) -> Grown:
        """Find how many units fit `at_most` tokens: more and more until they do not."""
        with self._lock:
            while self._peaks[-1] <= at_most and self._try_more():
                pass
            step = bisect_right(self._peaks, at_most) - 1
            units, peak = self._sendable[step], self._peaks[step]
            if step + 1 == len(self._tried):
                return Grown(units, peak, whole=True)
            low, high = self._tried[step], self._tried[step + 1]
            while high - low > 1:
                middle = (low + high) // 2
                if self._cost(middle) > at_most:
                    high = middle
                else:
                    low = middle
                    units = low if self._cost(low) >= self._cost(1) else units
            return Grown(units, peak, whole=False)

    def cost(self, units: int) -> int:
        """Return what the first `units` take together, in tokens; 0 if there are not as many."""
        with self._lock:
            return self._cost(units) if self._growing.reach(units) == units else 0

    def _try_more(self) -> bool:
        """Look at the next number of units; say whether there are as many."""
        last = self._tried[-1]
        units = self._growing.reach(last + (1 if self._densely else max(1, last // 8)))
        if units == last:
            return False
        tokens = self._cost(units)
        self._tried.append(units)
        self._peaks.append(max(self._peaks[-1], tokens))
        # A few tokenizers count more text lower; less than the first is not what was asked for.
        self._sendable.append(units if tokens >= self._cost(1) else self._sendable[-1])
        return True

    def _cost(self, units: int) -> int:
        known = self._costs.get(units)
        if known is None:
            known = self._costs[units] = self._growing.cost(units)
        return known


def adds_up(counter: Counter) -> bool:
    """Say whether the size of a whole follows from its parts, so that nothing is counted twice."""
    return counter.lines is None or joints_of(counter.tokenizer) == "strong"
