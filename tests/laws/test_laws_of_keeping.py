"""What a prompt keeps of itself from render to render changes nothing."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from promptsections import BudgetExceededError, Prompt, Renderer, TextSection
from promptsections.errors import PromptSectionsError
from promptsections.keeping import Kept
from promptsections.testing import WordTokenizer
from promptsections.testing.strategies import memories, prompts

WORDS = WordTokenizer()
RENDERERS = (
    Renderer(tokenizer=WORDS),
    Renderer(tokenizer=WORDS, output="text"),
    Renderer("gpt-4o"),
)


def outcome(renderer: Renderer, prompt: Prompt, memory: Mapping[str, Any], budget: int) -> object:
    """A render, or what it says instead."""
    try:
        return renderer.render(prompt, memory, budget=budget)
    except BudgetExceededError as error:
        return error.needed, error.floors
    except PromptSectionsError as error:
        return type(error), str(error)


@given(
    prompts(),
    st.lists(
        st.tuples(st.sampled_from(RENDERERS), memories(), st.integers(1, 300)),
        min_size=2,
        max_size=6,
    ),
)
def test_a_prompt_that_was_used_renders_as_a_new_one(
    prompt: Prompt, renders: Sequence[tuple[Renderer, Mapping[str, Any], int]]
) -> None:
    """Whatever was rendered before, other values, other budgets and other forms change nothing."""
    for renderer, memory, budget in renders:
        new: Prompt = pickle.loads(pickle.dumps(prompt))

        assert outcome(renderer, prompt, memory, budget) == outcome(renderer, new, memory, budget)


def test_what_is_kept_is_no_part_of_a_prompt() -> None:
    prompt = Prompt([TextSection("hello")])
    RENDERERS[0].render(prompt, budget=9)

    assert prompt == Prompt([TextSection("hello")])
    assert "kept" not in repr(prompt)
    assert len(pickle.dumps(prompt)) == len(pickle.dumps(Prompt([TextSection("hello")])))


def test_only_the_last_few_things_are_kept() -> None:
    kept: Kept[int] = Kept()
    made: list[int] = []

    def square(number: int) -> int:
        made.append(number)
        return number * number

    for number in (1, 2, 3, 4, 1, 5, 1):
        assert kept.of(number, lambda: square(number)) == number * number  # noqa: B023

    assert made == [1, 2, 3, 4, 5, 1]
