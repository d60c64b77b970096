"""Requests for Ollama, judged by the models of its own package."""

from __future__ import annotations

import copy
import json
from typing import Any

import judges
import ollama
import pytest

from promptsections.errors import DefinitionError, ProviderError, UnsupportedContentError
from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    TextPart,
    Tool,
    ToolCall,
)
from promptsections.notes import Note
from promptsections.providers.ollama_chat import from_messages, to_request

USER = Message("user", "q")
CALL = ToolCall("c1", "add", '{"a":1}')
ASK = Message("assistant", tool_calls=[CALL])
RESULT = Message("tool", "2", tool_call_id="c1")


def sent(*messages: Any, **options: Any) -> Any:
    request = to_request(list(messages), **options)
    judges.ollama_chat(request)
    return request["messages"]


CONVERSATION: list[Any] = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "q", "images": ["iVBORw0K", "/9j/AAAA", "QUJD"]},
    {"role": "user", "content": "", "images": ["R0lGOD"]},
    {
        "role": "assistant",
        "content": "Let me see.",
        "thinking": "Hm.",
        "tool_calls": [
            {"function": {"name": "f", "arguments": {"a": [1.0, None]}}},
            {"function": {"name": "f", "arguments": {}, "index": 1}},
        ],
    },
    {"role": "tool", "content": "1", "tool_name": "f"},
    {"role": "tool", "content": "2", "tool_name": "f"},
    {"role": "assistant", "content": "a"},
    {"role": "user", "content": "q"},
]


def test_what_was_read_goes_back_byte_for_byte() -> None:
    before = copy.deepcopy(CONVERSATION)

    request = to_request(from_messages(CONVERSATION))

    judges.ollama_chat(request)
    assert json.dumps(request["messages"]) == json.dumps(CONVERSATION)
    assert before == CONVERSATION


def test_objects_of_the_sdk_and_private_keys() -> None:
    answer = ollama.Message(role="assistant", content="a", thinking="Hm.")
    read = from_messages([answer, {"role": "user", "content": "q", "tenant": "t"}])

    assert sent(USER, *read)[1:] == [
        {"role": "assistant", "content": "a", "thinking": "Hm."},
        {"role": "user", "content": "q"},
    ]
    assert read[1].extra == {"tenant": "t"}


def test_results_follow_the_order_of_their_calls() -> None:
    two = Message("assistant", "Wait.", tool_calls=[CALL, ToolCall("c2", "sub", "")])
    other = Message("tool", "3", tool_call_id="c2")

    assert sent(USER, two, other, RESULT) == [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": "Wait.",
            "tool_calls": [
                {"function": {"name": "add", "arguments": {"a": 1}}},
                {"function": {"name": "sub", "arguments": {}}},
            ],
        },
        {"role": "tool", "content": "2", "tool_name": "add"},
        {"role": "tool", "content": "3", "tool_name": "sub"},
    ]


def test_content_is_one_text_and_images_beside_it() -> None:
    shown = Message("user", ["a", ImagePart("data:image/png;base64,QUJD"), TextPart("b")])

    assert sent(Message("developer", "D"), shown) == [
        {"role": "system", "content": "D"},
        {"role": "user", "content": "a\nb", "images": ["QUJD"]},
    ]


@pytest.mark.parametrize(
    "part", [ImagePart("https://x/y.png"), AudioPart("QUJD"), FilePart(file_id="f")]
)
def test_a_part_without_a_place_is_an_error(part: Any) -> None:
    with pytest.raises(UnsupportedContentError, match=f"message 0: .*{type(part).__name__}"):
        to_request([Message("user", [part])])


def test_what_cannot_be_said_is_an_error() -> None:
    with pytest.raises(ProviderError, match="message 1: call 'c1' of 'f': arguments must be"):
        to_request([USER, Message("assistant", tool_calls=[ToolCall("c1", "f", "[")]), RESULT])
    with pytest.raises(ProviderError, match="message 1: its tool calls"):
        to_request([USER, ASK])


def test_model_and_tools_are_sent_when_given() -> None:
    notes: list[Note] = []
    messages = [Message("user", "q", name="Ann")]
    request = to_request(messages, model="m", tools=[Tool("add", "Adds."), Tool("x")], notes=notes)

    assert list(request) == ["model", "messages", "tools"]
    assert request["tools"][0]["function"] == {
        "name": "add",
        "description": "Adds.",
        "parameters": {"type": "object", "properties": {}},
    }
    judges.ollama_chat(request)
    assert [note.code for note in notes] == ["name_left_out"]


def test_what_is_no_message_is_an_error() -> None:
    assert from_messages([USER]) == (USER,)
    for wrong in (1, {"role": "critic", "content": "c"}, {"role": "assistant", "tool_calls": [{}]}):
        with pytest.raises(DefinitionError):
            from_messages([wrong])
