"""Real reports from other libraries: what they got wrong must hold here."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from promptsections.errors import InvalidBudgetError, UnknownModelError
from promptsections.messages import ImagePart, Message, Tool, to_messages
from promptsections.profiles import ModelProfile, find_profile

CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("field_cases.jsonl").read_text("utf-8").splitlines()
]


def named(op: str) -> Any:
    cases = [case for case in CASES if case["op"] == op]
    return pytest.mark.parametrize("case", cases, ids=[case["id"] for case in cases])


def expanded(value: Any) -> Any:
    """Write out `{"$repeat": [text, times]}` and `{"$data": …}`, a PNG of unreadable size."""
    if isinstance(value, list):
        return [expanded(item) for item in value]
    if isinstance(value, dict):
        if "$repeat" in value:
            return value["$repeat"][0] * value["$repeat"][1]
        if "$data" in value:
            return "data:image/png;base64," + value["$data"][0] * value["$data"][1]
        return {key: expanded(item) for key, item in value.items()}
    return value


def profile_of(case: dict[str, Any]) -> ModelProfile:
    if case.get("counter") == "words":
        return ModelProfile.plain(lambda text: len(text.split()))
    if "encoding" in case:
        return ModelProfile(name="chat", encoding=case["encoding"])
    return find_profile(case["model"])


@named("count_messages")
def test_messages_cost_what_the_report_expects(case: dict[str, Any], monkeypatch: Any) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("counting opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    profile = profile_of(case)
    tokenizer = profile.tokenizer()

    tokens = profile.base_tokens((), tokenizer) + sum(
        profile.message_tokens(message, tokenizer)
        for message in to_messages(expanded(case["messages"]))
    )

    assert tokens == case.get("equals", tokens)
    assert case.get("at_least", 0) <= tokens <= case.get("at_most", tokens)


@named("count_tools")
def test_tools_cost_what_the_report_expects(case: dict[str, Any]) -> None:
    profile = find_profile("gpt-4o")
    tools = [Tool(**tool) for tool in case["tools"]]

    assert profile.base_tokens(tools, profile.tokenizer()) >= case["at_least"]


@named("count_image")
def test_an_image_costs_what_the_report_expects(case: dict[str, Any]) -> None:
    profile = find_profile(case["model"])
    image = ImagePart("https://example.com/x.png", **case["image"])
    framing = profile.framing_tokens(Message("user", ""), profile.tokenizer())

    assert (
        profile.framing_tokens(Message("user", [image]), profile.tokenizer()) - framing
        == case["equals"]
    )


@named("find")
def test_a_model_is_found_or_named_in_the_error(case: dict[str, Any]) -> None:
    if "encoding" in case:
        assert find_profile(case["model"]).encoding == case["encoding"]
        return

    with pytest.raises(UnknownModelError) as caught:
        find_profile(case["model"])

    assert caught.value.name == case["model"]
    assert all(part in str(caught.value) for part in case["mentions"])


@named("input_budget")
def test_the_budget_is_what_the_report_expects(case: dict[str, Any]) -> None:
    profile = ModelProfile(name="m", encoding="o200k_base", context_window=case["context_window"])
    if "equals" in case:
        assert profile.input_budget(case["reserve"]) - sum(case["used"]) == case["equals"]
        return

    with pytest.raises(InvalidBudgetError) as caught:
        profile.input_budget(case["reserve"])

    assert all(part in str(caught.value) for part in case["mentions"])
    assert caught.value.value == case["reserve"]
