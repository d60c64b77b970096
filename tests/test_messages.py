"""Messages as values: what they accept, what they read, what they refuse."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    AudioPart,
    DefinitionError,
    FilePart,
    ImagePart,
    Message,
    TextPart,
    Tool,
    ToolCall,
    to_message,
)


class Model:
    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


def test_a_provider_dict_becomes_a_message() -> None:
    message = to_message(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
            ],
        }
    )

    assert message == Message("assistant", tool_calls=(ToolCall("c1", "f", '{"a": 1}'),))


def test_objects_with_model_dump_are_read_at_any_depth() -> None:
    call = Model(id="c1", function=Model(name="f", arguments="{}"))
    message = to_message(Model(role="assistant", content="x", tool_calls=[call]))

    assert message == Message("assistant", "x", tool_calls=(ToolCall("c1", "f", "{}"),))


def test_parts_of_every_kind_are_read() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "input_text", "text": "b"},
        {"type": "refusal", "refusal": "no"},
        {"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}},
        {"type": "image", "url": "https://x/z.png"},
        {"type": "input_image", "image_url": "https://x/w.png"},
        {"type": "input_audio", "input_audio": {"data": "aa", "format": "mp3"}},
        {"type": "file", "file": {"file_id": "f1", "filename": "a.pdf"}},
        "plain",
    ]

    assert to_message({"role": "user", "content": parts}).content == (
        TextPart("a"),
        TextPart("b"),
        TextPart("no"),
        ImagePart("https://x/y.png", detail="low"),
        ImagePart("https://x/z.png"),
        ImagePart("https://x/w.png"),
        AudioPart("aa", format="mp3"),
        FilePart(file_id="f1", filename="a.pdf"),
        TextPart("plain"),
    )


def test_teams_ai_and_the_old_function_format_are_read() -> None:
    stored = [
        {
            "role": "assistant",
            "content": None,
            "action_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "r", "action_call_id": "a"},
        {"role": "assistant", "content": None, "function_call": {"name": "g", "arguments": "{}"}},
        {"role": "function", "name": "g", "content": "s"},
    ]

    assert [to_message(item) for item in stored] == [
        Message("assistant", tool_calls=(ToolCall("a", "f"),)),
        Message("tool", "r", tool_call_id="a"),
        Message("assistant", tool_calls=(ToolCall("call_g", "g"),)),
        Message("tool", "s", name="g", tool_call_id="call_g"),
    ]


def test_unknown_keys_stay_readable() -> None:
    assert to_message({"role": "user", "content": "x", "id": 7, "note": None}).extra == {"id": 7}


def test_arguments_that_are_an_object_become_compact_json() -> None:
    call = {"id": "c", "name": "f", "arguments": {"city": "東京"}}

    assert to_message({"role": "assistant", "tool_calls": [call]}).tool_calls == (
        ToolCall("c", "f", '{"city":"東京"}'),
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (5, "int is no message"),
        ({"content": "x"}, "a message needs a role; this one has ['content']"),
        ({"role": "robot", "content": "x"}, "role='robot' is no role: use one of assistant"),
        ({"role": "user", "content": 5}, "content must be text, parts or None, not int"),
        ({"role": "user", "content": [{"type": "hologram"}]}, "a part of type 'hologram'"),
        ({"role": "user", "content": [{"text": "x"}]}, "dict is no part"),
        ({"role": "user", "content": [{"type": "image"}]}, "an image part needs a url"),
        (
            {"role": "user", "content": [{"type": "image", "url": "u", "detail": "no"}]},
            "detail='no'",
        ),
        ({"role": "user", "content": [{"type": "image", "url": "u", "width": 1.5}]}, "width=1.5"),
        ({"role": "assistant", "tool_calls": "c1"}, "tool_calls must be a list of calls, not str"),
        ({"role": "assistant", "tool_calls": [5]}, "int is no tool call"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "a tool call needs a name"),
        ({"role": "assistant", "tool_calls": [{"id": 5, "name": "f"}]}, "a text is needed here"),
    ],
)
def test_what_is_no_message_is_an_error_that_says_why(value: object, said: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        to_message(value)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        (lambda: Tool(""), "a Tool needs a name"),
        (lambda: Tool("f", parameters={"x": object()}), "Tool 'f': parameters are no JSON"),
    ],
)
def test_a_tool_that_cannot_be_sent_is_an_error(tool: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        tool()


@given(st.text(), st.sampled_from(["system", "user", "assistant"]))
def test_messages_survive_copying_and_pickling(text: str, role: Any) -> None:
    """A message is a value: its copies are equal, and so is what they hash to."""
    message = Message(role, text, name="n")
    message.remember("key", 5)

    for other in (pickle.loads(pickle.dumps(message)), copy.deepcopy(message)):
        assert other == message
        assert hash(other) == hash(message)
        assert other.remembered("key") is None


def test_a_message_remembers_counts_of_a_few_keys_only() -> None:
    message = Message("user", "x")
    for number in range(20):
        message.remember(number, number)

    assert [message.remembered(n) for n in (0, 7, 8, 19)] == [0, 7, None, None]


def test_lone_surrogates_leave_as_the_replacement_character() -> None:
    assert Message("user", "a\ud83d b\ud83d\ude00").text == "a\ufffd b😀"


def test_the_text_of_parts_leaves_out_images() -> None:
    assert Message("user", [TextPart("a"), ImagePart("u"), TextPart("b")]).text == "a\nb"
    assert Message("assistant").text == ""
