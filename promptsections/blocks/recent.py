"""The newest exchanges of a history that asks for nothing special, added up in one list.

The same as `Pieces`, `Ladder` and `Growth` give where there is no pinned message, no marker and no
limit but tokens, at a fraction of the steps. It does no I/O.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from threading import RLock

from promptsections.blocks.transcript import Transcript
from promptsections.counting import Counter
from promptsections.messages import Message
from promptsections.notes import Note


class Recent:
    """Adds up exchanges from the newest on, among messages, each once. Threads may share it."""

    def __init__(self, transcript: Transcript, counter: Counter) -> None:
        self._counter = counter
        self._leading = transcript.leading
        self._next = transcript.sendable_to_user()
        self._exchanges: list[tuple[Message, ...]] = []
        self._notes: list[tuple[Note, ...]] = []
        self._sizes = [counter.cost(self._leading)]
        """Of the leading system messages, then with one more exchange, and so on."""
        self._lock = RLock()  # a model object may run code of its own while it is read
        self.is_all = False
        """Whether there are no more exchanges than were added up."""

    def up_to(self, at_most: int) -> None:
        """Add up until there is at least one exchange, and more than so many tokens."""
        with self._lock:
            sizes = self._sizes
            while not self.is_all and (sizes[-1] <= at_most or not self._exchanges):
                found = next(self._next, None)
                if found is None:
                    self.is_all = True
                    break
                messages, notes = found
                sizes.append(sizes[-1] + self._counter.cost(messages))
                self._exchanges.append(messages)
                self._notes.append(notes)

    @property
    def floor(self) -> int:
        """What the leading system messages and the newest exchange take, once it is added up."""
        return self._sizes[min(1, len(self._exchanges))]

    @property
    def natural(self) -> int:
        """What all takes that was added up."""
        return self._sizes[-1]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        return self.is_all and not self._exchanges and not self._leading

    def units(self, tokens: int) -> int:
        """Return how many exchanges fit so many tokens, once they are added up."""
        return max(0, bisect_right(self._sizes, tokens) - 1)

    def messages(self, units: int) -> tuple[Message, ...]:
        """Return the messages of the newest exchanges, oldest first, behind the leading ones."""
        return (*self._leading, *chain.from_iterable(reversed(self._exchanges[:units])))

    def notes(self, units: int) -> Iterator[Note]:
        """Yield what was repaired in them, oldest first."""
        return chain.from_iterable(reversed(self._notes[:units]))
