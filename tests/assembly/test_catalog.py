"""Slots, purposes and shares: what the preset has, and what a catalog refuses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import pytest
from conatus_cases import cases_of
from hypothesis import given
from hypothesis import strategies as st

from promptsections import DefinitionError, DuplicateNameError, InvalidBudgetError
from promptsections.assembly.preset import SHARES, goal_agent_catalog
from promptsections.assembly.shares import check_shares, divide
from promptsections.assembly.slots import Catalog, Purpose, Slot

CATALOG = goal_agent_catalog()
NAMES = {
    "goalDefinition": "goal_definition",
    "observations": "observations",
    "knowledge": "knowledge",
    "transferKnowledge": "transfer_knowledge",
    "meta": "meta",
}


def named(recorded: dict[str, int]) -> dict[str, int]:
    return {NAMES[name]: value for name, value in recorded.items()}


# --- the preset -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases_of("slot_definition"), ids=lambda case: case["id"])
def test_the_recorded_slots(case: dict[str, Any]) -> None:
    name, recorded = case["input"]["slot"], case["output"]
    if "throws" in recorded:
        with pytest.raises(DefinitionError, match=f"no slot '{name}'"):
            CATALOG.slot(name)
        return

    slot = CATALOG.slot(name)

    assert (slot.name, slot.layer, slot.tag) == (name, recorded["layer"], recorded["xmlTag"])
    assert slot.priority == 11 - recorded["priority"]  # there the lower is the more important


@pytest.mark.parametrize("case", cases_of("purpose_config"), ids=lambda case: case["id"])
def test_the_recorded_purposes(case: dict[str, Any]) -> None:
    name, recorded = case["input"]["purpose"], case["output"]
    if "throws" in recorded:
        with pytest.raises(DefinitionError, match=f"no purpose '{name}'"):
            CATALOG.purpose(name)
        return

    purpose = CATALOG.purpose(name)

    assert list(purpose.slots) == recorded["active_slots"]
    assert dict(purpose.shares) == named(recorded["overrides_percent"])
    assert purpose.max_output_tokens == recorded["default_max_tokens"]
    assert purpose.temperature == recorded["default_temperature"]
    assert purpose.system_prompt.startswith("You ")


def test_the_preset_is_complete() -> None:
    assert (len(CATALOG.slots), len(CATALOG.purposes)) == (10, 55)
    assert CATALOG.slots.keys() == {
        case["input"]["slot"] for case in cases_of("slot_definition")
    } - {"nope"}


# --- shares ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case",
    [case for case in cases_of("allocate_budget") if case["input"]["total"] in range(10**6)],
    ids=lambda case: case["id"],
)
def test_the_recorded_divisions_but_no_token_is_lost(case: dict[str, Any]) -> None:
    total, recorded = case["input"]["total"], named(case["output"])

    parts = divide(total, check_shares(SHARES))

    assert sum(parts.values()) == total
    assert all(0 <= parts[name] - recorded[name] <= 1 for name in parts)


@pytest.mark.parametrize("total", [-5, 4000.5, True, None, "9"])
def test_what_is_no_number_of_tokens_is_an_error(total: Any) -> None:
    with pytest.raises(InvalidBudgetError):
        divide(total, check_shares(SHARES))


@pytest.mark.parametrize("case", cases_of("allocate_tier_budget"), ids=lambda case: case["id"])
def test_tiers_are_shares_like_any_other(case: dict[str, Any]) -> None:
    total = case["input"]["total"]
    if total not in range(10**6):
        return  # negative and broken totals are errors, as above
    tiers = check_shares({"core": 50, "recall": 35, "archival": 15})

    parts = divide(total, tiers)

    assert sum(parts.values()) == total
    assert all(abs(parts[name] - case["output"][name]) <= 1 for name in parts)


@pytest.mark.parametrize("case", cases_of("category_budgets"), ids=lambda case: case["id"])
def test_the_recorded_budgets_of_purposes(case: dict[str, Any]) -> None:
    purpose, total = CATALOG.purpose(case["input"]["purpose"]), case["input"]["budget"]
    shares = CATALOG.shares_of(purpose)
    recorded = named(case["output"])

    parts = divide(total, check_shares(shares, over_full="normalise"))

    if sum(shares.values()) > 100:
        assert sum(parts.values()) == total  # 105 %: the original promised more than there is
    else:
        assert all(0 <= parts[name] - recorded[name] <= 1 for name in parts)
        assert sum(parts.values()) == total * sum(map(int, shares.values())) // 100


def test_fractions_of_a_percent_are_exact() -> None:
    assert divide(700, check_shares({"a": 35, "b": 64.9, "c": 0.1})) == {"a": 245, "b": 454, "c": 1}
    assert divide(180, check_shares({"a": 35})) == {"a": 63}


@given(
    st.integers(0, 100_000),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 100), min_size=1),
)
def test_a_division_is_exact_and_fair(total: int, shares: dict[str, int]) -> None:
    """Parts add up to the shares' sum, each less than a token away from what is due to it."""
    exact = check_shares(shares, over_full="normalise")

    parts = divide(total, exact)

    assert sum(parts.values()) == int(total * sum(exact.values(), Fraction(0)))
    assert all(abs(parts[name] - total * exact[name]) < 1 for name in exact)


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({"a": -1}, "a=-1 must be a percentage"),
        ({"a": True}, "a=True must be a percentage"),
        ({"a": "10"}, "a='10' must be a percentage"),
        ({"a": 60, "b": 45}, "add up to 105 % .a 60, b 45."),
    ],
)
def test_wrong_shares_are_errors(shares: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        check_shares(shares)
    with pytest.raises(DefinitionError, match="over_full='more' must be"):
        check_shares({}, over_full=cast("Any", "more"))


# --- catalogs -------------------------------------------------------------------------------------


def slot(name: str = "notes", **fields: Any) -> Slot:
    return Slot(name, **{"category": "a", "formatter": str, **fields})


def purpose(name: str = "work", slots: Any = "notes", **fields: Any) -> Purpose:
    return Purpose(name, slots, **{"system_prompt": "Work.", **fields})


def catalog(slots: Any, purposes: Any = (), **fields: Any) -> Catalog:
    return Catalog(slots=slots, purposes=purposes, **{"shares": {"a": 50, "b": 50}, **fields})


def test_a_catalog_is_extended_and_the_old_one_stays() -> None:
    old = catalog([slot()], [purpose()])
    other = purpose(slots=["notes", "more"])

    new = old.extended([slot("more", category="b")], [other])

    assert (new.purpose("work"), set(new.slots)) == (other, {"notes", "more"})
    assert (len(old.slots), old.purpose("work").slots) == (1, ("notes",))


def test_shares_of_the_call_win_over_the_purpose_and_the_catalog() -> None:
    work = purpose(shares={"a": 30})
    known = catalog([slot()], [work])

    assert known.shares_of(work) == {"a": 30, "b": 50}
    assert known.shares_of(work, {"b": 10}) == {"a": 30, "b": 10}
    with pytest.raises(DefinitionError, match="there is no category 'bb'; did you mean 'b'"):
        known.shares_of(work, {"bb": 10})


def test_defaults_of_a_slot_are_its_name() -> None:
    assert (slot().source, slot().tag) == ("notes", "notes")
    assert slot(tag=None).tag is None
    assert slot(source="store", tag="n").source == "store"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: slot(layer="lukewarm"), "'notes': layer='lukewarm' must be one of"),
        (lambda: slot(on_failure="ignore"), "'notes': on_failure='ignore' must be one of"),
        (lambda: slot("a/b"), "the name of a slot"),
        (
            lambda: slot(category="a/b"),
            r"a category \(of slot 'notes'\) must be a text without '/'",
        ),
        (lambda: slot(formatter="str"), "'notes': formatter='str' must be a function"),
        (lambda: slot(priority="high"), "'notes': priority='high' is no number"),
        (lambda: slot(priority=float("nan")), "priority=nan is no number"),
        (lambda: purpose(system_prompt=None), "'work': system_prompt=None must be a text"),
        (lambda: purpose(max_output_tokens=-1), "max_output_tokens=-1 must be 0 or more"),
        (lambda: purpose(max_output_tokens=1.5), "max_output_tokens=1.5 must be 0 or more"),
        (lambda: purpose(temperature="hot"), "temperature='hot' must be 0 or more"),
        (lambda: purpose(temperature=float("nan")), "temperature=nan must be 0 or more"),
        (lambda: purpose(shares=["a"]), "must be a mapping, category"),
        (lambda: slot("two words"), "'two words' is no name in XML"),
        (lambda: purpose(""), "the name of a purpose"),
        (lambda: purpose(slots=["notes", "notes"]), "names a slot twice"),
        (lambda: catalog([slot(category="c")]), "category 'c' has no share"),
        (lambda: catalog([slot()], [purpose(slots="nots")]), "no slot 'nots'; did you mean"),
        (lambda: catalog([slot()], [purpose(shares={"a": 60})]), "purpose 'work': the shares add"),
        (lambda: catalog([slot()], [purpose(shares={"a": 0})]), "category 'a', which has 0 %"),
        (lambda: catalog([slot()], [purpose(shares={"c": 1})]), "there is no category 'c'"),
    ],
)
def test_wrong_values_are_errors(wrong: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        wrong()


def test_shares_cannot_be_changed_from_outside() -> None:
    shares = {"a": 30}
    work = purpose(shares=shares)
    shares["a"] = 100

    assert work.shares == {"a": 30}


def test_a_call_cannot_take_all_from_a_slot() -> None:
    work = purpose()

    with pytest.raises(DefinitionError, match="slot 'notes' stands in category 'a', which has 0 %"):
        catalog([slot()], [work]).exact_shares(work, {"a": 0})


def test_names_are_there_once() -> None:
    with pytest.raises(DuplicateNameError, match="'notes' is there twice"):
        catalog([slot(), slot()])
