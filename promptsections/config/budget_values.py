"""How the budget of a section is written in a file: `auto`, `30%`, `300`, or a table with limits.

It knows numbers and budgets; `budgets` says what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, cast

from pydantic import BaseModel, Field, PlainValidator, WithJsonSchema
from pydantic.functional_validators import AfterValidator
from typing_extensions import TypeAliasType

from promptsections.budgets import Auto, Budget, Rest, Share, Tokens, to_budget
from promptsections.config.nodes import Unquoted
from promptsections.config.values import (
    CLOSED,
    Positive,
    describe,
    plain_number,
    read_fraction,
    short_or_table,
    unquote,
)
from promptsections.templates.suggestions import did_you_mean, suggest


def _read_part(value: object) -> Fraction:
    """Read a fraction: `0.3`, `30%` or `1/3`."""
    text = value.text if isinstance(value, Unquoted) else value
    if isinstance(text, str):
        if (percent := _PERCENT.fullmatch(text)) is not None:
            return Fraction(percent[1]) / 100
        if (ratio := _RATIO.fullmatch(text)) is not None:
            return Fraction(int(ratio[1]), int(ratio[2]))
    number = read_fraction(value)
    if number is None:
        raise ValueError(f"must be a fraction such as 0.3, 30% or 1/3, not {describe(value)}")
    return number


_PERCENT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,99})?) ?%")
_RATIO = re.compile(r"([0-9]{1,99})/(0*[1-9][0-9]{0,99})")


def _read_weight(value: object) -> Fraction:
    is_true = value is True or (isinstance(value, Unquoted) and value.value is True)
    return Fraction(1) if is_true else _read_part(value)


_FRACTIONS = r"^[0-9.]+ ?%$|^[0-9]+/[0-9]+$"
_PART: dict[str, Any] = {"type": ["number", "string"], "pattern": _FRACTIONS}
Part = Annotated[Fraction, PlainValidator(_read_part), WithJsonSchema(_PART)]
Weight = Annotated[
    Fraction,
    PlainValidator(_read_weight),
    WithJsonSchema({"anyOf": [_PART, {"const": True}]}),
]


class BudgetTable(BaseModel):
    """A budget with limits: one of `tokens`, `share`, `rest`, or none for all the content needs."""

    model_config = CLOSED
    tokens: Positive = Field(0, description="At most so many tokens.")
    share: Part = Field(
        Fraction(0), description="A part of what the fixed sections leave: 30%, 0.3, 1/3."
    )
    rest: Weight = Field(
        Fraction(1), description="What the shares leave too: true, or a weight beside other rests."
    )
    at_least: Positive = Field(0, description="Tokens that are reserved.")
    at_most: Positive = Field(0, description="The most tokens, whatever else there is room for.")


def _from_budget_table(table: BudgetTable) -> Budget:
    given = table.model_fields_set
    limits: dict[str, Any] = {key: getattr(table, key) for key in given & {"at_least", "at_most"}}
    match sorted(given - limits.keys()):
        case []:
            return Auto(**limits)
        case ["tokens"]:
            return Tokens(table.tokens, **limits)
        case ["share"]:
            return Share(table.share, **limits)
        case ["rest"]:
            return Rest(table.rest, **limits)
        case several:
            raise ValueError(f"takes one of tokens, share and rest, not {' and '.join(several)}")


def _read_budget(value: object) -> Budget:
    text = value.text if isinstance(value, Unquoted) else value
    if text in _WORDS:
        return _WORDS[cast("str", text)]
    if isinstance(text, str) and (_PERCENT.fullmatch(text) or _RATIO.fullmatch(text)):
        part = _read_part(text)
        if not 0 < part <= 1:
            raise ValueError(
                f"{text} must be above 0% and at most 100% of what the fixed sections leave; "
                "{rest: 2} is twice what another rest gets"
            )
        return to_budget(part)
    number = read_fraction(value)
    if number is None:
        hint = did_you_mean(str(text), suggest(str(text), _WORDS)) or unquote(value)
        raise ValueError(
            f"is no budget: {describe(value)}; write auto, rest, a number of tokens, a share such "
            f"as 30%, or a table with tokens, share or rest, at_least and at_most{hint}"
        )
    return Rest() if number == 1 else to_budget(plain_number(number))


_WORDS: Mapping[str, Budget] = {"auto": Auto(), "rest": Rest()}

_SHORT_BUDGET = {
    "anyOf": [
        {"enum": ["auto", "rest"]},
        {"type": "string", "pattern": _FRACTIONS, "examples": ["30%"]},
        {"type": "number", "examples": [300, 0.3]},
    ]
}
_AnyBudget: Any = short_or_table(
    Annotated[object, PlainValidator(_read_budget), WithJsonSchema(_SHORT_BUDGET)],
    Annotated[BudgetTable, AfterValidator(_from_budget_table)],
)
_make_alias: Any = TypeAliasType  # type checkers take what stands in it for a type
SectionBudget: Any = _make_alias("SectionBudget", _AnyBudget)  # so that the schema has it once
