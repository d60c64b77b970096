"""Caches that failed elsewhere: too many marks, a clock in front, keys in any order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from cached_prompts import CLAUDE, RULE, chat, policy, renderer, words

from promptsections import (
    CacheBreakpoint,
    ConversationHistory,
    Message,
    Prompt,
    Renderer,
    SystemMessage,
    TextSection,
    Tool,
    UserInput,
)
from promptsections.caching import CachePlan, Mark
from promptsections.notes import Note
from promptsections.profiles.caching import Lifetime
from promptsections.providers import anthropic_messages

CASES = {
    case["id"]: case
    for case in map(
        json.loads, (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    )
}


def test_the_limit_counts_tools_system_and_messages_together() -> None:
    case = CASES["cch-001"]
    wanted, expected = case["input"]["marks"], case["expected"]
    said = [Message("system", "s")] + [
        Message(("user", "assistant")[n % 2], f"m{n}") for n in range(7)
    ]
    plan = CachePlan(
        marks=tuple(Mark(after=n) for n in (-1, 0, *(n + 1 for n in wanted["messages"])))
    )
    notes: list[Note] = []

    request: Any = anthropic_messages.to_request(
        said, tools=[Tool("f")], cache_plan=plan, notes=notes
    )

    assert json.dumps(request).count("cache_control") == expected["marks_total_at_most"]
    assert "cache_control" in request["tools"][0]
    assert "cache_control" in request["system"][0]
    assert "cache_control" in request["messages"][6]["content"][0]
    assert [note.detail.partition("behind ")[2][:9] for note in notes] == ["message 1", "message 3"]


def test_a_clock_in_front_is_named_with_what_it_costs() -> None:
    case = CASES["cch-003"]
    clock, rules = case["input"]["sections"][:2]
    prompt = Prompt(
        [
            SystemMessage(clock["text"], name=clock["id"]),
            TextSection(words(rules["text"]["$repeat"][1], "r"), name=rules["id"]),
            ConversationHistory(name="history"),
            UserInput(),
        ]
    )
    for time in case["input"]["times"]:
        drawing = Renderer(CLAUDE, caching=policy(), functions={"now": lambda time=time: time})
        rendered = drawing.render(prompt, {"history": chat(1), "input": "hi"})

        (note,) = (n for n in rendered.layout.notes if n.code == case["expected"]["warns"]["kind"])
        assert all(repr(name) in note.detail for name in case["expected"]["warns"]["mentions"])
        assert [p.name for p in rendered.layout.placements][:3] == case["expected"]["order"]


def test_keys_of_a_tool_in_any_order_make_the_same_bytes() -> None:
    case = CASES["cch-005"]
    requests: list[str] = []
    prints: list[list[str]] = []
    for side in ("a", "b"):
        tools = [Tool(**tool) for tool in case["input"][side]["tools"]]
        prompt = Prompt([TextSection(words(20)), UserInput()], tools=tools)
        rendered = renderer().render(prompt, {"input": "hi"})
        requests.append(json.dumps(anthropic_messages.to_request(rendered)))
        prints.append([prefix.fingerprint for prefix in rendered.layout.prefixes])

    assert requests[0] == requests[1]
    assert prints[0] == prints[1]


def test_a_mark_stands_on_the_last_block_that_says_something() -> None:
    case = CASES["cch-009"]
    (message,) = case["input"]["messages"]
    said = [Message(message["role"], [part["text"] for part in message["content"]])]

    request: Any = anthropic_messages.to_request(said, cache_plan=CachePlan(marks=(Mark(after=0),)))

    blocks = request["messages"][0]["content"]
    assert [block["text"] for block in blocks] == ["long"]
    assert len(blocks) == case["expected"]["blocks"]
    assert "cache_control" in blocks[0]


def test_a_place_too_early_is_no_place_for_a_mark() -> None:
    case = CASES["cch-011"]
    small, big = case["input"]["blocks"]
    prompt = Prompt(
        [
            TextSection(words(small["tokens"]), name="small"),
            CacheBreakpoint(name="small mark"),
            TextSection(words(big["tokens"]), name="big"),
            CacheBreakpoint(name="big mark"),
            UserInput(),
        ]
    )
    rule = evolve(RULE, minimum=case["input"]["model_min_tokens"])

    rendered = renderer(rule=rule).render(prompt, {"input": "hi"})

    assert rendered.cache_plan is not None
    assert [mark.path for mark in rendered.cache_plan.marks] == case["expected"]["marks"]
    (note,) = (n for n in rendered.layout.notes if n.code == "cache_mark_dropped")
    assert note.path == "small mark"


def test_times_never_rise() -> None:
    case = CASES["cch-012"]
    sections = [
        section
        for block in case["input"]["blocks"]
        for section in (
            TextSection(words(block["tokens"]), name=block["id"]),
            CacheBreakpoint(block["ttl"], name=f"mark of {block['id']}"),
        )
    ]

    rendered = renderer().render(Prompt([*sections, UserInput()]), {"input": "hi"})

    request: Any = anthropic_messages.to_request(rendered)
    times = [block["cache_control"]["ttl"] for block in request["system"]]
    assert times == case["expected"]["ttls"]
    reported = case["expected"]["reported"][0]
    (note,) = (n for n in rendered.layout.notes if n.code == "cache_lifetime_raised")
    assert reported["mentions"][0] in note.path
    kept = CachePlan(
        marks=(Mark(after=0, lifetime=None), Mark(after=1, lifetime=Lifetime("1h", 3_600)))
    )
    notes: list[Note] = []
    by_hand: Any = anthropic_messages.to_request(
        [Message("user", "a"), Message("assistant", "b"), Message("user", "c")],
        cache_plan=kept, notes=notes,
    )  # fmt: skip
    assert json.dumps(by_hand).count('"ttl": "1h"') == 2
    assert [note.code for note in notes] == ["cache_lifetime_raised"]


@pytest.mark.parametrize("shared", [True, False])
def test_equal_inputs_make_equal_bytes_in_every_process(shared: bool) -> None:
    program = f"""
import json, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from cached_prompts import CLAUDE, OPENAI, chat, renderer, words
from promptsections import *
from promptsections.providers import anthropic_messages, openai_chat
tools = [Tool("look_up", "x", {{"type": "object", "properties": {{k: {{"type": "string"}} for k in
    {{"b", "a", "c"}}}}}})]
prompt = Prompt([TextSection(words(20)), MemorySection("set"), ConversationHistory(), UserInput()],
    tools=tools, order="cache")
memory = {{"set": {{"z", "y", "x"}}, "history": chat(3), "input": "hi"}}
for profile, module in ((CLAUDE, anthropic_messages), (OPENAI, openai_chat)):
    rendered = renderer(profile, shared={shared}).render(prompt, memory, tenant="acme")
    print(json.dumps(module.to_request(rendered)))
    print([prefix.fingerprint for prefix in rendered.layout.prefixes])
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    ]

    assert len(runs[0].splitlines()) == 4
    assert runs[0] == runs[1] == runs[2]
