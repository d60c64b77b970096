"""Budgets: short forms, exact fractions, and the numbers that have no meaning."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    Auto,
    InvalidBudgetError,
    Prompt,
    Rest,
    Share,
    TextSection,
    Tokens,
    to_budget,
)
from promptsections.budgets import total_budget


@pytest.mark.parametrize(
    ("short", "budget"),
    [
        (-1, Auto()),
        (-1.0, Auto()),
        (300, Tokens(300)),
        (120.0, Tokens(120)),
        (Decimal("2"), Tokens(2)),
        (0.3, Share(0.3)),
        (Decimal("0.25"), Share(Fraction(1, 4))),
        (Fraction(2, 3), Share(Fraction(2, 3))),
        (1.0, Rest()),
        (Fraction(1), Rest()),
        (Share(0.5, at_least=10), Share(0.5, at_least=10)),
    ],
)
def test_short_forms_mean_what_the_docs_say(short: Any, budget: object) -> None:
    assert to_budget(short) == budget


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1, "write `Tokens(1)` for one token or `1.0`"),
        (0, "-1 (all it needs) is the only number below 1"),
        (-2, "is the only number below 1"),
        (-0.5, "is the only number below 1"),
        (1.5, "is no whole number of tokens"),
        (float("nan"), "is no budget"),
        (float("inf"), "is no budget"),
        (Decimal("nan"), "is no budget"),
        (True, "is no budget"),
        (None, "is no budget"),
        ("50%", "is no budget"),
    ],
)
def test_what_is_no_budget_names_section_value_and_rule(value: Any, said: str) -> None:
    with pytest.raises(InvalidBudgetError) as caught:
        TextSection("x", tokens=value, name="facts")

    assert caught.value.section == "facts"
    assert caught.value.value is value
    assert "section 'facts'" in str(caught.value)
    assert repr(value) in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tokens(5, at_least=9),
        lambda: Auto(at_least=9, at_most=5),
        lambda: Share(0.5, at_most=0),
        lambda: Share(1.5),
        lambda: Share(0),
        lambda: Rest(weight=-1),
        lambda: Rest(weight=float("inf")),
        lambda: Tokens(2.5),
        lambda: Tokens("5"),
        lambda: Auto(at_least=True),
    ],
)
def test_budgets_that_contradict_themselves_are_errors(make: Any) -> None:
    with pytest.raises(InvalidBudgetError):
        make()


@pytest.mark.parametrize("value", [0, -100, float("nan"), True, None, "10", 1.5])
def test_the_budget_of_a_render_is_a_whole_number_above_0(value: Any) -> None:
    with pytest.raises(InvalidBudgetError, match="must be a whole number of tokens"):
        total_budget(value)


@given(st.integers(1, 99))
def test_a_float_is_read_as_its_shortest_decimal(hundredths: int) -> None:
    """No hundredth is off by float dust, so that 0.3 is three tenths."""
    budget = to_budget(hundredths / 100)

    assert budget == Share(Fraction(hundredths, 100))


@given(st.integers(2, 10**9), st.integers(1, 10**9))
def test_budgets_survive_pickling(tokens: int, least: int) -> None:
    """A budget is a value."""
    for budget in (Tokens(tokens), Auto(at_least=least), Rest(weight=tokens, at_most=least)):
        assert pickle.loads(pickle.dumps(budget)) == budget


def test_a_default_of_a_subclass_is_read_like_any_other_short_form() -> None:
    from attrs import field, frozen

    @frozen
    class Facts(TextSection):
        tokens: Any = field(default=0.3, kw_only=True)

    @frozen
    class Wrong(TextSection):
        tokens: Any = field(default=1, kw_only=True)

    assert Facts("x").budget == Share(0.3)
    with pytest.raises(InvalidBudgetError, match="section 'wrong'"):
        Prompt([Wrong("x")])


def test_numbers_of_other_libraries_count_as_whole_numbers() -> None:
    class Number:
        def __index__(self) -> int:
            return 7

    assert to_budget(Number()) == Tokens(7)


def test_a_ceiling_is_the_smaller_of_two() -> None:
    assert Tokens(300, at_most=200).ceiling == 200
    assert Tokens(300).ceiling == 300
    assert Share(0.5).ceiling is None
