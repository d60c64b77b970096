"""Requests for Google's Gemini API, judged by the types of its own package."""

from __future__ import annotations

import copy
import json
from typing import Any

import judges
import pytest
from google.genai import types as google

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
from promptsections.providers.gemini import from_messages, to_request

USER = Message("user", "q")
CALL = ToolCall("c1", "add", '{"a":1}')
ASK = Message("assistant", tool_calls=[CALL])
RESULT = Message("tool", "2", tool_call_id="c1")


def sent(*messages: Any, **options: Any) -> Any:
    request = to_request(list(messages), **options)
    judges.gemini(request)
    return request["contents"]


def codes(*messages: Any, **options: Any) -> list[str]:
    notes: list[Note] = []
    to_request(list(messages), notes=notes, **options)
    return [note.code for note in notes]


CONVERSATION: list[Any] = [
    {"role": "user", "parts": [{"text": "q"}]},
    {
        "role": "model",
        "parts": [
            {"text": "Hm.", "thought": True, "thoughtSignature": "AAAA"},
            {"text": "Let me see."},
            {
                "functionCall": {"name": "f", "args": {"snake_case": {"a_b": 1.5}}},
                "thoughtSignature": "QUJD",
            },
            {"functionCall": {"name": "g", "args": {}}},
            {"functionCall": {"name": "h"}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "f", "response": {"a_b": [1]}}},
            {"functionResponse": {"name": "g", "response": {"output": "text"}}},
            {
                "functionResponse": {
                    "name": "h",
                    "response": {"error": "=no"},
                    "parts": [{"inlineData": {"mimeType": "image/png", "data": "QUJD"}}],
                }
            },
            {"text": "next"},
            {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
            {"inlineData": {"mimeType": "audio/mp3", "data": "QUJD"}},
            {"inlineData": {"mimeType": "application/pdf", "data": "QUJD", "displayName": "a"}},
            {"fileData": {"mimeType": "image/png", "fileUri": "https://x/y.png"}},
            {"fileData": {"fileUri": "gs://b/v"}, "videoMetadata": {"startOffset": "1s"}},
        ],
    },
    {"role": "model", "parts": [{"executableCode": {"code": "1", "language": "PYTHON"}}]},
    {"role": "user", "parts": [{"text": "{}"}]},
]


def test_what_was_read_goes_back_byte_for_byte() -> None:
    before = copy.deepcopy(CONVERSATION)
    system = {"parts": [{"text": "S"}, {"text": "T", "partMetadata": {"k": 1}}]}

    request = to_request(from_messages(CONVERSATION, system=system))

    judges.gemini(request)
    assert json.dumps(request["contents"]) == json.dumps(CONVERSATION)
    assert request["systemInstruction"] == system
    assert before == CONVERSATION


def test_objects_and_snake_case_dicts_of_the_sdk_are_read_alike() -> None:
    objects = [google.Content.model_validate(content) for content in CONVERSATION]
    dicts = [content.model_dump(exclude_none=True) for content in objects]

    assert sent(*from_messages(objects)) == sent(*from_messages(dicts))
    again = [google.Content.model_validate(content) for content in sent(*from_messages(objects))]
    assert again == objects


def test_results_without_an_id_follow_the_order_of_their_calls() -> None:
    swapped = copy.deepcopy(CONVERSATION)
    parts = swapped[2]["parts"]
    parts[0], parts[1] = parts[1], parts[0]

    assert sent(*from_messages(swapped)) == CONVERSATION
    with pytest.raises(ProviderError, match="message 1: its tool calls"):
        to_request(from_messages([*swapped[:2], {"role": "user", "parts": parts[1:3]}]))


def test_a_thought_is_no_text() -> None:
    message = from_messages(CONVERSATION)[1]

    assert message.text == "Let me see."
    assert [call.name for call in message.tool_calls] == ["f", "g", "h"]


def test_results_have_the_name_of_their_function_and_are_objects() -> None:
    two = Message("assistant", tool_calls=[ToolCall("c1", "f_c1"), ToolCall("c2", "f_c2")])
    contents = sent(USER, two, RESULT, Message("tool", '{"a":[]}', tool_call_id="c2"))

    assert contents[2] == {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "c1", "name": "f_c1", "response": {"output": "2"}}},
            {"functionResponse": {"id": "c2", "name": "f_c2", "response": {"a": []}}},
        ],
    }


@pytest.mark.parametrize(
    ("content", "response"),
    [
        (None, {"output": ""}),
        ('{"a": 1}', {"output": '{"a": 1}'}),
        ('{"a":NaN', {"output": '{"a":NaN'}),
        ("{" * 5000, {"output": "{" * 5000}),
        ("[1]", {"output": "[1]"}),
        ([TextPart("a"), TextPart("b")], {"output": "a\nb"}),
    ],
)
def test_a_result_is_wrapped_unless_it_is_an_object(content: Any, response: Any) -> None:
    answer = Message("tool", content, tool_call_id="c1")

    assert sent(USER, ASK, answer)[2]["parts"][0]["functionResponse"]["response"] == response


def test_a_result_may_show_something() -> None:
    answer = Message("tool", ["look", ImagePart("data:image/png;base64,QUJD")], tool_call_id="c1")

    assert sent(USER, ASK, answer)[2]["parts"][0]["functionResponse"] == {
        "id": "c1",
        "name": "add",
        "response": {"output": "look"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "QUJD"}}],
    }


def test_calls_have_ids_all_of_them_or_none() -> None:
    calls = [ToolCall("", "f"), ToolCall("c1", "f")]
    results = [Message("tool", "second", tool_call_id="c1"), Message("tool", "first")]
    _, asks, answers = sent(USER, Message("assistant", tool_calls=calls), *results)
    ids = [part["functionCall"]["id"] for part in asks["parts"]]

    assert [part["functionResponse"]["id"] for part in answers["parts"]] == ids[::-1]
    none = sent(USER, Message("assistant", tool_calls=calls[:1]), results[1])
    assert "id" not in none[1]["parts"][0]["functionCall"]


def test_instructions_and_later_ones() -> None:
    messages = [Message("system", "S"), USER, Message("developer", "S2"), USER]

    assert to_request(messages) == {
        "systemInstruction": {"parts": [{"text": "S"}]},
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "q"}, {"text": "<system>\nS2\n</system>"}, {"text": "q"}],
            }
        ],
    }
    assert codes(*messages) == ["system_wrapped"]
    assert from_messages(to_request(messages)["contents"], system="S")[0] == messages[0]


@pytest.mark.parametrize(
    ("messages", "options", "said"),
    [
        ([Message("system", "S")], {}, "needs a user message"),
        ([Message("assistant", "a"), USER], {}, "message 0: a conversation begins"),
        ([USER, Message("assistant", "a")], {}, "message 1: the model is to speak next"),
        ([USER, Message("system", "S")], {"mid_system": "raise"}, "message 1: a system message"),
        ([USER], {"tools": [Tool("1a")]}, "tool '1a'"),
        ([USER, Message("assistant", tool_calls=[ToolCall("c1", "f", "[1]")]), RESULT], {}, "'c1'"),
    ],
)
def test_what_the_api_would_refuse_is_an_error(messages: Any, options: Any, said: str) -> None:
    with pytest.raises(ProviderError, match=said):
        to_request(messages, **options)


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (
            ImagePart("data:image/jpg;base64,QUJD"),
            {"inlineData": {"mimeType": "image/jpeg", "data": "QUJD"}},
        ),
        (ImagePart("gs://b/x"), {"fileData": {"fileUri": "gs://b/x"}}),
        (AudioPart("QUJD"), {"inlineData": {"mimeType": "audio/wav", "data": "QUJD"}}),
        (
            FilePart(data="QUJD", filename="a.csv"),
            {"inlineData": {"mimeType": "text/csv", "data": "QUJD", "displayName": "a.csv"}},
        ),
        (
            FilePart(file_id="https://x/files/1", media_type="video/mp4"),
            {"fileData": {"mimeType": "video/mp4", "fileUri": "https://x/files/1"}},
        ),
    ],
)
def test_parts_are_written_as_documented(part: Any, written: Any) -> None:
    (content,) = sent(Message("user", [part]))

    assert content["parts"] == [written]
    assert sent(*from_messages([content])) == [content]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (ImagePart("http://x/y.png"), "Gemini knows files by their URI"),
        (FilePart(file_id="file-1"), "Gemini knows files by their URI"),
        (FilePart(filename="a"), "needs a file_id or data"),
    ],
)
def test_a_part_without_a_place_is_an_error(part: Any, said: str) -> None:
    with pytest.raises(UnsupportedContentError, match=f"message 0: .*{said}"):
        to_request([Message("user", [part])])
    with pytest.raises(UnsupportedContentError, match="in a assistant message"):
        to_request([USER, Message("assistant", [part])])


def test_model_and_tools_are_sent_when_given() -> None:
    request = to_request([USER], model="m", tools=[Tool("add", "Adds."), Tool("x")])

    assert list(request) == ["model", "contents", "tools"]
    schema = {"type": "object", "properties": {}}
    assert request["tools"] == [
        {
            "functionDeclarations": [
                {"name": "add", "description": "Adds.", "parametersJsonSchema": schema},
                {"name": "x", "parametersJsonSchema": schema},
            ]
        }
    ]
    judges.gemini(request)


def test_messages_of_ours_and_of_the_common_format_are_read_too() -> None:
    assert from_messages([USER, {"role": "user", "content": "q"}]) == (USER, USER)
    assert from_messages([{"parts": [{"text": "q"}]}])[0].role == "user"
    for wrong in (1, {"role": "user", "parts": "q"}, object()):
        with pytest.raises(DefinitionError):
            from_messages([wrong])
