"""How much of something fits, when more and more of it is tried; integers only."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from threading import RLock
from typing import Protocol

from attrs import define

from promptsections.counting import Counter
from promptsections.tokens import joints_of


class Growing(Protocol):
    """Something that can be sent in more or fewer units, counted from the ones that go first."""

    def costs(self) -> Iterator[int]:
        """Yield what 1, 2, 3, … units take together, in tokens, each made from the one before.

        Looks at no more units than it is asked for.
        """
        ...

    def reach(self, units: int, /) -> int:
        """Return how many units there are, at most `units`; looks at no more than that."""
        ...

    def cost(self, units: int, /) -> int:
        """Return what the first `units` take together, in tokens, counted anew."""
        ...


@define  # not frozen: made by the hundred, and attrs makes those faster
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
            growing: What grows.
            densely: Try every number of units, if `costs` gives the same as `cost`. Otherwise steps
                become longer, an eighth of what is there, and what was stepped over is searched.
        """
        self._growing = growing
        self._densely = densely
        self._lock = RLock()  # a transform that somebody wrote may run while messages are read
        self._costs: dict[int, int] = {}
        self._next: Iterator[tuple[int, int]] | None = None
        # Of each number of units that was tried on the way up, and of 0:
        self._tried = [0]
        self._peaks = [0]
        self._sendable = [0]

    def up_to(self, at_most: int) -> Grown:
        """Find how many units fit `at_most` tokens: more and more until they do not."""
        with self._lock:
            if self._peaks[-1] <= at_most:
                self._climb(at_most)
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
                    units = low if self._cost(low) >= self._costs[1] else units
            return Grown(units, peak, whole=False)

    def cost(self, units: int) -> int:
        """Return what the first `units` take together, in tokens, once as many were found to fit.

        Of the first it can be asked at any time; it is 0 if there is none.
        """
        with self._lock:
            if units == 1 and len(self._tried) == 1:
                self._climb(0)
            return self._costs.get(units, 0)

    def _climb(self, at_most: int) -> None:
        """Try more and more units until they take more than `at_most` tokens."""
        steps = self._next or islice(self._steps(), len(self._tried) - 1, None)
        self._next = None  # so that it begins anew after an error
        costs, tried, peaks, sendable = self._costs, self._tried, self._peaks, self._sendable
        peak = peaks[-1]
        for units, tokens in steps:
            if tokens > peak:
                peak = tokens
            costs[units] = tokens
            tried.append(units)
            peaks.append(peak)
            # A few tokenizers count more text lower; less than the first is not what was asked for.
            sendable.append(units if tokens >= costs[1] else sendable[-1])
            if peak > at_most:
                break
        self._next = steps

    def _steps(self) -> Iterator[tuple[int, int]]:
        """Yield each number of units to try, and its cost."""
        growing = self._growing
        if self._densely:
            return enumerate(growing.costs(), 1)
        return _far_steps(growing)

    def _cost(self, units: int) -> int:
        known = self._costs.get(units)
        if known is None:
            known = self._costs[units] = self._growing.cost(units)
        return known


def _far_steps(growing: Growing) -> Iterator[tuple[int, int]]:
    units = 0
    while (reached := growing.reach(units + max(1, units // 8))) > units:
        units = reached
        yield units, growing.cost(units)


def adds_up(counter: Counter) -> bool:
    """Say whether the size of a whole follows from its parts, so that nothing is counted twice."""
    return counter.lines is None or joints_of(counter.tokenizer) == "strong"
