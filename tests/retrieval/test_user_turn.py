"""What was retrieved as part of the user's turn, in one message with its images."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    Attachment,
    Chunk,
    Content,
    DataSourceSection,
    GroupSection,
    ImagePart,
    Message,
    Prompt,
    PromptSection,
    Renderer,
    Scope,
    TextPart,
    UserInput,
)
from promptsections.providers import anthropic_messages, openai_chat
from promptsections.testing import FakeSource


@frozen
class _Fixed(PromptSection):
    """Messages as they are."""

    messages: tuple[Message, ...]

    def resolve(self, scope: Scope, /) -> Content:
        return self.messages


IMAGE = ImagePart("https://x.test/i.png", width=64, height=64, detail="low")
SECOND = ImagePart("https://x.test/j.png", width=64, height=64, detail="low")
CHUNKS = [Chunk("Returns are free.", id="a"), Chunk("Gift cards never expire.", id="b")]


def turn(**options: Any) -> Prompt:
    docs = DataSourceSection(FakeSource(CHUNKS), name="docs", **({"tokens": 1.0} | options))
    return Prompt([GroupSection([docs, UserInput(files="files", text_prefix="")], role="user")])


def render(budget: int = 500, *, files: Any = (IMAGE, SECOND), words: str = "And this?") -> Any:
    return Renderer("gpt-4o").render(turn(), {"input": words, "files": files}, budget=budget)


def test_the_user_turn_begins_with_what_was_retrieved_and_keeps_its_images() -> None:
    rendered = render()

    text = "Returns are free.\n\nGift cards never expire.\n\nAnd this?"
    assert rendered.messages == (Message("user", (TextPart(text), IMAGE, SECOND)),)
    assert [note.code for note in rendered.layout.notes if note.code == "media_as_text"] == []
    [message] = openai_chat.to_request(rendered)["messages"]
    assert [part["type"] for part in message["content"]] == ["text", "image_url", "image_url"]
    recount = Renderer("gpt-4o").render(Prompt([_Fixed(rendered.messages)]), budget=500)
    assert rendered.token_count == recount.token_count


def test_chunks_give_way_to_the_words_and_images() -> None:
    whole = render().token_count

    less = render(whole - 1)

    assert less.layout["group/docs"].items == ("a",)
    assert less.messages[0].content[1:] == (IMAGE, SECOND)


def test_an_image_without_words_brings_no_separator() -> None:
    rendered = render(words="")

    text = "Returns are free.\n\nGift cards never expire."
    assert rendered.messages == (Message("user", (TextPart(text), IMAGE, SECOND)),)


def test_without_images_it_is_one_text() -> None:
    assert isinstance(render(files=()).messages[0].content, str)


def test_images_alone_are_a_message() -> None:
    prompt = Prompt([GroupSection([UserInput(files="files", text_prefix="")], role="user")])

    rendered = Renderer("gpt-4o").render(prompt, {"input": "", "files": [IMAGE]}, budget=500)

    assert rendered.messages == (Message("user", (IMAGE,)),)


def test_in_a_text_images_are_still_named() -> None:
    rendered = Renderer("gpt-4o", output="text").render(
        turn(), {"input": "And this?", "files": [IMAGE]}, budget=500
    )

    assert rendered.text.endswith("And this?\n[image]")
    assert "media_as_text" in [note.code for note in rendered.layout.notes]


@given(st.integers(1, 400), st.integers(0, 3), st.booleans())
def test_a_group_with_images_is_counted_as_it_is_sent(
    budget: int, images: int, required: bool
) -> None:
    """Whatever fits, the message costs what the same message costs by itself, within the budget."""
    files = [Attachment(IMAGE, priority=None if required else n) for n in range(images)]
    resolved = Renderer("gpt-4o").resolve(
        turn(), {"input": "And this?", "files": files}, budget=10_000
    )
    budget = max(budget, resolved.minimum_budget())

    rendered = Renderer("gpt-4o").render(
        turn(), {"input": "And this?", "files": files}, budget=budget
    )

    recount = Renderer("gpt-4o").render(Prompt([_Fixed(rendered.messages)]), budget=10_000)
    assert rendered.token_count == recount.token_count <= budget


@pytest.mark.parametrize("role", ["system", "developer", "user"])
def test_chunks_may_be_a_message_of_their_own(role: Any) -> None:
    docs = DataSourceSection(FakeSource(CHUNKS), role=role)
    prompt = Prompt([docs, UserInput(files="files")])

    rendered = Renderer("gpt-4o").render(prompt, {"input": "So?", "files": [IMAGE]}, budget=500)

    assert [m.role for m in rendered.messages] == [role, "user"]
    assert rendered.messages[1].content == (TextPart("So?"), IMAGE)
    assert "i.png" in str(anthropic_messages.to_request(rendered.messages, max_tokens=9))
