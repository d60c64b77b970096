"""Requests for Mistral, judged by `mistral-common` as a server does."""

from __future__ import annotations

import copy
import json
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
from promptsections.providers.mistral_chat import from_messages, to_request

USER = Message("user", "q")
CALL = ToolCall("A1b2C3d4E", "add", '{"a":1}')
ASK = Message("assistant", tool_calls=[CALL])
RESULT = Message("tool", "2", tool_call_id="A1b2C3d4E")


def sent(*messages: Any, **options: Any) -> Any:
    request = to_request(list(messages), **options)
    judges.mistral_chat(request)
    return request["messages"]


def codes(*messages: Any, **options: Any) -> list[str]:
    notes: list[Note] = []
    to_request(list(messages), notes=notes, **options)
    return [note.code for note in notes]


CONVERSATION: list[Any] = [
    {"role": "system", "content": "S"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "q"},
            {"type": "image_url", "image_url": "https://x/y.png"},
            {"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True},
            {"type": "text", "text": "Let me see."},
        ],
        "tool_calls": [
            {
                "id": "A1b2C3d4E",
                "type": "function",
                "function": {"name": "add", "arguments": '{"a": 1}'},
                "index": 0,
            }
        ],
    },
    {"role": "tool", "content": "2", "tool_call_id": "A1b2C3d4E", "name": "add"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "B1b2C3d4E", "function": {"name": "add", "arguments": {"b": [1.0]}}},
        ],
    },
    {"role": "tool", "content": [{"type": "text", "text": "3"}], "tool_call_id": "B1b2C3d4E"},
    {"role": "user", "content": "q"},
]


def test_what_was_read_goes_back_byte_for_byte() -> None:
    before = copy.deepcopy(CONVERSATION)

    request = to_request(from_messages(CONVERSATION))

    # mistral-common has another shape for thinking than the API, and no index of calls.
    judges.mistral_chat({"messages": [*request["messages"][:2], *request["messages"][4:]]})
    assert json.dumps(request["messages"]) == json.dumps(CONVERSATION)
    assert before == CONVERSATION


def test_private_keys_are_never_sent() -> None:
    messages = from_messages(
        [
            {"id": "m1", "role": "user", "content": "q", "metadata": {"tenant": "t"}},
            {"role": "assistant", "content": "a", "prefix": True},
        ]
    )

    assert sent(*messages, USER) == [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "q"},
    ]
    assert messages[0].extra == {"id": "m1", "metadata": {"tenant": "t"}}


def test_messages_are_written_as_documented() -> None:
    messages = [
        Message("developer", "D"),
        Message("user", ["a", AudioPart("QUJD"), ImagePart("data:image/jpg;base64,QUJD")]),
        ASK,
        Message("tool", None, tool_call_id="A1b2C3d4E"),
    ]

    assert to_request(messages)["messages"] == [
        {"role": "system", "content": "D"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "input_audio", "input_audio": "QUJD"},
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QUJD"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "A1b2C3d4E",
                    "type": "function",
                    "function": {"name": "add", "arguments": '{"a":1}'},
                }
            ],
        },
        {"role": "tool", "content": "", "tool_call_id": "A1b2C3d4E", "name": "add"},
    ]


@pytest.mark.parametrize(
    ("part", "chunk"),
    [
        (
            FilePart(data="QUJD", filename="a.pdf"),
            {
                "type": "document_url",
                "document_url": "data:application/pdf;base64,QUJD",
                "document_name": "a.pdf",
            },
        ),
        (
            FilePart(data="data:text/plain;base64,QUJD"),
            {"type": "document_url", "document_url": "data:text/plain;base64,QUJD"},
        ),
        (FilePart(file_id="f"), {"type": "file", "file_id": "f"}),
        (AudioPart("QUJD"), {"type": "input_audio", "input_audio": "QUJD"}),
    ],
)
def test_files_are_written_and_read(part: Any, chunk: Any) -> None:
    request = to_request([Message("user", [part])])

    assert request["messages"] == [{"role": "user", "content": [chunk]}]
    assert to_request(from_messages(request["messages"])) == request


def test_ids_become_nine_letters_and_digits() -> None:
    ask = Message("assistant", tool_calls=[ToolCall("call_1", "f")])
    _, asks, answer, *_ = sent(USER, ask, Message("tool", "R", tool_call_id="call_1"))

    assert asks["tool_calls"][0]["id"] == answer["tool_call_id"]
    assert answer["name"] == "f"
    assert codes(USER, ask, Message("tool", "R")) == ["id_rewritten"]


def test_a_system_message_is_wrapped_only_where_it_is_refused() -> None:
    system = Message("system", "S")
    answer = Message("assistant", "a")

    assert [m["role"] for m in sent(system, system, USER, system, answer, system)] == [
        "system", "system", "user", "system", "assistant", "user",
    ]  # fmt: skip
    assert sent(USER, ASK, RESULT, system)[-1]["content"] == "<system>\nS\n</system>"
    assert codes(USER, ASK, RESULT, system) == ["system_wrapped"]


def test_an_answer_that_says_nothing_is_left_out() -> None:
    assert len(sent(USER, Message("assistant", ""), USER)) == 2
    assert codes(USER, Message("assistant", [])) == ["empty_left_out"]


def test_the_model_goes_on_only_if_asked_to() -> None:
    messages = [USER, Message("assistant", "a")]
    with pytest.raises(ProviderError, match="message 1: the model is to speak next"):
        to_request(messages)

    assert sent(*messages, prefix=True)[-1] == {"role": "assistant", "content": "a", "prefix": True}
    assert sent(USER, prefix=True) == [{"role": "user", "content": "q"}]


@pytest.mark.parametrize("messages", [[], [Message("assistant", "a")]])
def test_without_a_user_there_is_no_request(messages: Any) -> None:
    with pytest.raises(ProviderError, match="needs a user message"):
        to_request(messages, prefix=True)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (Message("assistant", [ImagePart("https://x")]), "no ImagePart in a assistant message"),
        (Message("system", [AudioPart("QUJD")]), "no AudioPart in a system message"),
        (Message("user", [FilePart(filename="a")]), "a file needs a file_id or data"),
    ],
)
def test_a_part_without_a_place_is_an_error(message: Message, said: str) -> None:
    with pytest.raises(UnsupportedContentError, match=f"message 0: .*{said}"):
        to_request([message, USER])


def test_model_and_tools_are_sent_when_given() -> None:
    request = to_request([USER], model="m", tools=[Tool("add", "Adds."), Tool("x")])

    assert list(request) == ["model", "messages", "tools"]
    assert request["tools"][0]["function"] == {
        "name": "add",
        "description": "Adds.",
        "parameters": {"type": "object", "properties": {}},
    }
    judges.mistral_chat(request)
    with pytest.raises(ProviderError, match=r"tool 'a\.b'"):
        to_request([USER], tools=[Tool("a.b")])


def test_the_assistant_cannot_begin_with_a_call() -> None:
    with pytest.raises(ProviderError, match="message 0: calls of the first message"):
        to_request([ASK, RESULT, USER])


def test_what_is_no_message_is_an_error() -> None:
    assert from_messages([USER]) == (USER,)
    for wrong in (1, {"role": "critic", "content": "c"}, {"role": "user", "content": [1]}):
        with pytest.raises(DefinitionError):
            from_messages([wrong])


def test_a_name_and_a_changed_text() -> None:
    (read,) = from_messages([CONVERSATION[2]])
    changed = Message(
        "assistant", [TextPart("b")], tool_calls=read.tool_calls, provider_data=read.provider_data
    )

    assert sent_text(changed) == "b"
    assert codes(Message("user", "q", name="Ann")) == ["name_left_out"]


def sent_text(message: Message) -> str:
    return to_request([USER, message, RESULT])["messages"][1]["content"][1]["text"]
