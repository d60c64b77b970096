"""Requests for OpenAI's Responses, judged by the types of its own package."""

from __future__ import annotations

import copy
import json
from typing import Any

import judges
import pytest
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from strict import validate

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
from promptsections.providers.openai_responses import from_messages, to_request

USER = Message("user", "q")
CALL = ToolCall("c1", "add", '{"a":1}')
ASK = Message("assistant", tool_calls=[CALL])
RESULT = Message("tool", "2", tool_call_id="c1")


def sent(*messages: Any, **options: Any) -> Any:
    request = to_request(list(messages), **options)
    judges.openai_responses(request)
    return request["input"]


def codes(*messages: Any, **options: Any) -> list[str]:
    notes: list[Note] = []
    to_request(list(messages), notes=notes, **options)
    return [note.code for note in notes]


ITEMS: list[Any] = [
    {"role": "developer", "content": "D"},
    {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "q", "prompt_cache_breakpoint": {"mode": "explicit"}},
            {"type": "input_image", "image_url": "https://x/y.png", "detail": "low"},
            {"type": "input_image", "file_id": "file-1", "detail": "auto"},
            {"type": "input_file", "file_data": "data:application/pdf;base64,QUJD"},
            {"type": "input_file", "file_url": "https://x/y.pdf"},
        ],
    },
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "=Let me see.", "annotations": []}],
    },
    {
        "type": "function_call",
        "call_id": "c1",
        "name": "f",
        "arguments": '{"a": 1}',
        "id": "fc_1",
        "status": "completed",
    },
    {"type": "reasoning", "id": "rs_2", "summary": []},
    {"type": "function_call", "call_id": "c2", "name": "g", "arguments": ""},
    {"type": "custom_tool_call", "call_id": "c3", "name": "h", "input": "x"},
    {"type": "function_call_output", "call_id": "c1", "output": "r"},
    {
        "type": "function_call_output",
        "call_id": "c2",
        "output": [{"type": "input_text", "text": "r"}],
        "status": "completed",
    },
    {"type": "custom_tool_call_output", "call_id": "c3", "output": "y"},
    {"role": "assistant", "content": "a"},
    {"role": "user", "content": ""},
    {
        "type": "message",
        "id": "msg_2",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "refusal", "refusal": "No."}],
    },
    {"role": "user", "content": "q"},
]


def test_what_was_read_goes_back_byte_for_byte() -> None:
    before = copy.deepcopy(ITEMS)

    request = to_request(from_messages(ITEMS))

    judges.openai_responses(request)
    assert json.dumps(request["input"]) == json.dumps(ITEMS)
    assert before == ITEMS


def test_what_belongs_together_is_one_message() -> None:
    messages = from_messages(ITEMS)

    assert [message.role for message in messages] == [
        "developer", "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert [call.id for call in messages[2].tool_calls] == ["c1", "c2"]
    assert messages[2].content == "=Let me see."
    assert str(messages[2].provider_data).count("Let me see") == 0


def test_objects_of_the_sdk_are_read_and_given_back() -> None:
    answer = [
        ResponseOutputMessage.model_validate(ITEMS[3]),
        ResponseFunctionToolCall.model_validate(ITEMS[4]),
    ]

    assert sent(*from_messages(answer), RESULT)[:2] == ITEMS[3:5]


def test_reasoning_goes_with_its_message_or_not_at_all() -> None:
    message = from_messages(ITEMS)[2]
    changed = Message(
        "assistant",
        "shorter",
        tool_calls=message.tool_calls[:1],
        provider_data=message.provider_data,
    )

    assert sent(USER, changed, RESULT)[1:3] == [
        {"role": "assistant", "content": "shorter"},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'},
    ]
    assert codes(USER, changed, RESULT) == ["provider_data_left_out"]


def test_messages_are_written_as_documented() -> None:
    two = Message("assistant", "Wait.", tool_calls=[CALL])
    shown = Message("tool", ["2", ImagePart("https://x/y")], tool_call_id="c1")
    messages = [
        Message("system", "S"),
        USER,
        Message("developer", [TextPart("D")]),
        two,
        shown,
        Message("assistant", ["a", "b"]),
        Message("user", ["look", FilePart(data="QUJD", filename="a.pdf"), FilePart(file_id="f")]),
    ]

    assert sent(*messages) == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "q"},
        {"role": "developer", "content": [{"type": "input_text", "text": "D"}]},
        {"role": "assistant", "content": "Wait."},
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a":1}'},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [
                {"type": "input_text", "text": "2"},
                {"type": "input_image", "image_url": "https://x/y", "detail": "auto"},
            ],
        },
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": "b"},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "look"},
                {
                    "type": "input_file",
                    "file_data": "data:application/pdf;base64,QUJD",
                    "filename": "a.pdf",
                },
                {"type": "input_file", "file_id": "f"},
            ],
        },
    ]
    assert from_messages(sent(USER), instructions="S") == (Message("system", "S"), USER)


@pytest.mark.parametrize("content", [None, "", [], [TextPart("")]])
def test_nothing_to_say(content: Any) -> None:
    assert sent(USER, Message("assistant", content), USER) == sent(USER, USER)
    assert codes(USER, Message("assistant", content)) == ["empty_left_out"]
    assert sent(USER, ASK, Message("tool", None, tool_call_id="c1"))[-1]["output"] == ""


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (Message("assistant", [ImagePart("https://x")]), "no ImagePart in an assistant message"),
        (Message("system", [ImagePart("https://x")]), "no ImagePart in a system message"),
        (Message("user", [AudioPart("QUJD")]), "no AudioPart in a user message"),
        (Message("user", [FilePart(filename="a")]), "a file needs a file_id or data"),
        (Message("user", [FilePart(data="QUJD")]), "what kind of file"),
    ],
)
def test_a_part_without_a_place_is_an_error(message: Message, said: str) -> None:
    with pytest.raises(UnsupportedContentError, match=f"message 1: .*{said}"):
        to_request([USER, message])


def test_what_the_api_would_refuse_is_an_error() -> None:
    with pytest.raises(ProviderError, match="message 1: its tool calls 'c1'"):
        to_request([USER, ASK])
    with pytest.raises(ProviderError, match="call of 'a b'"):
        to_request([USER, Message("assistant", tool_calls=[ToolCall("c1", "a b")]), RESULT])


def test_ids_are_rewritten_alike_for_call_and_result() -> None:
    ask = Message("assistant", tool_calls=[ToolCall("functions.f:0", "f")])
    _, call, output = sent(USER, ask, Message("tool", "R", tool_call_id="functions.f:0"))

    assert call["call_id"] == output["call_id"] != "functions.f:0"
    assert codes(USER, ask, Message("tool", "R")) == ["id_rewritten"]


def test_a_speaker_s_name_is_left_out_and_reported() -> None:
    assert codes(Message("user", "q", name="Ann")) == ["name_left_out"]


def test_model_and_tools_are_sent_when_given() -> None:
    request = to_request([USER], model="m", tools=[Tool("add", "Adds."), Tool("x")])

    assert list(request) == ["model", "input", "tools"]
    assert request["tools"][0] == {
        "type": "function",
        "name": "add",
        "description": "Adds.",
        "parameters": {"type": "object", "properties": {}},
        "strict": False,
    }
    judges.openai_responses(request)
    validate(ResponseCreateParamsNonStreaming, request)


@pytest.mark.parametrize(
    "wrong", [1, object(), {"role": "user", "content": 1}, {"role": "critic", "content": "c"}]
)
def test_what_is_no_item_is_an_error(wrong: Any) -> None:
    with pytest.raises(DefinitionError):
        from_messages([wrong])
