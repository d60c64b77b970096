"""What a block remembers between being measured and being fitted.

It knows no blocks and counts nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from promptsections.counting import Counter

T = TypeVar("T")


class Remembered(Generic[T]):
    """Keeps what was made for one counter, until another one asks.

    A block is measured and fitted several times in a layout, always by the same counter. Threads
    may share it, as far as they may share what is made. No part of a block's value: a copy, also a
    pickled one, begins with nothing.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[Counter, T] | None = None

    def of(self, counter: Counter, make: Callable[[Counter], T]) -> T:
        """Return what was made for this counter, or make it."""
        last = self._last
        if last is None or not _count_alike(last[0], counter):
            last = self._last = counter, make(counter)
        return last[1]

    def __reduce__(self) -> tuple[type[Remembered[T]], tuple[()]]:
        return type(self), ()


def nothing_yet() -> Remembered[Any]:
    """Begin with nothing; as a factory several times as fast as a class with its parameter."""
    return Remembered()


def _count_alike(one: Counter, other: Counter) -> bool:
    return one is other or (
        one.profile is other.profile
        and one.tokenizer is other.tokenizer
        and one.lines == other.lines
    )
