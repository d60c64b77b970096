"""Cutting and summarising conversations, held against recorded sizes."""

from __future__ import annotations

import asyncio

import pytest
from agentos_cases import Case, of, of_id

from promptsections import (
    BudgetExceededError,
    ConversationHistory,
    Message,
    ModelProfile,
    Prompt,
    RenderedPrompt,
    Renderer,
    Rest,
    Tokens,
    UserMessage,
)
from promptsections.summaries import Summarize, SummaryRequest
from promptsections.tokens import CallableTokenizer

CHARACTERS = CallableTokenizer("characters", len, joints="strong")
RENDERER = Renderer(ModelProfile.plain(CHARACTERS))


def kept(history: list[Message], characters: int, **options: object) -> list[str]:
    section = ConversationHistory(start_on="any", tokens=Rest(), **options)  # type: ignore[arg-type]
    result = RENDERER.render(Prompt([section]), {"history": history}, budget=characters)
    return [message.text for message in result.messages]


CUT_DIFFERENTLY = {
    "agentos-0036": "a message without content takes nothing, not 50 characters",
}
"""Case → why another number of messages is kept."""

TOO_LARGE = {"agentos-0030", "agentos-0035"}
"""Cases whose newest message is over the limit by itself, and was sent nevertheless."""


@pytest.mark.parametrize("case", of("truncate_messages"))
def test_the_newest_messages_are_kept_as_recorded(case: Case) -> None:
    history = [
        Message("user", "x" * of if isinstance(of, int) else (of and of[0]["text"]))
        for of in case.input["lengths"]
    ]
    characters = 4 * case.input["target"]
    if case.id in TOO_LARGE:
        with pytest.raises(BudgetExceededError):
            kept(history, characters)
        return
    said = kept(history, characters)
    assert sum(map(len, said)) <= characters
    assert said == [m.text for m in history][len(history) - len(said) :], "the newest"
    assert (len(said) == case.output) == (case.id not in CUT_DIFFERENTLY)


def test_the_newest_messages_up_to_a_number_are_kept() -> None:
    (case,) = (p.values[0] for p in of("history_manager"))
    assert isinstance(case, Case)
    history = [Message("user", f"m{at}") for at in range(case.input["added"])]
    assert kept(history, 1000, max_messages=case.input["max"]) == case.output


# --- summaries ------------------------------------------------------------------------------------


def short(request: SummaryRequest) -> str:
    return "in short"


def compacted(case: Case) -> RenderedPrompt:
    """Render a conversation whose newest message is the user's, as four characters a token do."""
    count, size = case.input["messages"], case.input["chars_each"]
    budget = 4 * case.input["max_context_tokens"]
    texts = [f"{at:02}".ljust(size, "x") for at in range(count)]
    history = [
        Message("assistant" if (count - at) % 2 == 0 else "user", text)
        for at, text in enumerate(texts[:-1])
    ]
    section = ConversationHistory(
        start_on="any",
        tokens=Tokens(budget),
        when_over=Summarize(short, trigger=case.input["threshold"], at_least=1, heading="S:"),
    )
    prompt = Prompt([section, UserMessage(texts[-1])])
    memory = {"history": history}
    return asyncio.run(RENDERER.arender(prompt, memory, budget=budget + size))


NOT_SUMMARISED = {
    "agentos-0250": "what the user says now is all there is",
    **dict.fromkeys(
        (f"agentos-{number:04}" for number in (251, 252, 253, 256)),
        "none of its exchanges fits by itself: nothing of it is sent",
    ),
    "agentos-0258": "what comes before it is below the threshold",
}
"""Case → why no summary is sent."""


@pytest.mark.parametrize("case", of("compaction"))
def test_a_conversation_over_the_threshold_is_summarised_and_ends_with_the_newest(
    case: Case,
) -> None:
    result = compacted(case)
    texts = [message.text for message in result.messages]
    newest = f"{case.input['messages'] - 1:02}"
    assert texts[-1].startswith(newest), "what the user says now is never summarised"
    assert result.token_count <= result.layout.budget
    is_summarised = any("in short" in text for text in texts[:-1])
    assert is_summarised == (bool(case.output["compacted"]) and case.id not in NOT_SUMMARISED)


def test_what_was_left_of_one_message_is_a_fault_of_the_original() -> None:
    """# summary_chain_collapse too: here a summary is rolled on, and is never over its target."""
    case = of_id(250)
    assert case.output == {"messages_after": 1, "compacted": 1, "raw_kept": 0}
    assert len(compacted(case).messages) == 1


def test_summaries_are_rolled_into_one_that_is_not_over_its_limit() -> None:
    (case,) = (p.values[0] for p in of("summary_chain_collapse"))
    assert isinstance(case, Case)
    limit = case.input["max_tokens"]
    asked: list[int] = []

    def summarizer(request: SummaryRequest) -> str:
        asked.append(request.target)
        return "y" * 10 * limit

    section = ConversationHistory(
        tokens=Rest(), when_over=Summarize(summarizer, at_least=1, target=0.1, heading="S:")
    )
    prompt = Prompt([section])
    summaries: object = None
    history: list[Message] = []
    for turn in range(12):
        said = Message("user", f"{turn:02}".ljust(40, "x")), Message("assistant", "z" * 40)
        history += said
        memory = {"history": history, "summaries": summaries}
        result = asyncio.run(RENDERER.arender(prompt, memory, budget=400))
        summaries = result.summaries
        assert result.token_count <= 400
        held = [m for m in result.messages if m.text.startswith("S:")]
        assert len(held) <= 1, "one summary, however long the conversation"
    assert asked
    assert held
