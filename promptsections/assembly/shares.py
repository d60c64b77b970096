"""Shares of a budget by category: percentages that are validated, and divided into whole tokens."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, get_args

from promptsections.budgets import total_budget
from promptsections.errors import DefinitionError

Percent = int | float
"""Numbers mean what they print: 12.5 is an eighth."""

OverFull = Literal["error", "normalise"]
"""What becomes of shares that add up to more than 100 %."""


def frozen_shares(shares: Mapping[str, Percent]) -> Mapping[str, Percent]:
    """Return shares as they are now, whatever becomes of the mapping.

    Raises:
        DefinitionError: they are no mapping.
    """
    if not isinstance(shares, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"shares={shares!r} must be a mapping, category → percent")
    return MappingProxyType(dict(shares))


def check_shares(
    shares: Mapping[str, Percent], *, over_full: OverFull = "error", owner: str = "shares"
) -> Mapping[str, Fraction]:
    """Return shares as exact fractions of a whole.

    Args:
        shares: Category → percent.
        over_full: `"normalise"` scales shares that add up to more than 100 % down to it.
        owner: Whose they are, for errors.

    Raises:
        DefinitionError: a share is no number from 0 to 100, or they add up to more than 100 %.
    """
    if over_full not in get_args(OverFull):
        raise DefinitionError(f"over_full={over_full!r} must be 'error' or 'normalise'")
    exact = {name: _fraction(name, value, owner) for name, value in shares.items()}
    total = sum(exact.values(), Fraction(0))
    if total > 1:
        if over_full == "error":
            listed = ", ".join(f"{name} {value}" for name, value in shares.items())
            raise DefinitionError(
                f"{owner}: the shares add up to {float(total * 100):g} % ({listed}): lower some, "
                "or pass over_full='normalise'"
            )
        exact = {name: share / total for name, share in exact.items()}
    return MappingProxyType(exact)


def _fraction(name: str, value: Percent, owner: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"{owner}: {name}={value!r} must be a percentage from 0 to 100")
    return Fraction(str(value)) / 100


def divide(total: int, shares: Mapping[str, Fraction]) -> dict[str, int]:
    """Divide whole tokens by shares, exactly: no token of the shares' sum is lost or made.

    Each gets the whole part of what is due to it; what is left goes to the largest remainders, the
    first of equals (Hamilton's method).

    Args:
        total: Tokens, 0 or more.
        shares: Category → fraction; their sum is at most 1.

    Raises:
        InvalidBudgetError: if the total is no whole number of tokens.
    """
    tokens = total if total == 0 else total_budget(total)
    due = {name: tokens * share for name, share in shares.items()}
    given = {name: int(exact) for name, exact in due.items()}
    left = int(sum(due.values(), Fraction(0))) - sum(given.values())
    ranked = sorted(due, key=lambda name: given[name] - due[name])
    for name in ranked[:left]:
        given[name] += 1
    return given
