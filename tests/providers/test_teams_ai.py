"""Stored histories of Teams AI, as its classes and as its stores write them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import pytest

from promptsections.errors import DefinitionError
from promptsections.messages import ImagePart, Message, TextPart, ToolCall
from promptsections.providers import openai_chat
from promptsections.providers.teams_ai import from_messages


@dataclass
class Function:
    name: str
    arguments: str


@dataclass
class Action:
    id: str
    function: Function
    type: str = "function"


@dataclass
class ImageUrl:
    url: str


@dataclass
class ContentPart:
    type: str
    text: str = ""
    image_url: Any = None


@dataclass
class Stored:
    """Has the fields of `teams.ai.prompts.Message`."""

    role: str
    content: Any = None
    context: Any = None
    function_call: Any = None
    name: str | None = None
    action_calls: list[Action] | None = None
    action_call_id: str | None = None


HISTORY = [
    Stored(
        "user",
        [
            ContentPart("text", "look"),
            ContentPart("image_url", image_url=ImageUrl("https://x/y.png")),
        ],
    ),
    Stored("assistant", None, action_calls=[Action("c1", Function("f", '{"a": 1}'))]),
    Stored("tool", "2", action_call_id="c1"),
    Stored("assistant", "a", context={"citations": [{"content": "c"}], "intent": "i"}),
    Stored("assistant", None, function_call=Function("g", "{}")),
    Stored("function", "3", name="g"),
]


def pickled(value: Any) -> Any:
    """Write a stored value as jsonpickle does."""
    if isinstance(value, dict):
        inner = {key: pickled(item) for key, item in value.items() if item is not None}
        return {"py/object": "teams.ai.prompts.message.Message", **inner}
    return [pickled(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("write", [lambda m: m, asdict, lambda m: pickled(asdict(m))])
def test_objects_dicts_and_pickled_dicts_are_read_alike(write: Any) -> None:
    messages = from_messages([write(message) for message in HISTORY])

    assert messages[:3] == (
        Message("user", [TextPart("look"), ImagePart("https://x/y.png")]),
        Message("assistant", tool_calls=[ToolCall("c1", "f", '{"a": 1}')]),
        Message("tool", "2", tool_call_id="c1"),
    )
    assert messages[4:] == (
        Message("assistant", tool_calls=[ToolCall("call_g", "g", "{}")]),
        Message("tool", "3", name="g", tool_call_id="call_g"),
    )
    assert messages[3].text == "a"
    assert messages[3].extra["context"]["citations"][0]["content"] == "c"


def test_a_stored_history_can_be_sent() -> None:
    request = openai_chat.to_request(from_messages(HISTORY))

    assert [message["role"] for message in request["messages"]] == [
        "user", "assistant", "tool", "assistant", "assistant", "tool",
    ]  # fmt: skip
    assert "context" not in str(request)


def test_messages_of_ours_stay_and_others_are_errors() -> None:
    assert from_messages([Message("user", "q")]) == (Message("user", "q"),)
    for wrong in (1, {"content": "q"}, Stored("critic", "c")):
        with pytest.raises(DefinitionError):
            from_messages([wrong])
