"""Counting with tiktoken and the two vocabularies that come with this package.

It opens no socket, reads no environment variable and registers nothing with tiktoken, so it can
neither be disturbed by other users of tiktoken in the same process nor disturb them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pkgutil import get_data
from threading import Lock
from typing import Literal, Protocol, cast, runtime_checkable

from attrs import field, frozen

from promptsections.errors import DefinitionError, PromptSectionsError
from promptsections.tokens.boundaries import BLANKS, first_strong, last_strong
from promptsections.tokens.runs import merged_run

# The splitting rules of the two encodings, as tiktoken publishes them in openai_public.py.
CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_PATTERN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_ENDING}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_ENDING}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_BUNDLED = {"o200k_base": (199_998, O200K_PATTERN), "cl100k_base": (100_256, CL100K_PATTERN)}
"""Name → number of tokens in the file, splitting rule."""

_PIECE = 200_000
"""Characters of a long text that are counted at once, where it can be parted: while tiktoken makes
its list of tokens no other thread runs."""
_LONGEST_TOKEN = 128
"""Bytes of a token of the two vocabularies, at most."""
_RUN = 1_024
"""Blanks that are counted apart: tiktoken is slow on such runs, and panics on a million."""
_LONG_BLANKS = re.compile(f"(?<!{BLANKS}){BLANKS}{{{_RUN},}}+")
_LONG_RUNS = tuple(blank * _RUN for blank in " \t")


@runtime_checkable
class OrdinaryEncoding(Protocol):
    """The part of `tiktoken.Encoding` that counting needs."""

    @property
    def name(self) -> str:
        """The name of the encoding."""
        ...

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode `text`, reading nothing in it as a special token."""
        ...


_loaded: dict[str, OrdinaryEncoding] = {}
_loading = Lock()


def _check_encoding(_: object, __: object, value: object) -> None:
    if isinstance(value, str) or not isinstance(value, OrdinaryEncoding):
        check_bundled(_, __, value)


def check_bundled(_: object, __: object, value: object) -> None:
    """Refuse what is not the name of a bundled encoding, with a `DefinitionError`."""
    if isinstance(value, str) and value in _BUNDLED:
        return
    near = get_close_matches(str(value), _BUNDLED, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise DefinitionError(
        f"unknown encoding {value!r}.{hint} The bundled ones are "
        f"{' and '.join(map(repr, _BUNDLED))}; for another, pass a tiktoken.Encoding"
    )


@frozen
class TiktokenTokenizer:
    """Counts exactly as tiktoken's `encode_ordinary`, without a network.

    All text is ordinary text: `<|endoftext|>` is seven tokens. Lone surrogates count as U+FFFD, a
    split pair as its character. The vocabulary (about 90 MB in memory for o200k_base) is loaded by
    the first count, once per process; one that the process already holds is used instead.
    """

    encoding: str | OrdinaryEncoding = field(default="o200k_base", validator=_check_encoding)
    """`o200k_base`, `cl100k_base`, or a `tiktoken.Encoding` of your own."""

    @property
    def name(self) -> str:
        """The name of the encoding."""
        return self.encoding if isinstance(self.encoding, str) else self.encoding.name

    @property
    def exact(self) -> bool:
        """Always true: these are the vocabularies that the models use."""
        return True

    @property
    def joints(self) -> Literal["strong", "none"]:
        """`strong` for the splitting rules that the proof in `boundaries` covers."""
        if isinstance(self.encoding, str) or _pattern_of(self.encoding) is not None:
            return "strong"
        return "none"

    @property
    def loaded(self) -> bool:
        """Whether counting can begin at once, or must read a vocabulary first."""
        return not isinstance(self.encoding, str) or self.encoding in _loaded

    def count(self, text: str, /) -> int:
        """Count the tokens of `text` as ordinary text."""
        encoding = self._encoding()
        if len(text) > _PIECE or (len(text) > _RUN and any(run in text for run in _LONG_RUNS)):
            return _count_huge(encoding, text)
        return len(encoding.encode_ordinary(text))

    def encode(self, text: str, /) -> Sequence[int]:
        """Encode `text` as ordinary text."""
        return self._encoding().encode_ordinary(text)

    def _encoding(self) -> OrdinaryEncoding:
        if not isinstance(self.encoding, str):
            return self.encoding
        return _loaded.get(self.encoding) or _load(self.encoding)


def _load(name: str) -> OrdinaryEncoding:
    """Load a bundled encoding, once per process, or take the one that the host has loaded."""
    import tiktoken
    from tiktoken.registry import ENCODINGS

    with _loading:
        if name not in _loaded:
            size, pattern = _BUNDLED[name]
            _loaded[name] = ENCODINGS.get(name) or tiktoken.Encoding(
                name,
                pat_str=pattern,
                mergeable_ranks=read_ranks(name, size),
                special_tokens={},  # text is never read as special tokens, so it needs none
            )
        return _loaded[name]


def read_ranks(name: str, size: int) -> dict[bytes, int]:
    """Read the ranks of a bundled encoding of `size` tokens.

    The file holds one byte per token with its length, by rank, then the bytes of all tokens.
    """
    data = get_data("promptsections.tokens", f"data/{name}.bin")
    if data is None:  # an import hook of the host that reads code and nothing else
        raise FileNotFoundError(
            f"{name}.bin of promptsections.tokens cannot be read as package data"
        )
    ranks: dict[bytes, int] = {}
    position = size
    for rank, length in enumerate(data[:size]):
        ranks[data[position : position + length]] = rank
        position += length
    return ranks


def _pattern_of(encoding: OrdinaryEncoding) -> str | None:
    """The splitting rule of `encoding` if it is one of the two that are proven."""
    pattern = getattr(encoding, "_pat_str", None)
    return pattern if pattern in (CL100K_PATTERN, O200K_PATTERN) else None


def _count_huge(encoding: OrdinaryEncoding, text: str) -> int:
    """Add up pieces between strong positions, where counts add exactly."""
    pattern = _pattern_of(encoding)
    merge = getattr(encoding, "_encode_single_piece", None)
    if pattern is None or merge is None:
        return _count_or_explain(encoding, text)
    total = start = 0
    while start < len(text):
        end, goal = len(text), start + _PIECE
        if goal < end:
            end = last_strong(text, goal, start) or first_strong(text, goal - 1) or end
        total += _count_long_blanks(encoding, text[start:end], pattern, merge)
        start = end
    return total


def _count_long_blanks(
    encoding: OrdinaryEncoding,
    text: str,
    pattern: str,
    merge: Callable[[str], Sequence[int]],
) -> int:
    """Count a text that may hold runs of blanks too long for tiktoken's splitter.

    tiktoken panics on about a million blanks, because `\\s+(?!\\S)` backtracks. What that rule does
    with such a run is known: it takes all of it at the end of the text, all but the last blank
    before anything else. So the run is cut there and its bytes are merged without the splitter. A
    run before a line break, and in cl100k one at the end, is taken by another rule that does not
    backtrack.
    """
    total = start = 0
    for run in _LONG_BLANKS.finditer(text):
        at_end = run.end() == len(text)
        if text[run.end() : run.end() + 1] in ("\r", "\n") or (
            at_end and pattern == CL100K_PATTERN
        ):
            continue
        end = run.end() if at_end else run.end() - 1
        total += len(encoding.encode_ordinary(text[start : run.start()]))
        total += _count_run(encoding, text[run.start() : end], merge)
        start = end
    return total + len(encoding.encode_ordinary(text[start:]))


def _count_run(encoding: OrdinaryEncoding, run: str, merge: Callable[[str], Sequence[int]]) -> int:
    """Count the tokens of a long run of blanks that is one piece."""
    blank = run[0]
    if blank.isascii() and run == blank * len(run):
        tokens = merged_run(len(run), _run_ranks(cast("Hashable", encoding), blank))
        if tokens is not None:
            return tokens
    return len(merge(run))


@functools.lru_cache(maxsize=8)
def _run_ranks(encoding: Hashable, blank: str) -> dict[int, int]:
    """Length → rank of the tokens that are a run of this blank."""
    rank_of: Callable[[bytes], int] = getattr(encoding, "encode_single_token")  # noqa: B009
    ranks: dict[int, int] = {}
    for length in range(1, _LONGEST_TOKEN + 1):
        with suppress(KeyError):
            ranks[length] = rank_of(blank.encode() * length)
    return ranks


def _count_or_explain(encoding: OrdinaryEncoding, text: str) -> int:
    """Count; turn a panic of the splitter, which is no `Exception`, into an error of ours."""
    try:
        return len(encoding.encode_ordinary(text))
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":
            raise
        raise PromptSectionsError(
            f"tiktoken cannot split a text of {len(text)} characters with the encoding "
            f"{encoding.name!r}: it holds a run that is too long for the splitting rule"
        ) from panic
