"""`StackBlock`: blocks one after the other, as one block."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from promptsections.blocks.block import Block
from promptsections.counting import Counter
from promptsections.measurement import Measurement
from promptsections.messages import Message


@frozen
class StackBlock:
    """Several blocks as one: each gets its floor, then earlier ones grow first.

    For a section that resolves to several others; a group in a prompt is laid out by the laws of
    groups instead. Among messages only: in a text each block would be a line of its own.
    """

    blocks: tuple[Block, ...] = field(converter=tuple[Block, ...])

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Add up the sizes of all blocks."""
        floor = natural = 0
        for block in self.blocks:
            part = block.measure(counter, max(at_most - floor, 0))
            floor += part.floor
            natural += part.natural
        return Measurement(min(floor, at_most + 1), min(natural, at_most + 1))

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        """Let the blocks grow from their floors, in their order."""
        floors = [block.measure(counter, tokens).floor for block in self.blocks]
        left = tokens - sum(floors)
        messages: list[Message] = []
        for block, floor in zip(self.blocks, floors, strict=True):
            if floor:
                sent = block.fit(counter, floor + left)
                left -= counter.cost(sent) - floor
                messages += sent
        return messages
