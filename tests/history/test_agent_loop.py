"""An agent loop and a chat with tools, at 180 budgets and in every provider's format."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from loops import BUDGETS, CONVERSATIONS
from talks import O200K

from promptsections import (
    BudgetExceededError,
    ConversationHistory,
    Message,
    Prompt,
    RenderedPrompt,
    Renderer,
    SystemMessage,
    lay_out,
    providers,
)
from promptsections.providers import openai_chat

OPTIONS: dict[str, dict[str, Any]] = {
    "by default": {},
    "marked": {"omission_marker": "{n} earlier messages omitted"},
    "results cut": {"max_result_tokens": 16},
    "both": {"max_result_tokens": 16, "omission_marker": "[{n} messages left out]"},
}
FORMATS = [
    module
    for module in (
        importlib.import_module(f"promptsections.providers.{found.name}")
        for found in pkgutil.iter_modules(providers.__path__)
    )
    if hasattr(module, "to_request")
]


def renders(
    history: list[Message], options: dict[str, Any]
) -> Iterator[tuple[int, RenderedPrompt]]:
    """Lay the conversation out at every budget at which it is possible."""
    prompt = Prompt([SystemMessage("You are brief."), ConversationHistory(**options)])
    renderer = Renderer("gpt-4o")
    resolved = renderer.resolve(prompt, {"history": history}, budget=BUDGETS[-1])
    least = resolved.minimum_budget()
    for budget in BUDGETS:
        if budget < least:
            with pytest.raises(BudgetExceededError):
                lay_out(resolved, budget)
            with pytest.raises(BudgetExceededError):
                renderer.render(prompt, {"history": history}, budget=budget)
        else:
            yield budget, lay_out(resolved, budget)


def recount(request: Any) -> int:
    """Count every string of a Chat Completions request, three tokens a message, three to begin."""
    tokens = 3
    for message in request["messages"]:
        strings = [message["role"], message["content"] or "", message.get("tool_call_id", "")]
        for call in message.get("tool_calls", ()):
            strings += [call["function"]["name"], call["function"]["arguments"]]
        tokens += 3 + sum(map(O200K.count, strings))
    return tokens


def unpaired(request: Any) -> list[str]:
    """Return the ids of results without a call right before them, and of calls without a result."""
    wrong: list[str] = []
    waiting: set[str] = set()
    for message in request["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                wrong.append(message["tool_call_id"])
            waiting.discard(message["tool_call_id"])
            continue
        wrong += waiting
        waiting = {call["id"] for call in message.get("tool_calls", ())}
    return [*wrong, *waiting]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_nothing_is_orphaned_lost_or_over(conversation: str, options: dict[str, Any]) -> None:
    history = CONVERSATIONS[conversation]()
    task = [message for message in history if message.role == "user"][-1]
    laid_out = 0

    for budget, rendered in renders(history, options):
        laid_out += 1
        request = openai_chat.to_request(rendered)
        assert unpaired(request) == []
        assert task in rendered.messages
        assert recount(request) <= rendered.token_count <= budget

    assert laid_out >= 170


@pytest.mark.parametrize("provider", FORMATS, ids=lambda module: module.__name__.split(".")[-1])
@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_every_provider_takes_it_with_the_task(conversation: str, provider: Any) -> None:
    history = CONVERSATIONS[conversation]()
    task = [message for message in history if message.role == "user"][-1].text

    for _, rendered in renders(history, OPTIONS["both"]):
        assert task in json.dumps(provider.to_request(rendered), ensure_ascii=False)


def test_more_budget_gives_more_steps_and_then_whole_results() -> None:
    history = CONVERSATIONS["agent loop"]()
    steps, cut = [], []

    for _, rendered in renders(history, OPTIONS["results cut"]):
        codes = [note.code for note in rendered.layout.notes]
        results = [message for message in rendered.messages if message.role == "tool"]
        steps.append(len(results))
        cut.append(codes.count("result_cut"))
        assert sum("left out]" in result.text for result in results) == cut[-1]
        assert not cut[-1] or len(results) < 20 or "steps_left_out" not in codes
        if len(results) < 20:
            assert cut[-1] == len(results)

    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (0, 20)
    assert cut[-1] == 0
    assert cut[steps.index(20)] > 0
