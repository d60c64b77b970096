"""What was sent in a turn is stored as it was sent, so that the next prompt begins with it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    CachePolicy,
    ConversationHistory,
    DataSourceSection,
    GroupSection,
    LayoutError,
    Message,
    Prompt,
    PromptSection,
    RenderedPrompt,
    Renderer,
    SystemMessage,
    TemplateSection,
    UserInput,
)

CACHING = CachePolicy(prompt_caching=True, share_prompt_cache_across_tenants=True)


def found(query: str, _scope: object) -> list[str]:
    return [f"fact {number} about {query}" for number in range(3)]


TAILS: dict[str, list[PromptSection]] = {
    "words": [UserInput()],
    "a message before the words": [
        DataSourceSection(found, role="user", name="facts"),
        UserInput(),
    ],
    "a system message before the words": [DataSourceSection(found), UserInput()],
    "one message of both": [
        GroupSection([DataSourceSection(found), UserInput()], role="user", name="asked")
    ],
    "one message of both, in a group": [
        GroupSection([GroupSection([DataSourceSection(found), UserInput()], role="user")])
    ],
    "a reminder behind the words": [UserInput(), SystemMessage("Answer in <<$language>>.")],
}


def talk(tail: list[PromptSection], turns: int, **options: Any) -> list[RenderedPrompt]:
    prompt = Prompt([SystemMessage("Be brief."), ConversationHistory(), *tail])
    renderer = Renderer("gpt-4o", **options)
    history: list[Message] = []
    rendered: list[RenderedPrompt] = []
    for number in range(turns):
        memory = {"history": history, "input": f"question {number}?", "language": f"Latin {number}"}
        rendered.append(renderer.render(prompt, memory, budget=2_000))
        history = [*history, *rendered[-1].turn(), Message("assistant", f"answer {number}")]
    return rendered


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_the_next_prompt_begins_with_the_last_one(tail: list[PromptSection]) -> None:
    rendered = talk(tail, 6)

    for before, after in pairwise(rendered):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.messages[len(before.messages)].text.startswith("answer")


def test_what_is_not_stored_as_sent_is_where_prompts_part() -> None:
    """The same chat with only the user's words in memory: it begins anew behind the history."""
    prompt = Prompt(
        [SystemMessage("Be brief."), ConversationHistory(), *TAILS["one message of both"]]
    )
    renderer = Renderer("gpt-4o")
    first = renderer.render(prompt, {"history": [], "input": "one?"}, budget=2_000)
    stored = [Message("user", "one?"), Message("assistant", "1")]
    second = renderer.render(prompt, {"history": stored, "input": "two?"}, budget=2_000)

    assert first.messages[-1] != second.messages[1]
    assert "fact 2" in first.turn()[-1].text


def test_a_turn_is_what_stands_behind_the_last_history() -> None:
    prompt = Prompt(
        [ConversationHistory("old"), SystemMessage("Now."), ConversationHistory(), UserInput()]
    )
    memory = {"old": [Message("user", "a")], "history": [Message("user", "b")], "input": "c"}

    assert Renderer("gpt-4o").render(prompt, memory).turn() == (Message("user", "c"),)


def test_without_a_history_a_turn_begins_with_the_user() -> None:
    prompt = Prompt([SystemMessage("Rules."), SystemMessage("More."), UserInput()])
    renderer = Renderer("gpt-4o")

    assert renderer.render(prompt, {"input": "c"}).turn() == (Message("user", "c"),)
    assert renderer.render(Prompt([SystemMessage("Rules.")])).turn() == ()


def test_an_empty_or_missing_history_stands_where_it_would() -> None:
    prompt = Prompt(
        [SystemMessage("Rules."), ConversationHistory(), SystemMessage("Look."), UserInput()]
    )

    memories: list[dict[str, Any]] = [{"input": "c"}, {"input": "c", "history": []}]
    for memory in memories:
        rendered = Renderer("gpt-4o").render(prompt, memory)
        assert [message.text for message in rendered.turn()] == ["Look.", "c"]


def test_in_an_agent_loop_there_is_nothing_to_add() -> None:
    prompt = Prompt([SystemMessage("Rules."), ConversationHistory()])
    rendered = Renderer("gpt-4o").render(prompt, {"history": [Message("user", "do it")]})

    assert rendered.turn() == ()


def test_a_text_has_no_turn() -> None:
    rendered = Renderer("gpt-4o", output="text").render(Prompt([UserInput()]), {"input": "c"})

    assert rendered.origins == ()
    with pytest.raises(LayoutError, match="no messages to store"):
        rendered.turn()


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_every_message_has_an_origin(tail: list[PromptSection]) -> None:
    last = talk(tail, 3)[-1]

    assert sum(origin.messages for origin in last.origins) == len(last.messages)
    assert all(origin.path in last.layout for origin in last.origins)


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(str.strip)


@given(st.lists(st.tuples(texts, texts), min_size=2, max_size=25), st.integers(150, 400))
def test_every_prompt_extends_the_last_one_but_where_a_history_is_trimmed(
    turns: list[tuple[str, str]], budget: int
) -> None:
    """Whatever is said, and whatever is looked up: with the turn stored, only a trim parts them."""

    def search(query: str, _scope: object) -> list[str]:
        return [f"about {query[:20]}"]

    asked = GroupSection([DataSourceSection(search), UserInput()], role="user")
    prompt = Prompt([TemplateSection("Be brief, <<$name>>."), ConversationHistory(), asked])
    renderer = Renderer("gpt-4o", caching=CACHING)
    history: list[Message] = []
    before: RenderedPrompt | None = None
    for question, answer in turns:
        memory = {"history": history, "input": question, "name": "Ada"}
        after = renderer.render(prompt, memory, budget=budget)
        omitted = after.layout["conversation_history"].omitted
        if before is not None and omitted == before.layout["conversation_history"].omitted:
            assert after.messages[: len(before.messages)] == before.messages
        history = [*history, *after.turn(), Message("assistant", answer)]
        before = after
