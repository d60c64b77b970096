"""Words with images and files beside them, in one message: whole attachments, the first in rank.

It knows no sections and does no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import evolve, field, frozen

from promptsections.blocks.block import Block, Fitted
from promptsections.blocks.messages import MessagesBlock
from promptsections.blocks.placing import cost_up_to
from promptsections.blocks.text import TextBlock
from promptsections.counting import Counter
from promptsections.errors import DefinitionError
from promptsections.measurement import Measurement
from promptsections.messages import FilePart, Message, Part, TextPart
from promptsections.parts import to_part
from promptsections.tokens import Truncate
from promptsections.unicode import well_formed


@frozen
class Attachment:
    """A part that goes along with words: an image, a file, a sound."""

    part: Part = field(converter=to_part)
    priority: int | None = field(default=None, kw_only=True)
    """Which is kept first if there is no room for all: the higher. `None` is never left out."""
    name: str | None = field(default=None, kw_only=True)
    """Names the attachment in the layout; by default its file name, or its place from 0."""

    def __attrs_post_init__(self) -> None:
        if self.priority is not None and type(self.priority) is not int:
            raise DefinitionError(
                f"priority={self.priority!r} of an attachment must be a whole number, or None if "
                "it must not be left out"
            )


Numbered = tuple[int, Attachment]
"""An attachment and its place."""
Costs = Callable[[Sequence[Numbered]], int]
"""What the text costs with some of its attachments, in tokens."""


def _attachments(values: Iterable[Attachment | Part]) -> tuple[Attachment, ...]:
    return tuple(v if isinstance(v, Attachment) else Attachment(v) for v in values)


@frozen
class AttachmentsBlock:
    """A text and its attachments; of those that have a priority, as many as there is room for.

    They are tried by priority, then place; one that does not fit does not stop the next, and none
    is sent in part. The floor is the text with what has no priority; if there is neither, the
    cheapest attachment. The text may be cut, if `cut` says how and nothing has to go along with
    it, before any attachment is sent.
    """

    text: str = field(converter=well_formed)
    attachments: tuple[Attachment, ...] = field(converter=_attachments)
    message: Message = field(factory=lambda: Message("user"), kw_only=True)
    """Role and name of what is sent; its content is replaced."""
    cut: Truncate | None = field(default=None, kw_only=True)
    """How the text gives way."""
    limit: int | None = field(default=None, kw_only=True)
    """The most that the block will be given, in tokens, if that is known."""

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Price the text and all attachments, no further than `at_most` tokens."""
        if not self.text and not self.attachments:
            return Measurement(0, 0)
        cost = self._costs(counter, at_most)
        natural = min(cost(self._numbered()), at_most + 1)
        return Measurement(min(self._floor(counter, cost, at_most), natural), natural)

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Return one message with as many attachments as cost at most so many tokens."""
        return self.place(counter, tokens).messages

    def place(self, counter: Counter, tokens: int, /) -> Fitted:
        """Do what `fit` does, and name the attachments that were sent."""
        if not self.text and not self.attachments:
            return Fitted(())
        cost = self._costs(counter, tokens)
        everything = self._numbered()
        if cost(everything) <= tokens:
            return self._fitted(everything)
        kept = self._numbered(required=True)
        if self._core is not None and cost(kept) > tokens:
            return self._fitted(kept, self._core.fit(counter, tokens))
        floor = self._floor(counter, cost, tokens)
        for one in self._ranked():
            # A tokenizer may count more text lower, but below the floor is not what was asked for.
            more = tuple(sorted((*kept, one), key=lambda each: each[0]))
            if floor <= cost(more) <= tokens:
                kept = more
        return self._fitted(kept)

    def _floor(self, counter: Counter, cost: Costs, at_most: int) -> int:
        if self._core is not None:
            return self._core.measure(counter, at_most).floor
        return min(cost((one,)) for one in self._numbered())

    @property
    def _core(self) -> Block | None:
        """What is always sent; `None` if everything may be left out."""
        required = self._numbered(required=True)
        if required:
            return MessagesBlock(self._written(required))
        if self.text:
            return TextBlock(self.text, self.message, cut=self.cut, limit=self.limit)
        return None

    def _numbered(self, *, required: bool = False) -> tuple[Numbered, ...]:
        numbered = enumerate(self.attachments)
        return tuple(one for one in numbered if not required or one[1].priority is None)

    def _ranked(self) -> list[Numbered]:
        rated = [(-a.priority, n, a) for n, a in self._numbered() if a.priority is not None]
        return [(place, attachment) for _, place, attachment in sorted(rated, key=lambda r: r[:2])]

    def _costs(self, counter: Counter, at_most: int) -> Costs:
        """Prepare to price the text with some attachments, exactly up to `at_most` tokens."""
        if counter.lines is not None:  # a line is one text, so it is counted whole
            return lambda kept: cost_up_to(counter, self._written(kept), at_most)
        bare = counter.framing(self.message)
        words = bare + counter.count_up_to(self.text, at_most)
        prices = [self._price(counter, a.part) - bare for a in self.attachments]
        return lambda kept: words + sum(prices[place] for place, _ in kept)

    def _price(self, counter: Counter, part: Part) -> int:
        tokens = counter.framing(evolve(self.message, content=(part,)))
        return tokens + counter.count(part.text) if isinstance(part, TextPart) else tokens

    def _written(self, kept: Sequence[Numbered]) -> tuple[Message, ...]:
        parts = tuple(attachment.part for _, attachment in kept)
        if not parts:
            return (evolve(self.message, content=self.text),)
        words = (TextPart(self.text),) if self.text else ()
        return (evolve(self.message, content=(*words, *parts)),)

    def _fitted(
        self, kept: Sequence[Numbered], messages: Sequence[Message] | None = None
    ) -> Fitted:
        return Fitted(
            tuple(self._written(kept) if messages is None else messages),
            items=tuple(_name(place, attachment) for place, attachment in kept),
            omitted=len(self.attachments) - len(kept),
        )


def _name(place: int, attachment: Attachment) -> str:
    part = attachment.part
    filename = part.filename if isinstance(part, FilePart) else None
    return attachment.name or filename or str(place)
