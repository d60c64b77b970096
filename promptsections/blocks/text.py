"""One text in one message, cut where it may be.

It knows no sections and does no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import field, frozen

from promptsections.blocks.placing import Place, cost_up_to
from promptsections.blocks.remembering import Remembered, nothing_yet
from promptsections.counting import Counter
from promptsections.measurement import Measurement
from promptsections.messages import Message
from promptsections.tokens import Truncate
from promptsections.unicode import well_formed


@frozen
class TextBlock:
    """A text that is sent in one message, whole or cut.

    Without `cut` it is sent whole or not at all. With it, the floor is the smallest cut that is
    worth sending, or what `limit` allows of it. What stands before and after it is never cut.
    """

    text: str = field(converter=well_formed)
    message: Message = field(factory=lambda: Message("system"))
    """Role, name and ids of what is sent; its content is replaced."""
    cut: Truncate | None = field(default=None, kw_only=True)
    """How the text gives way."""
    limit: int | None = field(default=None, kw_only=True)
    """The most that the block will be given, in tokens, if that is known."""
    before: str = field(default="", kw_only=True, converter=well_formed)
    """A heading, or the start of a wrapper."""
    after: str = field(default="", kw_only=True, converter=well_formed)
    """The end of a wrapper."""
    encode: Callable[[str], str] | None = field(default=None, kw_only=True)
    """How the text is written inside the wrapper; what is cut is the text before that."""
    _whole: tuple[Message, ...] = field(init=False, eq=False, repr=False)
    _smallest: Remembered[tuple[Place, str]] = field(
        factory=nothing_yet, init=False, eq=False, repr=False
    )
    """Where the text stands, and its smallest cut there."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_whole", self._write(self.text) if self.text else ())

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Count the smallest cut and the whole, no further than `at_most` tokens."""
        natural = cost_up_to(counter, self._whole, at_most)
        if self.cut is None or not self.text:
            return Measurement(natural, natural)
        place, smallest = self._smallest.of(counter, self._cut_smallest)
        return Measurement(min(place.cost_up_to(smallest, at_most), natural), natural)

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Return one message with as much of the text as costs at most so many tokens."""
        if self.cut is None or cost_up_to(counter, self._whole, tokens) <= tokens:
            return self._whole
        place, smallest = self._smallest.of(counter, self._cut_smallest)
        largest = place.largest(self.text, tokens, self.cut)
        # "Desig" has two tokens, "Design" one: what has more text may still be below the floor.
        below = place.cost(largest) < place.cost(smallest) <= tokens
        return place.write(largest if largest and not below else smallest)

    def _cut_smallest(self, counter: Counter) -> tuple[Place, str]:
        place = Place(
            counter,
            self._write,
            bare=not (self.before or self.after or self.encode),
            as_it_is=self.encode is None,
        )
        smallest = place.smallest(self.text, self.cut, self.limit) if self.cut else self.text
        return place, smallest

    def _write(self, text: str) -> tuple[Message, ...]:
        inner = text if self.encode is None else self.encode(text)
        return write_text(self.message, self.before, self.after, inner)


def write_text(message: Message, before: str, after: str, text: str) -> tuple[Message, ...]:
    """Put a text into a message, with what stands before and after it.

    A message that says that already is taken as it is, with the tokens it remembers.
    """
    content = before + text + after
    return (message if message.content == content else message.saying(content),)
