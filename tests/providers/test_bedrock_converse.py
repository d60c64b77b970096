"""Requests for Amazon Bedrock's Converse, judged by the service model of botocore."""

from __future__ import annotations

import copy
from typing import Any

import judges
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
from promptsections.providers.bedrock_converse import from_messages, to_request

USER = Message("user", "q")
CALL = ToolCall("c1", "add", '{"a":1}')
ASK = Message("assistant", tool_calls=[CALL])
RESULT = Message("tool", "2", tool_call_id="c1")
TOOL = Tool("add", "Adds.")


def sent(*messages: Any, **options: Any) -> Any:
    request = to_request(list(messages), **options)
    judges.bedrock_converse(request)
    return request["messages"]


def codes(*messages: Any, **options: Any) -> list[str]:
    notes: list[Note] = []
    to_request(list(messages), notes=notes, **options)
    return [note.code for note in notes]


CONVERSATION: list[Any] = [
    {"role": "user", "content": [{"text": "q"}, {"cachePoint": {"type": "default"}}]},
    {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "SIG"}}},
            {"reasoningContent": {"redactedContent": b"\x00\xff"}},
            {"text": "Let me see."},
            {"toolUse": {"toolUseId": "t.1", "name": "f", "input": {"$bytes": "QUJD"}}},
            {"toolUse": {"toolUseId": "s", "name": "w", "input": {}, "type": "server_tool_use"}},
            {"toolResult": {"toolUseId": "s", "content": [{"text": "r"}], "type": "web"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "toolResult": {
                    "toolUseId": "t.1",
                    "content": [
                        {"json": {"$bytes": "QUJD"}},
                        {"text": "r"},
                        {"image": {"format": "png", "source": {"bytes": b"ABC"}}},
                    ],
                    "status": "error",
                }
            },
            {"text": "next"},
            {"document": {"format": "pdf", "name": "a b", "source": {"bytes": b"%PDF"}}},
            {
                "document": {
                    "format": "md",
                    "name": "c",
                    "source": {"bytes": b"x"},
                    "citations": {"enabled": True},
                }
            },
            {"document": {"name": "d", "source": {"bytes": b"x"}}},
            {"video": {"format": "mp4", "source": {"bytes": b"v"}}},
            {"audio": {"format": "flac", "source": {"bytes": b"a"}}},
            {"image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://bucket/x.jpg"}}}},
        ],
    },
]


def test_what_was_read_goes_back_byte_for_byte() -> None:
    before = copy.deepcopy(CONVERSATION)
    system = [{"text": "S"}, {"cachePoint": {"type": "default", "ttl": "1h"}}]

    request = to_request(from_messages(CONVERSATION, system=system), tools=[TOOL])

    assert judges.bytes_of(request["messages"]) == judges.bytes_of(CONVERSATION)
    assert request["system"] == system
    assert before == CONVERSATION


def test_a_request_of_all_kinds_of_blocks_is_accepted() -> None:
    kinds = [CONVERSATION[0], *copy.deepcopy(CONVERSATION[1:])]
    kinds[1]["content"] = kinds[1]["content"][:4]

    assert sent(*from_messages(kinds), tools=[TOOL]) == kinds


def test_results_come_in_one_turn_before_what_the_user_says() -> None:
    two = Message("assistant", tool_calls=[CALL, ToolCall("c2", "add")])
    other = Message("tool", [TextPart("3"), ImagePart("data:image/png,A")], tool_call_id="c2")

    assert sent(USER, two, RESULT, other, Message("user", "and?"), tools=[TOOL])[2] == {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": "c1", "content": [{"text": "2"}]}},
            {
                "toolResult": {
                    "toolUseId": "c2",
                    "content": [
                        {"text": "3"},
                        {"image": {"format": "png", "source": {"bytes": b"A"}}},
                    ],
                }
            },
            {"text": "and?"},
        ],
    }


def test_an_empty_result_is_an_empty_object_and_reported() -> None:
    empty = Message("tool", " ", tool_call_id="c1")

    assert sent(USER, ASK, empty, tools=[TOOL])[2]["content"] == [
        {"toolResult": {"toolUseId": "c1", "content": [{"json": {}}]}}
    ]
    assert codes(USER, ASK, empty, tools=[TOOL]) == ["empty_result"]


def test_calls_without_tools_are_reported() -> None:
    assert codes(USER, ASK, RESULT) == ["tools_missing"]


def test_reasoning_goes_back_unless_it_is_not_wanted() -> None:
    read = from_messages(
        [CONVERSATION[0], CONVERSATION[1] | {"content": [*CONVERSATION[1]["content"][:3]]}]
    )

    assert codes(*read) == []
    assert codes(*read, keep_thinking=False) == ["thinking_left_out"] * 2
    assert to_request(read, keep_thinking=False)["messages"][1]["content"] == [
        {"text": "Let me see."}
    ]


def test_instructions_and_later_ones() -> None:
    messages = [Message("system", "S"), USER, Message("system", "S2"), Message("assistant", "a ")]

    assert to_request(messages) == {
        "system": [{"text": "S"}],
        "messages": [
            {"role": "user", "content": [{"text": "q"}, {"text": "<system>\nS2\n</system>"}]},
            {"role": "assistant", "content": [{"text": "a"}]},
        ],
    }
    assert codes(*messages) == ["system_wrapped", "trailing_space_cut"]
    assert to_request(messages, mid_system="keep")["messages"][1]["role"] == "system"


@pytest.mark.parametrize(
    ("messages", "options", "said"),
    [
        ([Message("system", "S")], {}, "needs a user message"),
        ([Message("assistant", "a"), USER], {}, "message 0: a conversation begins"),
        ([USER, Message("assistant", "a")], {"prefill": False}, "message 1: the model is to speak"),
        ([USER], {"tools": [Tool("a.b")]}, r"tool 'a\.b'"),
        (
            [Message("user", [FilePart(data="QUJD", filename="a.pdf")])],
            {},
            "message 0: Bedrock wants a text beside",
        ),
    ],
)
def test_what_the_api_would_refuse_is_an_error(messages: Any, options: Any, said: str) -> None:
    with pytest.raises(ProviderError, match=said):
        to_request(messages, **options)


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (
            ImagePart("data:image/jpg;base64,QUJD"),
            {"image": {"format": "jpeg", "source": {"bytes": b"ABC"}}},
        ),
        (
            ImagePart("s3://bucket/x.png"),
            {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://bucket/x.png"}}}},
        ),
        (
            FilePart(data="QUJD", filename="my_report v2.pdf"),
            {
                "document": {
                    "format": "pdf",
                    "name": "my-report v2",
                    "source": {"bytes": b"ABC"},
                }
            },
        ),
        (
            FilePart(data="QUJD", media_type="text/plain"),
            {"document": {"format": "txt", "name": "document", "source": {"bytes": b"ABC"}}},
        ),
        (
            AudioPart("QUJD", format="mp3"),
            {"audio": {"format": "mp3", "source": {"bytes": b"ABC"}}},
        ),
    ],
)
def test_parts_are_written_as_documented(part: Any, block: Any) -> None:
    (message,) = sent(Message("user", ["q", part]))

    assert message["content"] == [{"text": "q"}, block]
    assert sent(*from_messages([message])) == [message]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (ImagePart("https://x/y.png"), "from s3:// only"),
        (ImagePart("data:image/tiff;base64,QUJD"), "not 'tiff'"),
        (FilePart(file_id="f"), "keeps no files by id"),
        (FilePart(data="QUJD", media_type="application/zip"), "not 'application/zip'"),
        (AudioPart("QUJD", format="midi"), "not 'midi'"),
    ],
)
def test_a_part_without_a_place_is_an_error(part: Any, said: str) -> None:
    with pytest.raises(UnsupportedContentError, match=f"message 0: .*{said}"):
        to_request([Message("user", ["q", part])])


def test_only_users_and_results_show_things() -> None:
    with pytest.raises(UnsupportedContentError, match="no ImagePart in a assistant message"):
        to_request([USER, Message("assistant", [ImagePart("s3://b/x.png")])])
    with pytest.raises(UnsupportedContentError, match="no AudioPart in a tool message"):
        to_request([USER, ASK, Message("tool", [AudioPart("QUJD")], tool_call_id="c1")])


def test_model_and_tools_are_sent_when_given() -> None:
    request = to_request([USER], model="m", tools=[TOOL, Tool("x")])

    assert list(request) == ["modelId", "messages", "toolConfig"]
    assert request["toolConfig"]["tools"] == [
        {
            "toolSpec": {
                "name": "add",
                "description": "Adds.",
                "inputSchema": {"json": {"type": "object", "properties": {}}},
            }
        },
        {
            "toolSpec": {
                "name": "x",
                "inputSchema": {"json": {"type": "object", "properties": {}}},
            }
        },
    ]
    judges.bedrock_converse(request)


def test_blocks_that_say_two_things_go_back_as_they_came() -> None:
    message = {"role": "user", "content": [{"text": "q", "new": {}}, {"text": "q"}]}

    assert to_request(from_messages([message]))["messages"] == [message]


def test_messages_of_ours_and_of_the_common_format_are_read_too() -> None:
    assert from_messages([USER, {"role": "user", "content": "q"}]) == (USER, USER)
    with pytest.raises(DefinitionError):
        from_messages([object()])
