"""The fast backend: toktok, where it is installed, sound, and sure to agree with tiktoken.

tiktoken is the truth. toktok is taken in the version that was compared with it, after it has
counted a list of hard texts right; texts with a character on which the two differ are left to
tiktoken. It knows no cache.
"""

from __future__ import annotations

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

_DISPUTED = (
    "\u017f"  # to tiktoken 'ſ is a contraction in o200k_base (it folds to 's), to toktok it is not
    # New in Unicode 17, which toktok knows and tiktoken 0.14 does not.
    "\u088f\u0c5c\u0cdc\u1acf-\u1add\u1ae0-\u1aeb\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1"
    "\U00010940-\U00010959\U00010ec5-\U00010ec7\U00010efa\U00010efb\U00011b60-\U00011b67"
    "\U00011db0-\U00011ddb\U00011de0-\U00011de9\U00016ea0-\U00016eb8\U00016ebb-\U00016ed3"
    "\U00016ff2-\U00016ff6\U000187f8-\U000187ff\U00018d09-\U00018d1e\U00018d80-\U00018df2"
    "\U0001e6c0-\U0001e6de\U0001e6e0-\U0001e6f5\U0001e6fe\U0001e6ff\U0002b73a-\U0002b73f"
    "\U0002cea2-\U0002cead\U000323b0-\U00033479"
)
_DOUBTFUL = re.compile(f"[\ud800-\udfff{_DISPUTED}]")
"""A character that toktok refuses, or counts otherwise than tiktoken."""


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

    __slots__ = ("_count", "_encode", "_tiktoken")

    def __init__(self, native: NativeEncoding, tiktoken: TiktokenTokenizer) -> None:
        self._count = native.count
        self._encode = native.encode_ordinary
        self._tiktoken = tiktoken

    def count(self, text: str, /) -> int:
        """Count the tokens of `text` as ordinary text."""
        # `str.isascii(text)`, not `text.isascii()`: what is no text is a TypeError here.
        if str.isascii(text) or _DOUBTFUL.search(text) is None:
            return self._count(text)
        text = well_formed(text)
        return self._tiktoken.count(text) if _DOUBTFUL.search(text) else self._count(text)

    def encode(self, text: str, /) -> Sequence[int]:
        """Encode `text` as ordinary text."""
        if str.isascii(text) or _DOUBTFUL.search(text) is None:
            return self._encode(text)
        text = well_formed(text)
        return self._tiktoken.encode(text) if _DOUBTFUL.search(text) else self._encode(text)


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
