"""A conversation that keeps its newest exchanges, whole and without a hole.

It reads from the newest message on, and no further than what fits plus one exchange. It does no
I/O; `reading` brings it what a store hands out piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypedDict, get_args

from attrs import Attribute, field, frozen

from promptsections.blocks.block import Fitted
from promptsections.blocks.growth import Grown, Growth, adds_up
from promptsections.blocks.ladder import Ladder, Marker
from promptsections.blocks.pieces import Pieces, Pinned, Rules, StartOn
from promptsections.blocks.recent import Recent
from promptsections.blocks.remembering import Remembered, nothing_yet
from promptsections.blocks.repair import Repair, RepairHow
from promptsections.blocks.transcript import Transcript, Transform, as_history
from promptsections.blocks.trimming import BYTES_PER_TOKEN, choose
from promptsections.counting import Counter
from promptsections.errors import DefinitionError
from promptsections.measurement import Measurement
from promptsections.messages import Message, MessageLike
from promptsections.notes import Note


class HistoryOptions(TypedDict, total=False):
    """What can be chosen about a history; see the fields of `HistoryBlock`."""

    start_on: StartOn
    keep_system: bool
    max_messages: int | None
    max_result_tokens: int | None
    omission_marker: str | None
    repair: RepairHow
    stub_text: str
    pinned: Pinned | None
    transform: Transform | None
    trim_step: int | None


_STARTS = get_args(StartOn)


def _check_start(_: object, __: object, value: object) -> None:
    if value not in _STARTS:
        raise DefinitionError(f'start_on={value!r} is neither "user" nor "any"')


def _check_count(_: object, attribute: Attribute[int | None], value: object) -> None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if value is not None and not is_count:
        raise DefinitionError(f"{attribute.name}={value!r} must be 1 or more, or None")


def _check_marker(_: object, __: object, value: Any) -> None:
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise DefinitionError(f"omission_marker={value!r} must be a text, or None")


def _check_pinned(_: object, __: object, value: Any) -> None:
    if value is not None and not callable(value):
        raise DefinitionError(f"pinned={value!r} must be a function that is asked about a Message")


def _check_transform(_: object, __: object, value: Any) -> None:
    if value is not None and not callable(value):
        raise DefinitionError(
            f"transform={value!r} must be a function that maps a Message, or None"
        )


@frozen
class HistoryBlock:
    """Whole exchanges of a conversation, newest first until one does not fit.

    The exchange that is under way (the history ends with a user turn or with tool results) may have
    its results cut and lose its oldest steps, never its user turn. System messages that the history
    begins with are always kept. The floor is these, what is pinned and that user turn, or if there
    is neither, the newest exchange.
    """

    messages: Sequence[MessageLike] = field(converter=as_history)
    """Oldest first; they are read, and converted, from the end and only as far as needed."""
    start_on: StartOn = field(default="user", kw_only=True, validator=_check_start)
    """`any` keeps what stands before the first user turn, too."""
    keep_system: bool = field(default=True, kw_only=True)
    """False leaves out the system and developer messages of the history."""
    max_messages: int | None = field(default=None, kw_only=True, validator=_check_count)
    """The most messages to keep, beside what is pinned and the system messages at the start."""
    max_result_tokens: int | None = field(default=None, kw_only=True, validator=_check_count)
    """Where the exchange under way does not fit, the tokens to which the text of its long results
    is cut before a step of it is left out; the oldest first, and no more than needed."""
    omission_marker: str | None = field(default=None, kw_only=True, validator=_check_marker)
    """Text of a system message that stands, if any were left out, where the newest of them stood;
    `{n}` in it is how many."""
    repair: RepairHow = field(default="drop", kw_only=True)
    """What is done about calls and results that cannot be sent; see `Repair`."""
    stub_text: str = field(default="[no result]", kw_only=True)
    """With `repair="stub"`: the text of the results that are put in."""
    pinned: Pinned | None = field(default=None, kw_only=True, validator=_check_pinned)
    """Says which messages are always sent, with the exchange (or the step, of the one under way)
    that they belong to; to know them, all messages are read."""
    transform: Transform | None = field(default=None, kw_only=True, validator=_check_transform)
    """Applied to each message that is read; the result is what is kept and counted."""
    trim_step: int | None = field(default=None, kw_only=True, validator=_check_count)
    """Tokens, about, that are left out at once where something is, so that what is sent begins at
    the same message for many turns; see `trimming`. `None` leaves out no more than needed."""
    unread: bool = field(default=False, kw_only=True)
    """Whether there are older messages that were not read."""
    earlier: int | None = field(default=None, kw_only=True)
    """How many these are; `None` if nobody knows, so that there is no place to trim by."""
    _transcript: Transcript = field(init=False, eq=False, repr=False)
    _rules: Rules = field(init=False, eq=False, repr=False)
    _climbs: Remembered[tuple[_Climb, ...]] = field(
        factory=nothing_yet, init=False, eq=False, repr=False
    )

    _must_send: bool | None = field(default=None, init=False, eq=False, repr=False)
    _recents: Remembered[Recent | None] = field(
        factory=nothing_yet, init=False, eq=False, repr=False
    )

    def __attrs_post_init__(self) -> None:
        transcript = Transcript(
            self.messages,
            complete=not self.unread,
            keep_system=self.keep_system,
            transform=self.transform,
            repair=Repair(self.repair, self.stub_text),
        )
        rules = Rules(self.start_on, self.max_messages, self.max_result_tokens, self.pinned)
        object.__setattr__(self, "_transcript", transcript)
        object.__setattr__(self, "_rules", rules)

    @property
    def must_send(self) -> bool:
        """Whether the model is to answer what stands at the end, or something is pinned."""
        known = self._must_send
        if known is None:
            answered = self.pinned is None and self._transcript.is_answered
            known = not answered and Pieces(self._transcript, self._rules).must_send
            object.__setattr__(self, "_must_send", known)
        return known

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Add up exchanges from the newest on until they are more than `at_most` tokens."""
        beyond = at_most + 1
        recent = self._recent_of(counter)
        if recent is not None:
            recent.up_to(at_most)
            if recent.is_empty:
                return Measurement(0, 0)
            known = recent.is_all and not self.unread
            natural = recent.natural if known else beyond
            return Measurement(min(recent.floor, beyond), min(natural, beyond))
        climb, grown = self._climb_up_to(counter, at_most)
        if grown.whole and not grown.units:
            return Measurement(0, 0)
        floor = min(self._climbs_of(counter)[-1].growth.cost(1), beyond)
        if grown.whole:
            floor = min(floor, grown.peak)
        known = grown.whole and (climb.ladder.pieces.limited or not self.unread)
        return Measurement(floor, grown.peak if known else beyond)

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Return the newest exchanges that cost at most so many tokens."""
        return self.place(counter, tokens).messages

    def place(self, counter: Counter, tokens: int, /) -> Fitted:
        """Do what `fit` does, and say how many messages were left out and what was repaired."""
        recent = self._recent_of(counter)
        if recent is not None:
            recent.up_to(tokens)
            if self.trim_step is None or (recent.is_all and recent.natural <= tokens):
                return self._place_recent(recent, tokens)
        climb, grown = self._climb_up_to(counter, tokens)
        ladder = climb.ladder
        units, trimmed = self._trimmed(climb, grown, counter, tokens)
        sent = ladder.sent(units)
        notes = [*self._transcript.notes]
        if grown.whole and not ladder.pieces.limited:
            notes += self._leading_notes()
        return Fitted(
            sent.messages,
            omitted=len(self.messages) + (self.earlier or 0) - sent.of_history,
            omitted_is_exact=not self.unread or self.earlier is not None,
            notes=(*notes, *ladder.notes(units), *trimmed),
        )

    def _place_recent(self, recent: Recent, tokens: int) -> Fitted:
        units = recent.units(tokens)
        messages = recent.messages(units)
        notes = [*self._transcript.notes]
        if recent.is_all and recent.natural <= tokens:
            notes += self._leading_notes()
        return Fitted(
            messages,
            omitted=len(self.messages) + (self.earlier or 0) - len(messages),
            omitted_is_exact=not self.unread or self.earlier is not None,
            notes=(*notes, *recent.notes(units)),
        )

    def _recent_of(self, counter: Counter) -> Recent | None:
        """Return the short way to add up, where nothing asks for more than the newest exchanges."""
        return self._recents.of(counter, self._make_recent) if counter.lines is None else None

    def _make_recent(self, counter: Counter) -> Recent | None:
        rules = self._rules
        is_simple = (
            rules.start_on == "user"
            and rules.max_messages is None
            and rules.pinned is None
            and self.omission_marker is None
            and self.repair != "stub"
        )
        # The exchange under way may lose steps, and its results may be cut.
        return Recent(self._transcript, counter) if is_simple and not self.must_send else None

    def _climb_up_to(self, counter: Counter, tokens: int) -> tuple[_Climb, Grown]:
        """Take what fits; without a marker only if nothing is left out.

        A marker can be larger than what it stands for, so the whole is tried without it first.
        """
        plain, *marked = self._climbs_of(counter)
        grown = plain.growth.up_to(tokens)
        is_all = grown.whole and not self.unread and not plain.ladder.omitted(grown.units)
        if is_all or not marked:
            return plain, grown
        return marked[0], marked[0].growth.up_to(tokens)

    def _climbs_of(self, counter: Counter) -> tuple[_Climb, ...]:
        """Return ways to grow: without a marker, and with one if that is wanted."""
        return self._climbs.of(counter, self._make_climbs)

    def _make_climbs(self, counter: Counter) -> tuple[_Climb, ...]:
        text = self.omission_marker
        earlier = self.earlier if self.unread else 0
        markers = (None,) if text is None else (None, Marker(text, earlier))
        pieces = Pieces(self._transcript, self._rules, counter.tokenizer)
        ladders = [Ladder(self._transcript, pieces, counter, marker) for marker in markers]
        return tuple(_Climb(each, Growth(each, densely=adds_up(counter))) for each in ladders)

    def _trimmed(
        self, climb: _Climb, grown: Grown, counter: Counter, tokens: int
    ) -> tuple[int, tuple[Note, ...]]:
        """Send less than fits, if something is left out anyway, to begin where others did."""
        step, growth, ladder = self.trim_step, climb.growth, climb.ladder
        limited = grown.whole and ladder.pieces.limited
        if step is None or (grown.whole and not limited and not self.unread):
            return grown.units, ()
        if self.unread and self.earlier is None:
            detail = (
                "the history moves on with every turn: to trim it in steps, say how many messages "
                "the store holds: NewestFirst(open, total=…)"
            )
            return grown.units, (Note("trim_needs_total", "", detail),)

        def cost(units: int) -> int:
            return growth.cost(units) or ladder.cost(units)

        most = cost(grown.units) if grown.whole else tokens
        smallest = growth.cost(1)
        found = ladder.beginnings(grown.units, cost)
        fitting = [one for one in found if smallest <= one.cost <= most]
        earlier = self.earlier or 0
        framing = 0 if counter.lines else counter.profile.tokens_per_message
        weigh = partial(self._weigh, earlier, int(framing * BYTES_PER_TOKEN))
        chosen = choose([one.behind(earlier) for one in fitting], most, step, weigh)
        if chosen is None or chosen.units == grown.units:
            return grown.units, ()
        left = most - chosen.cost
        detail = f"it begins at message {chosen.place}, as in other turns: {left} tokens are free"
        return chosen.units, (Note("trimmed", "", detail),)

    def _weigh(self, earlier: int, framing: int, place: int) -> int:
        return framing + self._transcript.weight(place - earlier)

    def _leading_notes(self) -> Iterator[Note]:
        """Say what was left out because it follows no user turn."""
        for exchange in self._transcript.exchanges():
            if (self.start_on == "user" and exchange.user is None) or not exchange.messages:
                yield from exchange.notes
                if exchange.messages:
                    detail = (
                        f"messages before the first user turn were left out: "
                        f'{len(exchange.messages)} (start_on="any" keeps them)'
                    )
                    yield Note("leading_turn", "", detail)


@frozen
class _Climb:
    """A ladder, and how far one gets on it."""

    ladder: Ladder
    growth: Growth
