"""Choosing presets, held against recorded choices."""

from __future__ import annotations

import pytest
from agentos_cases import Case, of
from attrs import evolve

from promptsections import DefinitionError
from promptsections.presets import Preset, PresetRouter, PresetRule, RouterState

ROUTER = PresetRouter(
    presets=[
        Preset("general_concise", "Be short.", ["_meta/concise"]),
        Preset("general_deep", "Go deep.", ["_meta/deep_dive"]),
        Preset("general_planner", "Plan.", ["_meta/planner"]),
        Preset("coding_default", "Write code."),
        Preset("coding_audit", "", ["_meta/reviewer"]),
    ],
    addons={
        "_meta/concise": "Two sentences.",
        "_meta/deep_dive": "Explain why.",
        "_meta/planner": "Number the steps.",
        "_meta/reviewer": "Look for faults.",
    },
    rules=[
        PresetRule(
            id="general_deep_if_keywords", preset="general_deep", priority=40,
            modes=["general"], any_of=["architecture", "trade-off"],
        ),
        PresetRule(
            id="general_planner_if_keywords", preset="general_planner", priority=30,
            modes=["general"], any_of=["plan", "roadmap"],
        ),
        PresetRule(
            id="general_deep_if_long_or_complex", preset="general_deep", priority=20,
            modes=["general"], min_chars=420,
        ),
        PresetRule(
            id="general_concise_if_short", preset="general_concise", priority=10,
            modes=["general"], max_chars=180,
        ),
        PresetRule(
            id="coding_audit_if_keywords", preset="coding_audit", priority=10,
            modes=["coding"], match="prefix", any_of=["review", "audit"],
        ),
    ],
    by_mode={
        "general": "general_concise",
        "coding": "coding_default",
        "system_design": "general_deep",
    },
    default="general_concise",
    review_every=7,
)  # fmt: skip
"""As the router of the recorded calls. Its period of 6 lasts for 7 turns; ours says 7."""

REASONS = {"defaultByModeExact": "mode", "defaultByModePattern": "mode_pattern"}

DIFFERENCES = {
    "agentos-0208": '"plan" is no word of "explanation": the next rule decides',
    "agentos-0222": "a preset that is gone is not kept: the rules are asked at once",
}
"""Case → what the library does instead."""


def chosen(router: PresetRouter, case: Case) -> dict[str, object]:
    given = case.input
    message, previous = given["message"], given["previous"]
    choice = router.choose(
        message if isinstance(message, str) else "x" * message["len"],
        mode=given["mode"],
        state=previous and RouterState(previous["presetId"], previous["turnsSinceReview"]),
        review=given.get("forceReview", False) or given.get("didCompact", False),
    )
    return {
        "preset": choice.preset.id,
        "reason": choice.reason,
        "reviewed": choice.reviewed,
        "addons": list(choice.preset.addons),
        "next": (choice.state.preset, choice.state.turns),
    }


def recorded(case: Case) -> dict[str, object]:
    said = case.output
    kind, _, what = said["reason"].partition(":")
    reason = "kept" if kind == "cached" else REASONS.get(kind, kind) + (f":{what}" if what else "")
    return {
        "preset": said["preset"],
        "reason": reason,
        "reviewed": said["reviewed"],
        "addons": said["addon_keys"],
        "next": (said["next"]["presetId"], said["next"]["turnsSinceReview"]),
    }


@pytest.mark.parametrize("case", of("profile_router"))
def test_presets_are_chosen_as_recorded(case: Case) -> None:
    is_same = chosen(ROUTER, case) == recorded(case)
    assert is_same == (case.id not in DIFFERENCES)


def test_a_keyword_is_a_word_unless_it_may_be_part_of_one() -> None:
    assert ROUTER.choose("explanation please", mode="general").preset.id == "general_concise"
    lax = evolve(ROUTER, rules=[evolve(rule, whole_words=False) for rule in ROUTER.rules])
    (case,) = (p.values[0] for p in of("profile_router") if p.id == "agentos-0208")
    assert isinstance(case, Case)
    assert chosen(lax, case) == recorded(case)


@pytest.mark.parametrize("word", ["c++", "C++", "naïve", "to do", "1.5"])
def test_keywords_may_end_in_any_character(word: str) -> None:
    rule = PresetRule(id="r", preset="p", any_of=[word])
    assert rule.holds("", f"is it {word.upper()}?")
    assert not rule.holds("", f"is it x{word}x")


def test_a_preset_that_is_gone_gives_way_to_what_the_rules_say() -> None:
    choice = ROUTER.choose("plan it", mode="general", state=RouterState("gone", 1))
    assert (choice.preset.id, choice.reviewed, choice.state.turns) == ("general_planner", True, 0)


@pytest.mark.parametrize("turns", [1, 2, 6])
def test_a_choice_holds_for_exactly_so_many_turns(turns: int) -> None:
    router = evolve(ROUTER, review_every=turns)
    state, reviewed = None, []
    for _ in range(3 * turns):
        choice = router.choose("hi", mode="general", state=state)
        state = choice.state
        reviewed.append(choice.reviewed)
    assert reviewed == [True, *[False] * (turns - 1)] * 3


def test_the_instructions_of_a_preset_and_its_addons_are_joined() -> None:
    assert ROUTER.choose("hi", mode="general").instructions == "Be short.\n\nTwo sentences."
    assert ROUTER.choose("audit", mode="coding").instructions == "Look for faults."
    assert ROUTER.choose("hi", mode="coding").instructions == "Write code."


@pytest.mark.parametrize(
    ("match", "matching"),
    [
        ("equal", {"code"}),
        ("prefix", {"code", "code-x"}),
        ("substring", {"code", "code-x", "my-code"}),
    ],
)
def test_how_modes_match_is_a_choice(match: str, matching: set[str]) -> None:
    rule = PresetRule(id="r", preset="p", modes=["Code"], match=match)  # type: ignore[arg-type]
    assert {
        mode for mode in ("code", "code-x", "my-code", "other") if rule.holds(mode, "")
    } == matching


def test_all_keywords_must_be_there() -> None:
    rule = PresetRule(id="r", preset="p", all_of=["red", "blue"])
    assert rule.holds("", "Blue and red")
    assert not rule.holds("", "red and bluegreen")


def test_of_equal_rules_the_first_decides_and_of_modes_the_longest() -> None:
    router = PresetRouter(
        presets=[Preset("a"), Preset("b")],
        rules=[PresetRule(id=id_, preset=to, min_chars=5) for id_, to in (("1", "a"), ("2", "b"))],
        by_mode={"cod": "a", "coding": "b", "": "a"},
        default="a",
    )
    assert router.choose("12345").reason == "rule:1"
    assert router.choose("", mode="my coding").reason == "mode_pattern:coding"
    assert router.choose("", mode="other").reason == "default"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"default": "x"}, "there is no preset 'x'"),
        ({"by_mode": {"m": "x"}}, "there is no preset 'x'"),
        ({"rules": [PresetRule(id="r", preset="x")]}, "there is no preset 'x'"),
        ({"presets": [Preset("a"), Preset("a")], "default": "a"}, "same id"),
        ({"presets": [Preset("a", addons=["k"])], "default": "a"}, "names no addon: 'k'"),
        ({"review_every": 0}, "must be 1 turn or more"),
        ({"review_every": True}, "must be 1 turn or more"),
    ],
)
def test_a_router_that_cannot_choose_is_an_error(wrong: dict[str, object], said: str) -> None:
    fine: dict[str, object] = {"presets": [Preset("a")], "default": "a"}
    with pytest.raises(DefinitionError, match=said):
        PresetRouter(**{**fine, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"match": "near"}, "must be one of equal, prefix, substring"),
        ({"modes": "general"}, "must be a list"),
        ({"any_of": [" "]}, "has an empty text"),
        ({"min_chars": -1}, "no message has"),
        ({"min_chars": 5, "max_chars": 4}, "no message has 5 to 4"),
    ],
)
def test_a_rule_that_cannot_hold_is_an_error(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        PresetRule(id="r", preset="p", **wrong)  # type: ignore[arg-type]
