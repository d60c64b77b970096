"""Making everything fit, held against what the original was seen to do with the same sizes.

The original shrinks two of five parts, trusts what a summariser says of itself, and sends what is
still too large with a warning. Here a prompt fits, or it is an error; what was changed is told.
"""

from __future__ import annotations

import pytest
from agentos_cases import Case, of, of_id

from promptsections import BudgetExceededError, Chunk, Message, ModelProfile, Tool
from promptsections.prompt_engine import (
    EngineResult,
    ModelTarget,
    PromptComponents,
    PromptEngine,
    PromptEngineConfig,
)
from promptsections.summaries import SummaryRequest
from promptsections.tokens import CallableTokenizer

FOURTHS = CallableTokenizer("four characters", lambda text: -(-len(text) // 4))
PROFILE = ModelProfile.plain(FOURTHS)


def says_little(_: SummaryRequest) -> str:
    return "in short"


def fails(_: SummaryRequest) -> str:
    raise RuntimeError("the model is away")


SUMMARIZERS = {None: None, "ok": says_little, "throw": fails}


def budget_of(case: Case) -> int:
    model = case.input["model"]
    return int(model.get("optimalContextTokens") or model.get("maxContextTokens") or 1000)


def constructed(case: Case) -> EngineResult:
    given, budget = case.input["components"], budget_of(case)
    rag = given["rag"]
    lengths = rag if isinstance(rag, list) else [rag]
    ratio = case.input["trigger_ratio"]
    config = PromptEngineConfig.read(
        {
            "tokenCounting": {"strategy": "precise"},
            "historyManagement": {
                "maxTokensForHistory": budget * 35 // 100,
                "defaultMaxMessages": 0,
                "summarizationTriggerRatio": min(ratio, 1),
            },
            "contextManagement": {"maxRAGContextTokens": budget // 5},
        }
    )
    components = PromptComponents(
        system_prompts=["s" * length for length in given["system"]],
        user_input="u" * given["user"],
        history=[
            Message("user" if at % 2 == 0 else "assistant", f"{at:03}".ljust(length, "h")[:length])
            for at, length in enumerate(given["history"])
        ],
        retrieved=[Chunk("r" * length, id=str(at)) for at, length in enumerate(lengths) if length],
        tools=[Tool(f"t{at}") for at in range(given["tools"])],
    )
    engine = PromptEngine(config, summarizer=SUMMARIZERS[case.input["utility"]])
    return engine.construct(components, ModelTarget(model=PROFILE, max_context_tokens=budget))


def required(case: Case) -> int:
    """Return what must be sent: a history that ends with the user's words asks for an answer."""
    given = case.input["components"]
    asked = given["history"][-1:] if len(given["history"]) % 2 and not given["user"] else []
    return sum(-(-length // 4) for length in [*given["system"], given["user"], *asked])


@pytest.mark.parametrize("case", of("apply_token_budget"))
def test_it_fits_or_it_is_an_error(case: Case) -> None:
    budget = budget_of(case)
    if required(case) > budget:
        assert "TOKEN_BUDGET_EXCEEDED_POST_OPT" in case.output["issues"]
        with pytest.raises(BudgetExceededError):
            constructed(case)
        return
    result = constructed(case)
    assert result.token_count <= budget
    placements = {p.path: p for p in result.rendered.layout.walk()}
    history, retrieved = placements["conversation_history"], placements["retrieved"]
    assert history.used <= budget * 35 // 100
    assert retrieved.used <= budget // 5


@pytest.mark.parametrize("case", of("apply_token_budget"))
def test_what_is_changed_is_told_and_nothing_else(case: Case) -> None:
    if required(case) > budget_of(case):
        return
    result = constructed(case)
    changed = result.modifications
    told = {*changed.truncated, *changed.summarized, *changed.removed}
    kept = {p.path: p for p in result.rendered.layout.walk()}
    for path in ("conversation_history", "retrieved"):
        placement = kept[path]
        is_changed = placement.outcome in ("cut", "dropped") or any(
            note.path == path and note.code == "summarized" for note in result.rendered.layout.notes
        )
        assert (path in told) == is_changed


def codes(result: EngineResult) -> set[str]:
    return {issue.code for issue in result.issues}


@pytest.mark.parametrize("number", [140, 149])
def test_a_summary_that_fails_is_told_and_the_part_is_cut(number: int) -> None:
    result = constructed(of_id(number))
    assert any("SUMM" in code for code in codes(result)), codes(result)
    assert result.token_count <= 1000


def test_a_summary_stands_in_for_retrieved_text_over_its_share() -> None:
    result = constructed(of_id(148))
    assert result.modifications.summarized == ("retrieved",)
    assert "in short" in str(result.prompt)
