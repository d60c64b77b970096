"""When an element applies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import DefinitionError
from promptsections.elements import Element, select_elements

CASES = tuple(
    map(json.loads, Path(__file__).with_name("agentos.jsonl").read_text("utf-8").splitlines())
)
NAMES = {
    "mood": "mood",
    "currentMood": "mood",
    "userSkillLevel": "user_skill_level",
    "taskHint": "task_hint",
    "taskComplexity": "task_complexity",
    "language": "language",
    "conversationSignals": "conversation_signals",
}
DIFFERENT: Mapping[str, bool | type[Exception]] = {
    "agentos-0076": False,  # an empty mood is a mood to compare with, not nothing
    "agentos-0089": DefinitionError,  # a memory query is a mapping, and is not always true
    "agentos-0090": DefinitionError,  # a key that nobody knows is an error, not true
}
"""What ours says where the original ignored what it was asked."""


def applies(
    criteria: Any, circumstances: Mapping[str, Any] | None = None, memory: object = None
) -> bool:
    element = Element("domain_context", "x", criteria=criteria)
    return bool(select_elements([element], circumstances, memory=memory).chosen)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["fn"] == "evaluate_criteria"],
    ids=lambda case: case["id"],
)
def test_the_recorded_criteria(case: dict[str, Any]) -> None:
    criteria = {NAMES.get(key, key): value for key, value in case["input"]["criteria"].items()}
    circumstances = {NAMES[key]: value for key, value in case["input"]["context"].items()}
    expected = DIFFERENT.get(case["id"], case["output"])

    if isinstance(expected, type):
        with pytest.raises(expected):
            applies(criteria, circumstances)
    else:
        assert applies(criteria, circumstances) is expected


@pytest.mark.parametrize(
    ("criteria", "circumstances", "expected"),
    [
        ({"turns": {"at_least": 3}}, {"turns": 3}, True),
        ({"turns": {"at_least": 3, "below": 5}}, {"turns": 5}, False),
        ({"turns": {"at_most": 3}}, {"turns": 4}, False),
        ({"turns": {"above": 3}}, {"turns": 3}, False),
        ({"turns": {"above": 2.5}}, {"turns": 3}, True),
        ({"turns": {"at_least": 0}}, {"turns": True}, False),
        ({"turns": {"at_least": 0}}, {"turns": "3"}, False),
        ({"turns": 1}, {"turns": True}, False),
        ({"language": {"any": ["de", "fr"]}}, {"language": "fr"}, True),
        ({"language": {"none": ["de", "fr"]}}, {"language": "en"}, True),
        ({"language": {"none": ["de", "fr"]}}, {"language": "de"}, False),
        ({"language": {"none": ["de"]}}, {}, True),
        ({"language": {"contains": "en"}}, {"language": "en-US"}, True),
        ({"language": {"contains": 5}}, {"language": "5"}, False),
        ({"conversation_signals": {"any": ["a", "z"]}}, {"conversation_signals": ["a"]}, True),
        ({"conversation_signals": {"none": ["a"]}}, {"conversation_signals": ["a"]}, False),
        ({"conversation_signals": "a"}, {"conversation_signals": ["a", "b"]}, True),
        ({"conversation_signals": {"contains": "a"}}, {"conversation_signals": 5}, False),
        ({"mood": {"exists": False}}, {}, True),
        ({"mood": {"exists": True}}, {"mood": None}, False),
        ({"mood": {"exists": True}}, {"mood": "sad"}, True),
        ({"any_of": [{"mood": "sad"}, {"language": "en"}]}, {"language": "en"}, True),
        ({"any_of": [{"mood": "sad"}, {"language": "en"}]}, {"language": "de"}, False),
        ({"any_of": []}, {}, False),
        ({"all_of": [{"mood": "sad"}, {"language": "en"}]}, {"mood": "sad"}, False),
        ({"none_of": [{"mood": "sad"}]}, {"mood": "sad"}, False),
        ({"none_of": [{"mood": "sad"}]}, {"mood": "glad"}, True),
    ],
)
def test_operators_and_their_combinations(
    criteria: dict[str, Any], circumstances: dict[str, Any], expected: bool
) -> None:
    assert applies(criteria, circumstances) is expected


def test_memory_is_asked_by_path() -> None:
    criteria = {"memory": {"user.tier": "gold", "user.visits": {"at_least": 2}}}

    assert applies(criteria, memory={"user": {"tier": "gold", "visits": 2}})
    assert not applies(criteria, memory={"user": {"tier": "gold", "visits": 1}})
    assert not applies(criteria, memory={})


def test_a_function_is_given_the_circumstances() -> None:
    assert applies(lambda now: now["mood"] == "sad", {"mood": "sad"})
    assert not applies(lambda now: now["mood"] == "sad", {"mood": "glad"})


def test_fields_of_ones_own_are_declared() -> None:
    element = Element("domain_context", "x", criteria={"city": "Bern"}, fields="city")

    assert select_elements([element], {"city": "Bern"}).chosen == (element,)


async def later(_: object) -> bool:
    return True


@pytest.mark.parametrize(
    ("predicate", "words"),
    [
        (lambda _: 1 / 0, "its criteria failed: ZeroDivisionError"),
        (lambda _: "yes", "its criteria returned str, not true or false"),
        (lambda given: later(given), "its criteria returned coroutine, not true or false"),
    ],
)
def test_a_function_that_does_not_say_true_or_false_is_an_error(predicate: Any, words: str) -> None:
    element = Element("domain_context", "x", criteria=predicate, id="tip")

    with pytest.raises(DefinitionError, match=f"element 'tip': {words}"):
        select_elements([element], {})


@pytest.mark.parametrize(
    ("criteria", "words"),
    [
        ({"moood": "x"}, "did you mean 'mood'"),
        ({"mood": {"equal": "x"}}, "did you mean 'equals'"),
        ({"turns": {"at_least": "3"}}, "needs a number, not '3'"),
        ({"turns": {"at_least": True}}, "needs a number, not True"),
        ({"language": {"any": "de"}}, "'any' of 'language' needs a list"),
        ({"mood": {"exists": "yes"}}, "needs true or false"),
        ({"any_of": {"mood": "x"}}, "'any_of' needs a list of criteria"),
        ({"any_of": ["mood"]}, "'any_of' needs a list of criteria"),
        ({"memory": "user.tier"}, "needs a mapping from paths to values"),
        (5, "a mapping or a function, not int"),
        ({5: "x"}, "5 is no name of a field"),
        ({"mood": {5: "x"}}, "'mood' has the operator 5, which is not known"),
        ({"mood": {}}, "'mood' asks for nothing"),
        ({"turns": {"at_least": float("nan")}}, "needs a number, not nan"),
        (later, "criteria cannot be async"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_the_element(criteria: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=f"element 'tip': .*{words}"):
        Element("domain_context", "x", criteria=criteria, id="tip")


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc"), min_size=1))
def test_all_any_and_none_agree(value: list[str], wanted: list[str]) -> None:
    """Of a list, `none` is the opposite of `any`, and `all` of one item is `any` of it."""
    now = {"conversation_signals": value}

    def asked(operator: str, items: list[str]) -> bool:
        return applies({"conversation_signals": {operator: items}}, now)

    assert asked("any", wanted) is not asked("none", wanted)
    assert asked("all", wanted) is all(asked("any", [item]) for item in wanted)
