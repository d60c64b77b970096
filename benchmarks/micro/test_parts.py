"""What single parts cost; pytest-benchmark takes the times."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from attrs import frozen

from benchmarks.subjects import MODEL, make_history, make_prompt
from benchmarks.workload import make_workload
from promptsections import (
    Message,
    Prompt,
    RenderedPrompt,
    Renderer,
    Template,
    TemplateSection,
    lay_out,
    truncate,
)
from promptsections.providers import anthropic_messages, gemini, openai_chat, openai_responses
from promptsections.solver import Join, Kind, Plan, Track, solve
from promptsections.tokens import CachedTokenizer, TiktokenTokenizer

Benchmark = Callable[..., Any]
"""The fixture of pytest-benchmark: runs a function many times, returns what it returned."""

_SOURCE = "Dear <<$name>>, your order <<$order.id>> of <<$order.count>> items is on its way. " * 20
_VALUES = {"name": "Ada", "order": {"id": "A-17", "count": 3}}
_LONG = "Words that say a little, and then some more of them. " * 40_000
TOKENIZER = TiktokenTokenizer()


@frozen
class Sizes:
    """Sizes that are numbers from the start: a tenth of what each track holds is its floor."""

    naturals: tuple[int, ...]

    def floor(self, track: int, at_most: int, /) -> int:
        return min(self.naturals[track] // 10, at_most + 1)

    def natural(self, track: int, at_most: int, /) -> int:
        return min(self.naturals[track], at_most + 1)


@pytest.mark.parametrize("tracks", [10, 300])
def test_solving(benchmark: Benchmark, tracks: int) -> None:
    kinds: tuple[Kind, ...] = ("content", "share", "rest")
    plan = Plan(
        Join(
            tuple(
                Track(number, kind=kinds[number % 3], weight=(1, 10), priority=number % 5)
                for number in range(tracks)
            ),
            separator=1,
        )
    )
    sizes = Sizes(tuple(50 + 7 * number % 90 for number in range(tracks)))

    solution = benchmark(solve, plan, 40 * tracks, sizes)

    assert tracks // 2 < len(solution.given) <= tracks
    assert sum(solution.given.values()) <= 40 * tracks


@pytest.fixture(scope="module")
def rendered() -> RenderedPrompt:
    workload = make_workload(100)
    memory = {"history": make_history(workload), "input": workload.question}
    return Renderer(MODEL).render(make_prompt(workload), memory, budget=4_096)


def test_parsing_a_template(benchmark: Benchmark) -> None:
    template = benchmark(Template, _SOURCE)

    assert template.variables == ("name", "order.id", "order.count")


def test_evaluating_a_template(benchmark: Benchmark) -> None:
    renderer, prompt = Renderer(MODEL), Prompt([TemplateSection(Template(_SOURCE))])

    resolved = benchmark(renderer.resolve, prompt, _VALUES, budget=4_096)

    assert lay_out(resolved).messages[0].text.startswith("Dear Ada, your order A-17 of 3 items")


@pytest.mark.parametrize("keep", ["start", "end", "middle"])
def test_cutting_two_megabytes(benchmark: Benchmark, keep: Any) -> None:
    cut = benchmark(truncate, _LONG, 1_000, tokenizer=TOKENIZER, keep=keep)

    assert 950 < TOKENIZER.count(cut) <= 1_000


def test_a_remembered_count(benchmark: Benchmark) -> None:
    tokenizer = CachedTokenizer(TOKENIZER)
    text = make_workload(1).history[0].text
    expected = tokenizer.count(text)

    assert benchmark(tokenizer.count, text) == expected


def test_a_new_count(benchmark: Benchmark) -> None:
    text = make_workload(1).history[0].text

    assert benchmark(TOKENIZER.count, text) > 20


@pytest.mark.parametrize(
    "provider",
    [openai_chat, openai_responses, anthropic_messages, gemini],
    ids=lambda p: p.__name__,
)
def test_writing_a_request(
    benchmark: Benchmark, rendered: RenderedPrompt, provider: ModuleType
) -> None:
    request = benchmark(provider.to_request, rendered)

    assert request


def test_reading_dicts(benchmark: Benchmark) -> None:
    dicts = make_history(make_workload(100), dicts=True)

    messages = benchmark(openai_chat.from_messages, dicts)

    assert len(messages) == 100
    assert isinstance(messages[0], Message)
