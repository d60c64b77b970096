"""What a user prefers, read from the words that people write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promptsections.preferences import (
    VERBOSITY_SENTENCES,
    preference_sentences,
    to_format,
    to_verbosity,
)

CASES = tuple(
    map(json.loads, Path(__file__).with_name("preferences.jsonl").read_text("utf-8").splitlines())
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_recorded_words(case: dict[str, Any]) -> None:
    if case["fn"] == "normalize_verbosity":
        assert to_verbosity(case["input"]["verbosity"]) == case["output"]
    else:
        assert to_format(case["input"]["preferences"]) == case["output"]


def test_a_blank_format_does_not_hide_the_next_one() -> None:
    # The original stops at an empty preferredFormat.
    assert to_format({"preferredFormat": " ", "responseFormat": "json"}) == "json"


def test_names_may_be_written_either_way() -> None:
    assert to_format({"preferred_formats": ["a", "b"]}) == "a or b"
    assert to_format({"response_format": "json"}) == "json"
    assert to_format({"preferredFormats": "json"}) is None  # a text is no list


def test_each_preference_is_a_sentence() -> None:
    assert preference_sentences({}) == []
    assert preference_sentences({"verbosity": "High", "format": "a table"}) == [
        VERBOSITY_SENTENCES["detailed"],
        "The user prefers answers in this format: a table.",
    ]
