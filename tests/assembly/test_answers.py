"""JSON is found in what a model answers, and validated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from conatus_cases import cases_of
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from promptsections import InvalidAnswerError
from promptsections.assembly.answers import extract_json, parse_answer, schema_of

DIFFERENT: Mapping[str, str | None] = {
    "conatus-json-5": '{"a":1}',  # the label is in capitals
    "conatus-json-6": '{"a":1}',  # prose stands before it
    "conatus-json-7": '{"s":"a ``` b"}',  # a fence inside a string is text
    "conatus-json-8": '{"a":1}',  # the fence is not closed
    "conatus-json-10": None,  # nothing is an error, not an empty text
}
"""What ours finds where the original found something else."""

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab`{}[]"\\\n '),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab`"), inner, max_size=3),
    max_leaves=8,
)
CONTAINERS = VALUES.filter(lambda value: isinstance(value, list | dict))


@pytest.mark.parametrize("case", cases_of("extract_json"), ids=lambda case: case["id"])
def test_the_recorded_answers(case: dict[str, Any]) -> None:
    expected = DIFFERENT.get(case["id"], case["output"])

    if expected is None:
        with pytest.raises(InvalidAnswerError, match="the answer is empty"):
            extract_json(case["input"]["text"])
    else:
        assert extract_json(case["input"]["text"]) == expected


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('"text"', '"text"'),
        ("5", "5"),
        ("\ufeff{}", "{}"),
        ("I think {maybe} so: [1]", "[1]"),
        ("```\n[1]\n```\nand\n```json\n[2]\n```", "[2]"),
        ("```text\nno\n```\n```\n[1]\n```", "[1]"),
        ("~~~JSON\n[1]\n~~~", "[1]"),
        ("Sure! ```json [1] ```", "[1]"),
        ('````markdown\n```json\n{"a": "```"}\n```\n````', '{"a": "```"}'),
        ("```json\n\n  [1]\n```", "[1]"),
        ("```python\nx = {}\n```\n[1]", "[1]"),
        ("[1] and [2]", "[1]"),
    ],
)
def test_json_is_found(answer: str, found: str) -> None:
    assert extract_json(answer) == found


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("no idea", "no complete JSON; it begins 'no idea'"),
        ('{"a": [1, 2], oops}', "Expecting property name"),
        ('{"a": [[], []', "Expecting ',' delimiter"),
        ('{"a": "x', "Unterminated string"),
        ('```json\n{"a": [1,\n```', "Expecting value"),
        ("[" * 100_000, "nested too deep"),
        ("x" * 100, "…'"),
    ],
)
def test_what_is_not_complete_is_an_error(answer: str, words: str) -> None:
    with pytest.raises(InvalidAnswerError, match=words) as caught:
        extract_json(answer)

    assert caught.value.answer == answer
    assert caught.value.problems


@given(CONTAINERS, st.sampled_from(["", "Here: ", "Well, {so} then\n"]), st.integers(0, 3))
def test_json_in_prose_and_fences_is_found_byte_for_byte(
    value: Any, before: str, form: int
) -> None:
    """Bare, in prose, in a fence and in a fence that is not closed, the value comes out."""
    text = json.dumps(value, ensure_ascii=False)
    written = (text, f"{text} I hope.", f"```json\n{text}\n```", f"```JSON\n{text}")[form]

    assert extract_json(before + written) == text


@given(st.dictionaries(st.text("ab"), VALUES, min_size=1), st.data())
def test_a_part_of_what_breaks_off_is_never_taken(value: Any, data: st.DataObject) -> None:
    """Of an object that breaks off nothing is returned, whatever is complete inside."""
    text = json.dumps(value, ensure_ascii=False)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]

    with pytest.raises(InvalidAnswerError):
        extract_json(cut)


class Verdict(BaseModel):
    done: bool
    reasons: list[str]


def test_an_answer_is_validated() -> None:
    verdict = parse_answer('Sure: {"done": true, "reasons": ["x"]}', Verdict)

    assert verdict == Verdict(done=True, reasons=["x"])
    assert parse_answer("[1, 2]", list[int]) == [1, 2]
    assert parse_answer('"free text"', str) == "free text"


def test_problems_name_the_path_and_no_programming_language() -> None:
    with pytest.raises(InvalidAnswerError) as caught:
        parse_answer('{"done": "perhaps", "reasons": ["x", 5]}', Verdict)

    assert caught.value.problems == (
        "done: input should be a valid boolean, unable to interpret input",
        "reasons.1: input should be a valid string",
    )
    assert "the answer is no Verdict: done: input" in str(caught.value)
    with pytest.raises(InvalidAnswerError, match=r"no list.*0: input should be"):
        parse_answer('["x"]', list[int])
    with pytest.raises(InvalidAnswerError, match="the value: input should be an object"):
        parse_answer("[]", Verdict)


@pytest.mark.parametrize(
    "answer",
    [
        'As [1] says: {"done": true, "reasons": []}',
        'Not `{}` but {"done": true, "reasons": []}, I think',
        'Draft: {"done": true}\n```json\n{"done": true, "reasons": []}\n```',
        '```json\n{"done": true}\n```\nbetter: {"done": true, "reasons": []}',
    ],
)
def test_of_several_values_the_first_valid_one_is_the_answer(answer: str) -> None:
    assert parse_answer(answer, Verdict) == Verdict(done=True, reasons=[])


def test_of_several_values_that_are_not_valid_the_problems_of_the_first_are_told() -> None:
    with pytest.raises(InvalidAnswerError) as caught:
        parse_answer('{"done": true} or [1]', Verdict)

    assert caught.value.problems == ("reasons: field required",)


def test_no_json_is_no_answer_of_any_kind() -> None:
    with pytest.raises(InvalidAnswerError, match="no complete JSON"):
        parse_answer("no idea", Verdict)


def test_the_schema_of_an_answer() -> None:
    assert schema_of(Verdict)["required"] == ["done", "reasons"]
    assert schema_of(list[int]) == {"type": "array", "items": {"type": "integer"}}
