"""What people write when they derive a section, as type checkers and Python both see it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, assert_type

import anyio
from attrs import field, frozen

from promptsections import (
    Budget,
    Content,
    ConversationHistory,
    Message,
    Prompt,
    PromptSection,
    RenderedPrompt,
    Renderer,
    Scope,
    Share,
    TextSection,
    UserInput,
    to_budget,
)


@frozen
class Persona(PromptSection):
    mood: str

    def resolve(self, scope: Scope) -> Content:
        return f"You sound {self.mood}."


@frozen
class Turn:
    channel: str


@frozen
class Channel(PromptSection):
    required: bool = field(default=False, kw_only=True)

    def resolve(self, scope: Scope, /) -> Content:
        turn = scope.context_as(Turn)
        assert_type(turn, Turn)
        return Message("system", f"Answer for {turn.channel}.")


@frozen
class Weather(PromptSection):
    city: str = "Rome"
    tokens: Budget = field(default=Share(0.2), kw_only=True, converter=to_budget)
    timeout: float | None = field(default=2.0, kw_only=True)

    async def resolve(self, scope: Scope, /) -> Content:
        await anyio.sleep(0)
        return [{"role": "system", "content": f"Sunny in {self.city}."}]


@frozen
class Topic(TextSection):
    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        return super().resolve(scope) if scope.read("on", True) else None


PROMPT = Prompt(
    [
        Persona("kind"),
        Channel(priority=2),
        Topic("We talk about rivers.", tokens=0.3),
        ConversationHistory(tokens=Share(0.5, at_least=20)),
        UserInput(),
    ]
)


def test_sections_of_ones_own_render() -> None:
    memory: dict[str, Any] = {"input": "Hello", "history": [Message("user", "Hi")]}

    rendered = Renderer("gpt-4o").render(PROMPT, memory, budget=500, context=Turn("mail"))

    assert_type(rendered, RenderedPrompt)
    assert [m.text for m in rendered.messages] == [
        "You sound kind.",
        "Answer for mail.",
        "We talk about rivers.",
        "Hi",
        "Hello",
    ]


def test_an_async_section_renders_on_a_loop() -> None:
    async def render() -> RenderedPrompt:
        return await Renderer("gpt-4o").arender(Prompt([Weather("Rome", tokens=0.5)]), budget=100)

    assert anyio.run(render).messages == (Message("system", "Sunny in Rome."),)
