"""Estimates by kind of character: much nearer than a number of characters to a token, and as fast.

A text is looked at as bytes of UTF-8: how many there are of each kind, and how many runs. What each
is worth in tokens is data, one row for a family of models. It knows no vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from attrs import field, frozen

from promptsections.errors import DefinitionError
from promptsections.tokens.approximate import ApproximateTokenizer
from promptsections.unicode import well_formed

Feature = Literal[
    "word", "letter", "number", "digit", "sign", "break", "blank", "accent", "script", "symbol",
    "kana", "han", "hangul", "indic", "emoji",
]  # fmt: skip
"""What is counted in a text. `word`, `number`, `break` and `blank` are runs (of letters, of digits,
that begin with a line break, of two blanks and more), the others characters."""


def _frozen(weights: Mapping[Feature, int]) -> Mapping[Feature, int]:
    return MappingProxyType(dict(weights))


def _check_weights(_: object, __: object, weights: Mapping[Any, Any]) -> None:
    for name, weight in weights.items():
        whole = isinstance(weight, int) and not isinstance(weight, bool)
        if name not in get_args(Feature) or not whole or not 0 <= weight <= 16_000:
            raise DefinitionError(
                f"weights: {name!r}: {weight!r} must be thousandths of a token (0 to 16000) for "
                f"one of {', '.join(get_args(Feature))}"
            )


@frozen(kw_only=True)
class EstimationModel:
    """What a family of models makes of texts, about."""

    name: str
    weights: Mapping[Feature, int] = field(
        converter=_frozen, validator=_check_weights, hash=False, repr=False
    )
    """Feature → thousandths of a token."""
    characters_per_token: Fraction
    """What is said of the family where only lengths are looked at."""

    def by_length(self) -> ApproximateTokenizer:
        """Return the tokenizer that only looks at lengths."""
        return ApproximateTokenizer(self.characters_per_token)


@frozen
class EstimatedTokenizer:
    """Estimates tokens by kind of character; reads no vocabulary."""

    model: EstimationModel

    @property
    def name(self) -> str:
        """The name of the model, and that it is an estimate."""
        return f"estimated:{self.model.name}"

    @property
    def exact(self) -> bool:
        """Always false."""
        return False

    def count(self, text: str, /) -> int:
        """Estimate the tokens of `text`, rounding up; at least 1 if there is any, at most a byte
        for each."""
        data = well_formed(text).encode()
        weights = self.model.weights
        found = features(data)
        total = sum(weights.get(name, 0) * number for name, number in found.items() if number)
        return min(len(data), max(-(-total // 1_000), 1)) if data else 0


def features(data: bytes) -> dict[Feature, int]:
    """Count each feature of a text in UTF-8."""
    kinds = data.translate(_KINDS, _CONTINUATION)
    joined = kinds.translate(_LETTERS) + b" "
    return {
        "word": _runs(joined, b"w"),
        "letter": joined.count(b"w"),
        "number": _runs(joined, b"d"),
        "digit": kinds.count(b"d"),
        "sign": kinds.count(b"p"),
        "break": len(_BREAKS.findall(kinds)),
        "blank": len(_BLANKS.findall(kinds)),
        "accent": kinds.count(b"a"),
        "script": kinds.count(b"s"),
        "symbol": kinds.count(b"f"),
        "kana": kinds.count(b"k"),
        "han": kinds.count(b"h"),
        "hangul": kinds.count(b"g"),
        "indic": kinds.count(b"i"),
        "emoji": kinds.count(b"e"),
    }


def _runs(kinds: bytes, kind: bytes) -> int:
    """Count runs of a kind by what stands behind them; something does."""
    return sum(kinds.count(kind + other) for other in _OTHERS if other != kind)


def _table() -> bytes:
    """Return a kind for each byte that begins a character: ASCII, then by Unicode block."""
    kinds = bytearray(b"p" * 256)
    for first, last, kind in (
        (0x41, 0x5A, "w"), (0x61, 0x7A, "w"), (0x30, 0x39, "d"), (0x20, 0x20, " "),
        (0x09, 0x09, " "), (0x0A, 0x0D, "n"),
        (0xC2, 0xC2, "f"),  # Latin-1 signs
        (0xC3, 0xCB, "a"),  # letters with accents
        (0xCC, 0xDF, "s"),  # Greek, Cyrillic, Hebrew, Arabic
        (0xE0, 0xE1, "i"),  # Indic scripts, Thai
        (0xE2, 0xE2, "f"),  # punctuation, arrows, symbols
        (0xE3, 0xE3, "k"),  # kana, CJK punctuation
        (0xE4, 0xE9, "h"), (0xEA, 0xED, "g"), (0xEE, 0xEF, "f"), (0xF0, 0xFF, "e"),
    ):  # fmt: skip
        kinds[first : last + 1] = kind.encode() * (last + 1 - first)
    return bytes(kinds)


_KINDS: Final = _table()
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
"""Bytes that begin no character."""
_LETTERS: Final = bytes.maketrans(b"a", b"w")
_OTHERS: Final = [b"w", b"d", b"p", b"n", b" ", b"s", b"f", b"k", b"h", b"g", b"i", b"e"]
_BREAKS: Final = re.compile(rb"n[n ]*")
_BLANKS: Final = re.compile(rb" {2,}")
_O200K: Final[Mapping[Feature, int]] = {
    "word": 0, "letter": 219, "number": 1199, "digit": 342, "sign": 479, "break": 2037,
    "blank": 381, "accent": 1283, "script": 285, "symbol": 1241, "kana": 629, "han": 706,
    "hangul": 761, "indic": 392, "emoji": 1831,
}  # fmt: skip
"""Fitted by `python -m benchmarks.estimates --fit`, as the next."""
_CL100K: Final[Mapping[Feature, int]] = {
    "word": 143, "letter": 190, "number": 1122, "digit": 349, "sign": 488, "break": 1834,
    "blank": 386, "accent": 2136, "script": 513, "symbol": 1116, "kana": 984, "han": 1086,
    "hangul": 1243, "indic": 1270, "emoji": 2772,
}  # fmt: skip


def _models() -> Mapping[str, EstimationModel]:
    margin = Fraction(
        "1.2"
    )  # no tokenizer of Claude 3 is public; the models' profiles take as much
    claude: Mapping[Feature, int] = {name: int(_O200K[name] * margin) for name in _O200K}
    either: Mapping[Feature, int] = {name: max(_O200K[name], _CL100K[name]) for name in _O200K}
    rows = (
        ("gpt-4o", _O200K, "3.8"),
        ("gpt-4", _CL100K, "3.8"),
        ("gpt-3.5-turbo", _CL100K, "4"),
        ("claude-3", claude, "4.2"),
        ("generic", either, "4"),
    )
    return MappingProxyType(
        {
            name: EstimationModel(
                name=name, weights=weights, characters_per_token=Fraction(characters)
            )
            for name, weights, characters in rows
        }
    )


ESTIMATION_MODELS: Final = _models()
"""Name → model; `generic` takes the higher weight of both vocabularies."""


def find_estimation(model: str) -> EstimationModel:
    """Return the estimation model for a model's name; `generic` for one that is like none.

    A name is looked for in others, whatever their case: `openai/gpt-4-turbo` is `gpt-4`.
    """
    name = model.casefold()
    for part, family in _FAMILIES:
        if part in name:
            return ESTIMATION_MODELS[family]
    return ESTIMATION_MODELS["generic"]


_FAMILIES: Final = (
    ("gpt-4o", "gpt-4o"), ("gpt-4.1", "gpt-4o"), ("gpt-4.5", "gpt-4o"), ("gpt-5", "gpt-4o"),
    ("o200k", "gpt-4o"), ("gpt-4", "gpt-4"), ("cl100k", "gpt-4"), ("gpt-3.5", "gpt-3.5-turbo"),
    ("claude", "claude-3"),
)  # fmt: skip
"""Part of a name → family, the first that is found."""
