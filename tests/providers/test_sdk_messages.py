"""Messages made at random from the SDKs' own types: read, sent again, and judged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import (
    Base64ImageSourceParam,
    RedactedThinkingBlockParam,
    TextBlockParam,
    ThinkingBlockParam,
    ToolUseBlockParam,
    URLImageSourceParam,
)
from conversations import values
from hypothesis import given
from hypothesis import strategies as st
from judges import JUDGES
from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionSystemMessageParam,
    ChatCompletionUserMessageParam,
)
from openai.types.responses import (
    EasyInputMessageParam,
    ResponseOutputMessageParam,
    ResponseReasoningItemParam,
)
from strict import closed, validate

from promptsections.errors import DefinitionError, ProviderError
from promptsections.providers import anthropic_messages, openai_chat, openai_responses


def made_of(shape: Any, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw dicts of an SDK's type, which are JSON, with some fields drawn otherwise."""
    drawn = st.fixed_dictionaries(fields)
    whole = st.builds(lambda one, other: {**one, **other}, st.from_type(closed(shape)), drawn)
    return whole.filter(is_json)


def is_json(value: Any) -> bool:
    """Say whether JSON can hold it, as a type that says `object` does not."""
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False


said = st.text(alphabet="aé =", min_size=1).filter(str.strip)
text = made_of(TextBlockParam, text=said)
image = st.fixed_dictionaries(
    {
        "type": st.just("image"),
        "source": made_of(Base64ImageSourceParam, data=st.just("QUJD"))
        | made_of(URLImageSourceParam),
    }
)
thinking = made_of(ThinkingBlockParam) | made_of(RedactedThinkingBlockParam)
call = made_of(
    ToolUseBlockParam,
    id=st.from_regex("[a-zA-Z0-9_-]{1,9}", fullmatch=True),
    name=st.from_regex("[a-zA-Z0-9_-]{1,9}", fullmatch=True),
    input=st.dictionaries(st.text(max_size=3), values, max_size=2),
)


@st.composite
def anthropic_conversations(draw: st.DrawFn) -> list[Any]:
    """Draw turns as Anthropic's API takes them, with all that a block may say."""
    messages: list[Any] = []
    waiting: list[Any] = []
    for _ in range(draw(st.integers(0, 3))):
        results = [
            {
                "type": "tool_result",
                "tool_use_id": each["id"],
                "content": draw(st.lists(text, min_size=1)),
            }
            for each in waiting
        ]
        shown = draw(st.lists(text | image, min_size=0 if results else 1, max_size=3))
        messages.append({"role": "user", "content": [*results, *shown]})
        calls = draw(st.lists(call, max_size=2, unique_by=lambda each: each["id"]))
        taken = {
            each["id"] for m in messages for each in m["content"] if each["type"] == "tool_use"
        }
        waiting = [each for each in calls if each["id"] not in taken]
        spoken = draw(st.lists(text, min_size=0 if waiting else 1, max_size=2))
        content = [
            *draw(st.lists(thinking, max_size=2)),
            *draw(st.permutations([*spoken, *waiting])),
        ]
        messages.append({"role": "assistant", "content": content})
    answers = [
        {"type": "tool_result", "tool_use_id": each["id"], "is_error": True} for each in waiting
    ]
    return [
        *messages,
        {"role": "user", "content": [*answers, {"type": "text", "text": "And now?"}]},
    ]


def thoughts(messages: list[Any]) -> list[str]:
    """Return the bytes of all thinking."""
    blocks = [block for message in messages for block in message["content"]]
    return [json.dumps(block) for block in blocks if "thinking" in block["type"]]


def marks(messages: list[Any]) -> int:
    """Count the marks for the cache, of which a request may carry four."""
    return json.dumps(messages).count('"cache_control": {')


@given(anthropic_conversations().filter(lambda messages: marks(messages) <= 4))
def test_what_anthropic_takes_goes_back_as_it_came(messages: list[Any]) -> None:
    """Reading a conversation and sending it again changes no value, and no byte of thinking."""
    request = anthropic_messages.to_request(anthropic_messages.from_messages(messages))

    assert request["messages"] == messages
    assert thoughts(request["messages"]) == thoughts(messages)
    JUDGES["anthropic_messages"](request)


CHAT = st.one_of(
    made_of(ChatCompletionUserMessageParam),
    made_of(ChatCompletionSystemMessageParam),
    made_of(ChatCompletionAssistantMessageParam),
)
ITEMS = st.one_of(
    made_of(EasyInputMessageParam),
    made_of(ResponseOutputMessageParam),
    made_of(ResponseReasoningItemParam),
)


@pytest.mark.parametrize(
    ("module", "messages"),
    [(openai_chat, CHAT), (openai_responses, ITEMS)],
    ids=["openai_chat", "openai_responses"],
)
@given(data=st.data())
def test_what_openai_s_types_allow_is_sent_or_an_error(
    module: Any, messages: Any, data: st.DataObject
) -> None:
    """Any message of the SDK's types makes a request of these types, or one of our errors."""
    drawn = data.draw(st.lists(messages, max_size=3))
    try:
        request = module.to_request(module.from_messages(drawn))
    except (ProviderError, DefinitionError):
        return
    if module is openai_responses:
        validate(list[Any], request["input"])
        kept = [item for item in drawn if item.get("content") != "" or item["role"] != "assistant"]
        assert request["input"] == kept
    else:
        JUDGES["openai_chat"](
            {"messages": [*request["messages"], {"role": "user", "content": "q"}]}
        )
