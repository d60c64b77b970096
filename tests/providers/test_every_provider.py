"""What holds for every provider: order, shapes, round trips, privacy, the same bytes everywhere."""

from __future__ import annotations

import copy
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conversations import accepted, broken, tools
from hypothesis import given
from hypothesis import strategies as st
from judges import JUDGES, bytes_of

from promptsections import ConversationHistory, Prompt, Renderer, Tokens, UserMessage, lay_out
from promptsections.errors import DefinitionError, ProviderError
from promptsections.messages import Message, Tool, ToolCall
from promptsections.notes import Note
from promptsections.providers import anthropic_messages, openai_responses
from promptsections.testing.tokenizers import WordTokenizer

PROVIDERS: dict[str, Any] = {
    name: importlib.import_module(f"promptsections.providers.{name}") for name in JUDGES
}
WHERE = {"openai_responses": "input", "gemini": "contents"}
"""Key of a request that holds its messages, where it is not `messages`."""
SYSTEM = {
    "anthropic_messages": "system",
    "gemini": "systemInstruction",
    "bedrock_converse": "system",
}
every = pytest.mark.parametrize("name", PROVIDERS)


def messages_of(name: str, request: Any) -> Any:
    return request[WHERE.get(name, "messages")]


@given(accepted, tools.filter(lambda found: not any(t.name[0] in "-0123456789" for t in found)))
def test_what_every_provider_can_be_sent_is_accepted(
    messages: list[Message], offered: list[Tool]
) -> None:
    """Text and calls between two user turns are accepted by types and checker of order."""
    for name, module in PROVIDERS.items():
        JUDGES[name](module.to_request(messages, tools=offered))


@given(broken)
def test_any_messages_make_a_valid_request_or_an_error(messages: list[Message]) -> None:
    """What a provider would refuse is an error before anything is sent."""
    for name, module in PROVIDERS.items():
        try:
            request = module.to_request(messages)
        except ProviderError:
            continue
        sent = messages_of(name, request)
        if sent and sent[-1].get("role") != "assistant":  # the checker knows no prefill
            JUDGES[name](request)


@given(broken, st.integers(0, 100))
def test_a_history_at_any_budget_is_accepted(messages: list[Message], spare: int) -> None:
    """Whatever a history holds and whatever fits: what is rendered can be sent."""
    prompt = Prompt([ConversationHistory(), UserMessage("And now?")])
    renderer = Renderer(tokenizer=WordTokenizer())
    resolved = renderer.resolve(prompt, {"history": messages}, budget=1000)
    rendered = lay_out(resolved, resolved.minimum_budget() + spare)

    for name, module in PROVIDERS.items():
        JUDGES[name](module.to_request(rendered))


@given(accepted)
def test_a_request_reads_back_as_it_was_sent(messages: list[Message]) -> None:
    """Reading a request's messages and sending them again gives the same bytes."""
    for name, module in PROVIDERS.items():
        request = module.to_request(messages)
        key = SYSTEM.get(name)
        system = {"system": request[key]} if key in request else {}
        notes: list[Note] = []
        read = module.from_messages(messages_of(name, request), **system)

        assert bytes_of(module.to_request(read, notes=notes)) == bytes_of(request)
        assert [note for note in notes if note.code != "tools_missing"] == []


@given(accepted)
def test_nothing_is_shared_and_nothing_is_changed(messages: list[Message]) -> None:
    """A request can be changed at will: messages and the next request stay as they were."""
    before = copy.deepcopy(messages)
    for name, module in PROVIDERS.items():
        first = module.to_request(messages)
        text = bytes_of(first)
        read = module.from_messages(messages_of(name, first))
        again = bytes_of(module.to_request(read))
        spoil(first)

        assert bytes_of(module.to_request(messages)) == text
        assert bytes_of(module.to_request(read)) == again
    assert messages == before


def spoil(value: Any) -> None:
    """Empty every list and dict in a request."""
    for inner in list(value.values()) if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            spoil(inner)
    value.clear()


@every
def test_keys_of_others_are_never_sent(name: str) -> None:
    secret = {"blocks": [["own", {"type": "text", "text": "SECRET"}]], "message": "SECRET"}
    module = PROVIDERS[name]
    own = getattr(module, "PROVIDER", None)
    keys = {"openai", "openai_responses", "anthropic", "gemini", "bedrock", "mistral", "ollama"}
    data = dict.fromkeys(keys - {own}, secret)
    messages = [
        Message("system", "S", provider_data=data, extra={"tenant": "SECRET"}),
        Message("user", "q", provider_data=data, extra={"tenant": "SECRET"}),
        Message("assistant", tool_calls=[ToolCall("A1b2C3d4E", "f")], provider_data=data),
        Message("tool", "2", tool_call_id="A1b2C3d4E", provider_data=data),
    ]
    notes: list[Note] = []
    request = module.to_request(messages, notes=notes, tools=[Tool("f")])

    JUDGES[name](request)
    assert own in keys
    assert "SECRET" not in bytes_of(request)
    assert notes == []


@every
@pytest.mark.parametrize("data", [{"blocks": object()}, [1], "text"])
def test_provider_data_that_cannot_go_back_is_an_error(name: str, data: Any) -> None:
    module = PROVIDERS[name]
    message = Message("assistant", "a", provider_data={module.PROVIDER: data})
    with pytest.raises(ProviderError, match="message 1: provider_data"):
        module.to_request([Message("user", "q"), message, Message("user", "q")])


@every
def test_ids_are_told_apart_and_the_same_whatever_follows(name: str) -> None:
    def step(call_id: str) -> list[Message]:
        ask = Message("assistant", tool_calls=[ToolCall(call_id, "f")])
        return [ask, Message("tool", "R", tool_call_id=call_id)]

    short = [Message("user", "q"), *step("a.b"), *step("c1"), *step("")]
    long = [*short, *step("a:b"), *step("c1"), *step("a.b"), *step("x" * 70), *step("")]
    first = messages_of(name, PROVIDERS[name].to_request(short))
    request = PROVIDERS[name].to_request(long)

    JUDGES[name](request)
    assert messages_of(name, request)[: len(first)] == first


def test_the_bytes_are_the_same_in_every_process() -> None:
    program = """
import importlib, json, sys
from promptsections.messages import ImagePart, Message, Tool, ToolCall
calls = [ToolCall(each, "f", '{"b": 1, "a": {"d": 2, "c": 3}}') for each in ("", "a.b", "a.b")]
messages = [
    Message("system", "S"),
    Message("user", ["q", ImagePart("data:image/png;base64,QUJD")]),
    Message("assistant", "a", tool_calls=calls),
    *(Message("tool", "R", tool_call_id=call.id) for call in calls),
    Message("system", "S2"),
    Message("user", "q"),
]
properties = {name: {"type": "string"} for name in ("b", "a", "d", "c")}
tool = Tool("t", "d", {"type": "object", "properties": properties, "required": ["b"]})
for name in sys.argv[1:]:
    module = importlib.import_module(f"promptsections.providers.{name}")
    print(json.dumps(module.to_request(messages, model="m", tools=[tool]), default=bytes.hex))
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, *PROVIDERS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert len(outputs) == 1


# --- reports from the field ---------------------------------------------------------------------

CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("field_cases.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=[f"{c['id']}-{c['provider']}" for c in CASES])
def test_reports_from_the_field_hold(case: dict[str, Any]) -> None:
    name = case["provider"]
    before = copy.deepcopy(case["messages"])
    if "raises" in case:
        with pytest.raises((ProviderError, DefinitionError), match=case["raises"]):
            PROVIDERS[name].to_request(case["messages"])
        return
    request = PROVIDERS[name].to_request(case["messages"])

    assert "tenant" not in bytes_of(request)
    if "sent" in case:
        assert messages_of(name, request) == case["sent"]
    if "holds" in case:
        assert case["holds"] in bytes_of(request)
    if messages_of(name, request)[-1]["role"] == "user":
        JUDGES[name](request)
    assert case["messages"] == before


def test_a_reasoning_item_is_never_parted_from_its_call() -> None:
    """Report his-035: a budget takes both or neither, at every size."""
    items = [
        {"type": "message", "role": "user", "content": "m1 " * 5},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "R " * 5},
        {"type": "message", "role": "user", "content": "m2 " * 5},
    ]
    prompt = Prompt([ConversationHistory(tokens=Tokens(1000))])
    memory = {"history": openai_responses.from_messages(items)}
    sizes = set()
    for budget in range(5, 40):
        rendered = Renderer(tokenizer=WordTokenizer()).render(prompt, memory, budget=budget)
        sent = openai_responses.to_request(rendered)["input"]
        assert sent[-1] == items[-1]
        assert (items[1] in sent) == (items[2] in sent) == (items[3] in sent)
        sizes.add(len(sent))
    assert sizes == {1, 5}


def test_thinking_is_left_out_of_what_was_cut() -> None:
    """Anthropic's newer models refuse thinking if anything before it changed."""
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "S"}
    history = anthropic_messages.from_messages(
        [
            {"role": "user", "content": "one two three"},
            {"role": "assistant", "content": "four five six"},
            {"role": "user", "content": "seven"},
            {"role": "assistant", "content": [thinking, {"type": "text", "text": "eight"}]},
        ]
    )
    prompt = Prompt([ConversationHistory(), UserMessage("nine")])
    renderer = Renderer(tokenizer=WordTokenizer())
    whole = renderer.render(prompt, {"history": history}, budget=100)
    cut = renderer.render(prompt, {"history": history}, budget=5)
    notes: list[Note] = []

    assert "thinking" in bytes_of(anthropic_messages.to_request(whole))
    assert "thinking" not in bytes_of(anthropic_messages.to_request(cut, notes=notes))
    assert [note.code for note in notes] == ["thinking_left_out"]
    assert "thinking" in bytes_of(anthropic_messages.to_request(cut, keep_thinking=True))


@every
def test_messages_of_ours_are_read_as_they_are(name: str) -> None:
    messages = (Message("system", None), Message("user", "q"), Message("user", None))
    read = PROVIDERS[name].from_messages([*messages, {"role": "user", "content": "q"}])

    assert read == (*messages, Message("user", "q"))
    JUDGES[name](PROVIDERS[name].to_request([*read, *messages, *read]))


def test_notes_name_the_message() -> None:
    notes: list[Note] = []
    anthropic_messages.to_request(
        [Message("user", "q", name="Ann"), Message("system", "S"), Message("assistant", "")],
        notes=notes,
    )

    assert [(note.code, note.path) for note in notes] == [
        ("name_left_out", ""),
        ("system_wrapped", ""),
        ("empty_left_out", ""),
    ]
    assert [re.match("message ([0-9]+)", note.detail)[1] for note in notes] == ["0", "1", "2"]  # type: ignore[index]
