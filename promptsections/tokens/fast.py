"""The fast backend: toktok, where it is installed, sound, and sure to agree with tiktoken.

tiktoken is the truth. toktok is taken in the version that was compared with it, after it has
counted a list of hard texts right; texts with a character on which the two differ are left to
tiktoken. It knows no cache.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from logging import getLogger
from threading import Lock
from typing import Protocol, cast

from promptsections.tokens.golden import first_difference
from promptsections.tokens.tiktoken_encoding import TiktokenTokenizer
from promptsections.unicode import well_formed

COMPARED = ("0.3.0",)
"""Versions of toktok-rs that were compared with tiktoken: every character, and fuzzed texts."""

_DOUBTFUL = (
    (0x17F, 0x17F),  # to tiktoken 'ſ is a contraction in o200k_base (it folds to 's), not to toktok
    (0xD800, 0xDFFF),  # surrogates: toktok refuses them
    # New in Unicode 17, which toktok knows and tiktoken 0.14 does not.
    (0x88F, 0x88F), (0xC5C, 0xC5C), (0xCDC, 0xCDC), (0x1ACF, 0x1ADD), (0x1AE0, 0x1AEB),
    (0xA7CE, 0xA7CF), (0xA7D2, 0xA7D2), (0xA7D4, 0xA7D4), (0xA7F1, 0xA7F1), (0x10940, 0x10959),
    (0x10EC5, 0x10EC7), (0x10EFA, 0x10EFB), (0x11B60, 0x11B67), (0x11DB0, 0x11DDB),
    (0x11DE0, 0x11DE9), (0x16EA0, 0x16EB8), (0x16EBB, 0x16ED3), (0x16FF2, 0x16FF6),
    (0x187F8, 0x187FF), (0x18D09, 0x18D1E), (0x18D80, 0x18DF2), (0x1E6C0, 0x1E6DE),
    (0x1E6E0, 0x1E6F5), (0x1E6FE, 0x1E6FF), (0x2B73A, 0x2B73F), (0x2CEA2, 0x2CEAD),
    (0x323B0, 0x33479),
)  # fmt: skip
"""The characters on which toktok and tiktoken differ: first and last of each range."""


@functools.cache
def _doubtful() -> re.Pattern[str]:
    """Match a character of `_DOUBTFUL`: one that is in none of the ranges between them.

    So almost every character is told by one look into a table. Compiled when toktok is loaded,
    because that takes milliseconds.
    """
    ranges = sorted(_DOUBTFUL)
    firsts = [0, *(last + 1 for _, last in ranges)]
    lasts = [*(first - 1 for first, _ in ranges), 0x10FFFF]
    between = "".join(f"\\U{a:08X}-\\U{b:08X}" for a, b in zip(firsts, lasts, strict=True))
    return re.compile(f"[^{between}]")


class FastBackendWarning(RuntimeWarning):
    """The fast backend is installed but cannot be used, so that tiktoken counts in its place."""


class NativeEncoding(Protocol):
    """The part of a toktok tokenizer that counting needs; it knows no surrogates."""

    def count(self, text: str, /) -> int:
        """Count the tokens of `text`, reading nothing in it as a special token."""
        ...

    def encode_ordinary(self, text: str, /) -> Sequence[int]:
        """Encode `text`, reading nothing in it as a special token."""
        ...


class FastEncoding:
    """A vocabulary of toktok that counts exactly as tiktoken."""

    __slots__ = ("_count", "_doubt", "_encode", "_tiktoken")

    def __init__(self, native: NativeEncoding, tiktoken: TiktokenTokenizer) -> None:
        self._count = native.count
        self._encode = native.encode_ordinary
        self._doubt = _doubtful().search
        self._tiktoken = tiktoken

    def count(self, text: str, /) -> int:
        """Count the tokens of `text` as ordinary text."""
        # `str.isascii(text)`, not `text.isascii()`: what is no text is a TypeError here.
        if str.isascii(text) or self._doubt(text) is None:
            return self._count(text)
        text = well_formed(text)
        return self._tiktoken.count(text) if self._doubt(text) else self._count(text)

    def encode(self, text: str, /) -> Sequence[int]:
        """Encode `text` as ordinary text."""
        if str.isascii(text) or self._doubt(text) is None:
            return self._encode(text)
        text = well_formed(text)
        return self._tiktoken.encode(text) if self._doubt(text) else self._encode(text)


def is_installed() -> bool:
    """Say whether there is a toktok; nothing is imported."""
    return find_spec("toktok") is not None


def load_fast(name: str) -> FastEncoding | None:
    """Load a bundled encoding with toktok, which must be installed.

    `None` if it is not sound. Then a `FastBackendWarning` and the log say so, once in a process,
    and it is not tried again.
    """
    with _loading:
        if _refused:
            return None
        loaded = _load(name)
        if isinstance(loaded, FastEncoding):
            return loaded
        _refused.append(loaded)
    text = f"{loaded}. tiktoken counts instead: the same counts, but slower"
    getLogger("promptsections").warning(text)
    warnings.warn(text, FastBackendWarning, stacklevel=2)
    return None


_loading = Lock()
_refused: list[str] = []
"""Why toktok is not used in this process, once that was found out."""


def _load(name: str) -> FastEncoding | str:
    """Load and compare; a text says what is wrong."""
    try:
        toktok = import_module("toktok")
        version = getattr(toktok, "__version__", "of unknown version")
        if version not in COMPARED:
            return (
                f"toktok-rs {version} was not compared with tiktoken, only "
                f"{' and '.join(COMPARED)} was: pip install 'promptsections[fast]'"
            )
        # Underscored, but in toktok's docs/PYTHON.md; its public batch_count takes 30 µs a call.
        make: Callable[[str], object] = getattr(toktok, "_encoding")  # noqa: B009
        fast = FastEncoding(cast("NativeEncoding", make(name)), TiktokenTokenizer(name))
        wrong = first_difference(name, fast.count, fast.encode)
    except Exception as error:  # whatever happens in there, tiktoken can count
        return f"toktok-rs failed with {type(error).__name__}: {error}"
    return fast if wrong is None else f"toktok-rs {version} is not tiktoken: {wrong}"
