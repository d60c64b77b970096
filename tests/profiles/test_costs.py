"""What messages, calls, tools, audio and files cost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections.errors import DefinitionError, UnsupportedContentError
from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    TextPart,
    Tool,
    ToolCall,
    to_messages,
)
from promptsections.profiles import MediaRule, ModelProfile, ToolRule, find_profile
from promptsections.providers.openai_chat import from_messages, to_request

CHAT = find_profile("gpt-4o")
OLD = find_profile("gpt-4")


def words(text: str) -> int:
    return len(text.split())


PLAIN = ModelProfile.plain(words)


def total(profile: ModelProfile, messages: Any, tools: Any = ()) -> int:
    tokenizer = profile.tokenizer()
    return profile.base_tokens(tools, tokenizer) + sum(
        profile.message_tokens(message, tokenizer) for message in to_messages(messages)
    )


COOKBOOK_MESSAGES = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant that translates corporate "
        "jargon into plain English.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "New synergies will help drive top-line growth.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Things working well together will increase revenue.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth to touch base on opportunities "
        "for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client "
        "deliverable.",
    },
]
"""OpenAI's cookbook prints what the API billed for these: 129 for gpt-4, 124 for gpt-4o."""

WEATHER_MESSAGES = [
    {
        "role": "system",
        "content": "You are a helpful assistant that can answer to questions about the weather.",
    },
    {"role": "user", "content": "What's the weather like in San Francisco?"},
]
WEATHER = Tool(
    "get_current_weather",
    "Get the current weather in a given location",
    {
        "type": "object",
        "properties": {
            "location": {
                "type": "string",
                "description": "The city and state, e.g. San Francisco, CA",
            },
            "unit": {
                "type": "string",
                "description": "The unit of temperature to return",
                "enum": ["celsius", "fahrenheit"],
            },
        },
        "required": ["location"],
    },
)
"""OpenAI's cookbook: 105 tokens with the messages above for gpt-4, 101 for gpt-4o."""


@pytest.mark.parametrize(("profile", "tokens"), [(OLD, 129), (CHAT, 124)])
def test_messages_cost_what_the_api_billed(profile: ModelProfile, tokens: int) -> None:
    assert total(profile, COOKBOOK_MESSAGES) == tokens


@pytest.mark.parametrize(("profile", "tokens"), [(OLD, 105), (CHAT, 101)])
def test_tools_cost_what_the_cookbook_counts(profile: ModelProfile, tokens: int) -> None:
    assert total(profile, WEATHER_MESSAGES, [WEATHER]) == tokens


def test_a_message_is_its_text_and_its_framing() -> None:
    message = Message("user", [TextPart("two words"), TextPart("three")], name="Ann")
    tokenizer = CHAT.tokenizer()

    assert CHAT.content_tokens(message, tokenizer) == 3
    assert CHAT.framing_tokens(message, tokenizer) == 3 + 1 + 1 + 1
    assert CHAT.message_tokens(message, tokenizer) == 9


def test_a_result_is_charged_its_id_but_no_name() -> None:
    tokenizer = CHAT.tokenizer()
    bare = Message("tool", "4", tool_call_id="c1")
    named = Message("tool", "4", tool_call_id="c1", name="add")

    assert CHAT.framing_tokens(bare, tokenizer) == 3 + 1 + tokenizer.count("c1")
    assert CHAT.message_tokens(named, tokenizer) == CHAT.message_tokens(bare, tokenizer)


def test_a_call_is_charged_its_frame_id_name_and_arguments() -> None:
    tokenizer = CHAT.tokenizer()
    call = ToolCall("c1", "add", '{"a":1}')

    assert CHAT.message_tokens(Message("assistant", tool_calls=[call]), tokenizer) == (
        4 + 3 + sum(tokenizer.count(text) for text in ("c1", "add", '{"a":1}'))
    )


def test_plain_charges_text_names_and_arguments_of_calls_and_nothing_else() -> None:
    messages = [
        Message("system", "one two", name="not counted"),
        Message(
            "user",
            [
                TextPart("three"),
                ImagePart("https://x/y.png"),
                FilePart(file_id="f"),
                AudioPart("aa"),
            ],
            provider_data={"openai": {"a": "b"}},
        ),
        Message("assistant", tool_calls=[ToolCall("the id", "add", '{"a": 1}')]),
        Message("tool", "four", tool_call_id="the id"),
    ]

    assert total(PLAIN, messages, [WEATHER]) == 2 + 1 + 3 + 1


def test_plain_charges_what_files_and_audio_declare() -> None:
    parts = [FilePart(file_id="f", tokens=100), AudioPart("aa", tokens=10)]

    assert total(PLAIN, [Message("user", parts)]) == 110


def test_what_goes_back_to_the_provider_is_charged_and_what_is_another_s_is_not() -> None:
    tokenizer = CHAT.tokenizer()
    bare = Message("assistant", "a")
    own = Message("assistant", "a", provider_data={"openai": {"refusal": "é"}})
    other = Message("assistant", "a", provider_data={"anthropic": {"signature": "S"}})

    assert CHAT.message_tokens(own, tokenizer) == CHAT.message_tokens(
        bare, tokenizer
    ) + tokenizer.count('{"refusal":"é"}')
    assert CHAT.message_tokens(other, tokenizer) == CHAT.message_tokens(bare, tokenizer)


def test_every_api_that_a_model_is_sent_through_is_charged() -> None:
    claude = find_profile("claude-opus-5")
    tokenizer = claude.tokenizer()
    data = {"signature": "abc"}
    bare = claude.message_tokens(Message("assistant", "a"), tokenizer)

    for provider, charged in (("anthropic", True), ("bedrock", True), ("openai", False)):
        message = Message("assistant", "a", provider_data={provider: data})
        assert (claude.message_tokens(message, tokenizer) > bare) is charged
        assert ("provider data of 1 message" in claude.estimates([message], ())) is charged
    assert ModelProfile(name="m", encoding="o200k_base", providers="own").providers == ("own",)


def test_provider_data_that_is_no_json_is_an_error_that_names_it() -> None:
    message = Message("assistant", "a", provider_data={"openai": {"x": object()}})

    with pytest.raises(DefinitionError, match="provider_data\\['openai'\\] is no JSON"):
        CHAT.message_tokens(message, CHAT.tokenizer())


def test_a_model_without_eyes_refuses_an_image_when_it_is_counted() -> None:
    message = Message("user", [ImagePart("https://x/y.png")])

    with pytest.raises(UnsupportedContentError):
        OLD.message_tokens(message, OLD.tokenizer())


# --- what is remembered -------------------------------------------------------------------------


class Counting:
    """Counts characters, and how often it was asked; not hashable."""

    name = "counting"
    exact = True
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, each: int) -> None:
        self.each = each
        self.asked = 0

    def count(self, text: str, /) -> int:
        self.asked += 1
        return self.each * len(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counting)


def test_a_message_is_counted_once_for_a_profile_and_tokenizer() -> None:
    message, tokenizer = Message("user", "hello"), Counting(1)

    first = CHAT.message_tokens(message, tokenizer)
    asked = tokenizer.asked

    assert CHAT.message_tokens(message, tokenizer) == first == 3 + 4 + 5
    assert tokenizer.asked == asked


def test_what_a_message_costs_may_be_told_to_it() -> None:
    message, tokenizer = Message("user", "hello"), Counting(1)
    assert CHAT.remembered_tokens(message, tokenizer) is None

    CHAT.remember_tokens(message, tokenizer, 77)

    assert CHAT.remembered_tokens(message, tokenizer) == 77
    assert CHAT.message_tokens(message, tokenizer) == 77


def test_two_tokenizers_of_one_name_never_share_a_count() -> None:
    message = Message("user", "hello")

    assert PLAIN.message_tokens(message, Counting(1)) == 5
    assert PLAIN.message_tokens(message, Counting(2)) == 10
    for each in (3, 4):
        profile = ModelProfile.plain(lambda text, each=each: each * len(text))
        assert profile.message_tokens(message, profile.tokenizer()) == 5 * each


def test_two_profiles_never_share_a_count() -> None:
    message = Message("user", "hello")
    dearer = ModelProfile(name="dearer", encoding="o200k_base", tokens_per_message=10)

    assert dearer.message_tokens(message, dearer.tokenizer()) == 7 + CHAT.message_tokens(
        message, CHAT.tokenizer()
    )


texts = st.text(max_size=30)
calls = st.lists(st.builds(ToolCall, texts, texts, texts), max_size=3)


@given(texts, texts | st.none(), calls)
def test_tokens_are_the_published_formula(text: str, name: str | None, made: Any) -> None:
    """A message costs 3, role, values, 1 for a name, 3 for each call, 9 for a missing id."""
    count = CHAT.tokenizer().count
    message = Message("assistant", text, name=name, tool_calls=made)
    expected = 3 + 1 + count(message.text)
    expected += 1 + count(message.name) if message.name else 0
    for call in message.tool_calls:
        expected += (
            3 + (count(call.id) if call.id else 9) + count(call.name) + count(call.arguments)
        )

    assert CHAT.message_tokens(message, CHAT.tokenizer()) == expected


# --- tools --------------------------------------------------------------------------------------


def tools_cost(parameters: Any) -> int:
    return CHAT.base_tokens([Tool("t", "d", parameters)], CHAT.tokenizer())


def test_no_tools_cost_nothing_but_the_priming() -> None:
    assert CHAT.base_tokens((), CHAT.tokenizer()) == 3


def test_a_profile_without_a_rule_charges_no_definitions() -> None:
    assert PLAIN.base_tokens([WEATHER], PLAIN.tokenizer()) == 0


def test_the_numbers_of_a_rule_are_charged_as_named() -> None:
    rule = ToolRule(function=100, properties=1_000, property=10_000, enum=0, enum_item=0, end=7)
    profile = ModelProfile(name="m", encoding="o200k_base", tools=rule)
    two = Tool("t", "", {"properties": {"a": {"type": "x"}, "b": {"type": "x"}}})
    count = profile.tokenizer().count

    assert profile.base_tokens([two, two], profile.tokenizer()) == 3 + 7 + 2 * (
        100 + count("t:") + 1_000 + 20_000 + count("a:x:") + count("b:x:")
    )


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ({}, {"description": "What it is about"}),
        ({"properties": {"a": {}}}, {"properties": {"a": {"description": "Some words."}}}),
        ({"properties": {"a": {}}}, {"properties": {"a": {"anyOf": [{"type": "string"}]}}}),
        ({"properties": {"a": {}}}, {"properties": {"a": {"properties": {"b": {}}}}}),
        (
            {"properties": {"a": {"type": "array"}}},
            {"properties": {"a": {"type": "array", "items": {"enum": ["x"]}}}},
        ),
        ({"properties": {"a": {"enum": [1]}}}, {"properties": {"a": {"enum": [1, None, "x"]}}}),
        ({"properties": {}}, {"properties": {"a": True}}),
        ({}, {"$defs": {"x": {"type": "string"}}}),
    ],
)
def test_what_a_schema_says_more_costs_more(smaller: Any, larger: Any) -> None:
    assert tools_cost(larger) > tools_cost(smaller)


def test_a_full_stop_and_a_type_in_a_list_are_read() -> None:
    described = {"properties": {"a": {"type": ["string", "null"], "description": "Words"}}}
    stopped = {"properties": {"a": {"type": ["string", "null"], "description": "Words."}}}

    assert tools_cost(described) == tools_cost(stopped)


def test_a_deep_schema_is_counted() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(300):
        schema = {"type": "object", "properties": {"a": schema}}

    assert tools_cost(schema) > 300 * 6


schemas = st.recursive(
    st.dictionaries(
        st.sampled_from(["type", "description", "enum", "items", "properties", "x"]),
        st.none() | st.booleans() | st.text(max_size=5) | st.lists(st.integers(), max_size=2),
        max_size=4,
    ),
    lambda inner: st.fixed_dictionaries(
        {}, optional={"items": inner, "properties": st.dictionaries(st.text(max_size=3), inner)}
    ),
    max_leaves=5,
)


@given(schemas)
def test_every_schema_has_a_cost(schema: Any) -> None:
    """No JSON object makes counting fail, and a tool never costs less than its frame."""
    assert tools_cost(schema) >= 3 + 12 + 7


# --- audio and files ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        (AudioPart("A" * 4_000), 2),
        (AudioPart("A" * 4_000, format="mp3"), 8),
        (AudioPart("", format="mp3"), 0),
        (AudioPart("A" * 4_000, tokens=5), 5),
        (FilePart(file_id="f"), 15_000),
        (FilePart(file_id="f", tokens=12), 12),
        (FilePart(data="data:application/pdf;base64," + "A" * 20_000), 1_500),
        (FilePart(data="A" * 20_001 + "AAA"), 3_000),
        (FilePart(data=""), 1_500),
    ],
)
def test_audio_and_files_cost_what_they_declare_or_the_stated_estimate(
    part: Any, tokens: int
) -> None:
    tokenizer = CHAT.tokenizer()

    assert CHAT.framing_tokens(Message("user", [part]), tokenizer) == 4 + tokens


def test_a_profile_may_estimate_files_otherwise() -> None:
    profile = ModelProfile(name="m", encoding="o200k_base", media=MediaRule(unknown_pages=1))

    assert total(profile, [Message("user", [FilePart(file_id="f")])]) == 3 + 4 + 1_500


def test_a_call_and_a_result_without_ids_are_charged_for_those_that_are_made_up() -> None:
    profile = find_profile("gpt-4o")
    bare = [
        Message("assistant", tool_calls=[ToolCall("", "f")]),
        Message("tool", "result"),
    ]

    sent = from_messages(to_request([Message("user", "ask"), *bare])["messages"])[1:]

    assert len(sent[0].tool_calls[0].id) == 9
    assert sent[1].tool_call_id == sent[0].tool_calls[0].id
    tokenizer = profile.tokenizer()
    assert profile.messages_tokens(bare, tokenizer) >= profile.messages_tokens(sent, tokenizer)
