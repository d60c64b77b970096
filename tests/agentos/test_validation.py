"""Looking at components before a prompt is constructed, held against recorded answers."""

from __future__ import annotations

from typing import Any

import pytest
from agentos_cases import Case, of, of_id

from promptsections import Chunk, ImagePart, Message, ModelProfile, Tool
from promptsections.elements import Element
from promptsections.prompt_engine import (
    ExecutionContext,
    ModelTarget,
    PersonaSettings,
    PromptComponents,
    PromptEngine,
    PromptEngineConfig,
    validate,
)
from promptsections.tokens import CallableTokenizer

FOURTHS = CallableTokenizer("four characters", lambda text: -(-len(text) // 4))
PROFILE = ModelProfile.plain(FOURTHS)
"""Counts as the original does: four characters a token."""

EXACT = PromptEngine(PromptEngineConfig.read({"tokenCounting": {"strategy": "precise"}}))

DIFFERENCES = {"agentos-0200": "retrieved context is counted: it does not fit"}


def components_of(given: dict[str, Any]) -> PromptComponents:
    return PromptComponents(
        system_prompts=["s" * length for length in given["system"]],
        tools=[Tool(f"t{at}") for at in range(given["tools"])],
        media=[ImagePart("https://x.test/a.png")] * given["vision"],
        retrieved=["r" * given["rag"]] if given["rag"] else [],
    )


def target_of(given: dict[str, Any]) -> ModelTarget:
    return ModelTarget(
        model=PROFILE,
        max_context_tokens=given["max"],
        optimal_context_tokens=given["optimal"],
        tools_supported=False,
        vision_supported=False,
    )


def checked(components: PromptComponents, target: ModelTarget | str, **more: Any) -> list[str]:
    return [issue.code for issue in validate(PromptEngine(), components, target, **more)]


@pytest.mark.parametrize("case", of("validate"))
def test_the_same_is_found_as_recorded(case: Case) -> None:
    found = validate(EXACT, components_of(case.input), target_of(case.input))
    issues = [[one.severity, one.code] for one in found if one.severity != "info"]
    recommendations = sum(one.severity == "info" for one in found)
    is_same = (issues, recommendations) == (case.output["issues"], case.output["recommendations"])
    assert is_same == (case.id not in DIFFERENCES)


def test_retrieved_context_is_counted() -> None:
    given = of_id(200).input
    assert checked(components_of(given), target_of(given)) == ["POTENTIAL_TOKEN_OVERFLOW"]


@pytest.mark.parametrize(
    "part",
    [
        {"history": [Message("user", "h" * 4000)]},
        {"user_input": "u" * 4000},
        {"retrieved": [Chunk("c" * 2000), Chunk("d" * 2000)]},
        {"task_data": {"key": "t" * 4000}},
        {"custom": {"key": "t" * 4000}},
        {"tools": [Tool("t", description="d" * 4000)]},
        {"media": [ImagePart("https://x.test/a.png")] * 20},
    ],
    ids=lambda part: next(iter(part)),
)
def test_every_part_is_counted(part: dict[str, Any]) -> None:
    target = ModelTarget(model="gpt-4o", max_context_tokens=200)
    given = PromptComponents(**{"system_prompts": ["S"], **part})
    assert checked(given, target) == ["POTENTIAL_TOKEN_OVERFLOW"]
    assert checked(given, "gpt-4o") == []


def test_elements_and_options_of_the_persona_are_counted() -> None:
    persona = PersonaSettings(
        id="P",
        elements=(Element("behavioral_guidance", "word " * 300),),
        overrides={"historyManagement": {"maxTokensForHistory": 10}},
    )
    context = ExecutionContext(persona=persona)
    target = ModelTarget(model="gpt-4o", max_context_tokens=200)
    given = PromptComponents(system_prompts=["S"])
    assert checked(given, target) == []
    assert checked(given, target, context=context) == ["POTENTIAL_TOKEN_OVERFLOW"]


def test_limits_of_parts_hide_nothing() -> None:
    config = PromptEngineConfig.read(
        {"historyManagement": {"defaultMaxMessages": 1, "maxTokensForHistory": 10}}
    )
    history = [Message("user", f"word {at} " * 50) for at in range(20)]
    found = validate(
        PromptEngine(config),
        PromptComponents(system_prompts=["S"], history=history),
        ModelTarget(model="gpt-4o", max_context_tokens=1000),
    )
    assert [issue.code for issue in found] == ["POTENTIAL_TOKEN_OVERFLOW"]


def test_looking_at_components_constructs_no_prompt() -> None:
    events: list[str] = []
    engine = PromptEngine(hook=lambda event, _: events.append(event))
    validate(engine, PromptComponents(user_input="Q"), "gpt-4o")
    assert events == []
    assert engine.statistics.to_dict()["constructions"] == 0
