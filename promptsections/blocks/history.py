"""A conversation that keeps its newest exchanges, whole and without a hole.

It reads from the newest message on, and no further than what fits plus one exchange. It does no
I/O; `reading` brings it what a store hands out piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import Literal

from attrs import field, frozen

from promptsections.blocks.block import Fitted
from promptsections.blocks.growth import Growth, adds_up
from promptsections.blocks.remembering import Remembered
from promptsections.blocks.transcript import Transcript, Transform, as_history
from promptsections.blocks.turns import Exchange, is_system, opens_exchange
from promptsections.counting import Counter, Extent
from promptsections.errors import DefinitionError
from promptsections.measurement import Measurement
from promptsections.messages import Message, MessageLike
from promptsections.notes import Note

StartOn = Literal["user", "any"]


@frozen
class HistoryBlock:
    """Whole exchanges of a conversation, newest first until one does not fit.

    The exchange that is under way (the history ends with a user turn or with tool results) may
    lose its oldest steps, never its user turn. System messages that the history begins with are
    always kept. The floor is these, and the newest exchange or, under way, its user turn.
    """

    messages: Sequence[MessageLike] = field(converter=as_history)
    """Oldest first; they are read, and converted, from the end and only as far as needed."""
    start_on: StartOn = field(default="user", kw_only=True)
    """`any` keeps what stands before the first user turn, too."""
    keep_system: bool = field(default=True, kw_only=True)
    """False leaves out the system and developer messages of the history."""
    max_messages: int | None = field(default=None, kw_only=True)
    """The most messages to keep, beside the system messages that the history begins with."""
    transform: Transform | None = field(default=None, kw_only=True)
    """Applied to each message that is read; the result is what is kept and counted."""
    unread: bool = field(default=False, kw_only=True)
    """Whether there are older messages that were not read."""
    already_omitted: int = field(default=0, kw_only=True)
    """How many messages were read and left out before these."""
    _transcript: Transcript = field(init=False, eq=False, repr=False)
    _ladder: Remembered[tuple[_Ladder, Growth]] = field(
        factory=Remembered["tuple[_Ladder, Growth]"], init=False, eq=False, repr=False
    )

    def __attrs_post_init__(self) -> None:
        if self.start_on not in ("user", "any"):
            raise DefinitionError(f'start_on={self.start_on!r} is neither "user" nor "any"')
        if self.max_messages is not None and self.max_messages < 1:
            raise DefinitionError(f"max_messages={self.max_messages!r} must be 1 or more")
        transcript = Transcript(
            self.messages,
            complete=not self.unread,
            keep_system=self.keep_system,
            transform=self.transform,
        )
        object.__setattr__(self, "_transcript", transcript)

    @property
    def must_send(self) -> bool:
        """Whether the model is to answer what stands at the end, so that it has to be sent."""
        newest = next(_sendable(self._transcript, self.start_on), None)
        if newest is None or not newest.under_way:
            return False
        least = len(next(_rungs(newest)).messages)
        return self.max_messages is None or least <= self.max_messages

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Add up exchanges from the newest on until they are more than `at_most` tokens."""
        ladder, growth = self._ladder.of(counter, self._make_ladder)
        beyond = at_most + 1
        floor = min(growth.cost(1), beyond)
        grown = growth.up_to(at_most)
        if grown.whole and not grown.units:
            return Measurement(0, 0)
        known = grown.whole and (ladder.limited or not self.unread)
        return Measurement(floor, grown.peak if known else beyond)

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Return the newest exchanges that cost at most so many tokens."""
        return self.place(counter, tokens).messages

    def place(self, counter: Counter, tokens: int, /) -> Fitted:
        """Do what `fit` does, and say how many messages were left out and what was repaired."""
        ladder, growth = self._ladder.of(counter, self._make_ladder)
        grown = growth.up_to(tokens)
        messages = ladder.messages(grown.units)
        notes = [*self._transcript.notes]
        if grown.whole and not ladder.limited:
            notes += self._leading_notes()
        return Fitted(
            messages,
            omitted=len(self.messages) - len(messages) + self.already_omitted,
            omitted_is_exact=not self.unread,
            notes=(*notes, *ladder.notes(grown.units)),
        )

    def _make_ladder(self, counter: Counter) -> tuple[_Ladder, Growth]:
        ladder = _Ladder(self._transcript, self.start_on, self.max_messages, counter)
        return ladder, Growth(ladder, densely=adds_up(counter))

    def _leading_notes(self) -> Iterator[Note]:
        """Say what was left out before the first user turn."""
        for exchange in self._transcript.exchanges():
            if (self.start_on == "user" and exchange.user is None) or not exchange.messages:
                yield from exchange.notes
                if exchange.messages:
                    detail = (
                        f"messages before the first user turn were left out: "
                        f'{len(exchange.messages)} (start_on="any" keeps them)'
                    )
                    yield Note("leading_turn", "", detail)


def _sendable(transcript: Transcript, start_on: StartOn) -> Iterator[Exchange]:
    """Yield what may be sent, newest first."""
    for exchange in transcript.exchanges():
        if exchange.messages and (start_on == "any" or opens_exchange(exchange.messages[0])):
            yield exchange


@frozen
class _Rung:
    """What is sent next, if there is room for more."""

    messages: tuple[Message, ...]
    exchange: Exchange
    """The exchange that they are a part of, or all of."""
    behind: bool = False
    """Whether they stand right behind the first rung, a user turn; others stand before all."""


class _Ladder:
    """A history that grows rung by rung, from its newest end."""

    def __init__(
        self,
        transcript: Transcript,
        start_on: StartOn,
        max_messages: int | None,
        counter: Counter,
    ) -> None:
        self.limited = False
        """Whether `max_messages` keeps back what is older."""
        self._transcript = transcript
        self._leading = transcript.leading
        self._start_on: StartOn = start_on
        self._max_messages = max_messages
        self._counter = counter
        self._rungs: list[_Rung] = []
        self._sent: tuple[int, tuple[Message, ...]] = 0, ()

    def reach(self, units: int, /) -> int:
        """Read as many rungs; return how many of them there are."""
        for _ in islice(self._climb(), units):
            pass
        return min(units, len(self._rungs))

    def cost(self, units: int, /) -> int:
        """Return what the first rungs cost."""
        return self._counter.cost(self.messages(units))

    def costs(self) -> Iterator[int]:
        """Yield what the first rung costs, the first two, and so on."""
        counter = self._counter
        if counter.lines is None:  # among messages, sizes simply add
            tokens = counter.cost(self._leading)
            for rung in self._climb():
                tokens += counter.cost(rung.messages)
                yield tokens
            return
        system = counter.extent(self._leading)
        before = first = behind = Extent(0)
        for number, rung in enumerate(self._climb()):
            extent = counter.extent(rung.messages)
            if not number:
                first = extent
            elif rung.behind:
                behind = counter.joined(extent, behind)
            else:
                before = counter.joined(extent, before)
            front = counter.joined(system, before)
            yield counter.total(counter.joined(front, counter.joined(first, behind)))

    def messages(self, units: int) -> tuple[Message, ...]:
        """Return the messages of the first rungs, oldest first; the same object if asked again."""
        last, sent = self._sent
        if units == last:
            return sent
        first, *later = self._rungs[:units]
        before = [rung.messages for rung in reversed(later) if not rung.behind]
        behind = [rung.messages for rung in reversed(later) if rung.behind]
        sent = tuple(chain(self._leading, *before, first.messages, *behind))
        self._sent = units, sent
        return sent

    def notes(self, units: int) -> Iterator[Note]:
        """Say what was repaired in what the first rungs send, and what of it is missing."""
        sent = self._rungs[:units]
        noted: Exchange | None = None
        for rung in reversed(sent):
            if rung.exchange.notes and rung.exchange is not noted:
                noted = rung.exchange
                yield from noted.notes
        if sent:
            newest = sent[0].exchange
            parts = takewhile(lambda rung: rung.exchange is newest, sent)
            there = sum(len(rung.messages) for rung in parts)
            missing = len(newest.messages) - there
            if missing:
                yield Note(
                    "steps_left_out",
                    "",
                    f"the oldest steps of the exchange under way were left out: {missing} messages",
                )
        if self.limited and not any(rung.messages for rung in sent):
            detail = f"the newest exchange has more than max_messages={self._max_messages}"
            yield Note("max_messages", "", detail)

    def _climb(self) -> Iterator[_Rung]:
        """Yield all rungs there are, and keep them."""
        found, climbed, known = 0, 0, len(self._rungs)
        for rung in _rungs_of(_sendable(self._transcript, self._start_on)):
            climbed += len(rung.messages)
            if self._max_messages is not None and climbed > self._max_messages:
                self.limited = True
                break
            found += 1
            if found > known:
                self._rungs.append(rung)
            yield rung
        if self._leading and not found:
            self._rungs[:] = [_Rung((), Exchange())]
            yield self._rungs[0]


def _rungs_of(exchanges: Iterator[Exchange]) -> Iterator[_Rung]:
    """Part the newest exchange, if it is under way; others are kept as a whole."""
    newest = next(exchanges, None)
    if newest is not None:
        yield from _rungs(newest)
    for exchange in exchanges:
        yield _Rung(exchange.messages, exchange)


def _rungs(exchange: Exchange) -> Iterator[_Rung]:
    """Part an exchange that is under way into its user turn and its steps."""
    if not exchange.under_way:
        yield _Rung(exchange.messages, exchange)
        return
    user, steps = exchange.user, exchange.steps
    if user is not None:
        yield _Rung((user,), exchange)
    else:  # what was said last stands for the user's turn
        last = max(at for at, step in enumerate(steps) if not is_system(step.messages[0]))
        yield _Rung(tuple(chain.from_iterable(step.messages for step in steps[last:])), exchange)
        steps = steps[:last]
    for step in reversed(steps):
        yield _Rung(step.messages, exchange, behind=user is not None)
