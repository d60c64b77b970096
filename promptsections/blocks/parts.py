"""Words with images and files in one message; what is too large is left out, the words last.

It knows no sections and does no I/O.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from promptsections.blocks.block import Fitted
from promptsections.blocks.placing import cost_up_to
from promptsections.blocks.text import TextBlock
from promptsections.counting import Counter
from promptsections.measurement import Measurement
from promptsections.messages import Message, Part, TextPart


@frozen
class PartsBlock:
    """A text that may be cut, and the images and files that go with it.

    Files go first, the last one before the others; then the text is cut. The floor is that of the
    text, or where there is none, the first file.
    """

    text: TextBlock
    files: tuple[Part, ...]
    """One or more."""

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Count the smallest cut of the text and the whole, no further than `at_most` tokens."""
        natural = cost_up_to(counter, self._with(len(self.files)), at_most)
        if self.text.text:
            floor = self.text.measure(counter, at_most).floor
        else:
            floor = cost_up_to(counter, self._with(1), at_most)
        return Measurement(min(floor, natural), natural)

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Return one message with the text and as many files as cost at most so many tokens."""
        return self.place(counter, tokens).messages

    def place(self, counter: Counter, tokens: int, /) -> Fitted:
        """Do what `fit` does, and say how many files were left out."""
        sent = 0 if self.text.text else 1
        messages = tuple(self.text.fit(counter, tokens)) or self._with(sent)
        if not sent and cost_up_to(counter, self._with(0), tokens) > tokens:
            return Fitted(messages, omitted=len(self.files))
        for count in range(sent + 1, len(self.files) + 1):
            longer = self._with(count)
            if cost_up_to(counter, longer, tokens) > tokens:
                break
            sent, messages = count, longer
        return Fitted(messages, omitted=len(self.files) - sent)

    def _with(self, files: int) -> tuple[Message, ...]:
        """Return the message with all of the text and the first so many files."""
        words = (TextPart(self.text.text),) if self.text.text else ()
        if words and not files:
            return (evolve(self.text.message, content=self.text.text),)
        return (evolve(self.text.message, content=words + self.files[:files]),)
