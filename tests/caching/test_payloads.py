"""Marks in requests: as each provider has them, accepted by its types, and never too many."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve
from cached_prompts import CLAUDE, OPENAI, RULE, chat, policies, policy, prompts, renderer, words
from hypothesis import given
from hypothesis import strategies as st
from judges import JUDGES

from promptsections import (
    CachePolicy,
    ConversationHistory,
    DefinitionError,
    Message,
    Prompt,
    Renderer,
    SystemMessage,
    TextSection,
    Tool,
    ToolCall,
    UserInput,
)
from promptsections.caching import CachePlan, Mark
from promptsections.notes import Note
from promptsections.profiles.caching import VLLM, CacheRule, Lifetime
from promptsections.providers import (
    anthropic_messages,
    bedrock_converse,
    gemini,
    mistral_chat,
    ollama_chat,
    openai_chat,
    openai_responses,
)

HOUR = Lifetime("1h", 3_600, 2.0)
KEYS = ("cache_control", "cachePoint", "prompt_cache_breakpoint")


def found(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield block and mark of everything that carries one, in the order of the prefix."""
    if isinstance(value, list):
        for item in value:
            yield from found(item)
    elif isinstance(value, dict):
        for key in KEYS:
            if key in value:
                yield value, value[key]
        for key in ("tools", "toolConfig", "system", "messages", "input", "content", "output"):
            if key in value:
                yield from found(value[key])


def times(request: Any) -> list[int]:
    seconds = {"5m": 300, "1h": 3_600, "30m": 1_800, "12h": 43_200}
    return [seconds[mark.get("ttl", "5m")] for _, mark in found(request)]


@given(prompts(), policies)
def test_requests_with_marks_pass_the_types_of_each_provider(
    drawn: Any, decided: CachePolicy
) -> None:
    """No more than four, no time that rises, none on an empty block, and accepted by the types."""
    prompt, memory = drawn
    functions = {"now": lambda: "10:00"}
    for profile, modules in (
        (CLAUDE, (anthropic_messages, bedrock_converse)),
        (OPENAI, (openai_chat, openai_responses)),
    ):
        rendered = Renderer(profile, caching=decided, functions=functions).render(
            prompt, memory, tenant="acme", budget=2_000
        )
        assert rendered.cache_plan is not None
        for module in modules:
            request: Any = module.to_request(rendered)

            JUDGES[module.__name__.rpartition(".")[2]](request)
            marks = list(found(request))
            assert len(marks) <= min(4, len(rendered.cache_plan.marks))
            assert times(request) == sorted(times(request), reverse=True)
            assert all(block.get("text", "x").strip() for block, _ in marks)


marks = st.lists(
    st.builds(
        Mark,
        after=st.integers(-1, 8),
        part=st.none() | st.integers(0, 1),
        lifetime=st.sampled_from((None, Lifetime("5m", 300), HOUR, Lifetime("12h", 43_200))),
    ),
    max_size=12,
)
messages = st.lists(
    st.sampled_from(("long", "", " ", "word")).map(lambda text: [text, text.upper()]),
    min_size=1,
    max_size=6,
)


@given(marks, messages, st.booleans())
def test_any_plan_makes_a_valid_request(
    drawn: list[Mark], contents: list[list[str]], with_tools: bool
) -> None:
    """Whatever marks somebody wishes, a request carries at most four that are allowed."""
    tools = [Tool("f", "Does it.")] if with_tools else []
    said = [Message("system", [content[0]]) for content in contents[:2]]
    for content in contents[2:]:
        said += [Message("user", content), Message("assistant", [*content, "So."])]
    said.append(Message("user", "And now?"))
    for module in (anthropic_messages, bedrock_converse):
        plan = CachePlan(marks=tuple(drawn))
        notes: list[Note] = []
        request: Any = module.to_request(said, tools=tools, cache_plan=plan, notes=notes)

        JUDGES[module.__name__.rpartition(".")[2]](request)
        assert len(list(found(request))) <= 4
        assert times(request) == sorted(times(request), reverse=True)
        dropped = sum(note.code == "cache_mark_dropped" for note in notes)
        assert len(list(found(request))) + dropped == len(drawn)


# --- each provider's way ------------------------------------------------------------------------


def rendered_for(profile: Any, **options: Any) -> Any:
    prompt = Prompt(
        [
            TextSection(words(20), name="rules"),
            SystemMessage(f"{words(9)} <<cache_breakpoint>> It is <<now>>."),
            ConversationHistory(),
            UserInput(),
        ],
        tools=[Tool("look_up", words(9))],
    )
    return renderer(profile, functions={"now": "session"}, **options).render(
        prompt, {"history": chat(2), "input": "hi"}, tenant="acme", budget=2_000
    )


def test_anthropic_gets_cache_control_on_tools_system_and_messages() -> None:
    rendered = rendered_for(CLAUDE, lifetimes={"static": "1h"})
    request: Any = anthropic_messages.to_request(rendered)

    hour = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    short = {"cache_control": {"type": "ephemeral"}}
    assert request["tools"][-1]["cache_control"] == hour["cache_control"]
    assert request["system"] == [
        {"type": "text", "text": words(20)},
        {"type": "text", "text": f"{words(9)} ", **hour},
        {"type": "text", "text": " It is 10:00.", **short},
    ]
    assert request["messages"][3]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert request["messages"][-1] == {"role": "user", "content": "hi"}


def test_bedrock_gets_cache_points_behind_blocks() -> None:
    request: Any = bedrock_converse.to_request(rendered_for(CLAUDE, lifetimes={"static": "1h"}))

    points = [block for block, _ in found(request)]
    assert len(points) == 4
    assert all(block.keys() == {"cachePoint"} for block in points)
    assert request["messages"][3]["content"][-1] == {"cachePoint": {"type": "default"}}
    assert {"cachePoint": {"type": "default", "ttl": "1h"}} in request["system"]


def test_openai_gets_breakpoints_a_key_and_no_other_place_to_cache() -> None:
    rendered = rendered_for(OPENAI, lifetimes={"static": "12h"})
    chat_request: Any = openai_chat.to_request(rendered)
    responses: Any = openai_responses.to_request(rendered)

    for request in (chat_request, responses):
        assert request["prompt_cache_options"] == {"mode": "explicit"}
        assert request["prompt_cache_key"] == rendered.cache_plan.key
        assert request["prompt_cache_key"].startswith("ps-")
        assert len(list(found(request))) == 4
    mark = {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}
    assert chat_request["messages"][1]["content"][0] == {
        "type": "text", "text": f"{words(9)} ", **mark,
    }  # fmt: skip
    assert responses["input"][1]["content"][0] == {
        "type": "input_text", "text": f"{words(9)} ", **mark,
    }  # fmt: skip


def test_openai_marks_no_place_of_its_own_where_nothing_is_to_be_cached() -> None:
    prompt = Prompt([SystemMessage("It is <<now>>."), UserInput()])
    off = CachePolicy(prompt_caching=False, share_prompt_cache_across_tenants=True)
    for decided in (off, policy()):
        drawing = Renderer(OPENAI, caching=decided, functions={"now": lambda: "10:00"})
        rendered = drawing.render(prompt, {"input": "hi"}, budget=2_000)
        for module in (openai_chat, openai_responses):
            request: Any = module.to_request(rendered)

            assert list(found(request)) == []
            assert request["prompt_cache_options"] == {"mode": "explicit"}
            assert ("prompt_cache_key" in request) == decided.prompt_caching


def test_a_model_that_finds_prefixes_by_itself_gets_the_key_alone() -> None:
    automatic = CacheRule(minimum=8, read=0.1, key="prompt_cache_key")
    rendered = rendered_for(OPENAI, rule=automatic)
    for module in (openai_chat, openai_responses, mistral_chat):
        request: Any = module.to_request(rendered)

        assert request["prompt_cache_key"] == rendered.cache_plan.key
        assert "prompt_cache_options" not in request
        assert list(found(request)) == []


def test_gemini_and_ollama_cache_by_themselves() -> None:
    rendered = rendered_for(evolve(OPENAI, cache=CacheRule(minimum=8, read=0.1)))

    for module in (gemini, ollama_chat, openai_chat):
        notes: list[Note] = []
        plain: Any = module.to_request(list(rendered.messages), tools=rendered.tools)
        assert module.to_request(rendered, notes=notes) == plain
        assert notes == []


@pytest.mark.parametrize("shared", [True, False])
def test_vllm_gets_a_salt_that_keeps_tenants_apart(shared: bool) -> None:
    rendered = rendered_for(OPENAI, rule=VLLM, shared=shared)
    for module in (openai_chat, openai_responses):
        request: Any = module.to_request(rendered)

        salt = None if shared else {"cache_salt": policy(shared=False).scope_of("acme")}
        assert request.get("extra_body") == salt


@pytest.mark.parametrize("module", [openai_chat, openai_responses, gemini, mistral_chat])
def test_marks_for_another_provider_are_dropped_and_said(module: Any) -> None:
    notes: list[Note] = []

    request = module.to_request(rendered_for(CLAUDE), notes=notes)

    assert list(found(request)) == []
    assert [note.code for note in notes] == ["cache_mark_dropped"]
    notes.clear()
    assert list(found(anthropic_messages.to_request(rendered_for(OPENAI), notes=notes))) == []
    assert [note.code for note in notes] == ["cache_mark_dropped"]


# --- blocks that take no mark -------------------------------------------------------------------


def test_thinking_takes_no_mark() -> None:
    thinking = [["own", {"type": "thinking", "thinking": "Hm.", "signature": "s"}]]
    said = [
        Message("user", "a"),
        Message("assistant", provider_data={"anthropic": {"blocks": thinking}}),
        Message("user", "b"),
    ]
    notes: list[Note] = []

    request: Any = anthropic_messages.to_request(
        said, cache_plan=CachePlan(marks=(Mark(after=1),)), notes=notes
    )

    assert [block["text"] for block, _ in found(request)] == ["a"]
    assert [note.code for note in notes] == ["cache_mark_moved"]


def test_a_mark_that_would_move_too_far_is_dropped() -> None:
    said = [Message("user", "a"), Message("assistant", " "), Message("user", "b")]
    notes: list[Note] = []

    request: Any = anthropic_messages.to_request(
        said, cache_plan=CachePlan(marks=(Mark(after=1, not_before=1),)), notes=notes
    )

    assert list(found(request)) == []
    assert "cache_mark_dropped" in [note.code for note in notes]


def test_no_point_stands_between_the_results_of_a_turn() -> None:
    calls = [ToolCall(f"c{n}", "f") for n in range(2)]
    results = [Message("tool", "r", tool_call_id=call.id) for call in calls]
    said = [Message("user", "a"), Message("assistant", tool_calls=calls), *results]
    plan = CachePlan(marks=(Mark(after=2), Mark(after=3)))
    notes: list[Note] = []

    request: Any = bedrock_converse.to_request(
        said, tools=[Tool("f")], cache_plan=plan, notes=notes
    )

    JUDGES["bedrock_converse"](request)
    assert [list(block) for block in request["messages"][2]["content"]] == [
        ["toolResult"], ["toolResult"], ["cachePoint"],
    ]  # fmt: skip
    assert [note.code for note in notes] == ["cache_mark_moved"]


def test_two_marks_on_one_block_are_one() -> None:
    said = [Message("user", "a"), Message("assistant", " "), Message("user", "b")]
    notes: list[Note] = []

    request: Any = anthropic_messages.to_request(
        said, cache_plan=CachePlan(marks=(Mark(after=0), Mark(after=1))), notes=notes
    )

    assert len(list(found(request))) == 1
    assert [n.code for n in notes if n.code.startswith("cache")] == [
        "cache_mark_moved", "cache_mark_dropped",
    ]  # fmt: skip


# --- marks that messages bring along ------------------------------------------------------------


def brought(number: int) -> list[Any]:
    mark = {"type": "ephemeral"}
    block = {"type": "text", "text": "a", "cache_control": mark}
    roles = ("user", "assistant")
    turns = [{"role": roles[n % 2], "content": [dict(block)]} for n in range(number)]
    return [*turns, {"role": "user", "content": [{"type": "text", "text": "b"}]}]


def test_marks_of_messages_are_kept_without_a_plan_but_no_more_than_four() -> None:
    read = anthropic_messages.from_messages(
        brought(6), system=[{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]
    )
    before = copy.deepcopy(read)
    notes: list[Note] = []

    request: Any = anthropic_messages.to_request(read, notes=notes)

    assert len(list(found(request))) == 4
    assert "cache_control" in request["system"][0]
    assert [len(list(found(message))) for message in request["messages"]] == [0, 0, 0, 1, 1, 1, 0]
    assert [note.code for note in notes] == ["cache_mark_dropped"] * 3
    assert read == before


def test_points_of_messages_are_kept_without_a_plan_but_no_more_than_four() -> None:
    point = {"cachePoint": {"type": "default"}}
    turns = [
        {"role": ("user", "assistant")[n % 2], "content": [{"text": "a"}, point]} for n in range(6)
    ]
    read = bedrock_converse.from_messages([*turns, {"role": "user", "content": [{"text": "b"}]}])

    request: Any = bedrock_converse.to_request(read)

    assert [len(list(found(m))) for m in request["messages"]] == [0, 0, 1, 1, 1, 1, 0]


def test_a_plan_replaces_marks_of_messages() -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": [{"type": "text", "text": "r", "cache_control": {"type": "ephemeral"}}],
    }
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    turns = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    read = anthropic_messages.from_messages(turns)
    assert len(list(found(anthropic_messages.to_request(read)))) == 1
    assert list(found(anthropic_messages.to_request(read, cache_plan=CachePlan()))) == []

    part = {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
    kept = openai_chat.from_messages([{"role": "user", "content": [part]}])
    assert len(list(found(openai_chat.to_request(kept)))) == 1
    assert list(found(openai_chat.to_request(kept, cache_plan=CachePlan()))) == []


def test_a_rendered_prompt_has_its_own_plan() -> None:
    rendered = rendered_for(CLAUDE)

    with pytest.raises(DefinitionError, match="plan of its own"):
        anthropic_messages.to_request(rendered, cache_plan=CachePlan(marks=(Mark(after=0),)))
    assert anthropic_messages.to_request(rendered, cache_plan=rendered.cache_plan)


def test_what_is_sent_is_what_was_counted() -> None:
    rendered = rendered_for(CLAUDE)
    bare: Any = anthropic_messages.to_request(list(rendered.messages), tools=rendered.tools)
    marked: Any = anthropic_messages.to_request(rendered)

    def texts(request: Any) -> list[str]:
        blocks = [*request["system"]]
        for message in request["messages"]:
            content = message["content"]
            blocks += [{"text": content}] if isinstance(content, str) else content
        return [block["text"] for block in blocks]

    assert texts(marked) == texts(bare)
    assert json.dumps(marked).count("cache_control") == 4
    assert RULE.marks == 4
