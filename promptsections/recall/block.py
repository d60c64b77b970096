"""Memories below a heading: in their order all that fit, passing over what is too big.

It knows texts and tokens; it knows no traces and does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from attrs import field, frozen

from promptsections.blocks import Chunk, Fitted
from promptsections.blocks.placing import Place
from promptsections.blocks.remembering import Remembered, nothing_yet
from promptsections.blocks.text import write_text
from promptsections.counting import Counter
from promptsections.measurement import Measurement
from promptsections.messages import Message
from promptsections.tokens import Segment, join
from promptsections.unicode import well_formed


@frozen
class RecallBlock:
    """Texts in one message; one that does not fit any more is left out, and later ones tried.

    The floor is the smallest of them. For one more token another text may be taken, but then the
    whole room is used: what is sent never takes fewer tokens for more room.
    """

    items: tuple[Chunk, ...]
    """The most important first; none is empty."""
    message: Message = field(factory=lambda: Message("system"))
    """Role of what is sent; its content is replaced."""
    before: str = field(default="", kw_only=True, converter=well_formed)
    """A heading."""
    separator: str = field(default="\n", kw_only=True, converter=well_formed)
    """Stands between two texts."""
    _counted: Remembered[_Counted] = field(factory=nothing_yet, init=False, eq=False, repr=False)

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Count each text by itself, and all of them."""
        if not self.items:
            return Measurement(0, 0)
        counted = self._counted.of(counter, self._count)
        natural = counted.natural
        floor = min(*counted.alone, natural)
        return Measurement(min(floor, at_most + 1), min(natural, at_most + 1))

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Return one message with the texts that cost at most so many tokens."""
        return self.place(counter, tokens).messages

    def place(self, counter: Counter, tokens: int, /) -> Fitted:
        """Do what `fit` does, and name what was sent."""
        if not self.items:
            return Fitted(())
        kept = self._counted.of(counter, self._count).choose(tokens)
        text = self.separator.join(self.items[at].text for at in kept)
        return Fitted(
            (self.message.saying(self.before + text),),
            items=tuple(self.items[at].name(at) for at in kept),
            omitted=len(self.items) - len(kept),
        )

    def _count(self, counter: Counter) -> _Counted:
        place = Place(counter, partial(write_text, self.message, self.before, ""))
        before, after, framing = place.around()
        texts = [before, after, self.separator, *(item.text for item in self.items)]
        head, tail, between, *items = (Segment.of(text, counter.tokenizer) for text in texts)
        return _Counted(counter, head, tail, between, tuple(items), framing)


@frozen
class _Counted:
    """Texts that have been counted once, where they stand."""

    counter: Counter
    head: Segment
    tail: Segment
    between: Segment
    items: tuple[Segment, ...]
    framing: int
    """What the message costs beside its text, in tokens."""
    alone: tuple[int, ...] = field(init=False)
    """What each text costs by itself, in tokens."""
    natural: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        alone = tuple(self._cost(self._with(self.head, item)) for item in self.items)
        object.__setattr__(self, "alone", alone)
        object.__setattr__(self, "natural", self._cost(self._all()))

    def choose(self, tokens: int) -> tuple[int, ...]:
        """Return the places of the texts that fit: all, or one after the other if it still does."""
        if self.natural <= tokens:
            return tuple(range(len(self.items)))
        kept = tuple(self._greedy(tokens))
        smallest = min(range(len(self.items)), key=self.alone.__getitem__)
        return kept or (smallest,)

    def _greedy(self, tokens: int) -> Iterator[int]:
        text, first = self.head, True
        for at, item in enumerate(self.items):
            longer = self._with(text, item, first=first)
            if self._cost(longer) <= tokens:
                text, first = longer, False
                yield at

    def _all(self) -> Segment:
        pieces: list[Segment] = []
        for item in self.items:
            pieces += [self.between, item] if pieces else [item]
        return join(self.counter.tokenizer, self.head, *pieces)

    def _with(self, text: Segment, item: Segment, *, first: bool = True) -> Segment:
        pieces = (text, item) if first else (text, self.between, item)
        return join(self.counter.tokenizer, *pieces)

    def _cost(self, text: Segment) -> int:
        return self.framing + join(self.counter.tokenizer, text, self.tail).tokens
