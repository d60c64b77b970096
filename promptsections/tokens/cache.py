"""A bounded memory of counts, keyed by text.

One cache serves one tokenizer, so no count can be taken for another's. It knows no vocabulary.
"""

from __future__ import annotations

from sys import getsizeof
from threading import Lock

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
_ENTRY_BYTES = 140
"""What an entry takes beside its text: its place in the dictionary and the number, rounded up."""


class CachedTokenizer:
    """A tokenizer that remembers what it has counted.

    Two generations: what is asked for moves to the young one; when that holds half of `max_bytes`
    it becomes the old one, and the old one is forgotten. So texts in use are never all forgotten at
    once, and a hit costs one look-up without a lock.
    """

    __slots__ = (
        "_bytes",
        "_count",
        "_half",
        "_lock",
        "_old",
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
        self._half = max_bytes // 2
        self._lock = Lock()
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}
        self._bytes = 0

    def count(self, text: str, /) -> int:
        """Count the tokens of `text`, or remember the count."""
        found = self._young.get(text)
        return self._missed(text) if found is None else found

    @property
    def loaded(self) -> bool:
        """Whether counting can begin at once: as the wrapped tokenizer."""
        return is_loaded(self.tokenizer)

    def put(self, text: str, tokens: int) -> None:
        """Remember that `text` has `tokens` tokens, as someone else has counted."""
        if len(text) <= MAX_CACHED_CHARACTERS:
            self._keep(text, checked_count(self.name, tokens))

    def __reduce__(self) -> tuple[type[CachedTokenizer], tuple[Tokenizer, int]]:
        return CachedTokenizer, (self.tokenizer, self.max_bytes)

    def __repr__(self) -> str:
        return f"CachedTokenizer({self.tokenizer!r}, max_bytes={self.max_bytes})"

    def _missed(self, text: str) -> int:
        found = self._old.get(text)
        if found is None:
            found = self._count(text)
            if type(found) is not int or found < 0:
                found = checked_count(self.name, found)
        if len(text) <= MAX_CACHED_CHARACTERS:
            self._keep(text, found)
        return found

    def _keep(self, text: str, tokens: int) -> None:
        size = getsizeof(text) + _ENTRY_BYTES
        with self._lock:
            if text in self._young:
                return
            if self._bytes + size > self._half:
                self._old, self._young, self._bytes = self._young, {}, 0
            if size <= self._half:
                self._young[text] = tokens
                self._bytes += size


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
