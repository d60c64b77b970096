"""What is written and read again is the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import BudgetExceededError, DataSourceSection, GroupSection, Prompt, Renderer
from promptsections.config import dumps, loads
from promptsections.config.document import Syntax
from promptsections.testing import WordTokenizer
from promptsections.testing import strategies as own

SYNTAXES: list[Syntax] = ["yaml", "json", "toml"]


def sources_of(group: GroupSection) -> Iterator[Any]:
    for section in group.sections:
        if isinstance(section, DataSourceSection):
            yield section.source
        elif isinstance(section, GroupSection):
            yield from sources_of(section)


def outcome(prompt: Prompt, memory: Mapping[str, Any], budget: int) -> object:
    """Return the messages of a render, or what stood against it."""
    try:
        return Renderer(tokenizer=WordTokenizer()).render(prompt, memory, budget=budget).messages
    except BudgetExceededError as error:
        return str(error)


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(prompt=own.prompts(), memory=own.memories(), budget=own.total_budgets())
def test_what_is_loaded_from_what_was_written_renders_the_same(
    syntax: Syntax, prompt: Prompt, memory: Mapping[str, Any], budget: int
) -> None:
    """`loads(dumps(p))` equals `p` and renders the same bytes, whatever it is written in."""
    callables = {f"source {n}": source for n, source in enumerate(sources_of(prompt))}
    text = dumps(prompt, format=syntax, callables=callables)

    loaded = loads(text, format=syntax, callables=callables).prompt

    assert loaded == prompt
    assert outcome(loaded, memory, budget) == outcome(prompt, memory, budget)
    assert dumps(loaded, format=syntax, callables=callables) == text
