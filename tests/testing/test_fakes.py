"""Fakes find what they were given, fail when told to, and remember what they were asked."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest

from promptsections import ConversationHistory, DataSourceSection, Message, Prompt, Renderer
from promptsections.testing import AsyncFakeSource, FakeSource, FakeStore, WordTokenizer

WORDS = Renderer(tokenizer=WordTokenizer())
TURNS = [Message(role, f"{role} says {i}") for i in range(9) for role in ("user", "assistant")]


def rendered(section: Any, **options: Any) -> Any:
    """Render one section on an event loop."""
    memory = {"input": "what?", "history": FakeStore(TURNS).newest_first()}
    return anyio.run(partial(WORDS.arender, Prompt([section]), memory, budget=90, **options))


@pytest.mark.parametrize("kind", [FakeSource, AsyncFakeSource])
def test_a_source_finds_what_it_was_given(kind: Any) -> None:
    source = kind(["a b", "c"], delay=0.001)

    assert rendered(DataSourceSection(source)).messages[0].text == "a b\n\nc"
    assert source.queries == ["what?"]


@pytest.mark.parametrize("kind", [FakeSource, AsyncFakeSource])
def test_a_source_fails_when_told_to(kind: Any) -> None:
    layout = rendered(DataSourceSection(kind(error=OSError("down")))).layout

    assert layout["data_source"].error == "OSError: down"


def test_a_slow_source_times_out() -> None:
    layout = rendered(DataSourceSection(AsyncFakeSource(["a"], delay=30)), timeout=0.01).layout

    assert layout["data_source"].reason == "timeout"


def test_sources_are_equal_by_what_they_do() -> None:
    assert FakeSource(["a"], error=OSError("x")) == FakeSource(["a"], error=OSError("x"))
    assert FakeSource(["a"], error=OSError("x")) != FakeSource(["a"], error=OSError("y"))


def test_a_store_hands_out_no_more_than_is_read() -> None:
    plain, awaited = FakeStore(TURNS), FakeStore(TURNS)
    prompt = Prompt([ConversationHistory()])

    one = WORDS.render(prompt, {"history": plain.newest_first()}, budget=12)
    memory = {"history": awaited.newest_first_async()}
    other = anyio.run(partial(WORDS.arender, prompt, memory, budget=12))

    assert one.messages == other.messages == tuple(TURNS[-4:])
    assert plain.handed_out == awaited.handed_out == TURNS[: -len(plain.handed_out) - 1 : -1]
    assert len(plain.handed_out) < len(TURNS)
