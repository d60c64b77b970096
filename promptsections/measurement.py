"""What a block answers when it is measured: two integers."""

from __future__ import annotations

from typing import NamedTuple


class Measurement(NamedTuple):
    """The fewest tokens at which a block is worth sending, and what all of it takes.

    Each is exact up to the `at_most` that was asked with, and reads `at_most + 1` beyond.
    """

    floor: int
    """Smallest useful size in tokens; 0 means there is no content."""
    natural: int
    """Size of the whole content in tokens; never less than `floor`."""
