"""The pieces of a history that are sent or left out as a whole, and the order in which they come.

It knows what is always sent and what is worth most of the rest; it adds up no tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Literal

from attrs import define, evolve, frozen

from promptsections.blocks.results import CutResult, cut_result
from promptsections.blocks.transcript import Transcript
from promptsections.blocks.turns import Exchange, Step, is_system, opens_exchange
from promptsections.messages import Message
from promptsections.notes import Note
from promptsections.tokens import Tokenizer

StartOn = Literal["user", "any"]
Pinned = Callable[[Message], bool]
"""Says of a message of a history whether it is always sent."""


@frozen
class Rules:
    """What of a history is kept, whatever the room."""

    start_on: StartOn = "user"
    max_messages: int | None = None
    max_result_tokens: int | None = None
    pinned: Pinned | None = None

    def pins(self, messages: Sequence[Message]) -> bool:
        """Say whether one of these messages is pinned."""
        return self.pinned is not None and any(map(self.pinned, messages))


@define  # not frozen: made by the hundred, and attrs makes those faster
class Piece:
    """Messages that stand beside each other and are sent together."""

    messages: tuple[Message, ...]
    exchange: Exchange
    """The exchange that they are a part of, or all of."""
    places: Sequence[int] | None = None
    """Their places in the history, -1 for a result that was put in; `None` is all of the
    exchange."""
    cuts: tuple[Note, ...] = ()
    """What was cut of their results, oldest first."""

    @property
    def start(self) -> int:
        """Place of the first of them in the history."""
        return self.exchange.span[0] if self.places is None else self.places[0]

    @property
    def size(self) -> int:
        """How many messages of the history they stand for, with what could not be sent."""
        if self.places is None:
            start, end = self.exchange.span
            return end - start
        return len(self.places) - self.stubs

    @property
    def stubs(self) -> int:
        """How many of them stand for none: results that were put in."""
        return self.exchange.stubs if self.places is None else self.places.count(-1)


Numbered = tuple[int, Piece]
"""A piece and its number, counted from the newest on, from 0."""


def sendable(transcript: Transcript, start_on: StartOn) -> Iterator[Exchange]:
    """Yield what may be sent, newest first."""
    for exchange in transcript.exchanges():
        if exchange.messages and (start_on == "any" or opens_exchange(exchange.messages[0])):
            yield exchange


class Pieces:
    """The pieces of a history: those that are always sent, and the others in their order.

    Of the exchange under way the user's turn and each step is a piece; any other exchange is one.
    Always sent are that user's turn and what is pinned, or if there is neither, the newest
    exchange. The others come newest first. The results of the exchange under way are cut at first;
    once all of its steps are there, whole results take the places of cut ones, the newest first.
    """

    def __init__(
        self, transcript: Transcript, rules: Rules, tokenizer: Tokenizer | None = None
    ) -> None:
        """Read the newest exchange; all of them, if something could be pinned.

        Args:
            transcript: the history.
            rules: what of it is kept.
            tokenizer: counts results; without one, none is cut.
        """
        self._transcript = transcript
        self._rules = rules
        self._tokenizer = tokenizer
        self.newest = next(sendable(transcript, rules.start_on), None) or Exchange()
        self._parts = self._split(self.newest)
        """Number → the same piece of the newest exchange with more and more whole results."""
        self.limited = False
        """Whether `max_messages` was found to keep something back."""
        self.always = self._pinned()
        """Number → what is always sent."""
        self.must_send = bool(self.always)
        """Whether something is pinned or to be answered, so that it has to be sent."""
        self._add_turn()

    def others(self) -> Iterator[Numbered]:
        """Yield what is sent if there is room, in order; a number again takes the old one's place.

        It ends where `max_messages` would be exceeded; pinned pieces are not counted.
        """
        most = self._rules.max_messages
        return self._in_order() if most is None else self._up_to(most)

    def _up_to(self, most: int) -> Iterator[Numbered]:
        sent, known = self._counted, set(self.always)
        for number, piece in self._in_order():
            sent += 0 if number in known else len(piece.messages)
            known.add(number)
            if sent > most:
                self.limited = True
                return
            yield number, piece

    def _in_order(self) -> Iterator[Numbered]:
        for number, variants in enumerate(self._parts):
            if number not in self.always:
                yield number, variants[0]
        for number, variants in enumerate(self._parts):
            yield from ((number, wider) for wider in variants[1:])
        for number, exchange in self._older():
            if number not in self.always:
                yield number, Piece(exchange.messages, exchange)

    def beginnings(self) -> Iterator[int]:
        """Yield the place in the history where each piece begins, by number, newest first.

        The oldest step of an exchange under way begins where its user's turn does.
        """
        parts = [variants[0].start for variants in self._parts]
        if len(parts) > 1 and self.newest.user is not None:
            parts[-2] = parts[-1]
        yield from parts
        yield from (exchange.span[0] for _, exchange in self._older())

    def _older(self) -> Iterator[tuple[int, Exchange]]:
        exchanges = sendable(self._transcript, self._rules.start_on)
        next(exchanges, None)
        return enumerate(exchanges, len(self._parts))

    # --- what is always sent ----------------------------------------------------------------------

    def _pinned(self) -> dict[int, Piece]:
        pins = self._rules.pins
        if self._rules.pinned is None:
            return {}
        newest = ((number, variants[0]) for number, variants in enumerate(self._parts))
        older = ((number, Piece(found.messages, found)) for number, found in self._older())
        return {n: piece for n, piece in chain(newest, older) if pins(piece.messages)}

    def _add_turn(self) -> None:
        """Add what the model is to answer, if `max_messages` lets it be sent."""
        newest = self.newest
        is_last = newest.under_way and newest.user is not None
        number = len(self._parts) - 1 if is_last else 0
        self._counted = 0
        """How many messages of that are not pinned."""
        if not self._parts or number in self.always or (self.always and not newest.under_way):
            return
        turn = self._parts[number][0]
        most = self._rules.max_messages
        self._counted = len(turn.messages)
        if most is not None and self._counted > most:
            self.limited = True
            return
        self.always[number] = turn
        self.must_send = self.must_send or newest.under_way

    # --- the newest exchange ----------------------------------------------------------------------

    def _split(self, exchange: Exchange) -> list[list[Piece]]:
        """Part an exchange that is under way; any other stays whole."""
        if not exchange.under_way:
            return [[Piece(exchange.messages, exchange)]] if exchange.messages else []
        steps = [(step,) for step in exchange.steps]
        if exchange.user is None:  # what was said last stands for the user's turn
            last = max(at for at, (step,) in enumerate(steps) if not is_system(step.messages[0]))
            return [
                self._variants(exchange, exchange.steps[last:]),
                *(self._variants(exchange, step) for step in reversed(steps[:last])),
            ]
        turn = Piece((exchange.user,), exchange, exchange.span[:1])
        return [*(self._variants(exchange, step) for step in reversed(steps)), [turn]]

    def _variants(self, exchange: Exchange, steps: Sequence[Step]) -> list[Piece]:
        """Make a piece with all long results cut, with all but the newest, and so on."""
        messages = tuple(chain.from_iterable(step.messages for step in steps))
        places = tuple(place for step in steps for place in step.places)
        whole = Piece(messages, exchange, places)
        cuts = [*self._cuts(messages).items()]
        return [*(_cut(whole, cuts[:left]) for left in range(len(cuts), 0, -1)), whole]

    def _cuts(self, messages: Sequence[Message]) -> dict[int, CutResult]:
        limit, tokenizer = self._rules.max_result_tokens, self._tokenizer
        if limit is None or tokenizer is None or self._rules.pins(messages):
            return {}
        results = [(at, message) for at, message in enumerate(messages) if message.role == "tool"]
        cuts = ((at, cut_result(result, limit, tokenizer)) for at, result in results)
        return {at: cut for at, cut in cuts if cut is not None}


def _cut(whole: Piece, cuts: Sequence[tuple[int, CutResult]]) -> Piece:
    messages = [*whole.messages]
    for at, cut in cuts:
        messages[at] = cut.message
    notes = tuple(cut.note for _, cut in cuts)
    return evolve(whole, messages=tuple(messages), cuts=notes)
