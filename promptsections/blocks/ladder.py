"""A history that grows piece by piece, from its newest end, and what it takes at each size.

It does no I/O and decides nothing: `pieces` says what comes next, `growth` how far it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate, chain, count, islice

from attrs import define, frozen

from promptsections.blocks.pieces import Numbered, Piece, Pieces
from promptsections.blocks.transcript import Transcript
from promptsections.blocks.trimming import Beginning
from promptsections.blocks.turns import Exchange
from promptsections.counting import Counter, Extent
from promptsections.messages import Message
from promptsections.notes import Note


@frozen
class Marker:
    """What stands where messages were left out."""

    text: str
    """`{n}` in it is how many."""
    earlier: int | None = 0
    """How many older messages nobody has read; `None` if that is not known, but some."""

    @property
    def more(self) -> bool:
        """Whether something is left out, whatever was read."""
        return self.earlier != 0

    def message(self, omitted: int) -> Message:
        """Write the marker as a message, that stands for so many of the messages that were read."""
        omitted += self.earlier or 0
        count = f"more than {omitted}" if self.earlier is None else str(omitted)
        return Message("system", self.text.replace("{n}", count))


@frozen
class Omission:
    """A gap, the newest one, and the marker that stands in it for all that was left out."""

    message: Message
    before: int
    """Number of the piece that it stands in front of."""


@define  # not frozen: made by the hundred, and attrs makes those faster
class Sent:
    """What is sent at a size."""

    messages: tuple[Message, ...] = ()
    of_history: int = 0
    """How many of them stand in the history."""
    omission: Omission | None = None


class Ladder:
    """What is always sent of a history, then one more piece of the others after the other."""

    def __init__(
        self, transcript: Transcript, pieces: Pieces, counter: Counter, marker: Marker | None = None
    ) -> None:
        self.pieces = pieces
        self._transcript = transcript
        self._leading = transcript.leading
        self._always = pieces.always
        self._counter = counter
        self._marker = marker
        self._taken: list[Numbered] = []
        self._last: tuple[int, Sent] = 0, Sent()

    def reach(self, units: int, /) -> int:
        """Read as many units; return how many of them there are."""
        if not self._begins:
            return 0
        for _ in islice(self._climb(), units - 1):
            pass
        return min(units, 1 + len(self._taken))

    def cost(self, units: int, /) -> int:
        """Return what the first units cost, in tokens."""
        return self._counter.cost(self.sent(units).messages)

    def costs(self) -> Iterator[int]:
        """Yield what is always sent costs, then with one more piece, and so on, in tokens."""
        if not self._begins:
            return iter(())
        return self._added() if self._counter.lines is None else self._joined()

    @property
    def _begins(self) -> bool:
        return bool(self._always or self._leading)

    def _climb(self) -> Iterator[Numbered]:
        """Yield all pieces there are beside those that are always sent, and keep them."""
        for found, numbered in enumerate(self.pieces.others()):
            if found >= len(self._taken):
                self._taken.append(numbered)
            yield numbered

    def beginnings(self, units: int, cost: Callable[[int], int]) -> Iterator[Beginning]:
        """Yield where what is sent may begin, among the first units, newest first.

        Not where only some of the cut results are whole: others are with each step that is added.

        Args:
            units: how many there is room for.
            cost: returns what so many units take, in tokens.
        """
        numbers = [number for number, _ in self._taken[:units]]
        oldest = max(numbers, default=0)
        places = self.pieces.beginnings()
        known = [*islice(places, oldest + 1)]
        known += islice((place for place in places if place < known[oldest]), 1)
        newest = -1
        for unit, number in enumerate(numbers[: units - 1], 2):
            widens, newest = number <= newest, max(newest, number)
            if widens and unit <= len(numbers) and numbers[unit - 1] <= newest:
                continue
            place = known[newest]
            before = next((each for each in known[newest + 1 :] if each < place), None)
            yield Beginning(unit, cost(unit), place, before)

    # --- adding up --------------------------------------------------------------------------------

    def _added(self) -> Iterator[int]:
        """Add up sizes: among messages they simply add."""
        cost = self._counter.cost
        kept, tail = dict(self._always), 0
        tokens = cost(self._leading) + sum(cost(piece.messages) for piece in kept.values())
        for numbered in chain((None,), self._climb()):
            if numbered is not None:
                number, piece = numbered
                tokens += cost(piece.messages)
                if number in kept:
                    tokens -= cost(kept[number].messages)
                kept[number] = piece
            if self._marker is None:
                yield tokens
                continue
            while tail in kept:
                tail += 1
            yield tokens + self._marked(self._omission(kept, tail)).tokens

    def _joined(self) -> Iterator[int]:
        """Join sizes: in a text each joint counts, so what is there is joined with what is next."""
        counter = self._counter
        always = [counter.extent(self._always[n].messages) for n in sorted(self._always)]
        # The system messages at the start, with more and more of what is always sent behind them.
        fronts = [*accumulate(always[::-1], counter.joined, initial=counter.extent(self._leading))]
        kept, tail, size = dict(self._always), 0, Extent(0)
        for numbered in chain((None,), self._climb()):
            if numbered is not None:
                kept |= (numbered,)
                if numbered[0] < tail:  # it takes the place of another one
                    tail, size = 0, Extent(0)
            while tail in kept:
                size = counter.joined(counter.extent(kept[tail].messages), size)
                tail += 1
            apart = sum(1 for number in self._always if number >= tail)
            newest = size if tail or not always else always[0]
            front = fronts[apart if tail or not always else apart - 1]
            front = counter.joined(front, self._marked(self._omission(kept, tail)))
            yield counter.total(counter.joined(front, newest))

    def _marked(self, omission: Omission | None) -> Extent:
        return Extent(0) if omission is None else self._counter.extent((omission.message,))

    # --- what is sent -----------------------------------------------------------------------------

    def sent(self, units: int) -> Sent:
        """Return what the first units send, oldest first; the same object if asked again."""
        last, sent = self._last
        if units == last:
            return sent
        kept = self._kept(units)
        omission = self._omission(kept, _tail(kept)) if self._marker is not None else None
        messages = [*self._leading]
        stubs = 0
        for number in sorted(kept, reverse=True):
            piece = kept[number]
            if omission is not None and omission.before == number:
                messages.append(omission.message)
            messages += piece.messages
            stubs += piece.stubs if piece.exchange.stubs else 0
        sent = Sent(tuple(messages), len(messages) - stubs - (omission is not None), omission)
        self._last = units, sent
        return sent

    def _kept(self, units: int) -> dict[int, Piece]:
        kept = dict(self._always)
        kept.update(self._taken[: max(0, units - 1)])
        return kept if units else {}

    def omitted(self, units: int) -> int:
        """Count the messages of the history that the first units leave out, as the marker does."""
        kept = self._kept(units)
        return self._missing(kept, _tail(kept)) if kept else 0

    def _omission(self, kept: Mapping[int, Piece], tail: int) -> Omission | None:
        if self._marker is None or not kept:
            return None
        omitted = self._missing(kept, tail)
        if not omitted and not self._marker.more:
            return None
        return Omission(self._marker.message(omitted), before=tail - 1 if tail else min(kept))

    def _missing(self, kept: Mapping[int, Piece], tail: int) -> int:
        """Count what is missing in front of the newest messages that stand together.

        Args:
            kept: number → piece.
            tail: how many of the newest pieces are kept without a gap.
        """
        end = kept[tail - 1].start if tail else self._transcript.end
        apart = sum(piece.size for number, piece in self._always.items() if number >= tail)
        return end - self._transcript.start - apart

    def notes(self, units: int) -> Iterator[Note]:
        """Say what was repaired in what the first units send, what was cut, and what is missing."""
        kept = self._kept(units)
        newest, there = self.pieces.newest, 0
        noted: Exchange | None = None
        for number in sorted(kept, reverse=True):
            piece = kept[number]
            exchange = piece.exchange
            if exchange.notes and exchange is not noted:
                noted = exchange
                yield from exchange.notes
            if exchange is newest:
                there += len(piece.messages)
                yield from piece.cuts
        if there and there < len(newest.messages):
            missing = len(newest.messages) - there
            detail = f"the oldest steps of the exchange under way were left out: {missing} messages"
            yield Note("steps_left_out", "", detail)
        if self.pieces.limited and not there:
            yield Note("max_messages", "", "the newest exchange has more than max_messages")
        omission = self.sent(units).omission
        if omission is not None:
            yield Note("omission", "", f"a message says: {omission.message.text!r}")


def _tail(kept: Mapping[int, Piece]) -> int:
    return next(number for number in count() if number not in kept)
