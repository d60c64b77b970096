"""The protocol of a block: a section's content, resolved but not yet sized.

Structural: nothing to inherit, nothing to register. A block is immutable and may be measured and
fitted any number of times, by several threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from attrs import frozen

from promptsections.counting import Counter
from promptsections.measurement import Measurement
from promptsections.messages import Message
from promptsections.notes import Note


@runtime_checkable
class Block(Protocol):
    """Content that decides for itself how it gives way."""

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Say how small the content can be and how large it is, in tokens.

        Both numbers are exact up to `at_most` and read `at_most + 1` beyond, so that nothing is
        counted that cannot be sent. `floor <= natural`; 0 means there is no content.
        """
        ...

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Return what is sent at this size, which is never below the floor.

        It costs at most `tokens` and at least the floor, is everything if that fits, and is never
        less for a larger size.
        """
        ...


@frozen
class Fitted:
    """What a block sends at a size, with what the layout should say about it."""

    messages: tuple[Message, ...]
    items: tuple[str, ...] = ()
    """Names of the pieces that were sent: ids of chunks, for citations."""
    omitted: int = 0
    """Pieces (chunks, messages) that were left out; with `omitted_is_exact` false: more than so."""
    omitted_is_exact: bool = True
    notes: tuple[Note, ...] = ()
    """Their `path` is filled in by the layout."""


class ReportingBlock(Block, Protocol):
    """A block that can say more than its messages; the layout prefers `place` to `fit`."""

    def place(self, counter: Counter, tokens: int, /) -> Fitted:
        """Do what `fit` does, and say what was sent and left out."""
        ...
