"""Compose, render, look at the layout, lay out again, and write a request."""

from __future__ import annotations

from typing import assert_type

import pytest

from promptsections import (
    BudgetExceededError,
    GroupSection,
    Layout,
    MemorySection,
    Placement,
    Prompt,
    RenderedPrompt,
    Renderer,
    Rest,
    SystemMessage,
    TextSection,
    Tokens,
    Tool,
    UserInput,
    lay_out,
)
from promptsections.layout import Outcome
from promptsections.providers import openai_chat

ABOUT = Prompt([SystemMessage("You help <<$name>>."), MemorySection("facts", tokens=Tokens(50))])
PROMPT = Prompt(
    [
        ABOUT,
        GroupSection([TextSection("One."), TextSection("Two.")], role="system", tokens=0.5),
        TextSection("Three.", tokens=Rest(at_most=20), required=False),
        UserInput(),
    ],
    tools=[Tool("now", "The time.")],
)
MEMORY = {"name": "Ann", "facts": ["likes tea"], "input": "Hello"}


def test_a_layout_is_read_by_path() -> None:
    rendered = Renderer("gpt-4o").render(PROMPT, MEMORY, budget=300)

    assert_type(rendered.layout, Layout)
    placement = rendered.layout["prompt/memory"]
    assert_type(placement, Placement)
    outcome: Outcome = placement.outcome
    assert outcome == "whole"
    assert rendered.token_count <= 300


def test_resolved_content_is_laid_out_at_many_budgets() -> None:
    resolved = Renderer("gpt-4o").resolve(PROMPT, MEMORY, budget=1000)
    least: int = resolved.minimum_budget()

    counts = [lay_out(resolved, budget).token_count for budget in (least, 300, 1000)]

    assert counts == sorted(counts)
    with pytest.raises(BudgetExceededError) as raised:
        lay_out(resolved, least - 1)
    assert_type(raised.value.floors, dict[str, int])
    assert raised.value.needed == least


def test_a_request_is_plain_data() -> None:
    rendered: RenderedPrompt = Renderer("gpt-4o").render(PROMPT, MEMORY, budget=300)

    request = openai_chat.to_request(rendered, model="gpt-4o")

    assert [message["role"] for message in request["messages"]] == ["system"] * 4 + ["user"]
