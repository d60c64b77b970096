"""What the strategies draw can be rendered, and is found by type."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from promptsections import (
    Auto,
    Budget,
    GroupSection,
    Message,
    Prompt,
    PromptSection,
    ProviderError,
    Renderer,
    Rest,
    Share,
    Template,
    Tokens,
)
from promptsections.providers.pairing import check_order
from promptsections.solver import Join, Track
from promptsections.testing import WordTokenizer
from promptsections.testing.strategies import (
    VARIABLES,
    histories,
    memories,
    prompts,
    section_budgets,
    templates,
    total_budgets,
)

WORDS = Renderer(tokenizer=WordTokenizer())
QUICK = settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)


@given(prompts(), memories(valid=False))
def test_every_prompt_resolves(prompt: Prompt, memory: object) -> None:
    """Nothing that is drawn is an error before its budget matters."""
    assert WORDS.resolve(prompt, memory, budget=10_000).root.children is not None


@given(templates(), memories())
def test_every_template_renders(template: Template, memory: object) -> None:
    """Templates read what memories have."""
    assert set(template.variables) <= set(VARIABLES)
    assert isinstance(template.render(memory), str)


@given(histories())
def test_valid_histories_are_what_a_provider_takes(history: list[Message]) -> None:
    """Every call is answered right after it."""
    check_order(history)


def test_broken_histories_are_drawn_too() -> None:
    def is_refused(history: list[Message]) -> bool:
        try:
            check_order(history)
        except ProviderError:
            return True
        return False

    assert find(histories(valid=False), is_refused, settings=QUICK)


@given(total_budgets(30))
def test_total_budgets_are_enough(budget: int) -> None:
    """None is below the minimum."""
    assert budget >= 30


@given(section_budgets(kinds=[Share, Rest]))
def test_kinds_of_budgets_can_be_chosen(budget: Budget) -> None:
    """Only those are drawn."""
    assert isinstance(budget, Share | Rest)


@pytest.mark.parametrize(
    "kind",
    [
        Auto,
        Tokens,
        Share,
        Rest,
        Message,
        Template,
        Prompt,
        GroupSection,
        PromptSection,
        Track,
        Join,
    ],
)
def test_strategies_are_found_by_type(kind: Any) -> None:
    assert isinstance(find(st.from_type(kind), lambda _: True, settings=QUICK), kind)
