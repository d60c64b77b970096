"""What the tests of renders share: a renderer that counts words, and both event loops."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import pytest

from promptsections import Prompt, PromptSection, RenderedPrompt, Renderer

T = TypeVar("T")

on_both_loops = pytest.mark.parametrize("backend", ["asyncio", "trio"])


def run(backend: str, call: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine on an event loop of its own; fail if it hangs."""

    async def limited() -> T:
        with anyio.fail_after(20):
            return await call()

    return anyio.run(limited, backend=backend)


def by_words(**options: Any) -> Renderer:
    return Renderer(tokenizer=lambda text: len(text.split()), **options)


def render(
    *sections: PromptSection, memory: Any = None, budget: int = 100, **options: Any
) -> RenderedPrompt:
    return by_words(**options).render(Prompt(sections), memory, budget=budget)


def texts(rendered: RenderedPrompt) -> list[str]:
    return [message.text for message in rendered.messages]


def fates(rendered: RenderedPrompt) -> dict[str, tuple[str, str]]:
    """Return path → outcome and reason."""
    return {p.path: (p.outcome, p.reason.value) for p in rendered.layout.walk()}
