"""What AgentOS 0.9 does with long conversations, and what is right where that is a fault.

It compacts by a number of turns, takes characters for tokens, and may summarize the newest message
away. Here sizes decide, and the newest exchange stays.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promptsections import ConversationHistory, Message, Prompt, Renderer, Tokens
from promptsections.summaries import Summarize
from promptsections.tokens import ESTIMATION_MODELS

CASES = Path(__file__).parent / "cases" / "agentos.jsonl"
BY_LENGTH = ESTIMATION_MODELS["generic"].by_length()
"""Characters by four, as AgentOS counts."""


def cases(name: str) -> list[Any]:
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    return [pytest.param(row, id=row["id"]) for row in rows if row["fn"] == name]


def conversation(number: int, size: int) -> list[Message]:
    """Make messages of so many characters; the last is an answer."""
    roles = ("user", "assistant") if number % 2 == 0 else ("assistant", "user")
    texts = (f"m{n} ".ljust(size, "x") for n in range(number))
    return [Message(roles[n % 2], text) for n, text in enumerate(texts)]


@pytest.mark.parametrize("case", cases("compaction"))
def test_what_is_over_the_threshold_is_summarized_but_for_the_newest_exchange(
    case: dict[str, Any],
) -> None:
    given = case["input"]
    history = conversation(given["messages"], given["chars_each"])
    size = BY_LENGTH.count(history[-1].text)
    limit = max(given["max_context_tokens"], 4 * size)  # room for an exchange, which must stay
    is_over = sum(BY_LENGTH.count(m.text) for m in history) > limit * given["threshold"]
    how = Summarize(lambda request: "Summary.", trigger=given["threshold"], at_least=10)
    prompt = Prompt([ConversationHistory(tokens=Tokens(limit), start_on="any", when_over=how)])

    rendered = Renderer(tokenizer=BY_LENGTH).render(prompt, {"history": history}, budget=10_000)

    newest = history[-2:] if given["messages"] % 2 == 0 else history[-1:]
    assert rendered.messages[-len(newest) :] == tuple(newest)
    assert rendered.token_count <= limit
    assert bool(rendered.summaries) is is_over
    if not is_over:
        assert list(rendered.messages) == history


def test_messages_that_fit_are_compacted_by_nobody() -> None:
    (case,) = (
        row.values[0] for row in cases("compaction") if not row.values[0]["output"]["compacted"]
    )
    given = case["input"]
    history = conversation(given["messages"], given["chars_each"])
    prompt = Prompt([ConversationHistory(tokens=Tokens(100), when_over=Summarize())])

    rendered = Renderer(tokenizer=BY_LENGTH).render(prompt, {"history": history}, budget=1_000)

    assert len(rendered.messages) == case["output"]["messages_after"]


@pytest.mark.parametrize("case", cases("summary_chain_collapse"))
def test_summaries_are_one_that_is_within_its_target(case: dict[str, Any]) -> None:
    """A chain of summaries is merged there; here each one takes the place of that before."""
    most = case["input"]["max_tokens"]
    how = Summarize(at_least=most, target=0.01)
    history = conversation(60, 40)
    prompt = Prompt([ConversationHistory(tokens=Tokens(200), when_over=how)])
    renderer, summaries = Renderer(tokenizer=BY_LENGTH), {}
    for end in (20, 40, 60):
        memory = {"history": history[:end], "summaries": summaries}
        summaries = dict(renderer.render(prompt, memory, budget=1_000).summaries)

    (summary,) = summaries.values()
    assert summary.writes == 3
    assert summary.tokens <= most


@pytest.mark.parametrize("case", cases("history_manager"))
def test_the_newest_messages_are_kept(case: dict[str, Any]) -> None:
    history = [Message("user", f"m{n}") for n in range(case["input"]["added"])]
    prompt = Prompt([ConversationHistory(max_messages=case["input"]["max"])])

    rendered = Renderer("gpt-4o").render(prompt, {"history": history}, budget=1_000)

    assert [message.text for message in rendered.messages] == case["output"]
