"""Requests for Anthropic's Messages API, judged by the types of its own package."""

from __future__ import annotations

import copy
import json
from typing import Any

import judges
import pytest
from anthropic.types import Message as Answer

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
from promptsections.providers.anthropic_messages import from_messages, to_request

USER = Message("user", "q")
CALL = ToolCall("c1", "add", '{"a":1}')
ASK = Message("assistant", tool_calls=[CALL])
RESULT = Message("tool", "2", tool_call_id="c1")
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "SIG=="}


def sent(*messages: Any, **options: Any) -> Any:
    request = to_request(list(messages), **options)
    judges.anthropic_messages(request)
    return request["messages"]


def codes(*messages: Any, **options: Any) -> list[str]:
    notes: list[Note] = []
    to_request(list(messages), notes=notes, **options)
    return [note.code for note in notes]


CONVERSATION: list[Any] = [
    {"role": "user", "content": "q"},
    {
        "role": "assistant",
        "content": [
            THINKING,
            {"type": "redacted_thinking", "data": "=xyz"},
            {"type": "text", "text": "Let me see.", "citations": None},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"b": 1.0, "a": [None]}},
            {
                "type": "tool_use",
                "id": "toolu_2",
                "name": "g",
                "input": {},
                "cache_control": {"type": "ephemeral"},
            },
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_2"},
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": [
                    {"type": "text", "text": "r", "cache_control": {"type": "ephemeral"}},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"},
                    },
                ],
                "is_error": True,
            },
            {"type": "text", "text": "next", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            {
                "type": "search_result",
                "source": "s",
                "title": "=t",
                "content": [{"type": "text", "text": "found"}],
            },
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
                "title": "a.pdf",
                "citations": {"enabled": True},
            },
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "a"}]},
    {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://x"}}]},
]


def test_what_was_read_goes_back_byte_for_byte() -> None:
    before = copy.deepcopy(CONVERSATION)
    system = [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}]

    request = to_request(from_messages(CONVERSATION, system=system))

    judges.anthropic_messages(request)
    assert json.dumps(request["messages"]) == json.dumps(CONVERSATION)
    assert request["system"] == system
    assert before == CONVERSATION


def test_a_text_is_not_kept_twice() -> None:
    message = from_messages(CONVERSATION)[2]

    assert message.role == "tool"
    assert "toolu" not in str(message.provider_data)
    assert "next" not in str(from_messages(CONVERSATION)[4].provider_data)


def test_an_answer_of_the_sdk_is_read_and_given_back() -> None:
    answer = Answer.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [THINKING, {"type": "text", "text": "a"}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    (message,) = from_messages([answer])

    assert message.text == "a"
    assert message.extra["stop_reason"] == "end_turn"
    assert sent(USER, message, USER)[1] == {
        "role": "assistant",
        "content": [THINKING, {"type": "text", "text": "a"}],
    }


def test_calls_beside_the_content_are_read_too() -> None:
    message = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "", "signature": "SIG=="}],
        "tool_calls": [{"id": "c1", "name": "f", "arguments": {}}],
    }
    read = from_messages([message, {"role": "tool", "tool_call_id": "c1", "content": "R"}])

    assert [block["type"] for block in sent(USER, *read)[1]["content"]] == ["thinking", "tool_use"]
    assert sent(USER, *read)[1]["content"][0] == message["content"][0]


def test_a_changed_message_loses_what_was_kept_of_it_and_says_so() -> None:
    (message,) = from_messages([CONVERSATION[1]])
    changed = Message(
        "assistant", [TextPart("one"), TextPart("two")], provider_data=message.provider_data
    )

    assert sent(USER, changed, USER)[1]["content"] == [
        {"type": "text", "text": "one"},
        {"type": "text", "text": "two"},
    ]
    assert codes(USER, changed) == ["provider_data_left_out"]


@pytest.mark.parametrize(
    "pattern", ["text", ["video"], [["text"]], [["text", 1]], [3], [["what", {}]], [[]]]
)
def test_a_pattern_that_is_none_is_left_out(pattern: Any) -> None:
    message = Message("assistant", "a", provider_data={"anthropic": {"blocks": pattern}})

    assert codes(USER, message, USER) == ["provider_data_left_out"]


# --- turns --------------------------------------------------------------------------------------


def test_results_of_one_turn_come_in_one_turn_before_what_the_user_says() -> None:
    two = Message("assistant", tool_calls=[CALL, ToolCall("c2", "add")])
    other = Message("tool", [TextPart("3"), ImagePart("https://x/y")], tool_call_id="c2")

    assert sent(USER, two, RESULT, other, Message("user", "and?"))[2] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "2"},
            {
                "type": "tool_result",
                "tool_use_id": "c2",
                "content": [
                    {"type": "text", "text": "3"},
                    {"type": "image", "source": {"type": "url", "url": "https://x/y"}},
                ],
            },
            {"type": "text", "text": "and?"},
        ],
    }


@pytest.mark.parametrize("content", [None, "", " \n", [TextPart("")]])
def test_a_message_that_says_nothing_is_left_out(content: Any) -> None:
    messages = [USER, Message("assistant", content), Message("user", "again")]

    assert [m["role"] for m in sent(*messages)] == ["user"]
    assert codes(*messages) == ["empty_left_out"]


@pytest.mark.parametrize("content", [None, "", " ", [], [TextPart(" ")]])
def test_an_empty_result_has_no_content(content: Any) -> None:
    result = Message("tool", content, tool_call_id="c1")

    assert sent(USER, ASK, result)[2]["content"] == [{"type": "tool_result", "tool_use_id": "c1"}]


def test_answers_to_a_first_turn_that_says_nothing_are_left_out_with_it() -> None:
    blank = Message("user", " ")
    messages = [Message("system", "S"), blank, Message("assistant", "a"), ASK, RESULT, blank, USER]

    assert sent(*messages) == [{"role": "user", "content": "q"}]
    assert sorted(codes(*messages)) == ["empty_left_out"] * 2 + ["unasked_left_out"] * 3


def test_a_later_system_message_stays_where_it_stands_as_the_user_s() -> None:
    later = [USER, Message("assistant", "a"), Message("developer", [TextPart("S2"), TextPart("")])]

    assert sent(*later, USER)[-1]["content"] == [
        {"type": "text", "text": "<system>\nS2\n</system>"},
        {"type": "text", "text": "q"},
    ]
    assert codes(*later, USER) == ["system_wrapped"]


def test_a_later_system_message_is_kept_where_a_model_takes_it() -> None:
    system = Message("system", "S2")
    request = to_request([USER, system, system, Message("assistant", "a"), USER], mid_system="keep")

    assert request["messages"][1] == {
        "role": "system",
        "content": [{"type": "text", "text": "S2"}] * 2,
    }
    assert sent(USER, Message("assistant", "a"), system, mid_system="keep")[-1]["role"] == "user"
    assert to_request(from_messages(request["messages"]), mid_system="keep") == request


def test_a_later_system_message_can_be_an_error() -> None:
    with pytest.raises(ProviderError, match="message 1: a system message inside"):
        to_request([USER, Message("system", "S2")], mid_system="raise")


def test_instructions_stand_apart() -> None:
    assert to_request([Message("system", "S"), USER])["system"] == "S"
    assert to_request([Message("system", "S"), Message("developer", "D"), USER])["system"] == [
        {"type": "text", "text": "S"},
        {"type": "text", "text": "D"},
    ]
    assert "system" not in to_request([Message("system", " "), USER])


def test_the_model_s_beginning_ends_without_white_space() -> None:
    assert sent_prefill("Answer: ") == "Answer:"
    assert sent_prefill([TextPart("a "), TextPart("b \n")])[-1]["text"] == "b"
    assert codes(USER, Message("assistant", "Answer: ")) == ["trailing_space_cut"]
    assert sent(Message("user", "q "))[0]["content"] == "q "


def sent_prefill(content: Any) -> Any:
    return to_request([USER, Message("assistant", content)])["messages"][-1]["content"]


def test_a_model_that_continues_nothing() -> None:
    with pytest.raises(ProviderError, match="message 1: the model is to speak next"):
        to_request([USER, Message("assistant", "a")], prefill=False)


@pytest.mark.parametrize("messages", [[], [Message("system", "S")], [Message("user", " ")]])
def test_without_a_user_there_is_no_request(messages: Any) -> None:
    with pytest.raises(ProviderError, match="needs a user message"):
        to_request(messages)


def test_the_user_begins() -> None:
    with pytest.raises(ProviderError, match="message 1: a conversation begins"):
        to_request([Message("system", "S"), Message("assistant", "a"), USER])


# --- thinking -----------------------------------------------------------------------------------


def test_thinking_goes_back_unless_it_is_not_wanted() -> None:
    read = from_messages(CONVERSATION)

    assert "thinking_left_out" not in codes(*read)
    assert codes(*read, keep_thinking=False) == ["thinking_left_out"] * 2
    assert [b["type"] for b in sent(*read, keep_thinking=False)[1]["content"]] == [
        "text",
        "tool_use",
        "tool_use",
    ]


# --- ids, arguments, names ----------------------------------------------------------------------


def test_ids_are_rewritten_alike_for_call_and_result() -> None:
    foreign = ToolCall("functions.lookup:0", "f")
    messages = [
        USER,
        Message("assistant", tool_calls=[foreign]),
        Message("tool", "R", tool_call_id="functions.lookup:0"),
    ]
    _, asks, answers = sent(*messages)

    assert asks["content"][0]["id"] == answers["content"][0]["tool_use_id"] != foreign.id
    assert codes(*messages) == ["id_rewritten"]


def test_arguments_that_are_no_object_are_an_error_that_names_the_call() -> None:
    ask = Message("assistant", tool_calls=[ToolCall("c1", "add", '{"q": "x"')])
    with pytest.raises(ProviderError, match="message 1: call 'c1' of 'add'"):
        to_request([USER, ask, RESULT])


def test_names_that_anthropic_refuses_are_errors() -> None:
    with pytest.raises(ProviderError, match=r"tool 'a\.b'"):
        to_request([USER], tools=[Tool("a.b")])
    with pytest.raises(ProviderError, match="message 1: call of 'a b'"):
        to_request([USER, Message("assistant", tool_calls=[ToolCall("c1", "a b")]), RESULT])


def test_a_speaker_s_name_is_left_out_and_reported() -> None:
    assert codes(Message("user", "q", name="Ann")) == ["name_left_out"]


def test_model_and_tools_are_sent_when_given() -> None:
    request = to_request([USER], model="m", max_tokens=9, tools=[Tool("now", "Time."), Tool("x")])

    assert list(request) == ["model", "max_tokens", "messages", "tools"]
    assert request["tools"][0] == {
        "name": "now",
        "description": "Time.",
        "input_schema": {"type": "object", "properties": {}},
    }
    assert "description" not in request["tools"][1]
    judges.anthropic_messages(request)


# --- images and files ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (
            ImagePart("data:image/jpg;base64,QUJD"),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/jpeg", "data": "QUJD"},
            },
        ),
        (
            FilePart(data="QUJD", filename="a.pdf"),
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
                "title": "a.pdf",
            },
        ),
        (
            FilePart(data="data:text/markdown,%C3%A9"),
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "é"},
            },
        ),
        (
            FilePart(file_id="file_1"),
            {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
        ),
    ],
)
def test_parts_are_written_as_documented(part: Any, block: Any) -> None:
    (message,) = sent(Message("user", [part]))

    assert message["content"] == [block]
    assert sent(*from_messages([message])) == [message]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (ImagePart("http://x/y.png"), "from https:// addresses only"),
        (ImagePart("data:image/tiff;base64,QUJD"), "not image/tiff"),
        (ImagePart("data:QUJD"), "a data URL begins with"),
        (AudioPart("QUJD"), "takes no AudioPart"),
        (FilePart(data="QUJD"), "what kind of file"),
        (FilePart(data="QUJD", media_type="application/zip"), "PDF and text files"),
        (FilePart(data="é", media_type="text/plain"), "is no base64"),
        (FilePart(filename="a"), "needs a file_id or data"),
    ],
)
def test_a_part_without_a_place_is_an_error(part: Any, said: str) -> None:
    with pytest.raises(UnsupportedContentError, match=f"message 1: .*{said}"):
        to_request([USER, Message("user", [part])])


@pytest.mark.parametrize("role", ["system", "assistant"])
def test_only_users_and_results_show_things(role: Any) -> None:
    with pytest.raises(UnsupportedContentError, match=f"in a {role} message"):
        to_request([Message(role, [ImagePart("https://x")]), USER])


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
        {"type": "document", "source": {"type": "content", "content": "x"}},
        {"type": "document", "source": {"type": "url", "url": "https://x"}},
        {"type": "image", "source": {"type": "url", "url": "http://x"}},
        {"type": "container_upload", "file_id": "f"},
    ],
)
def test_blocks_that_we_do_not_know_go_back(block: Any) -> None:
    message = {"role": "user", "content": [block, {"type": "text", "text": "q"}]}

    assert sent(*from_messages([message])) == [message]


@pytest.mark.parametrize(
    "wrong",
    [1, {"role": "user", "content": [{"type": "tool_result", "content": 1}]}, [1], object()],
)
def test_what_is_no_message_is_an_error(wrong: Any) -> None:
    with pytest.raises(DefinitionError):
        from_messages([wrong])
