"""A text whose beginning stays the same for longer than its rest, in one message.

It knows no sections and no caches, and does no I/O.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from promptsections.blocks.placing import cost_up_to
from promptsections.blocks.text import TextBlock
from promptsections.counting import Counter
from promptsections.measurement import Measurement
from promptsections.messages import Message, TextPart
from promptsections.tokens import Truncate


@frozen
class PartedTextBlock:
    """A text that is sent as two parts, so that the provider can cache the first by itself.

    It gives way as the whole text does: parts are a wish. Where a cut text has no room for two, or
    has nothing left of the second, it is sent as one.
    """

    stable: str
    """What stays the same."""
    volatile: str
    """What follows."""
    message: Message = field(factory=lambda: Message("system"))
    """Role of what is sent; its content is replaced."""
    cut: Truncate | None = field(default=None, kw_only=True)
    limit: int | None = field(default=None, kw_only=True)
    parts: bool = field(default=True, kw_only=True)
    """Whether to send two parts; otherwise one text, whose beginning is known to be stable."""
    _inner: TextBlock = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        text = self.stable + self.volatile
        inner = TextBlock(text, self.message, cut=self.cut, limit=self.limit)
        object.__setattr__(self, "_inner", inner)

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Count the smallest cut and the whole, no further than `at_most` tokens."""
        inner = self._inner.measure(counter, at_most)
        if not self._in_parts(counter):
            return inner
        natural = cost_up_to(counter, self._whole(), at_most)
        floor = natural if self.cut is None else min(inner.floor, natural)
        return Measurement(floor, natural)

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Return one message with as much of the text as costs at most so many tokens."""
        if not self._in_parts(counter):
            return self._inner.fit(counter, tokens)
        if self.cut is None or cost_up_to(counter, self._whole(), tokens) <= tokens:
            return self._whole()
        sent = self._inner.fit(counter, tokens)
        text = sent[0].text
        if text.startswith(self.stable) and len(text) > len(self.stable):
            parted = self._parted(text[len(self.stable) :])
            smallest = self._inner.measure(counter, tokens).floor
            if smallest <= counter.cost(parted) <= tokens:
                return parted
        return sent

    def _in_parts(self, counter: Counter) -> bool:
        return self.parts and counter.lines is None

    def _whole(self) -> tuple[Message, ...]:
        return self._parted(self.volatile)

    def _parted(self, rest: str) -> tuple[Message, ...]:
        return (
            Message(
                self.message.role,
                (TextPart(self.stable), TextPart(rest)),
                name=self.message.name,
            ),
        )
