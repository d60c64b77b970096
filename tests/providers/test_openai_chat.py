"""Chat Completions requests, judged by the types of OpenAI's own package."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from attrs import frozen
from conversations import conversations, tools
from hypothesis import given
from openai.types.chat import (
    ChatCompletionMessage,
    ChatCompletionMessageParam,
    ChatCompletionToolUnionParam,
)
from pydantic import ValidationError
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
from promptsections.profiles import find_profile
from promptsections.providers.openai_chat import from_messages, to_request
from promptsections.providers.pairing import check_order

CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("openai_chat_cases.jsonl").read_text("utf-8").splitlines()
]
CALL = ToolCall("c1", "add", '{"a":1}')
ASK = Message("assistant", tool_calls=[CALL])
RESULT = Message("tool", "2", tool_call_id="c1")
USER = Message("user", "q")


def sent(*messages: Message) -> list[Any]:
    return list(to_request(messages)["messages"])


# --- by the SDK's types -------------------------------------------------------------------------


@given(conversations, tools)
def test_every_request_has_the_sdk_s_shape(messages: list[Message], offered: list[Tool]) -> None:
    """What is sent holds documented keys and values of documented types only."""
    request = to_request(messages, tools=offered)

    validate(list[ChatCompletionMessageParam], request["messages"])
    validate(list[ChatCompletionToolUnionParam], request.get("tools", []))
    assert request.keys() <= {"messages", "tools"}
    json.dumps(request, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "user", "content": "a", "tokens": 1},
        {"role": "user", "content": [{"type": "text", "text": "a", "id": 1}]},
        {"role": "user", "content": [{"type": "txt", "text": "a"}]},
        {"role": "user"},
        {"role": "critic", "content": "a"},
        {"role": "system", "content": [{"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {}}]},
        {"role": "tool", "content": "a", "tool_call_id": None},
        {"role": "tool", "content": "a", "tool_call_id": "c", "name": "f"},
    ],
)
def test_the_judge_refuses_what_is_wrong(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        validate(list[ChatCompletionMessageParam], [wrong])


@given(conversations, tools)
def test_nothing_is_shared_and_nothing_is_changed(
    messages: list[Message], offered: list[Tool]
) -> None:
    """A request can be changed at will: messages, tools and the next request stay as they were."""
    before = copy.deepcopy((messages, offered))
    first = to_request(messages, tools=offered)
    text = json.dumps(first)
    for message in first["messages"]:
        message["content"] = "changed"
    for tool in first.get("tools", []):
        tool["function"]["parameters"].clear()

    assert (messages, offered) == before
    assert json.dumps(to_request(messages, tools=offered)) == text


@given(conversations)
def test_every_text_is_sent_once_in_order(messages: list[Message]) -> None:
    """Texts leave as they came, none added and none lost."""
    texts = [
        part.text if isinstance(part, TextPart) else part
        for message in messages
        for part in (
            (message.content,) if isinstance(message.content, str) else message.content or ()
        )
        if isinstance(part, TextPart | str)
    ]
    found = [
        part if isinstance(part, str) else part["text"]
        for message in to_request(messages)["messages"]
        for part in (
            message["content"]
            if isinstance(message["content"], list)
            else [message["content"] or ""]
        )
        if isinstance(part, str) or part["type"] == "text"
    ]

    assert "".join(found) == "".join(texts)


def recount(message: dict[str, Any]) -> int:
    """Count a message of a payload by the published formula and the documented estimates."""
    count = find_profile("gpt-4o").tokenizer().count
    tokens = 3 + count(message["role"]) + count(message.get("tool_call_id", ""))
    if "name" in message:
        tokens += 1 + count(message["name"])
    for call in message.get("tool_calls", []):
        function = call["function"]
        tokens += 3 + count(call["id"]) + count(function["name"]) + count(function["arguments"])
    if "refusal" in message:
        tokens += count(json.dumps({"refusal": message["refusal"]}, separators=(",", ":")))
    if not isinstance(message["content"], list):
        return tokens + count(message["content"] or "")
    for part in message["content"]:
        match part["type"]:
            case "text":
                tokens += count(part["text"])
            case "image_url":
                low = part["image_url"].get("detail") == "low"
                tokens += 85 if low else 85 + 8 * 170
            case "input_audio":
                tokens += 1
            case "file":
                tokens += 15_000 if "file_id" in part["file"] else 1_500
    return tokens


@given(conversations)
def test_what_is_counted_is_what_is_sent(messages: list[Message]) -> None:
    """The profile's count equals an independent count of the payload, message by message."""
    profile = find_profile("gpt-4o")
    counted = [profile.message_tokens(message, profile.tokenizer()) for message in messages]

    assert counted == [recount(message) for message in sent(*messages)]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_reports_from_the_field_hold(case: dict[str, Any]) -> None:
    before = copy.deepcopy(case["messages"])
    if "raises" in case:
        with pytest.raises(DefinitionError, match=case["raises"]):
            to_request(case["messages"])
        return

    request = to_request(case["messages"])

    assert request == {"messages": case["sent"]}
    assert json.dumps(request["messages"]) == json.dumps(case["sent"])
    assert case["messages"] == before


# --- what is sent -------------------------------------------------------------------------------


def test_parts_are_written_as_documented() -> None:
    message = Message(
        "user",
        [
            TextPart("look"),
            ImagePart("https://x/y.png", detail="low", width=3),
            ImagePart("data:image/png;base64,QUJD"),
            AudioPart("QUJD", format="mp3", tokens=3),
            FilePart(file_id="file-1"),
            FilePart(data="QUJD", filename="a.pdf", media_type="application/pdf"),
        ],
        name="Ann",
    )

    assert sent(message) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}},
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "file", "file": {"file_data": "QUJD", "filename": "a.pdf"}},
            ],
            "name": "Ann",
        }
    ]


def test_an_assistant_that_only_calls_has_no_content() -> None:
    assert sent(ASK, RESULT)[0]["content"] is None
    assert sent(Message("assistant", "Wait.", tool_calls=[CALL]), RESULT)[0]["content"] == "Wait."


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
@pytest.mark.parametrize("content", [None, "", []])
def test_nothing_to_say_is_an_empty_text(role: Any, content: Any) -> None:
    assert sent(Message(role, content)) == [{"role": role, "content": ""}]


def test_a_result_has_no_name() -> None:
    assert sent(ASK, Message("tool", "2", tool_call_id="c1", name="add"))[1] == {
        "role": "tool",
        "content": "2",
        "tool_call_id": "c1",
    }


def test_what_came_from_openai_goes_back_and_nothing_else() -> None:
    message = Message(
        "assistant",
        "a",
        provider_data={"openai": {"refusal": "No.", "audio": {"id": "é"}}, "gemini": {"x": 1}},
        extra={"tenant": "t"},
    )

    assert sent(message) == [
        {"role": "assistant", "content": "a", "refusal": "No.", "audio": {"id": "é"}}
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"content": "b"}, "holds 'content'"),
        ({"refusal": object()}, "is no JSON"),
        (["refusal"], "must map keys"),
    ],
)
def test_provider_data_that_cannot_go_back_is_an_error(data: Any, said: str) -> None:
    with pytest.raises(ProviderError, match=f"message 1: provider_data\\['openai'\\] {said}"):
        sent(Message("user", "q"), Message("assistant", "a", provider_data={"openai": data}))


def test_model_and_tools_are_sent_when_given() -> None:
    tool = Tool("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}})
    request = to_request([Message("user", "q")], model="gpt-4o", tools=[tool, Tool("now")])

    assert list(request) == ["messages", "model", "tools"]
    assert request["model"] == "gpt-4o"
    assert json.dumps(request["tools"]) == json.dumps(
        [
            {
                "type": "function",
                "function": {
                    "name": "add",
                    "description": "Adds.",
                    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
                },
            },
            {
                "type": "function",
                "function": {"name": "now", "parameters": {"type": "object", "properties": {}}},
            },
        ]
    )


@frozen
class Prompt:
    """What a request needs of a rendered prompt."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()


def test_a_rendered_prompt_brings_its_tools() -> None:
    rendered = Prompt((Message("user", "q"),), (Tool("now"),))

    assert to_request(rendered) == to_request(rendered.messages, tools=rendered.tools)
    assert to_request(rendered, tools=[Tool("now")]) == to_request(rendered)


def test_a_rendered_prompt_takes_no_tools_that_were_not_counted() -> None:
    with pytest.raises(DefinitionError, match="counted with its own tools"):
        to_request(Prompt((Message("user", "q"),)), tools=[Tool("now")])


def test_the_bytes_are_the_same_in_every_process() -> None:
    program = """
import json
from promptsections.messages import Message, Tool
from promptsections.providers.openai_chat import from_messages, to_request
messages = [Message("assistant", "a", provider_data={"openai": {"refusal": "r", "audio": None}})]
properties = {name: {"type": "string"} for name in ("b", "a", "d", "c")}
tool = Tool("t", "d", {"type": "object", "properties": properties, "required": ["b"]})
print(json.dumps(to_request(messages, model="m", tools=[tool])))
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert len(outputs) == 1


# --- what is read -------------------------------------------------------------------------------


@given(conversations)
def test_a_request_reads_back_as_it_was_sent(messages: list[Message]) -> None:
    """Reading a request's messages and sending them again gives the same bytes."""
    request = to_request(messages)

    assert json.dumps(to_request(from_messages(request["messages"]))) == json.dumps(request)


def test_what_a_message_cannot_hold_is_given_back() -> None:
    messages: list[Any] = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "q", "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}},
                {"type": "file", "file": {"file_id": "f"}},
            ],
        },
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "assistant", "content": None, "refusal": "No."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "custom", "custom": {"name": "f", "input": "=x"}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
    ]
    read = from_messages(messages)

    assert [call.name for call in read[3].tool_calls] == ["f", "g"]
    assert sent(*read) == messages
    validate(list[ChatCompletionMessageParam], sent(*read))


def test_an_empty_list_of_calls_and_a_result_s_name_are_not_given_back() -> None:
    messages = from_messages(
        [
            {"role": "assistant", "content": "a", "tool_calls": []},
            {"role": "assistant", "content": "b", "tool_calls": None, "tenant": "t"},
            {"role": "assistant", "content": None, "function_call": {"name": "f"}},
            {"role": "function", "name": "f", "content": "R"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "function": {"name": "g"}}],
            },
            {"role": "tool", "name": "g", "content": "R", "tool_call_id": "c"},
        ]
    )

    assert sent(*messages)[:2] == [
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": "b"},
    ]
    assert "name" not in sent(*messages)[3]
    assert "name" not in sent(*messages)[5]


def test_parts_that_changed_lose_what_was_kept_of_them() -> None:
    part = {"type": "text", "text": "q", "prompt_cache_breakpoint": {"mode": "explicit"}}
    (read,) = from_messages([{"role": "user", "content": [part]}])
    notes: list[Note] = []
    changed = Message("user", ["q", "r"], provider_data=read.provider_data)
    request = to_request([changed], notes=notes)

    assert request["messages"][0]["content"] == [
        {"type": "text", "text": "q"},
        {"type": "text", "text": "r"},
    ]
    assert [note.code for note in notes] == ["provider_data_left_out"]


def test_an_answer_of_the_sdk_is_read_and_given_back() -> None:
    answer = ChatCompletionMessage.model_validate(
        {
            "role": "assistant",
            "content": None,
            "refusal": "No.",
            "annotations": [],
            "audio": {"id": "a1", "data": "QUJD", "expires_at": 1, "transcript": "No."},
        }
    )
    (message,) = from_messages([answer])

    assert message.provider_data == {"openai": {"refusal": "No.", "audio": {"id": "a1"}}}
    assert message.extra == {"annotations": []}
    validate(list[ChatCompletionMessageParam], sent(message))


@pytest.mark.parametrize("audio", [{}, "a1", {"data": "QUJD"}])
def test_audio_without_an_id_is_an_error(audio: Any) -> None:
    with pytest.raises(DefinitionError, match="needs an id"):
        from_messages([{"role": "assistant", "content": "a", "audio": audio}])


def test_what_has_nothing_to_give_back_is_read_as_it_is() -> None:
    assert from_messages([USER, {"role": "user", "content": "q"}]) == (USER, USER)


# --- what the API would refuse ------------------------------------------------------------------


@pytest.mark.parametrize("role", ["system", "developer", "assistant"])
@pytest.mark.parametrize(
    "part", [ImagePart("https://x/y.png"), AudioPart("aa"), FilePart(file_id="f")]
)
def test_only_users_show_things(role: Any, part: Any) -> None:
    with pytest.raises(UnsupportedContentError, match=f"message 1: a {role} message"):
        sent(Message("user", "q"), Message(role, [TextPart("a"), part]))


def test_a_result_shows_nothing_either() -> None:
    with pytest.raises(UnsupportedContentError, match="message 1: a tool message"):
        sent(ASK, Message("tool", [ImagePart("https://x/y.png")], tool_call_id="c1"))


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (AudioPart("aa", format="flac"), "'flac' is no format of audio here: use 'wav' or 'mp3'"),
        (FilePart(filename="a.pdf"), "a file needs a file_id or data"),
    ],
)
def test_a_part_without_a_place_in_the_format_is_an_error(part: Any, said: str) -> None:
    with pytest.raises(UnsupportedContentError, match=f"message 0: {said}"):
        sent(Message("user", [part]))


@pytest.mark.parametrize("name", ["has space", "dotted.name", "é", "x" * 65])
def test_a_tool_name_that_openai_refuses_is_an_error(name: str) -> None:
    with pytest.raises(ProviderError, match="OpenAI allows up to 64"):
        to_request([Message("user", "q")], tools=[Tool(name)])


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([USER, RESULT], "message 1: the tool result answers 'c1'"),
        ([USER, ASK, RESULT, RESULT], "message 3: the tool result answers 'c1'"),
        ([USER, ASK, RESULT, USER, RESULT], "message 4: the tool result answers 'c1'"),
        ([USER, ASK], "message 1: its tool calls 'c1' have no results"),
        ([USER, ASK, USER, RESULT], "message 1: its tool calls 'c1' have no results"),
        ([ASK, ASK, RESULT], "message 0: its tool calls 'c1' have no results"),
        ([USER, Message("tool", "2")], "message 1: a tool result has no tool_call_id"),
        ([ASK, RESULT, Message("tool", "2")], "message 2: a tool result has no tool_call_id"),
        (
            [ASK, Message("tool", "2", tool_call_id="c1", tool_calls=[CALL])],
            "message 1: a tool result cannot ask",
        ),
        ([Message("assistant", tool_calls=[CALL, CALL]), RESULT], "message 0: its tool calls 'c1'"),
        ([Message("assistant", tool_calls=[ToolCall("", "f")])], "message 0: its tool calls ''"),
        ([Message("user", "q", tool_calls=[CALL])], "message 0: only an assistant message"),
        ([Message("user", "q", tool_call_id="c1")], "message 0: only a tool message"),
    ],
)
def test_an_order_that_the_api_refuses_is_an_error(messages: list[Message], said: str) -> None:
    with pytest.raises(ProviderError, match=said):
        to_request(messages)


def test_results_without_an_id_answer_the_first_call_that_waits() -> None:
    two = Message("assistant", tool_calls=[CALL, ToolCall("c2", "add")])
    messages = [two, Message("tool", "one"), Message("tool", "three", tool_call_id="c1")]

    assert [(m["content"], m["tool_call_id"]) for m in sent(*messages)[1:]] == [
        ("one", "c2"),
        ("three", "c1"),
    ]


@pytest.mark.parametrize("ids", [("", ""), ("c1", "c1"), ("c1", ""), ("x" * 41, "y" * 41)])
def test_calls_that_cannot_be_told_apart_get_ids(ids: tuple[str, str]) -> None:
    calls = [ToolCall(each, "f") for each in ids]
    results = [Message("tool", str(n), tool_call_id=each) for n, each in enumerate(ids)]
    notes: list[Note] = []
    request = to_request([Message("assistant", tool_calls=calls), *results], notes=notes)
    asks, *answers = cast("list[Any]", request["messages"])

    sent_ids = [call["id"] for call in asks["tool_calls"]]
    assert len(set(sent_ids)) == 2
    assert [answer["tool_call_id"] for answer in answers] == sent_ids
    assert all(0 < len(each) <= 40 for each in sent_ids)
    assert {note.code for note in notes} == {"id_rewritten"}
    assert to_request([Message("assistant", tool_calls=calls), *results]) == request


def test_calls_may_be_answered_in_any_order_and_ids_be_used_again() -> None:
    two = Message("assistant", tool_calls=[CALL, ToolCall("c2", "add")])
    other = Message("tool", "3", tool_call_id="c2")

    check_order([USER, two, other, RESULT, ASK, RESULT, USER])


@given(conversations)
def test_no_message_can_be_taken_out_of_a_step(messages: list[Message]) -> None:
    """Leaving out a call, or one of its results, is always noticed."""
    for index, message in enumerate(messages):
        if message.tool_calls or message.role == "tool":
            with pytest.raises(ProviderError):
                check_order(messages[:index] + messages[index + 1 :])
