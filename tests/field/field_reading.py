"""Reads the reports from the field beside this file, and makes prompts of what they describe."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from promptsections import (
    Auto,
    BudgetExceededError,
    ConversationHistory,
    DefinitionError,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    InvalidBudgetError,
    Message,
    ModelProfile,
    Prompt,
    PromptSection,
    RecursionLimitError,
    Renderer,
    SystemMessage,
    TextSection,
    UndefinedVariableError,
    UnknownModelError,
    UserMessage,
)
from promptsections.tokens import CallableTokenizer

CASES: dict[str, dict[str, Any]] = {
    row["id"]: row
    for row in map(
        json.loads, Path(__file__).with_name("cases.jsonl").read_text("utf-8").splitlines()
    )
}
ELSEWHERE = {
    "tpl-057": "the speed of parsing a template: tests/templates",
    "tpl-059": "what a syntax error shows of a template: tests/templates",
    "tok-016": "what a message costs: tests/profiles",
    "bud-028": "what a tool costs: tests/profiles",
    "cfg-001": "names of prompt folders: not the engine, but the loader of files",
    "cfg-013": "YAML that explodes: not the engine, but the loader of files",
    "cfg-016": "JSON that is nested too deep: not the engine, but the loader of files",
    "sec-001": "HTML of the inspector: not the engine",
}
"""Reports about budgets, tokens, performance or security that are not among the cases, and why."""

KINDS: dict[str, type[Exception]] = {
    "invalid_budget": InvalidBudgetError,
    "missing_variable": UndefinedVariableError,
    "nesting_limit": DefinitionError,
    "recursion_limit": RecursionLimitError,
    "too_long": BudgetExceededError,
    "unknown_model": UnknownModelError,
}
"""What a report calls an error → what it is here."""

ELASTIC = 5_000
"""Words of a text that takes what it gets."""


def case(identifier: str) -> dict[str, Any]:
    """Return one report."""
    return CASES[identifier]


def with_op(*operations: str, but: Sequence[str] = ()) -> Any:
    """Parametrize a test by the reports with one of these operations, their choices written out."""
    found = [
        pytest.param(row, id=f"{name}{suffix}")
        for name, report in CASES.items()
        if report["input"]["op"] in operations and name not in but
        for suffix, row in _each(report)
    ]
    return pytest.mark.parametrize("row", found)


def _each(report: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Make one report of each choice of sections or budget, with what is expected of that one."""
    given, expected = report["input"], report["expected"]
    for key in ("sections", "budget"):
        choices = given.get(key)
        if isinstance(choices, dict) and "$each" in choices:
            rows = []
            for number, choice in enumerate(choices["$each"]):
                ordinal = ("first", "second", "third")[number] if number < 3 else ""
                own = expected.get(f"for_{choice}", expected.get(ordinal, expected))
                rows.append(
                    (f"-{number}", report | {"input": given | {key: choice}, "expected": own})
                )
            return rows
    return [("", report)]


def decode(value: Any) -> Any:
    """Read the marked values that JSON has no form for."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$repeat": [text, times]}:
            return text * times
        case {"$concat": parts}:
            return "".join(map(decode, parts))
        case {"$float": text}:
            return float(text)
        case {"$obj": {"attrs": attributes}}:
            return type("User", (), dict(attributes))()
        case _:
            return {key: decode(item) for key, item in value.items()}


def words(number: int) -> str:
    """Make a text of so many words."""
    return " ".join(["w"] * number)


class Words:
    """Counts words, and remembers which texts it was shown."""

    name = "words"
    exact = True

    def __init__(self) -> None:
        self.texts: list[str] = []

    def count(self, text: str, /) -> int:
        self.texts.append(text)
        return len(text.split())


def declared() -> Renderer:
    """Make a renderer that counts a message as what is written in it: `u1=5` is 5 tokens."""

    def count(text: str) -> int:
        return sum(int(number) for number in re.findall(r"\w+=(\d+)", text))

    profile = ModelProfile(
        name="declared",
        encoding=CallableTokenizer("declared", count),
        tokens_per_message=0,
        tokens_per_name=0,
        reply_priming=0,
        tools=None,
    )
    return Renderer(profile)


def renderer_for(counter: str, *, text: bool = False) -> Renderer:
    """Make a renderer that charges the tokens of text and nothing else."""
    tokenizer: Any = Words() if counter.startswith("words") else counter
    return Renderer(tokenizer=tokenizer, output="text" if text else "messages")


def chat(encoding: Any) -> Renderer:
    """Make a renderer that charges messages as OpenAI does."""
    return Renderer(ModelProfile(name="chat", encoding=encoding))


def prompt_of(data: dict[str, Any]) -> tuple[Prompt, dict[str, Any]]:
    """Make a prompt and its memory."""
    memory: dict[str, Any] = dict(decode(data.get("vars", {})))
    sections = data["sections"]
    if isinstance(sections, dict):
        sections = _generated(sections)
    made = [section for item in sections for section in sections_of(item, memory)]
    return Prompt(made, separator=data.get("separator", "\n\n")), memory


def _generated(sections: dict[str, Any]) -> list[dict[str, Any]]:
    match sections:
        case {"$nest_groups": {"depth": depth, "leaf": leaf}}:
            inner = leaf
            for _ in range(depth):
                inner = {"tokens": "auto", "required": True, "children": [inner]}
            return [inner]
        case {
            "$generate": "one required section of 10 words and 2000 optional sections of 10 words"
        }:
            required = {"id": "req", "required": True, "text": "r " * 10}
            return [required] + [
                {"id": f"o{number}", "required": False, "text": f"{number} " * 10}
                for number in range(2_000)
            ]
        case _:
            raise AssertionError(f"not read: {sections}")


def sections_of(item: dict[str, Any], memory: dict[str, Any]) -> list[PromptSection]:
    """Make the sections that one entry of a report stands for."""
    tokens = decode(item.get("tokens", "auto"))
    common: dict[str, Any] = {
        "tokens": Auto() if tokens == "auto" else tokens,
        "required": item.get("required", True),
        "priority": item.get("priority", 0),
        "name": item.get("id"),
    }
    match item:
        case {"type": "tool_result", "tool_call_id": call_id, "for_call": call}:
            result = common | {"required": True}
            return [
                FunctionCallMessage(call, name="call"),
                FunctionResponseMessage(call_id, decode(item["content"]), **result),
            ]
        case {"type": "system" | "user" as role, "text": text}:
            kind: Callable[..., PromptSection] = SystemMessage if role == "system" else UserMessage
            return [kind(text, **common)]
        case {"children": _}:
            return [_nested(item, common, memory)]
        case {"units": size}:
            memory[item["id"]] = [Message("user", words(size)) for _ in range(500)]
            return [ConversationHistory(item["id"], **common)]
        case {"elastic": True}:
            return [TextSection(words(ELASTIC), **common)]
        case {"words": number}:
            return [TextSection(words(number), **common)]
        case {"text": text}:
            return [TextSection(text, **common)]
        case _:
            raise AssertionError(f"not read: {item}")


def _nested(item: dict[str, Any], common: dict[str, Any], memory: dict[str, Any]) -> PromptSection:
    """Make groups from the inside, however deep they nest."""
    chain = []
    while "children" in item and len(item["children"]) == 1 and "id" not in item:
        chain.append(item)
        item = item["children"][0]
    if not chain:
        inner = [s for child in item["children"] for s in sections_of(child, memory)]
        return GroupSection(inner, **common)
    [section] = sections_of(item, memory)
    for _ in chain:
        section = GroupSection([section])
    return section


def check_error(caught: BaseException, raises: dict[str, Any]) -> None:
    """Compare an error with what a report wants of it."""
    assert isinstance(caught, KINDS[raises["kind"]])
    for part in raises.get("mentions", ()):
        assert part in str(caught)
    if "needed" in raises:
        assert isinstance(caught, BudgetExceededError)
        assert (caught.needed, caught.budget) == (raises["needed"], raises["available"])
