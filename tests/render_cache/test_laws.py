"""With a cache every render is what it is without one, whatever else the cache holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from rendering import declared, outcome, renderer

from promptsections import (
    ConversationHistory,
    DataSourceSection,
    MemorySection,
    Prompt,
    SystemMessage,
    TextSection,
    Tool,
    UserInput,
)
from promptsections.render_cache import RenderCache, cacheable
from promptsections.testing import FakeSource
from promptsections.testing.strategies import memories, prompts, total_budgets

LINES = Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]


@given(prompts(), memories(valid=False), total_budgets(), st.booleans())
def test_a_kept_render_is_the_render(
    prompt: Prompt, memory: Any, budget: int, as_text: bool
) -> None:
    """The first render, the kept one, and one without a cache are equal; errors too."""
    prompt, cache = declared(prompt), RenderCache()
    output = "text" if as_text else "messages"
    plain = outcome(renderer(output=output), prompt, memory, budget=budget)
    kept = [
        outcome(renderer(cache, output=output), prompt, memory, budget=budget) for _ in range(2)
    ]

    assert kept == [plain, plain]
    is_error = isinstance(plain, tuple)
    assert cache.statistics().hits == (0 if is_error else 1)
    assert cache.statistics().not_cached == 0


_ALIKE: list[Any] = [
    "Aa", "BB", "x" * 99 + "1", "x" * 99 + "2", "1", 1, 1.0, True, None, "", [], ["1"], ["", "1"],
    {"a": 1}, {"a": "1"}, {"a": {"b": 1}}, "True", "1.0", b"1", -0.0, 0.0,
]  # fmt: skip
_TEXTS = ["Aa", "BB", "x" * 99 + "1", "x" * 99 + "2", "", "<<$a>>"]
_MISSING = "missing"


@st.composite
def inputs(draw: st.DrawFn) -> tuple[Prompt, dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A prompt, a memory, options of a render and of a renderer, nearly like others."""
    texts = st.sampled_from(_TEXTS)
    sections: list[Any] = [
        st.builds(TextSection, texts, st.sampled_from(["system", "user"])),
        st.just(SystemMessage("<<$a>><<$b>>")),
        st.just(SystemMessage("<<$a>> <<$b>>")),
        st.builds(SystemMessage, st.sampled_from(["<<f $a>>", "<<f $b>>", "<<g>>"])),
        st.builds(MemorySection, st.sampled_from(["a", "b", "a.b"])),
        st.builds(
            lambda texts: DataSourceSection(cacheable(FakeSource(texts), key="v1")),
            st.lists(texts, max_size=2),
        ),
        st.just(ConversationHistory()),
        st.just(UserInput("a")),
    ]
    found = draw(st.lists(st.one_of(sections), min_size=1, max_size=2))
    tools = draw(st.sampled_from([(), (Tool("a"),), (Tool("b"),), (Tool("a", "b"),)]))
    values = st.sampled_from([_MISSING, *_ALIKE])
    memory = {"a": draw(values), "b": draw(values)}
    memory = {name: value for name, value in memory.items() if value is not _MISSING}
    messages = [{"role": "user", "content": t} for t in draw(st.lists(texts, max_size=2))]
    marks = {
        "f": cacheable(_write, key="f"),
        "g": cacheable(draw(st.sampled_from([_g, _h])), key="g"),
    }
    return (
        Prompt(found, tools=tools),
        {**memory, "history": messages},
        {
            "budget": draw(st.sampled_from([7, 400])),
            "tenant": draw(st.sampled_from([None, "", "a"])),
        },
        {"undefined": draw(st.sampled_from(["error", "empty"])), "functions": marks},
    )


def _write(value: object) -> str:
    return f"{type(value).__name__} {value!r}"


def _g() -> str:
    return "g"


def _h() -> str:
    return "h"


@given(st.lists(inputs(), min_size=2, max_size=8))
def test_inputs_that_differ_never_share_an_entry(steps: list[Any]) -> None:
    """However alike renders of one cache are, each gets what it would get without one."""
    cache = RenderCache()
    for prompt, memory, options, settings in [*steps, *steps]:
        plain = outcome(renderer(**settings), prompt, memory, **options)

        assert outcome(renderer(cache, **settings), prompt, memory, **options) == plain


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(_ALIKE)), max_size=12))
def test_a_memory_that_changes_from_render_to_render_is_read_anew(
    changes: list[tuple[str, Any]],
) -> None:
    """One mutable memory, changed in place: no render shows what was there before."""
    cache = RenderCache()
    prompt = Prompt([SystemMessage("<<$a>>|<<$b.c>>"), MemorySection("a"), UserInput("b")])
    memory: dict[str, Any] = {"a": [1], "b": {"c": 1}}
    for name, value in changes:
        if name == "c":
            memory["b"]["c"] = value
        else:
            memory[name] = [value] if name == "a" else {"c": value}
        plain = outcome(renderer(), prompt, memory, budget=400)

        assert outcome(renderer(cache), prompt, memory, budget=400) == plain
        assert outcome(renderer(cache), prompt, memory, budget=400) == plain


def prompt_of(components: dict[str, Any]) -> Prompt:
    texts = [TextSection(s["content"]) for s in components.get("systemPrompts", ())]
    return Prompt(
        [
            *texts,
            MemorySection("context"),
            MemorySection("found"),
            ConversationHistory(),
            UserInput(),
        ],
        tools=[Tool(tool["id"]) for tool in components.get("tools", ())],
    )


def memory_of(case: dict[str, Any]) -> dict[str, Any]:
    components = case["components"]
    return {
        "context": case["context"],
        "found": components.get("retrievedContext"),
        "history": components.get("conversationHistory", []),
        "input": components.get("userInput", ""),
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_inputs_that_another_engine_took_for_equal_are_told_apart(case: dict[str, Any]) -> None:
    cache = RenderCache()
    found = []
    for side in (case["a"], case["b"]):
        prompt, memory = prompt_of(side["components"]), memory_of(side)
        rendered = renderer(cache).render(prompt, memory, budget=1_000)
        assert rendered == renderer().render(prompt, memory, budget=1_000)
        found.append(rendered)

    assert [rendered.cached for rendered in found] == [False, False]
    assert found[0] != found[1]
    assert evolve(found[0], cached=True) == found[0]
