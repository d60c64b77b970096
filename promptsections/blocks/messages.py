"""Given messages, sent whole; or, if they may be cut, from one end as far as they fit.

It knows no sections and does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from attrs import evolve, field, frozen

from promptsections.blocks.block import Fitted
from promptsections.blocks.growth import Growth, adds_up
from promptsections.blocks.placing import Place, cost_up_to
from promptsections.blocks.turns import runs
from promptsections.counting import Counter, Extent
from promptsections.measurement import Measurement
from promptsections.messages import Message, to_messages
from promptsections.tokens import Truncate
from promptsections.tokens.units import ENDS, STARTS

Unit = tuple[Message, ...]
"""Messages that come together: one, or a call with the results right behind it."""


@frozen
class MessagesBlock:
    """Messages as they are.

    Without `cut` they are sent all or not at all. With it the last ones go first (`keep="end"`: the
    first ones), and then the text of the next one is cut. A message with calls is never cut and
    never parted from its results; the text of the last of them may be cut. The floor is the
    smallest cut of the message that goes last, or the whole of a call with its results.
    """

    messages: tuple[Message, ...] = field(converter=to_messages)
    cut: Truncate | None = field(default=None, kw_only=True)
    """How the messages give way."""
    limit: int | None = field(default=None, kw_only=True)
    """The most that the block will be given, in tokens, if that is known."""

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Count the smallest cut and the whole, no further than `at_most` tokens."""
        natural = cost_up_to(counter, self.messages, at_most) if self.messages else 0
        if self.cut is None or not natural:
            return Measurement(natural, natural)
        floor = cost_up_to(counter, self._smallest(counter, self.cut), at_most)
        return Measurement(min(floor, natural), natural)

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Return the messages, or as many of them as cost at most so many tokens."""
        if self.cut is None or not self.messages:
            return self.messages
        if cost_up_to(counter, self.messages, tokens) <= tokens:
            return self.messages
        smallest = self._smallest(counter, self.cut)
        sent = self._cut_to(counter, tokens, self.cut)
        below = counter.cost(sent) < counter.cost(smallest) <= tokens
        return sent if sent and not below else smallest

    def place(self, counter: Counter, tokens: int, /) -> Fitted:
        """Do what `fit` does, and say how many messages were left out."""
        sent = tuple(self.fit(counter, tokens))
        return Fitted(sent, omitted=len(self.messages) - len(sent))

    def _smallest(self, counter: Counter, how: Truncate) -> Sequence[Message]:
        *rest, last = _units(self.messages, how)[0]
        if rest or not _can_be_cut(last):
            return (*rest, last)
        place = Place(counter, lambda text: (evolve(last, content=text),), bare=True)
        return place.write(place.smallest(last.text, how, self.limit))

    def _cut_to(self, counter: Counter, tokens: int, how: Truncate) -> Sequence[Message]:
        units = _units(self.messages, how)
        pile = _Pile(units, how, counter)
        there = Growth(pile, densely=adds_up(counter)).up_to(tokens).units
        kept = pile.messages(there)
        if there == len(units):
            return kept
        *rest, last = units[there]
        if _can_be_cut(last) and (there or not rest):
            place = Place(
                counter,
                lambda text: pile.joined(kept, (*rest, evolve(last, content=text))),
                bare=True,
            )
            text = place.largest(last.text, tokens, how)
            if text and not (there and _parts_a_unit(text, last.text, how)):
                return place.write(text)
        return kept


def _units(messages: Sequence[Message], how: Truncate) -> list[Unit]:
    """Part messages into what comes together, in the order in which it is kept."""
    units: list[Unit] = []
    for head, results in runs(messages):
        if head is not None and head.tool_calls:
            units.append((head, *results))
            continue
        units += [(message,) for message in (head, *results) if message is not None]
    return units[::-1] if how.keep == "end" else units


def _can_be_cut(message: Message) -> bool:
    return isinstance(message.content, str) and bool(message.content) and not message.tool_calls


def _parts_a_unit(text: str, whole: str, how: Truncate) -> bool:
    """Say whether less than one word (line, sentence) is left: not worth a message of its own."""
    if how.keep == "end":
        start = STARTS[how.boundary].last(whole, 0, len(whole)) or 0
        return len(text.removeprefix(how.marker)) < len(whole) - start
    end = ENDS[how.boundary].first(whole, 0, len(whole)) or len(whole)
    return len(text.removesuffix(how.marker)) < end


class _Pile:
    """Units from one end of the messages."""

    def __init__(self, units: Sequence[Unit], how: Truncate, counter: Counter) -> None:
        self._units = units
        self._from_end = how.keep == "end"
        self._counter = counter

    def reach(self, units: int, /) -> int:
        """Return how many units there are, at most `units`."""
        return min(units, len(self._units))

    def cost(self, units: int, /) -> int:
        """Return what the first units cost."""
        return self._counter.cost(self.messages(units))

    def costs(self) -> Iterator[int]:
        """Yield what the first unit costs, the first two, and so on."""
        counter, whole = self._counter, Extent(0)
        for unit in self._units:
            extents = (whole, counter.extent(unit))
            whole = counter.joined(*(extents[::-1] if self._from_end else extents))
            yield counter.total(whole)

    def messages(self, units: int) -> tuple[Message, ...]:
        """Return the messages of the first units in their order."""
        kept = self._units[:units]
        return tuple(chain.from_iterable(reversed(kept) if self._from_end else kept))

    def joined(self, kept: Unit, unit: Unit) -> Unit:
        """Put the next unit beside what is kept."""
        return (*unit, *kept) if self._from_end else (*kept, *unit)
