"""What an immutable object keeps of what was made of it, so that it is not made again.

It knows nothing of what is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_MOST = 4
"""How many are kept: an object is used in a few ways at a time."""


class Kept(Generic[T]):
    """The last few things that were made, by what they depend on beside the object itself.

    No part of the object's value: a copy, also a pickled one, begins with nothing. Threads may
    share it: at worst two of them make the same.
    """

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: tuple[tuple[object, T], ...] = ()

    def of(self, key: object, make: Callable[[], T]) -> T:
        """Return what was made for this key, or make it."""
        for known, made in self._made:
            if known == key:
                return made
        made = make()
        self._made = ((key, made), *self._made[: _MOST - 1])
        return made

    def __reduce__(self) -> tuple[type[Kept[T]], tuple[()]]:
        return type(self), ()


def nothing_kept() -> Kept[Any]:
    """Begin with nothing; as a factory several times as fast as a class with its parameter."""
    return Kept()
