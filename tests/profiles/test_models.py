"""How models are found by name."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import model_table
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections.errors import UnknownModelError
from promptsections.profiles import MODELS, ModelProfile, NoImages, find_profile
from promptsections.profiles.models import ALIASES, MAKERS
from promptsections.profiles.models.vendor import Vendor
from promptsections.tokens import ScaledTokenizer

OWN = ModelProfile(name="mine", encoding="cl100k_base", context_window=10)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("gpt-4o", "gpt-4o"),
        ("GPT-4o-Mini", "gpt-4o-mini"),
        ("gpt-4o-2024-11-20", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("ft:gpt-4o-mini-2024-07-18:org::id", "gpt-4o-mini"),
        ("ft:gpt-3.5-turbo-0125:org:name:id", "gpt-3.5-turbo"),
        ("ft:gpt-4o", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("openrouter/openai/gpt-4o-2024-08-06", "gpt-4o"),
        ("azure/gpt-35-turbo", "gpt-3.5-turbo"),
        ("gpt-4-1106-preview", "gpt-4-turbo"),
        ("gpt-4-turbo-2024-04-09", "gpt-4-turbo"),
        ("gpt-4-0613", "gpt-4"),
        ("o4-mini-2025-04-16", "o4-mini"),
        ("gpt-5-chat-latest", "gpt-5-chat"),
        ("groq/openai/gpt-oss-120b", "gpt-oss-120b"),
        ("anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("vertex_ai/claude-opus-4-6@default", "claude-opus-4-6"),
        ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("global.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
        ("bedrock/us-east-1/anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-5-5",
            "claude-opus-5-5",
        ),
        ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-3.5-haiku:beta", "claude-3-5-haiku"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini/gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("gemini-3-flash-preview", "gemini-3-flash"),
        ("publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"),
        (
            "projects/p/locations/us/publishers/anthropic/models/claude-opus-5",
            "claude-opus-5",
        ),
        ("google/gemma-3-27b-it", "gemma-3-27b"),
        ("mistral/mistral-large-latest", "mistral-large-3"),
        ("mistral-large-2407", "mistral-large-2"),
        ("mistral.mistral-large-2407-v1:0", "mistral-large-2"),
        ("ministral-8b-2512", "ministral-8b"),
        ("codestral-latest", "codestral"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b"),
        ("us.meta.llama3-3-70b-instruct-v1:0", "llama-3.3-70b"),
        ("meta_llama/Llama-4-Maverick-17B-128E-Instruct-FP8", "llama-4-maverick"),
        ("groq/llama-3.3-70b-versatile", "llama-3.3-70b"),
        ("fireworks_ai/accounts/fireworks/models/deepseek-v3", "deepseek-v3"),
        ("deepseek-v4-flash-0731", "deepseek-v4-flash"),
        ("us.deepseek.r1-v1:0", "deepseek-r1"),
        ("dashscope/qwen3-max-2026-01-23", "qwen3-max"),
        ("qwen-plus-latest", "qwen-plus"),
        ("moonshotai.kimi-k3", "kimi-k3"),
        ("zai/glm-4.6", "glm-4.6"),
        ("xai/grok-4.3-latest", "grok-4.3"),
        ("command-a-03-2025", "command-a"),
        ("us.amazon.nova-pro-v1:0", "nova-pro"),
    ],
)
def test_a_name_finds_its_model(name: str, found: str) -> None:
    assert find_profile(name) is MODELS[found]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gpt",
        "gpt-4o-",
        "gpt-4o-mini-tts",
        "gpt-4o-realtime-preview-2024-12-17",
        "gpt-4-32k",
        "gpt-3.5-turbo-0301",
        "gpt-4o-2024",
        "mistral/gpt-4o",
        "azure/",
        "ft:",
        "ft:davinci-002:org::id",
        "gpt-4o-2024-11-20-2024-11-20",
        "gpt-9-turbo-not-yet-released",
        "anthropic/gpt-4o",
        "openai/claude-sonnet-4-5",
        "publishers/google/models/claude-opus-5",
        "meta.claude-opus-5",
        "gpt-4o-20241120",
        "claude-sonnet-4-5-2025-09-29",
        "gemini-2.5-flash-image",
        "gemini-2.5-flash-preview-tts",
        "mistral-large-2402",
        "ollama/llama3.3",
        "us.nova-pro",
        "models/",
        "publishers//models/",
        "arn:aws:bedrock:us-east-1:1:provisioned-model/abc123",
    ],
)
def test_a_name_that_is_only_similar_is_an_error(name: str) -> None:
    with pytest.raises(UnknownModelError) as caught:
        find_profile(name)

    assert caught.value.name == name
    assert repr(name) in str(caught.value)
    assert "ModelProfile(" in str(caught.value)


def test_near_names_are_suggested() -> None:
    with pytest.raises(UnknownModelError, match="Near it: gpt-4o-mini") as caught:
        find_profile("azure/gpt-4o-mimi")

    assert caught.value.suggestions[0] == "gpt-4o-mini"


def test_a_suggestion_may_be_one_s_own() -> None:
    with pytest.raises(UnknownModelError) as caught:
        find_profile("my-deploymant", {"my-deployment": OWN})

    assert caught.value.suggestions == ("my-deployment",)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o", "openai/GPT-4o-2024-05-13"),
        ("My-Deployment", "my-deployment"),
        ("azure/x", "azure/x"),
        ("ft:gpt-4o:org::id", "ft:gpt-4o:org::id"),
        ("gpt-4-0613", "gpt-4-0613"),
    ],
)
def test_one_s_own_profiles_come_first(key: str, name: str) -> None:
    assert find_profile(name, {key: OWN}) is OWN


def test_one_s_own_profile_is_found_by_a_dated_name() -> None:
    assert find_profile("mine-2026-01-31", {"mine": OWN}) is OWN


def test_one_s_own_profiles_leave_the_others_as_they_are() -> None:
    assert find_profile("gpt-4o", {"gpt-4o-mini": OWN}) is MODELS["gpt-4o"]
    assert find_profile("gpt-4o") is MODELS["gpt-4o"]


@given(st.text(max_size=20))
def test_no_name_is_anything_but_found_or_unknown(name: str) -> None:
    """Any string finds a profile of the table or raises `UnknownModelError`."""
    with suppress(UnknownModelError):
        assert find_profile(name) in MODELS.values()


@pytest.mark.parametrize("profile", MODELS.values(), ids=lambda profile: profile.name)
def test_every_number_of_the_table_has_a_source(profile: ModelProfile) -> None:
    assert "window: " in profile.source
    assert "messages: " in profile.source
    assert "2026-" in profile.source
    assert 0 < profile.input_budget() < (profile.context_window or 0)


@pytest.mark.parametrize("profile", MODELS.values(), ids=lambda profile: profile.name)
def test_a_rule_that_is_used_is_a_rule_that_has_a_source(profile: ModelProfile) -> None:
    assert profile.exact or "estimate" in repr(profile)
    assert ("images: " in profile.source) == (profile.images != NoImages())
    assert ("cache: " in profile.source) == (profile.cache is not None)
    assert ("text: " in profile.source) == (not isinstance(profile.encoding, str))
    if isinstance(profile.encoding, ScaledTokenizer):
        assert profile.encoding.factor >= Fraction("1.2")


def vendors() -> list[Vendor]:
    return [maker.vendor() for maker in MAKERS]


def test_every_name_begins_as_it_is_said_of_its_maker() -> None:
    """Else it would not be found: its maker would not be asked."""
    for maker in MAKERS:
        vendor = maker.vendor()
        assert [
            n for n in (*vendor.models, *vendor.aliases) if not n.startswith(maker.starts)
        ] == []


def test_the_tables_hold_what_the_makers_have() -> None:
    assert dict(MODELS) == {n: m for vendor in vendors() for n, m in vendor.models.items()}
    assert dict(ALIASES) == {a: n for vendor in vendors() for a, n in vendor.aliases.items()}
    assert len(MODELS) == len(list(MODELS)) > 100
    assert "gpt-4o" in MODELS
    assert "gpt-4o-of-mine" not in MODELS
    assert MODELS.get("no such model") is None


def test_a_look_up_imports_no_maker_that_is_not_asked() -> None:
    code = """
import sys
from promptsections.profiles import find_profile
known = ".profiles.models."
loaded = lambda: {m.rpartition(".")[2] for m in sys.modules if known in m} - {"vendor"}
assert loaded() == set(), loaded()
assert find_profile("azure/gpt-4o-2024-11-20").name == "gpt-4o"
assert loaded() == {"openai"}, loaded()
assert find_profile("us.anthropic.claude-opus-4-6-v1").name == "claude-opus-4-6"
assert loaded() == {"openai", "anthropic"}, loaded()
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_no_name_is_used_twice() -> None:
    names = [name for vendor in vendors() for name in (*vendor.models, *vendor.aliases)]

    assert len(names) == len(set(names))


def test_every_alias_leads_to_the_table() -> None:
    assert set(ALIASES.values()) <= MODELS.keys()
    assert not ALIASES.keys() & MODELS.keys()


# --- the documentation --------------------------------------------------------------------------


def test_the_reference_lists_each_model_as_it_is() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "models.md"
    _, _, listed = page.read_text("utf-8").partition("## Known models\n")

    assert [line for line in listed.splitlines() if line.startswith("| `")] == [
        line for line in model_table.lines() if line.startswith("| `")
    ]
