"""Formatters write what the original wrote, but where that was a fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import frozen
from conatus_cases import CASES
from hypothesis import given
from hypothesis import strategies as st

from promptsections import DefinitionError, ValueRenderError
from promptsections.assembly.formatters import (
    format_current_state,
    format_failure_context,
    format_goal,
    format_knowledge,
    format_lessons,
    format_observation_history,
    format_reflections,
    format_strategy_templates,
    format_task_results,
    format_workspace_state,
)
from promptsections.assembly.records import as_text

FORMATTERS: Mapping[str, Callable[..., str]] = {
    "format_goal_context": format_goal,
    "format_current_state": format_current_state,
    "format_observation_history": format_observation_history,
    "format_lessons": format_lessons,
    "format_knowledge": format_knowledge,
    "format_reflections": format_reflections,
    "format_workspace_state": format_workspace_state,
    "format_strategy_templates": format_strategy_templates,
    "format_failure_context": format_failure_context,
    "format_task_results": format_task_results,
}

DIFFERENT: Mapping[str, tuple[str | type[Exception], str]] = {
    "conatus-0064": ("a", "None says nothing, as a missing field does"),
    "conatus-0068": ('a: {"x":1}', "a mapping is written as JSON, not as [object Object]"),
    "conatus-0078": ("", "an observation without a score says nothing"),
    "conatus-0086": ("- no importance", "a lesson without importance comes last"),
    "conatus-0097": ("C", "None says nothing, as a missing field does"),
    "conatus-0116": ("- P", "a missing field says nothing, not undefined"),
    "conatus-0128": (DefinitionError, "a text is no record"),
    "conatus-0129": (DefinitionError, "None is no record"),
}
"""Where ours differs from what was recorded: what it is instead, and why."""

FORMATTED = [case for case in CASES if case["fn"] in FORMATTERS]


@pytest.mark.parametrize("case", FORMATTED, ids=lambda case: case["id"])
def test_what_was_recorded_comes_out_byte_for_byte(case: dict[str, Any]) -> None:
    formatter = FORMATTERS[case["fn"]]
    expected, _ = DIFFERENT.get(case["id"], (case["output"], ""))

    if isinstance(expected, type):
        with pytest.raises(expected):
            formatter(*case["input"].values())
    else:
        assert formatter(*case["input"].values()) == expected


def test_every_difference_is_one() -> None:
    recorded = {case["id"]: case["output"] for case in FORMATTED}

    assert all(recorded[name] != ours for name, (ours, _) in DIFFERENT.items())


@frozen
class Lesson:
    content: str
    importance: str | None = None


def test_objects_are_records_too() -> None:
    assert format_lessons([Lesson("b"), Lesson("a", "high")]) == "- [HIGH] a\n- b"


def test_a_goal_brings_its_own_strategy_unless_another_is_given() -> None:
    goal = {"title": "T", "active_strategy": {"hypothesis": "own"}}

    assert format_goal(goal) == "Goal: T\nActive Strategy: own"
    assert format_goal(goal, {"hypothesis": "other"}) == "Goal: T\nActive Strategy: other"


def test_each_dimension_has_a_trend_of_its_own() -> None:
    history = [
        {"dimension": "docs", "timestamp": "1", "score": 1.0},
        {"dimension": "tests", "timestamp": "2", "score": 0.5},
        {"dimension": "docs", "timestamp": "3", "score": 2},
    ]

    assert format_observation_history(history, "up") == (
        "docs: Trend (last 2): 1: 1, 3: 2\ntests: Trend (last 1): 2: 0.5\nDirection: up"
    )


def test_a_direction_without_a_trend_says_nothing() -> None:
    assert format_observation_history([], "up") == ""


def test_workspace_items_may_be_records() -> None:
    assert format_workspace_state([{"label": "a", "content": "x"}, {"content": "y"}, "z"]) == (
        "a: x\ny\nz"
    )


def test_a_result_without_an_outcome_has_one_line() -> None:
    assert format_task_results([{"task_description": "t", "success": True}]) == "[SUCCESS] t"


@pytest.mark.parametrize("value", ["text", b"bytes", 5, None])
def test_what_is_no_list_is_an_error(value: Any) -> None:
    with pytest.raises(DefinitionError, match="a list of records is needed"):
        format_lessons(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5.0, "5"),
        (-0.0, "0"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-9, "1.5e-9"),
        (123456789012345680.0, "123456789012345680"),
        (1e21, "1e+21"),
        (-2.5e30, "-2.5e+30"),
        (10**30, "1" + "0" * 30),
        (True, "true"),
        ([1.0, None, "x"], "1,,x"),
        ([[1], 2], "[[1],2]"),
    ],
)
def test_values_are_written_as_short_as_they_are(value: Any, text: str) -> None:
    assert as_text(value, "value") == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_come_back(number: float) -> None:
    """What is written is the same number."""
    assert float(as_text(number, "n")) == number


def test_what_has_no_text_is_an_error() -> None:
    with pytest.raises(ValueRenderError, match="NaN"):
        as_text(float("nan"), "gap")
