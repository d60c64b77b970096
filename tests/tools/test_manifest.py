"""Which tools a persona may use with a model: the documented order of rules, and the faults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    BudgetExceededError,
    DefinitionError,
    DuplicateNameError,
    Prompt,
    Renderer,
    TextSection,
    Tool,
    find_profile,
)
from promptsections.manifest import ToolAccess, ToolManifest, ToolSelection

CASES = tuple(
    map(json.loads, Path(__file__).with_name("manifest.jsonl").read_text("utf-8").splitlines())
)
MODEL = find_profile("gpt-4o")


def manifest_of(recorded: Mapping[str, Any] | None, **options: Any) -> ToolManifest:
    return ToolManifest(
        {
            persona: ToolAccess(
                enabled=entry.get("enabledToolIds"),
                disabled=entry.get("disabledToolIds", ()),
                models=entry.get("modelOverrides", {}),
            )
            for persona, entry in (recorded or {}).items()
        },
        **options,
    )


def tools_named(*ids: str) -> dict[str, Tool]:
    return {id_: Tool(f"n_{id_}") for id_ in ids}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["fn"] == "tool_manifest"], ids=lambda case: case["id"]
)
def test_the_recorded_selections(case: dict[str, Any]) -> None:
    given = case["input"]
    manifest = manifest_of(given["manifest"], empty_list_means="all")

    selection = manifest.select(
        tools_named(*given["runtime_tools"]),
        persona=given["current_persona"],
        model=given["model_id"],
        supported=given["tools_supported"],
    )

    assert [
        (tool.name, selection.reasons.get(id_)) for id_, tool in selection.selected.items()
    ] == [(row["name"], row["reason"]) for row in case["output"]]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["fn"] == "tool_manifest_via_argument"],
    ids=lambda case: case["id"],
)
def test_the_persona_is_the_one_of_the_call(case: dict[str, Any]) -> None:
    given = case["input"]

    selection = manifest_of(given["manifest"]).select(
        tools_named("a", "b", "c"), persona=given["argument_persona"]
    )

    allowed = given["manifest"].get(given["argument_persona"], {"enabledToolIds": list("abc")})
    assert list(selection.selected) == allowed["enabledToolIds"]


def test_an_empty_list_allows_nothing_unless_it_is_read_the_old_way() -> None:
    recorded: dict[str, Any] = {"P": {"enabledToolIds": []}}
    tools = tools_named("a")

    assert manifest_of(recorded).select(tools, persona="P").tools == ()
    assert manifest_of(recorded, empty_list_means="all").select(tools, persona="P").tools == (
        Tool("n_a"),
    )


def test_every_exclusion_has_a_reason() -> None:
    access = ToolAccess(enabled=["a"], disabled=["d"], models={"m": ["b"]})
    manifest = ToolManifest({"P": access})
    tools = [Tool(name) for name in "abd"]

    assert manifest.select(tools, persona="P").reasons == {
        "a": "included:enabled_tool_ids",
        "b": "excluded:not_in_enabled_tool_ids",
        "d": "excluded:disabled_tool_ids",
    }
    assert manifest.select(tools, persona="P", model="m").reasons == {
        "a": "excluded:not_in_model_override_list",
        "b": "included:model_override",
        "d": "excluded:disabled_tool_ids",
    }
    assert manifest.select(tools, persona="P", supported=False).reasons == dict.fromkeys(
        "abd", "excluded:tools_unsupported"
    )


def test_ids_that_no_tool_has_are_named_once() -> None:
    access = ToolAccess(enabled=["a", "x", "x"], disabled=["y"], models={"m": ["z"]})
    manifest = ToolManifest({"P": access})

    assert manifest.select([Tool("a")], persona="P").unknown == ("x", "y")
    assert manifest.select([Tool("a")], persona="P", model="m").unknown == ("z", "y")


def test_wildcards_are_taken_where_asked_for_and_an_exact_model_wins() -> None:
    access = ToolAccess(models={"gpt-*": ["read_*"], "gpt-4o": ["write_file"]})
    tools = [Tool("read_file"), Tool("write_file")]

    exact = ToolManifest({"P": access})
    patterns = ToolManifest({"P": access}, wildcards=True)

    assert len(exact.select(tools, persona="P", model="gpt-5").tools) == 2
    assert patterns.select(tools, persona="P", model="gpt-5").tools == (Tool("read_file"),)
    assert patterns.select(tools, persona="P", model="gpt-4o").tools == (Tool("write_file"),)
    assert len(patterns.select(tools, persona="P", model="o3").tools) == 2


def test_reasons_never_reach_a_schema() -> None:
    selection = ToolManifest({"P": ToolAccess(enabled=["a"])}).select([Tool("a")], persona="P")

    assert selection.tools == (Tool("a"),)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: ToolAccess(enabled="abc"), "not the text 'abc'"),
        (lambda: ToolAccess(disabled=[5]), "must be texts, not 5"),  # type: ignore[list-item]
        (lambda: ToolManifest().select(["a"]), "Tool values, not str"),  # type: ignore[list-item]
        (lambda: ToolManifest().select({"a": 5}), "Tool values, not int"),  # type: ignore[arg-type]
        (lambda: ToolManifest({"P": {"enabled": []}}), "not a ToolAccess"),  # type: ignore[dict-item]
        (lambda: ToolManifest(empty_list_means="some"), "must be 'none' or 'all'"),  # type: ignore[arg-type]
        (
            lambda: selection_of("a").within(1, MODEL, when_over="cut"),  # type: ignore[arg-type]
            "must be 'drop' or 'error'",
        ),
    ],
)
def test_wrong_values_are_errors(wrong: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        wrong()


def test_two_tools_of_one_name_are_an_error() -> None:
    with pytest.raises(DuplicateNameError, match="'a'"):
        ToolManifest().select([Tool("a"), Tool("a")])


# --- how many fit ---------------------------------------------------------------------------------


def selection_of(*names: str) -> ToolSelection:
    return ToolManifest().select([Tool(name, description=name * 20) for name in names])


def cost(*tools: Tool) -> int:
    render = Renderer(MODEL).render
    section = TextSection("x")
    return (
        render(Prompt([section], tools=tools)).token_count - render(Prompt([section])).token_count
    )


def test_the_least_needed_tool_is_left_out_first() -> None:
    selection = selection_of("first", "second", "third")
    room = cost(*selection.tools[1:])

    kept = selection.within(room, MODEL, priorities={"third": 2, "second": 1})

    assert [tool.name for tool in kept.tools] == ["second", "third"]
    assert kept.reasons == {"first": "excluded:tool_budget"}


def test_too_many_tools_may_be_an_error() -> None:
    selection = selection_of("first", "second")
    needed = cost(*selection.tools)

    with pytest.raises(BudgetExceededError, match="2 tools need") as caught:
        selection.within(needed - 1, MODEL, when_over="error")

    assert (caught.value.needed, caught.value.budget) == (needed, needed - 1)
    assert set(caught.value.floors) == {"first", "second"}


@given(
    st.lists(st.text("abcdef", min_size=1, max_size=8), min_size=1, max_size=6, unique=True),
    st.integers(0, 200),
    st.lists(st.integers(-2, 2), min_size=6, max_size=6),
)
def test_what_is_kept_fits_and_nothing_more_would(
    names: list[str], tokens: int, ranks: list[int]
) -> None:
    """Kept tools cost at most what they may; each tool left out would not fit beside those kept."""
    selection = selection_of(*names)
    priorities = dict(zip(names, ranks, strict=False))

    kept = selection.within(tokens, MODEL, priorities=priorities)

    assert cost(*kept.tools) <= tokens
    for tool in selection.tools:
        if tool not in kept.tools:
            before = [t for t in kept.tools if priorities[t.name] >= priorities[tool.name]]
            assert cost(*before, tool) > tokens or cost(*kept.tools, tool) > tokens
