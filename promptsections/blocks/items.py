"""Ranked pieces of text, joined in one message: the first ones, as many as fit.

It knows no data sources and does no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import Attribute, evolve, field, frozen

from promptsections.blocks.block import Fitted
from promptsections.blocks.growth import Growing, Growth
from promptsections.blocks.placing import Place
from promptsections.blocks.remembering import Remembered, nothing_yet
from promptsections.blocks.text import TextBlock, write_text
from promptsections.counting import Counter
from promptsections.errors import DefinitionError
from promptsections.measurement import Measurement
from promptsections.messages import Message
from promptsections.tokens import Segment, Truncate, count_joined, joints_of, running_totals
from promptsections.unicode import well_formed


@frozen
class Chunk:
    """One piece of text that a data source has found."""

    text: str = field(converter=well_formed)
    score: float | None = field(default=None, kw_only=True)
    """How well it matches, as the source says; the order of chunks is their rank."""
    id: str | None = field(default=None, kw_only=True)
    """Names the chunk in the layout, for citations."""
    source: str | None = field(default=None, kw_only=True)
    """Where it comes from; names the chunk if there is no `id`."""
    metadata: Mapping[str, Any] | None = field(default=None, kw_only=True, hash=False)
    """What else the source knows of it; an attribution may name that."""

    def name(self, place: int) -> str:
        """Return what the chunk is called in a layout: by its place if it says nothing itself."""
        return self.id or self.source or str(place)


def _chunks(values: Iterable[Chunk | str]) -> tuple[Chunk, ...]:
    return tuple(value if isinstance(value, Chunk) else Chunk(value) for value in values)


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(well_formed, values))


def _numbers(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(values)


def _check_step(_: object, __: Attribute[int | None], value: object) -> None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if value is not None and not is_count:
        raise DefinitionError(f"trim_step={value!r} must be 1 token or more, or None")


@frozen
class ItemsBlock:
    """Chunks in the order of their rank, whole, until one does not fit; empty ones are passed over.

    The floor is the first chunk. That one may be cut, if `cut` says how, where it is the only one
    or by itself more than `limit`.
    """

    chunks: tuple[Chunk, ...] = field(converter=_chunks)
    """Best first."""
    message: Message = field(factory=lambda: Message("system"))
    """Role, name and ids of what is sent; its content is replaced."""
    separator: str = field(default="\n\n", kw_only=True, converter=well_formed)
    """Stands between two chunks."""
    cut: Truncate | None = field(default=None, kw_only=True)
    """How the first chunk gives way."""
    limit: int | None = field(default=None, kw_only=True)
    """The most that the block will be given, in tokens, if that is known."""
    before: str = field(default="", kw_only=True, converter=well_formed)
    """A heading, or the start of a wrapper."""
    after: str = field(default="", kw_only=True, converter=well_formed)
    """The end of a wrapper."""
    encode: Callable[[str], str] | None = field(default=None, kw_only=True)
    """How a chunk's text is written inside the wrapper; what is cut is the text before that."""
    heads: tuple[str, ...] = field(default=(), kw_only=True, converter=_texts)
    """For each chunk what stands in front of it, such as where it comes from: never cut, and not
    encoded. None or as many as there are chunks."""
    places: tuple[int, ...] = field(default=(), kw_only=True, converter=_numbers)
    """For each chunk its place among those that are sent, if that is not its rank: different
    numbers, the smallest stands first."""
    trim_step: int | None = field(default=None, kw_only=True, validator=_check_step)
    """Tokens: where not all chunks fit, so many are sent as fit a multiple of this, so that they
    are the same although the room changes from turn to turn. `None` sends as many as fit."""
    _present: tuple[tuple[int, Chunk], ...] = field(init=False, eq=False, repr=False)
    """Rank and chunk of those that have a text."""
    _parts: Remembered[_Parts] = field(factory=nothing_yet, init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        for given in (self.heads, self.places):
            if given and len(given) != len(self.chunks):
                raise DefinitionError(
                    f"ItemsBlock: heads and places are for each of {len(self.chunks)} chunks, "
                    f"not for {len(given)}"
                )
        present = tuple((rank, chunk) for rank, chunk in enumerate(self.chunks) if chunk.text)
        object.__setattr__(self, "_present", present)

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Count the first chunk, and more and more of them until they exceed `at_most` tokens."""
        if not self._present:
            return Measurement(0, 0)
        first, _, growth = self._parts.of(counter, self._prepare)
        known = None if first is None else first.measure(counter, at_most)
        if known is not None and (known.natural > at_most or len(self._present) == 1):
            return known
        grown = growth.up_to(at_most)
        floor = min(growth.cost(1), at_most + 1) if known is None else known.floor
        return Measurement(floor, grown.peak if grown.whole else at_most + 1)

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Return one message with as many chunks as cost at most so many tokens."""
        return self.place(counter, tokens).messages

    def place(self, counter: Counter, tokens: int, /) -> Fitted:
        """Do what `fit` does, and name the chunks that were sent."""
        if not self._present:
            return Fitted(())
        first, sent, growth = self._parts.of(counter, self._prepare)
        if first is not None and first.measure(counter, tokens).natural > tokens:
            return self._fitted(tuple(first.fit(counter, tokens)), 1)
        grown = growth.up_to(tokens)
        units = grown.units
        if self.trim_step is not None and not grown.whole:
            units = growth.up_to(tokens - tokens % self.trim_step).units
        units = max(units, 1)
        fitted = sent.get(units)
        if fitted is None:
            text = self.separator.join(self._texts(self._shown(units)))
            say = self.message.holding if self.encode is None else self.message.saying
            messages = (say(self.before + text + self.after),)
            if joints_of(counter.tokenizer) == "strong":
                counter.remember(messages[0], growth.cost(units))  # it is not counted again
            fitted = sent[units] = self._fitted(messages, units)
        return fitted

    def _prepare(self, counter: Counter) -> _Parts:
        place = Place(counter, partial(write_text, self.message, self.before, self.after))
        texts = self._texts(self._present)
        if self.places:
            order = [self.places[rank] for rank, _ in self._present]
            stack: Growing = _Scattered(texts, order, self.separator, place)
        else:
            stack = _Stack(texts, self.separator, place)
        densely = not self.places and joints_of(counter.tokenizer) == "strong"
        return self._first(counter), {}, Growth(stack, densely=densely)

    def _first(self, counter: Counter) -> TextBlock | None:
        """Make a block of the first chunk alone, where it may be cut or is long to count."""
        rank, chunk = self._present[0]
        text = chunk.text
        if len(self._present) > 1 and self.limit is None and len(text) <= _SHORT:
            return None
        whole = TextBlock(
            text,
            self.message,
            before=self.before + self._head(rank),
            after=self.after,
            encode=self.encode,
        )
        limit = self.limit
        alone = len(self._present) == 1
        too_large = limit is not None and whole.measure(counter, limit).natural > limit
        return evolve(whole, cut=self.cut, limit=limit) if alone or too_large else whole

    def _shown(self, units: int) -> Sequence[tuple[int, Chunk]]:
        """Return the first chunks in the order in which they are sent."""
        sent = self._present[:units]
        return sorted(sent, key=lambda one: self.places[one[0]]) if self.places else sent

    def _texts(self, shown: Sequence[tuple[int, Chunk]]) -> list[str]:
        texts = [chunk.text for _, chunk in shown]
        if self.encode is not None:
            texts = [self.encode(text) for text in texts]
        if self.heads:
            texts = [self.heads[at] + text for (at, _), text in zip(shown, texts, strict=True)]
        return texts

    def _head(self, rank: int) -> str:
        return self.heads[rank] if self.heads else ""

    def _fitted(self, messages: tuple[Message, ...], units: int) -> Fitted:
        names = tuple(chunk.name(rank) for rank, chunk in self._shown(units))
        return Fitted(messages, items=names, omitted=len(self._present) - len(names))


_SHORT = 4_096
"""Characters of a chunk that is simply counted, however little room there is."""

_Parts = tuple[TextBlock | None, dict[int, Fitted], Growth]
"""The first chunk alone if need be, what was sent of so many chunks, and how many fit."""


class _Stack:
    """Texts joined one by one, from the first on."""

    def __init__(self, texts: Sequence[str], separator: str, place: Place) -> None:
        self._texts = texts
        self._separator = separator
        self._place = place

    def reach(self, units: int, /) -> int:
        """Return how many texts there are, at most `units`."""
        return min(units, len(self._texts))

    def cost(self, units: int, /) -> int:
        """Return what the first texts cost."""
        return self._place.cost(self._separator.join(self._texts[:units]))

    def costs(self) -> Iterator[int]:
        """Yield what the first text costs, the first two, and so on."""
        before, after, framing = self._place.around()
        tokenizer = self._place.counter.tokenizer
        for total in running_totals(tokenizer, self._texts, self._separator, before, after):
            yield framing + total


class _Scattered:
    """Texts joined in another order than that in which they are added; each is counted once."""

    def __init__(
        self, texts: Sequence[str], order: Sequence[int], separator: str, place: Place
    ) -> None:
        self._texts = texts
        self._order = order
        self._separator = separator
        self._place = place
        self._counted: list[Segment] = []

    def reach(self, units: int, /) -> int:
        """Return how many texts there are, at most `units`."""
        return min(units, len(self._texts))

    def cost(self, units: int, /) -> int:
        """Return what the texts that are added first cost, where they stand."""
        shown = sorted(range(units), key=self._order.__getitem__)
        tokenizer = self._place.counter.tokenizer
        if joints_of(tokenizer) == "none":
            return self._place.cost(self._separator.join(self._texts[at] for at in shown))
        before, after, framing = self._place.around()
        for text in self._texts[len(self._counted) : units]:
            self._counted.append(Segment.of(text, tokenizer))
        pieces: list[str | Segment] = [before]
        for at in shown:
            pieces += (self._separator, self._counted[at]) if pieces[1:] else (self._counted[at],)
        return framing + count_joined(tokenizer, [*pieces, after])

    def costs(self) -> Iterator[int]:
        """Yield what the first text costs, the first two, and so on."""
        yield from (self.cost(units) for units in range(1, len(self._texts) + 1))
