"""Where renders are kept: any mapping from texts to bytes, by default one in memory with a bound.

It knows no renders.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from sys import getsizeof
from threading import Lock
from typing import Final, Protocol, cast, runtime_checkable

from promptsections.errors import DefinitionError

SLOT_BYTES: Final = 220
"""What an entry takes beside its key and value: its places in the dictionary, rounded up."""


@runtime_checkable
class Store(Protocol):
    """What keeps entries: a `dict`, a `diskcache.Cache`, a Redis client, a mapping of your own.

    Keys are ASCII texts. A store may forget an entry at any time. `clear()` of a cache lists keys
    by iteration, or by `scan_iter(match=…)` where there is such a method.
    """

    def __getitem__(self, key: str, /) -> bytes:
        """Return what is kept under a key; `KeyError` if there is nothing."""
        ...

    def __setitem__(self, key: str, value: bytes, /) -> None:
        """Keep something."""
        ...

    def __delitem__(self, key: str, /) -> None:
        """Forget it; `KeyError` if there is nothing, or no error at all."""
        ...


class MemoryStore:
    """Keeps entries in memory up to a number of bytes; what was used last is kept longest.

    Bytes are those of keys and values as Python holds them, and 220 for the place of each entry.
    Threads may share it.
    """

    def __init__(self, max_bytes: int) -> None:
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"max_bytes={max_bytes!r} must be a whole number above 0")
        self.max_bytes = max_bytes
        self.bytes = 0
        """What all entries take."""
        self.evicted = 0
        """Entries that had to make room, since the store was made."""
        self._entries: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()

    def __getitem__(self, key: str, /) -> bytes:
        """Return what is kept, and keep it longer than all others."""
        with self._lock:
            self._entries.move_to_end(key)
            return self._entries[key]

    def __setitem__(self, key: str, value: bytes, /) -> None:
        """Keep something, and forget as much as must make room for it.

        Raises:
            ValueError: it is larger than all there is room for.
        """
        size = _size(key, value)
        if size > self.max_bytes:
            raise ValueError(f"{size:,} bytes are more than max_bytes={self.max_bytes:,}")
        with self._lock:
            if key in self._entries:
                self._remove(key)
            self._entries[key] = value
            self.bytes += size
            while self.bytes > self.max_bytes:
                self._remove(next(iter(self._entries)))
                self.evicted += 1

    def __delitem__(self, key: str, /) -> None:
        """Forget something."""
        with self._lock:
            self._remove(key)

    def __iter__(self) -> Iterator[str]:
        """Yield the keys, those first that are forgotten first."""
        with self._lock:
            return iter(list(self._entries))

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self._entries)

    def _remove(self, key: str) -> None:
        self.bytes -= _size(key, self._entries.pop(key))


def _size(key: str, value: bytes) -> int:
    return getsizeof(key) + getsizeof(value) + SLOT_BYTES


def keys_of(store: Store, prefix: str) -> list[str]:
    """Return the keys that begin so.

    Raises:
        DefinitionError: the store cannot list its keys.
    """
    scan = getattr(store, "scan_iter", None)
    found: Iterable[object]
    if callable(scan):
        found = cast("Iterable[object]", scan(match=f"{prefix}*"))
    elif isinstance(store, Iterable):
        found = list(cast("Iterable[object]", store))
    else:
        raise DefinitionError(
            f"a {type(store).__name__} cannot list its keys, so it cannot be cleared: give the "
            "store an __iter__, or make a new RenderCache with another version"
        )
    texts = (key.decode() if isinstance(key, bytes) else key for key in found)
    return [key for key in texts if isinstance(key, str) and key.startswith(prefix)]
