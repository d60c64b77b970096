"""Budgets of sections: `Auto`, `Tokens`, `Share`, `Rest`, and the one place that reads short forms.

It knows numbers only: no sections, no text.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, NoReturn

from attrs import field, frozen

from promptsections.errors import InvalidBudgetError


def _fail(value: object, rule: str, section: str | None = None) -> NoReturn:
    where = f"section {section!r}: " if section is not None else ""
    shown = str(value) if isinstance(value, Fraction) else repr(value)
    raise InvalidBudgetError(f"{where}tokens={shown} {rule}", value=value, section=section)


def exact_fraction(value: object) -> Fraction | None:
    """Read a number as what it prints, a float as its shortest decimal; `None` if not finite."""
    match value:
        case bool():
            return None
        case float():
            return Fraction(repr(value)) if isfinite(value) else None
        case int() | Fraction():
            return Fraction(value)
        case Decimal():
            return Fraction(value) if value.is_finite() else None
        case _:
            try:
                return Fraction(value.__index__())  # type: ignore[attr-defined]
            except (AttributeError, TypeError):
                return None


def _positive_fraction(value: Any) -> Fraction:
    fraction = exact_fraction(value)
    if fraction is None or fraction <= 0:
        _fail(value, "must be a finite number above 0")
    return fraction


def _fraction_of_space(value: Any) -> Fraction:
    fraction = _positive_fraction(value)
    if fraction > 1:
        _fail(value, "is more than the whole: write `Rest(weight=…)` for parts of the rest")
    return fraction


def whole_tokens(value: Any) -> int:
    """Read a whole number of tokens above 0; `120.0` is 120.

    Raises:
        InvalidBudgetError: for anything else.
    """
    fraction = exact_fraction(value)
    if fraction is None or fraction.denominator != 1 or fraction < 1:
        _fail(value, "must be a whole number of tokens, 1 or more")
    return fraction.numerator


def _optional_tokens(value: Any) -> int | None:
    return None if value is None else whole_tokens(value)


@frozen(kw_only=True)
class _Limits:
    at_least: int | None = field(default=None, converter=_optional_tokens)
    """Tokens reserved for the section, as far as its content needs them."""
    at_most: int | None = field(default=None, converter=_optional_tokens)
    """The most tokens the section may get."""

    def __attrs_post_init__(self) -> None:
        ceiling = self.ceiling
        if self.at_least is not None and ceiling is not None and self.at_least > ceiling:
            _fail(self, f"reserves {self.at_least} tokens but may get at most {ceiling}")

    @property
    def ceiling(self) -> int | None:
        """The most tokens the section may get, or `None` if nothing but the room limits it."""
        return self.at_most


@frozen
class Auto(_Limits):
    """As large as the content, whole: `tokens=-1`."""


@frozen
class Tokens(_Limits):
    """At most so many tokens; the content is cut to that: `tokens=300`."""

    tokens: int = field(converter=whole_tokens)
    """The limit, in tokens."""

    @property
    def ceiling(self) -> int | None:
        """The smaller of `tokens` and `at_most`."""
        return self.tokens if self.at_most is None else min(self.tokens, self.at_most)


@frozen
class Share(_Limits):
    """At most a fraction of what the fixed sections leave: `tokens=0.3`."""

    fraction: Fraction = field(converter=_fraction_of_space)
    """Above 0, at most 1; a float is read as its shortest decimal, so `0.3` is three tenths."""


@frozen
class Rest(_Limits):
    """What the fixed sections and the shares leave, between all rests by weight: `tokens=1.0`."""

    weight: Fraction = field(default=Fraction(1), converter=_positive_fraction)
    """The proportion between the rests beside each other; any positive number."""


Budget = Auto | Tokens | Share | Rest
"""How many tokens a section would like."""

_BUDGETS = (Auto, Tokens, Share, Rest)
"""The same for `isinstance`, which a union keeps waiting."""

BudgetLike = Budget | int | float | Decimal | Fraction
"""A budget or its short form, as `to_budget` reads it."""


def to_budget(value: object, *, section: str | None = None) -> Budget:
    """Read a budget or its short form.

    `-1` is `Auto()`, a number between 0 and 1 a `Share`, `1.0` is `Rest()`, a whole number above 1
    is `Tokens`.

    Args:
        value: A budget, or a number.
        section: The section's name, for the error.

    Raises:
        InvalidBudgetError: names the section, the value and the rule.
    """
    if isinstance(value, _BUDGETS):
        return value
    fraction = exact_fraction(value)
    if fraction is None:
        _fail(
            value,
            "is no budget: write -1 (all it needs), a number of tokens above 1, a fraction below "
            "1, 1.0 (the rest), or Auto, Tokens, Share, Rest",
            section,
        )
    if fraction == -1:
        return Auto()
    if fraction <= 0:
        _fail(value, "is no budget: -1 (all it needs) is the only number below 1 token", section)
    if fraction < 1:
        return Share(fraction)
    if fraction == 1:
        if isinstance(value, int):
            _fail(
                value,
                "is ambiguous: write `Tokens(1)` for one token or `1.0` for all that is left",
                section,
            )
        return Rest()
    if fraction.denominator != 1:
        _fail(value, "is no whole number of tokens", section)
    return Tokens(fraction.numerator)


def total_budget(value: object, *, what: str = "budget") -> int:
    """Read the budget of a whole render: a whole number of tokens above 0.

    Raises:
        InvalidBudgetError: for anything else.
    """
    if type(value) is int and value > 0:
        return value
    fraction = exact_fraction(value)
    if fraction is None or fraction.denominator != 1 or fraction < 1:
        raise InvalidBudgetError(
            f"{what}={value!r} must be a whole number of tokens, 1 or more", value=value
        )
    return fraction.numerator
