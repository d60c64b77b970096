"""How models are found by name."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import model_table
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections.errors import UnknownModelError
from promptsections.profiles import MODELS, ModelProfile, find_profile
from promptsections.profiles.models import ALIASES, VENDORS


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
