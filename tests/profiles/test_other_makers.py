"""Models whose tokenizer is not public: margins that hold, and rules that are data."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from promptsections import Prompt, Renderer, TextSection
from promptsections.errors import DefinitionError
from promptsections.messages import (
    SYSTEM_TAGS,
    FilePart,
    ImagePart,
    Message,
    Tool,
    ToolCall,
    to_messages,
)
from promptsections.notes import Note
from promptsections.profiles import (
    MODELS,
    CacheRule,
    JsonToolRule,
    Lifetime,
    ModelProfile,
    find_profile,
)
from promptsections.providers import anthropic_messages
from promptsections.tokens import TiktokenTokenizer

CLAUDE = find_profile("claude-opus-4-5")
WEATHER = Tool(
    "get_weather",
    "Get the current weather in a given location",
    {
        "type": "object",
        "properties": {
            "location": {
                "type": "string",
                "description": "The city and state, e.g. San Francisco, CA",
            }
        },
        "required": ["location"],
    },
)


def total(profile: ModelProfile, messages: Any, tools: Any = ()) -> int:
    tokenizer = profile.tokenizer()
    return profile.base_tokens(tools, tokenizer) + profile.messages_tokens(
        to_messages(messages), tokenizer
    )


# --- Anthropic's guide to token counting prints what its API answers ------------------------------

GREETING = [
    {"role": "system", "content": "You are a scientist"},
    {"role": "user", "content": "Hello, Claude"},
]
QUESTION = [{"role": "user", "content": "What's the weather like in San Francisco?"}]


@pytest.mark.parametrize("model", ["claude-opus-4-5", "claude-opus-5"])
@pytest.mark.parametrize(
    ("messages", "tools", "billed"), [(GREETING, (), 14), (QUESTION, (WEATHER,), 403)]
)
def test_an_estimate_is_no_less_than_what_the_api_counts_and_not_twice_as_much(
    model: str, messages: Any, tools: Any, billed: int
) -> None:
    profile = find_profile(model)
    instructions = sum(message["role"] == "system" for message in messages)
    # Each is charged for marks that it is sent in where it does not stand in front.
    marks = instructions * profile.tokenizer().count("".join(SYSTEM_TAGS))

    assert billed <= total(profile, messages, tools) - marks < 2 * billed


def test_a_system_message_is_charged_for_the_marks_it_may_be_sent_in() -> None:
    profile = find_profile("claude-opus-4-5")
    inside = [*QUESTION, {"role": "system", "content": "Be brief."}, *QUESTION]
    notes: list[Note] = []

    sent = anthropic_messages.to_request(to_messages(inside), notes=notes)["messages"]

    wrapped = [{"role": "user", "content": "<system>\nBe brief.\n</system>"}]
    assert [note.code for note in notes] == ["system_wrapped"]
    assert {"type": "text", "text": "<system>\nBe brief.\n</system>"} in sent[0]["content"]
    assert total(profile, inside) >= total(profile, [*QUESTION, *wrapped, *QUESTION])


# --- margins ------------------------------------------------------------------------------------


def test_the_margin_is_inside_the_count_and_the_count_is_marked() -> None:
    text = "one two three four. " * 18_000
    renderer = Renderer("anthropic/claude-sonnet-4-5-20250929")

    rendered = renderer.render(Prompt([TextSection(text)]), budget=120_000)

    base = TiktokenTokenizer("o200k_base").count(text)
    assert base > 90_000
    assert 1.2 * base <= rendered.token_count <= 120_000
    assert not rendered.layout.exact
    assert any("margin of 20 %" in note.detail for note in rendered.layout.notes)


@given(st.text(max_size=40))
def test_a_margin_rounds_up(text: str) -> None:
    """No text counts less than its margin asks for, nor a whole token more."""
    base = TiktokenTokenizer("o200k_base").count(text)
    counted = CLAUDE.tokenizer().count(text)

    assert 12 * base <= 10 * counted < 12 * base + 10


def test_what_is_approximate_is_named_with_its_margin() -> None:
    messages = [
        Message("user", [ImagePart("https://x/y.png"), FilePart(file_id="f")]),
        Message("assistant", tool_calls=[ToolCall("c1", "f")]),
    ]

    assert CLAUDE.estimates(messages, [WEATHER]) == (
        "tokenizer o200k_base with a margin of 20 %",
        "message overhead of claude-opus-4-5",
        "tool definitions of 1 tool, as JSON and 346 tokens for tool use",
        "framing of 1 tool call",
        "1 image of unknown size",
        "1 file without declared tokens",
    )


# --- tools as JSON ------------------------------------------------------------------------------


def test_the_numbers_of_a_json_rule_are_charged_as_named() -> None:
    rule = JsonToolRule(request=1_000, tool=100, call=10, result=7)
    profile = ModelProfile(name="m", encoding="o200k_base", tools=rule)
    tokenizer, count = profile.tokenizer(), profile.tokenizer().count
    tool = Tool("t", "Does é.", {"type": "object"})

    assert profile.base_tokens([], tokenizer) == 3
    assert profile.base_tokens([tool, tool], tokenizer) == 3 + 1_000 + 2 * (
        100 + count("t") + count("Does é.") + count('{"type":"object"}')
    )
    assert profile.framing_tokens(
        Message("assistant", tool_calls=[ToolCall("i", "f", "{}")]), tokenizer
    ) == 4 + 10 + count("i") + count("f") + count("{}")
    assert profile.framing_tokens(Message("tool", "", tool_call_id="i"), tokenizer) == (
        4 + 7 + count("i")
    )


# --- rules as data ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "minimum", "read", "writes", "marks"),
    [
        ("claude-opus-5-5", 512, 0.05, {"5m": 1.25, "1h": 2.0}, 4),
        ("claude-haiku-4-5", 4_096, 0.1, {"5m": 1.25, "1h": 2.0}, 4),
        ("gpt-4o", 1_024, 0.5, {}, 0),
        ("gpt-5.6", 1_024, 0.1, {"30m": 1.25, "12h": 2.5}, 4),
        ("gemini-2.5-pro", 2_048, 0.1, {}, 0),
    ],
)
def test_what_a_cache_keeps_and_costs_is_data(
    model: str, minimum: int, read: float, writes: dict[str, float], marks: int
) -> None:
    rule = find_profile(model).cache

    assert rule is not None
    assert (rule.minimum, rule.read, rule.marks) == (minimum, read, marks)
    assert {life.name: life.write for life in rule.lifetimes} == writes


@pytest.mark.parametrize("profile", MODELS.values(), ids=lambda profile: profile.name)
def test_lifetimes_are_sorted_and_their_names_say_their_seconds(profile: ModelProfile) -> None:
    lifetimes = profile.cache.lifetimes if profile.cache else ()
    units = {"m": 60, "h": 3_600}

    assert [life.seconds for life in lifetimes] == sorted(
        int(life.name[:-1]) * units[life.name[-1]] for life in lifetimes
    )


@pytest.mark.parametrize(
    ("model", "system", "prefill"),
    [
        ("gpt-4o", "anywhere", True),
        ("claude-opus-4-5", "leading", True),
        ("claude-opus-4-6", "leading", False),
        ("claude-opus-4-8", "leading_and_after_user", False),
        ("claude-sonnet-5", "leading", False),
        ("gemini-2.5-pro", "leading", True),
        ("mistral-large-3", "leading_and_after_user", True),
    ],
)
def test_where_system_messages_and_beginnings_of_answers_may_stand_is_data(
    model: str, system: str, prefill: bool
) -> None:
    profile = find_profile(model)

    assert (profile.system, profile.prefill) == (system, prefill)


@pytest.mark.parametrize("wrong", [{"minimum": -1}, {"read": -0.1}, {"read": 1.5}, {"marks": -4}])
def test_a_cache_rule_without_meaning_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError, match="must be 0 or more"):
        CacheRule(**{"minimum": 1, "read": 0.1, **wrong})


def test_a_place_for_system_messages_that_is_not_known_is_refused() -> None:
    with pytest.raises(DefinitionError, match="system='middle': write one of 'anywhere'"):
        evolve(CLAUDE, system="middle")


def test_lifetimes_may_be_given_as_a_list() -> None:
    rule = CacheRule(minimum=1, read=0.1, lifetimes=[Lifetime("5m", 300)])  # type: ignore[arg-type]

    assert rule.lifetimes == (Lifetime("5m", 300),)


def test_one_line_changes_a_number_for_one_renderer() -> None:
    smaller = evolve(find_profile("gpt-4o"), context_window=64_000)

    assert Renderer("gpt-4o", profiles={"gpt-4o": smaller}).profile.context_window == 64_000
    assert Renderer("gpt-4o").profile.context_window == 128_000
