"""A bounded memory of counts, keyed by text.

One cache serves one tokenizer, so no count can be taken for another's. It knows no vocabulary.
"""

from __future__ import annotations

from sys import getsizeof
from threading import Lock

from attrs import frozen

from promptsections.errors import DefinitionError
from promptsections.tokens.bundled import BundledTokenizer
from promptsections.tokens.tiktoken_encoding import TiktokenTokenizer
from promptsections.tokens.tokenizer import (
    Joints,
    Tokenizer,
    checked_count,
    encoder_of,
    is_loaded,
    joints_of,
)

MAX_CACHED_CHARACTERS = 65_536
"""Longer texts are not kept: to hash one is cheap beside counting it, but to hold it is not."""
DEFAULT_MAX_BYTES = 8 * 1024 * 1024
ENTRY_BYTES = 140
"""What an entry takes beside its text: its place in the dictionary and the number, rounded up."""
_GENERATIONS = 4


@frozen(kw_only=True)
class CacheStatistics:
    """What a cache holds and has done, at one moment.

    Many misses beside many forgotten entries mean that it is too small. Hits are not counted: to
    count one takes as long as it does.
    """

    entries: int
    """Counts that are held; of a text in use there may be two."""
    bytes: int
    """What they and their texts take, in bytes; also of texts that someone else holds as well."""
    max_bytes: int
    """The bound of that."""
    misses: int
    """Texts that had to be counted, since the cache was made."""
    forgotten: int
    """Entries that had to make room, since the cache was made."""


class CachedTokenizer:
    """A tokenizer that remembers what it has counted, within a bound.

    An entry takes its text and 140 bytes. Entries live in four generations: what is asked for
    moves to the youngest; when that holds a quarter of `max_bytes`, a new one begins and the
    oldest is forgotten. So texts are only forgotten that nobody has asked for while others filled
    half of the bound at least, and texts that together take up to three quarters of it are never
    counted twice. A hit costs one look-up without a lock. Threads may share it.
    """

    __slots__ = (
        "_bound",
        "_count",
        "_forgotten",
        "_lock",
        "_misses",
        "_older",
        "_older_bytes",
        "_room",
        "_young",
        "encode",
        "exact",
        "joints",
        "max_bytes",
        "name",
        "tokenizer",
    )

    def __init__(self, tokenizer: Tokenizer, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        if max_bytes < 1:
            raise DefinitionError(f"max_bytes must be at least 1 byte, but is {max_bytes!r}")
        self.tokenizer = tokenizer
        """What counts on a miss."""
        self.max_bytes = max_bytes
        """Bound of the memory that texts and counts may take, in bytes."""
        self.name: str = tokenizer.name
        """The name of the wrapped tokenizer."""
        self.exact: bool = tokenizer.exact
        """Whether the wrapped tokenizer is exact."""
        self.joints: Joints = joints_of(tokenizer)
        """What the wrapped tokenizer promises about joined texts."""
        self.encode = encoder_of(tokenizer)
        """The `encode` of the wrapped tokenizer, or `None`."""
        self._count = tokenizer.count
        self._bound = max_bytes // _GENERATIONS
        self._lock = Lock()
        self._misses = self._forgotten = 0
        self.forget()

    @property
    def loaded(self) -> bool:
        """Whether counting can begin at once: as the wrapped tokenizer."""
        return is_loaded(self.tokenizer)

    def count(self, text: str, /) -> int:
        """Count the tokens of `text`, or remember the count."""
        found = self._young.get(text)
        return self._missed(text) if found is None else found

    def put(self, text: str, tokens: int) -> None:
        """Remember that `text` has `tokens` tokens, as someone else has counted."""
        with self._lock:
            self._keep(text, checked_count(self.name, tokens))

    def forget(self) -> None:
        """Forget all texts."""
        with self._lock:
            self._young: dict[str, int] = {}
            self._older: tuple[dict[str, int], ...] = ()
            """The younger first."""
            self._room = self._bound
            """Bytes that the youngest may still take."""
            self._older_bytes: tuple[int, ...] = ()

    def statistics(self) -> CacheStatistics:
        """Say what is held now, and what was done so far."""
        with self._lock:
            return CacheStatistics(
                entries=sum(map(len, (self._young, *self._older))),
                bytes=self._bound - self._room + sum(self._older_bytes),
                max_bytes=self.max_bytes,
                misses=self._misses,
                forgotten=self._forgotten,
            )

    def __reduce__(self) -> tuple[type[CachedTokenizer], tuple[Tokenizer, int]]:
        return CachedTokenizer, (self.tokenizer, self.max_bytes)

    def __repr__(self) -> str:
        return f"CachedTokenizer({self.tokenizer!r}, max_bytes={self.max_bytes})"

    def _missed(self, text: str) -> int:
        for older in self._older:
            found = older.get(text)
            if found is not None:
                with self._lock:
                    self._keep(text, found)
                return found
        found = self._count(text)
        if type(found) is not int or found < 0:
            found = checked_count(self.name, found)
        with self._lock:
            self._misses += 1
            self._keep(text, found)
        return found

    def _keep(self, text: str, tokens: int) -> None:
        """Put an entry into the youngest generation, by whoever holds the lock."""
        if len(text) > MAX_CACHED_CHARACTERS:
            return
        size = getsizeof(text) + ENTRY_BYTES
        room = self._room - size
        if room < 0:
            if size > self._bound:
                return
            self._begin_generation()
            room = self._room - size
        young = self._young
        before = len(young)
        young[text] = tokens
        if len(young) != before:  # else another thread was here first
            self._room = room

    def _begin_generation(self) -> None:
        generations = (self._young, *self._older)
        self._older = generations[: _GENERATIONS - 1]
        self._forgotten += sum(map(len, generations[_GENERATIONS - 1 :]))
        self._older_bytes = (self._bound - self._room, *self._older_bytes)[: _GENERATIONS - 1]
        self._young, self._room = {}, self._bound


_shared: dict[BundledTokenizer | TiktokenTokenizer, CachedTokenizer] = {}
_sharing = Lock()


def cached(tokenizer: Tokenizer) -> CachedTokenizer:
    """Give `tokenizer` a cache, unless it has one.

    The bundled encodings share one cache each in a process, so that short-lived objects profit from
    one another; every other tokenizer gets a cache of its own.
    """
    if isinstance(tokenizer, CachedTokenizer):
        return tokenizer
    if not isinstance(tokenizer, BundledTokenizer | TiktokenTokenizer):
        return CachedTokenizer(tokenizer)
    if not isinstance(tokenizer.encoding, str):
        return CachedTokenizer(tokenizer)
    with _sharing:
        if tokenizer not in _shared:
            _shared[tokenizer] = CachedTokenizer(tokenizer)
        return _shared[tokenizer]
