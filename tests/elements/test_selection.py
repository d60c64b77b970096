"""Which elements are said: order, caps, conflicts."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_criteria import CASES

from promptsections import DefinitionError, Template
from promptsections.elements import Element, ElementRules, select_elements

ELEMENTS = st.lists(
    st.builds(
        Element,
        st.sampled_from(["domain_context", "behavioral_guidance", "ethical_guideline"]),
        st.just("text"),
        priority=st.integers(-3, 3),
        conflicts=st.lists(st.sampled_from(["tone", "length"]), max_size=2),
        criteria=st.sampled_from([None, {"mood": "sad"}]),
        id=st.text("abcdefgh", min_size=1, max_size=3),
    ),
    max_size=12,
)
RULES = st.builds(
    ElementRules,
    total=st.none() | st.integers(0, 5),
    default_per_type=st.none() | st.integers(0, 3),
    per_type=st.dictionaries(st.just("domain_context"), st.integers(0, 3)),
    priority_strategy=st.sampled_from(["highest_first", "weighted_random", "persona_preference"]),
    preferences=st.dictionaries(st.just("domain_context"), st.integers(-2, 2)),
    seed=st.integers(0, 5),
    conflict_strategy=st.sampled_from(["skip", "merge"]),
)


def chosen(elements: list[Element], **rules: Any) -> list[str]:
    return [e.id for e in select_elements(elements, rules=ElementRules(**rules)).chosen]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["fn"] == "select_elements"],
    ids=lambda case: case["id"],
)
def test_the_recorded_selections(case: dict[str, Any]) -> None:
    elements = [
        Element(
            row["type"],
            row["id"].upper(),
            id=row["id"],
            priority=row["priority"] or 0,
            criteria=row["criteria"],
        )
        for row in case["input"]["elements"]
    ]
    # An element without criteria always applies; the original never says it.
    expected = ["x"] if case["id"] == "agentos-0098" else case["output"]["selected"]

    assert chosen(elements, total=10) == expected


def test_caps_count_by_type_and_in_all() -> None:
    elements = [
        Element("domain_context", "x", id="d1"),
        Element("domain_context", "x", id="d2"),
        Element("ethical_guideline", "x", id="e1"),
        Element("ethical_guideline", "x", id="e2"),
    ]

    assert chosen(elements, per_type={"domain_context": 1}) == ["d1", "e1", "e2"]
    assert chosen(elements, default_per_type=1) == ["d1", "e1"]
    assert chosen(elements, default_per_type=1, per_type={"domain_context": 2}) == [
        "d1",
        "d2",
        "e1",
    ]
    assert chosen(elements, total=3) == ["d1", "d2", "e1"]


def test_preferences_go_before_priorities_and_an_id_before_its_type() -> None:
    elements = [
        Element("domain_context", "x", id="a", priority=9),
        Element("ethical_guideline", "x", id="b"),
        Element("ethical_guideline", "x", id="c"),
    ]
    preferences = {"ethical_guideline": 1, "c": 2}

    assert chosen(elements, priority_strategy="persona_preference", preferences=preferences) == [
        "c",
        "b",
        "a",
    ]


def test_lots_follow_priorities() -> None:
    elements = [
        Element("domain_context", "x", id="rare", priority=0),
        Element("domain_context", "x", id="often", priority=9),
    ]
    draws = Counter(
        chosen(elements, total=1, priority_strategy="weighted_random", seed=seed)[0]
        for seed in range(2000)
    )

    assert 1700 < draws["often"] < 1900  # 10 of 11 tickets: 1,818 expected


def test_lots_are_the_same_in_every_process() -> None:
    code = (
        "from promptsections.elements import *\n"
        "es = [Element('domain_context', 'x', id=str(i), priority=i) for i in range(9)]\n"
        "rules = ElementRules(priority_strategy='weighted_random', seed='s')\n"
        "print(*(e.id for e in select_elements(es, rules=rules).chosen))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1")
    }

    assert len(runs) == 1


# --- conflicts ------------------------------------------------------------------------------------


def test_what_contradicts_a_chosen_element_is_left_out() -> None:
    short = Element("behavioral_guidance", "Be short.", id="short", conflicts="length", priority=1)
    long = Element("behavioral_guidance", "Be long.", id="long", conflicts="length")

    selection = select_elements([long, short])

    assert selection.chosen == (short,)
    (refusal,) = selection.refused
    assert (refusal.element, refusal.code) == (long, "element_conflict")
    assert refusal.detail == "it contradicts 'short'"


def test_an_element_may_name_the_one_that_it_contradicts() -> None:
    a = Element("domain_context", "x", id="a")
    b = Element("domain_context", "x", id="b", conflicts="a")

    assert chosen([a, b]) == ["a"]
    assert chosen([b, a]) == ["b"]


def test_texts_of_one_type_may_be_merged() -> None:
    a = Element("domain_context", "A", id="a", conflicts="k")
    b = Element("domain_context", "B", id="b", conflicts=("k", "m"))
    c = Element("domain_context", "C", id="c", conflicts="m")

    selection = select_elements([a, b, c], rules=ElementRules(conflict_strategy="merge"))

    (merged,) = selection.chosen
    assert (merged.id, merged.content) == ("a", "A\nB\nC")
    assert [refusal.code for refusal in selection.refused] == ["element_merged"] * 2


@pytest.mark.parametrize(
    "other",
    [
        Element("ethical_guideline", "B", id="b", conflicts="k"),
        Element("domain_context", Template("B"), id="b", conflicts="k"),
    ],
)
def test_what_cannot_be_merged_is_left_out(other: Element) -> None:
    a = Element("domain_context", "A", id="a", conflicts="k")

    assert chosen([a, other], conflict_strategy="merge") == ["a"]


def test_a_conflict_may_be_an_error() -> None:
    a, b = (Element("domain_context", "x", id=name, conflicts="k") for name in "ab")

    with pytest.raises(DefinitionError, match="elements 'a' and 'b' both apply"):
        select_elements([a, b], rules=ElementRules(conflict_strategy="error"))


@given(ELEMENTS, RULES, st.sampled_from(["sad", "glad"]))
def test_selections_keep_their_rules(
    elements: list[Element], rules: ElementRules, mood: str
) -> None:
    """Caps hold, nothing chosen contradicts, and every element is chosen or refused once."""
    selection = select_elements(elements, {"mood": mood}, rules=rules)

    counts = Counter(element.type for element in selection.chosen)
    assert rules.total is None or len(selection.chosen) <= rules.total
    assert all((cap := rules.cap_of(t)) is None or n <= cap for t, n in counts.items())
    assert not any(
        a.contradicts(b)
        for at, a in enumerate(selection.chosen)
        for b in selection.chosen[at + 1 :]
    )
    assert len(selection.chosen) + len(selection.refused) == len(elements)
    assert selection == select_elements(elements, {"mood": mood}, rules=rules)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"total": -1}, "total=-1 must be a whole number"),
        ({"default_per_type": True}, "default_per_type=True"),
        ({"per_type": {"x": 1.5}}, "x=1.5"),
        ({"preferences": {"x": "high"}}, "x='high' must be a whole number"),
        ({"priority_strategy": "best"}, "priority_strategy='best' must be one of"),
        ({"conflict_strategy": "fight"}, "conflict_strategy='fight' must be one of"),
    ],
)
def test_wrong_rules_are_errors(rules: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        ElementRules(**rules)
