"""Estimates, for models whose tokenizer is not public.

They say that they are not exact, and round up. It knows no model.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isfinite

from attrs import field, frozen

from promptsections.errors import DefinitionError
from promptsections.tokens.tokenizer import Tokenizer, is_loaded
from promptsections.unicode import well_formed


def _ratio(value: object) -> Fraction:
    """Read a number as what it prints: 3.5 is seven halves, 0.1 a tenth."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise DefinitionError(f"expected a number > 0, but got {value!r}")
    if not isfinite(value) or value <= 0:
        raise DefinitionError(f"expected a finite number > 0, but got {value!r}")
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def _ratio_or_none(value: object) -> Fraction | None:
    return None if value is None else _ratio(value)


def _ceil(number: int, ratio: Fraction) -> int:
    """`number * ratio`, rounded up, in whole numbers."""
    return -(-number * ratio.numerator // ratio.denominator)


@frozen
class ApproximateTokenizer:
    """Estimates tokens from the length of a text, rounding up; longer is never less.

    `ApproximateTokenizer()` takes four characters for a token, a usual figure for English.
    `bytes_per_token` measures in UTF-8 instead, which is fairer to other scripts; 1 is an upper
    bound for every byte-level vocabulary.
    """

    characters_per_token: Fraction | None = field(default=None, converter=_ratio_or_none)
    """Characters (code points) to a token; 4 if neither is given."""
    bytes_per_token: Fraction | None = field(default=None, converter=_ratio_or_none, kw_only=True)
    """Bytes of UTF-8 to a token."""
    name: str = field(default="", kw_only=True)
    """What names this way of counting; says how it estimates unless given."""

    def __attrs_post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self._described())
        if self.characters_per_token is not None and self.bytes_per_token is not None:
            raise DefinitionError("give characters_per_token or bytes_per_token, not both")

    def _described(self) -> str:
        if self.bytes_per_token is not None:
            return f"approximate-{self.bytes_per_token}-bytes"
        return f"approximate-{self.characters_per_token or 4}-characters"

    @property
    def exact(self) -> bool:
        """Always false."""
        return False

    def count(self, text: str, /) -> int:
        """Estimate the tokens of `text`."""
        if self.bytes_per_token is not None:
            return _ceil(len(well_formed(text).encode()), 1 / self.bytes_per_token)
        return _ceil(len(text), 1 / (self.characters_per_token or Fraction(4)))


@frozen
class ScaledTokenizer:
    """Estimates a model without a public tokenizer by another one and a margin, rounding up.

    `ScaledTokenizer(TiktokenTokenizer("o200k_base"), 1.2)` is a fifth more than o200k_base.
    """

    base: Tokenizer
    """What counts."""
    factor: Fraction = field(converter=_ratio)
    """What its counts are multiplied by, exactly."""

    @property
    def name(self) -> str:
        """The name of the base and the factor."""
        return f"{self.base.name}*{self.factor}"

    @property
    def exact(self) -> bool:
        """Always false."""
        return False

    @property
    def loaded(self) -> bool:
        """Whether counting can begin at once: as the base."""
        return is_loaded(self.base)

    def count(self, text: str, /) -> int:
        """Estimate the tokens of `text`."""
        return self.scaled(self.base.count(text))

    def scaled(self, tokens: int) -> int:
        """Return the estimate for a text that the base counts as so many tokens."""
        return _ceil(tokens, self.factor)
