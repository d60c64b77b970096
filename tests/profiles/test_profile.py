"""A profile as a value: budgets, estimates, equality, pickling, checks."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from attrs import evolve
from attrs.exceptions import FrozenInstanceError
from hypothesis import given
from hypothesis import strategies as st

from promptsections.errors import DefinitionError, InvalidBudgetError
from promptsections.messages import AudioPart, FilePart, ImagePart, Message, Tool, ToolCall
from promptsections.profiles import MODELS, ModelProfile, NoImages, find_profile
from promptsections.tokens import ApproximateTokenizer, CachedTokenizer, TiktokenTokenizer

CHAT = find_profile("gpt-4o")


# --- budgets ------------------------------------------------------------------------------------


def test_the_reserve_is_the_smaller_of_the_output_limits_of_model_and_call() -> None:
    assert CHAT.input_budget() == 128_000 - 16_384
    assert CHAT.input_budget(max_output_tokens=1_000) == 127_000
    assert CHAT.input_budget(max_output_tokens=100_000) == 128_000 - 16_384
    assert CHAT.input_budget(7, max_output_tokens=1_000) == 127_993
    assert find_profile("claude-opus-4-5").input_budget() == 200_000 - 64_000


def test_a_limit_of_the_model_that_is_none_reserves_a_quarter_of_the_window() -> None:
    assert find_profile("gpt-4").input_budget() == 8_192 - 2_048
    assert find_profile("kimi-k3").input_budget() == 1_048_576 * 3 // 4
    unlimited = ModelProfile(name="m", encoding="o200k_base", context_window=1_000)
    assert unlimited.input_budget() == 750
    assert ModelProfile(name="m", encoding="o200k_base").answer_reserve() == 0


def test_a_limit_of_the_call_that_leaves_nothing_is_an_error_that_names_the_numbers() -> None:
    with pytest.raises(InvalidBudgetError, match=r"max_output_tokens=8192 leaves nothing .* 8192"):
        find_profile("gpt-4").input_budget(max_output_tokens=8_192)
    with pytest.raises(InvalidBudgetError, match="max_output_tokens=0"):
        CHAT.input_budget(max_output_tokens=0)


def test_a_reserve_of_nothing_leaves_the_window() -> None:
    assert CHAT.input_budget(0) == 128_000
    assert CHAT.input_budget(127_999) == 1


def test_a_limit_of_input_alone_is_kept() -> None:
    assert find_profile("gpt-5").input_budget() == 272_000
    assert find_profile("gpt-5").input_budget(200_000) == 200_000


@pytest.mark.parametrize("reserve", [128_000, 200_000])
def test_a_reserve_that_leaves_nothing_names_the_numbers(reserve: int) -> None:
    with pytest.raises(InvalidBudgetError, match=f"{reserve} leaves nothing .* 128000") as caught:
        CHAT.input_budget(reserve)

    assert caught.value.value == reserve


@pytest.mark.parametrize("reserve", [-1, True, 1.5, "9"])
def test_a_reserve_that_is_no_number_of_tokens_is_refused(reserve: Any) -> None:
    with pytest.raises(InvalidBudgetError, match="whole number of tokens"):
        CHAT.input_budget(reserve)


def test_without_a_window_a_budget_is_required() -> None:
    with pytest.raises(InvalidBudgetError, match="budget is required"):
        ModelProfile.plain("o200k_base").input_budget()


@given(st.integers(1, 10**7), st.none() | st.integers(1, 10**7), st.none() | st.integers(0, 10**7))
def test_a_budget_and_its_reserve_fit_the_window(
    window: int, output: int | None, reserve: int | None
) -> None:
    """A budget is at least 1 and never more than the window without the reserve."""
    profile = ModelProfile(
        name="m", encoding="o200k_base", context_window=window, max_output_tokens=output
    )
    try:
        budget = profile.input_budget(reserve)
    except InvalidBudgetError:
        assert reserve is not None
        assert reserve >= window
    else:
        assert 1 <= budget <= window - (reserve or 0)


# --- how far to trust it ------------------------------------------------------------------------


def test_plain_messages_of_a_checked_model_are_exact() -> None:
    assert CHAT.exact
    assert CHAT.estimates([Message("user", "hello")], []) == ()


def test_everything_estimated_is_named() -> None:
    messages = [
        Message(
            "user",
            [
                ImagePart("https://x/y.png"),
                ImagePart("https://x/z.png", width=3, height=4),
                FilePart(file_id="f"),
                FilePart(file_id="f", tokens=5),
                AudioPart("aa"),
            ],
        ),
        Message(
            "assistant",
            tool_calls=[ToolCall("c1", "f"), ToolCall("c2", "f")],
            provider_data={"openai": {"refusal": None}, "other": {}},
        ),
    ]
    profile = evolve(
        find_profile("gpt-4.1-mini"), encoding=ApproximateTokenizer(name="by characters")
    )

    assert not profile.exact
    assert profile.estimates(messages, [Tool("a")]) == (
        "tokenizer by characters",
        "message overhead of gpt-4.1-mini",
        "tool definitions of 1 tool",
        "framing of 2 tool calls",
        "provider data of 1 message",
        "2 images, by a disputed rule",
        "1 image of unknown size",
        "1 audio part without declared tokens",
        "1 file without declared tokens",
    )


def test_a_plain_profile_names_what_it_charges_nothing_for() -> None:
    profile = ModelProfile.plain("cl100k_base")
    messages = [Message("user", [ImagePart("https://x/y.png")])]

    assert profile.exact
    assert profile.estimates(messages, [Tool("a")]) == (
        "tool definitions of 1 tool that nothing is charged for",
        "1 image that nothing is charged for",
    )


# --- a value ------------------------------------------------------------------------------------


def test_profiles_share_the_tokenizer_of_a_bundled_encoding() -> None:
    assert CHAT.tokenizer() is find_profile("gpt-5").tokenizer()
    assert CHAT.tokenizer() is ModelProfile.plain("o200k_base").tokenizer()
    assert CHAT.tokenizer() is not find_profile("gpt-4").tokenizer()


def test_a_tokenizer_of_one_s_own_gets_one_cache() -> None:
    own = ModelProfile.plain(len)
    cached = CachedTokenizer(ApproximateTokenizer())

    assert isinstance(own.tokenizer(), CachedTokenizer)
    assert own.tokenizer() is own.tokenizer()
    assert ModelProfile.plain(cached).tokenizer() is cached


@pytest.mark.parametrize(
    "profile", [*MODELS.values(), ModelProfile.plain(len), ModelProfile.plain("o200k_base")]
)
def test_profiles_are_values(profile: ModelProfile) -> None:
    copy = pickle.loads(pickle.dumps(profile))

    assert copy == profile
    assert hash(copy) == hash(profile)
    assert copy.key == profile.key
    assert evolve(profile, name="other") != profile
    with pytest.raises(FrozenInstanceError):
        profile.name = "other"  # type: ignore[misc]


def test_a_pickled_profile_shares_the_tokenizer_again() -> None:
    assert pickle.loads(pickle.dumps(CHAT)).tokenizer() is CHAT.tokenizer()


def test_the_same_encoding_is_equal_however_it_is_written() -> None:
    assert evolve(CHAT, encoding=TiktokenTokenizer("o200k_base")) == CHAT
    assert evolve(CHAT, encoding=CachedTokenizer(TiktokenTokenizer("o200k_base"))) == CHAT
    assert evolve(CHAT, encoding="cl100k_base") != CHAT


def test_the_key_holds_every_number_that_a_message_depends_on() -> None:
    for change in (
        {"tokens_per_message": 9},
        {"tokens_per_name": 9},
        {"counts_roles": False},
        {"images": NoImages()},
        {"tools": None},
        {"providers": ()},
    ):
        assert evolve(CHAT, **change).key != CHAT.key
    assert evolve(CHAT, name="other", context_window=1, source="").key == CHAT.key


# --- checks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "needs a name"),
        ({"encoding": "o300k"}, "o300k"),
        ({"encoding": 7}, "no tokenizer"),
        ({"form": "html"}, "form='html'"),
        ({"context_window": 0}, "context_window=0"),
        ({"context_window": "8k"}, "context_window='8k'"),
        ({"max_output_tokens": -1}, "max_output_tokens=-1"),
        ({"max_input_tokens": True}, "max_input_tokens=True"),
        ({"tokens_per_message": 1.5}, "tokens_per_message=1.5"),
        ({"reply_priming": -3}, "reply_priming=-3"),
    ],
)
def test_a_wrong_profile_is_refused_when_it_is_made(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        ModelProfile(**{"name": "m", "encoding": "o200k_base", **wrong})
