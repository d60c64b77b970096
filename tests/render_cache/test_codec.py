"""Rendered prompts as JSON: they come back as they were, and nothing else comes back."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    BudgetExceededError,
    CachePolicy,
    FilePart,
    ImagePart,
    Message,
    Prompt,
    Renderer,
    TextPart,
    TextSection,
    Tool,
    ToolCall,
)
from promptsections.render_cache.codec import Unreadable, Unwritable, from_plain, to_plain
from promptsections.testing import WordTokenizer
from promptsections.testing.strategies import memories, prompts, total_budgets

PLAIN = Renderer(tokenizer=WordTokenizer())
RENDERERS = (
    PLAIN,
    Renderer(tokenizer=WordTokenizer(), output="text"),
    Renderer(
        "claude-sonnet-4-5",
        caching=CachePolicy(prompt_caching=True, share_prompt_cache_across_tenants=True),
    ),
)


def there_and_back(value: object) -> Any:
    return from_plain(json.loads(json.dumps(to_plain(value), allow_nan=False)))


@given(prompts(), memories(valid=False), st.data())
def test_a_rendered_prompt_comes_back_as_it_was(
    prompt: Prompt, memory: Any, data: st.DataObject
) -> None:
    """Whatever is rendered, its JSON reads as an equal value."""
    renderer = data.draw(st.sampled_from(RENDERERS))
    try:
        rendered = renderer.render(prompt, memory, budget=data.draw(total_budgets()))
    except BudgetExceededError:
        return

    back = there_and_back(rendered)

    assert back == rendered
    assert repr(back.layout) == repr(rendered.layout)
    assert back.explain() == rendered.explain()


def test_everything_that_a_message_may_hold_comes_back() -> None:
    messages = (
        Message("assistant", None, tool_calls=[ToolCall("1", "f", {"a": [1]})]),
        Message("tool", "\ud800 é", tool_call_id="1"),
        Message("user", [TextPart("a"), ImagePart("u", width=3), FilePart(file_id="f", tokens=1)]),
        Message("user", "a", name="b", provider_data={"openai": {"x": [1, {"y": None}, 1.5]}}),
        Message("user", "a", extra={"k": True, "list": {"of": ["list"]}}),
    )
    tool = Tool("f", "d", {"type": "object", "properties": {"a": {"enum": [1, "1"]}}})

    assert there_and_back(messages) == messages
    assert there_and_back(tool) == tool
    assert there_and_back((Fraction(1, 3), [], {}, ((),))) == (Fraction(1, 3), [], {}, ((),))


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (Message("user", "a", extra={"k": object()}), "holds a object"),
        (Message("user", "a", extra={"k": {1: 2}}), "holds a key of type int"),
        ((float("nan"),), "holds a float"),
        ({"a": {1}}, "holds a set"),
    ],
)
def test_what_would_not_come_back_is_refused(value: object, problem: str) -> None:
    with pytest.raises(Unwritable, match=problem):
        to_plain(value)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": 1, "b": 2},
        {"os.system": {"command": "true"}},
        {"Message": {"role": "nobody"}},
        {"Message": {"role": "user", "more": 1}},
        {"Message": None},
        {"Layout": {}},
        {"fraction": "1/0"},
        {"fraction": "x"},
        {"reason": "because"},
        {"map": [1]},
        {"list": 1},
        {"list": [{"map": 1}]},
        {"Message": {"role": {"os.system": {}}}},
        object(),
    ],
)
def test_nothing_else_is_read(data: object) -> None:
    with pytest.raises(Unreadable):
        from_plain(data)


def test_times_and_the_flag_are_no_part_of_it() -> None:
    rendered = PLAIN.render(Prompt([TextSection("a")]), budget=9)

    assert rendered.timings
    assert not there_and_back(rendered).timings
    assert not there_and_back(rendered).cached
