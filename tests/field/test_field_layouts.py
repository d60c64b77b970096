"""Budgets and layouts that went wrong elsewhere: what is kept, how large it is, what is refused."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from field_reading import (
    CASES,
    ELSEWHERE,
    Words,
    case,
    chat,
    check_error,
    declared,
    prompt_of,
    renderer_for,
    with_op,
    words,
)

from promptsections import (
    ConversationHistory,
    InvalidBudgetError,
    Message,
    ModelProfile,
    NewestFirst,
    Prompt,
    Renderer,
    SystemMessage,
    TextSection,
    Truncate,
    UserMessage,
    lay_out,
)
from promptsections.layout import Layout

OWN_TEST = ("bud-031", "bud-032", "tok-017")


@with_op("layout", "layout_text", but=OWN_TEST)
def test_layout(row: dict[str, Any]) -> None:
    data, expected = row["input"], row["expected"]
    renderer = renderer_for(data["counter"], text=data["op"] == "layout_text")
    if "raises" in expected:
        _check_refusal(row, renderer)
        return
    prompt, memory = prompt_of(data)

    rendered = renderer.render(prompt, memory, budget=data["budget"])

    layout = rendered.layout
    _check_sizes(layout, expected)
    assert rendered.token_count <= expected.get("total_at_most", data["budget"])
    assert rendered.token_count == expected.get("total", rendered.token_count)
    if "equals" in expected:
        assert rendered.text == expected["equals"]
    if "messages" in expected:
        assert [_shown(message) for message in rendered.messages] == expected["messages"]
    if "content_words_at_most" in expected:
        size = len(rendered.messages[-1].text.split())
        assert expected["content_words_at_least"] <= size <= expected["content_words_at_most"]


def _check_refusal(row: dict[str, Any], renderer: Renderer) -> None:
    data, raises = row["input"], row["expected"]["raises"]
    started = process_time()
    if raises.get("when") == "construction":
        with pytest.raises(Exception) as caught:  # noqa: PT011 - its type is checked below
            prompt_of(data)
    else:
        prompt, memory = prompt_of(data)
        budget = data["budget"]
        budget = float(budget["$float"]) if isinstance(budget, dict) else budget
        with pytest.raises(Exception) as caught:  # noqa: PT011
            renderer.render(prompt, memory, budget=budget)
    check_error(caught.value, raises)
    assert process_time() - started <= row["expected"].get("max_seconds", 60)


def _check_sizes(layout: Layout, expected: dict[str, Any]) -> None:
    placements = list(layout.walk())
    sizes = expected.get("sizes", {})
    assert {p.name: p.used for p in placements if p.name in sizes} == sizes
    if "dropped" in expected:
        assert [p.name for p in placements if p.outcome == "dropped"] == expected["dropped"]
    elif sizes:
        assert not [p for p in placements if p.outcome == "dropped"]
    if sizes:  # what was not kept takes nothing
        leaves = [p for p in placements if not p.children]
        assert sum(p.used for p in leaves) == sum(sizes.values())


def _shown(message: Message) -> dict[str, Any]:
    shown: dict[str, Any] = {"role": message.role}
    if message.tool_calls:
        shown["tool_calls"] = [call.id for call in message.tool_calls]
    if message.tool_call_id is not None:
        shown["tool_call_id"] = message.tool_call_id
    return shown


def test_many_optional_sections_are_each_counted_at_most_twice() -> None:
    row = case("bud-031")
    tokenizer = Words()
    prompt, _ = prompt_of(row["input"])

    rendered = Renderer(tokenizer=tokenizer).render(prompt, budget=row["input"]["budget"])

    kept = [p.name for p in rendered.layout.placements if p.kept]
    assert len(kept) == row["expected"]["kept_sections"]
    assert kept == ["req", *(f"o{number}" for number in range(9))]
    shown = {text: tokenizer.texts.count(text) for text in set(tokenizer.texts) if text.strip()}
    assert max(shown.values()) <= 2
    assert len(tokenizer.texts) <= 2 * 2_001 + 100


SCRIPT = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from field_reading import case, prompt_of, renderer_for
row = case("bud-032")
prompt, memory = prompt_of(row["input"])
rendered = renderer_for("words").render(prompt, memory, budget=row["input"]["budget"])
print(json.dumps([rendered.layout.to_dict(), [m.text for m in rendered.messages]]))
"""


def test_a_layout_is_the_same_in_every_process() -> None:
    expected = case("bud-032")["expected"]
    paths = json.dumps([str(Path(__file__).parent)])

    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, paths],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(5)
    }

    assert len(outputs) == 1
    layout, _ = json.loads(outputs.pop())
    assert [p["name"] for p in layout["placements"] if p["used"]] == expected["kept"]


def test_what_is_reported_is_an_independent_recount_of_what_is_sent() -> None:
    row = case("bud-033")
    prompt, memory = prompt_of(row["input"])
    budget = row["input"]["budget"]

    plain = renderer_for("words").render(prompt, memory, budget=budget)
    framed = chat(Words()).render(prompt, memory, budget=budget)

    texts = [m.text.split() for m in plain.messages]
    calls = [call for m in plain.messages for call in m.tool_calls]
    in_calls = [f"{call.name} {call.arguments}".split() for call in calls]
    assert plain.token_count == sum(map(len, texts + in_calls)) <= budget
    assert 0 <= budget - plain.token_count < 7  # one more message of the history would not fit
    assert framed.token_count == 3 + sum(map(_published, framed.messages)) <= budget


def _published(message: Message) -> int:
    """Count a message as OpenAI's cookbook does: 3 and every string of it."""
    strings = [message.role, message.text, message.tool_call_id or ""]  # and 3 for each call:
    for call in message.tool_calls:
        strings += [call.id, "3 more tokens", call.name, call.arguments]
    return 3 + sum(len(text.split()) for text in strings)


def test_a_window_that_is_no_larger_than_the_answer_is_an_error() -> None:
    row = case("bud-026")
    data, raises = row["input"], row["expected"]["raises"]
    profile = ModelProfile(
        name="small",
        encoding=Words(),
        context_window=data["context_window"],
        max_output_tokens=data["max_output"],
    )

    with pytest.raises(InvalidBudgetError) as caught:
        Renderer(profile, reserve_output_tokens=data["max_output"]).render(Prompt([]))

    check_error(caught.value, raises)
    assert Renderer(profile).render(Prompt([])).layout.budget == data["context_window"] * 3 // 4


def test_a_cut_text_ends_with_its_marker_inside_the_limit() -> None:
    row = case("bud-030")
    data, expected = row["input"], row["expected"]
    text, times = data["text"]["$repeat"]
    section = TextSection(
        (text * times).strip(), tokens=data["budgets"][0], when_over=Truncate(marker=data["marker"])
    )

    rendered = renderer_for("words").render(Prompt([section]), budget=100)

    sent = rendered.messages[0].text
    assert sent.endswith(expected["ends_with"])
    assert len(sent.split()) == expected["result_words_at_most"] == rendered.token_count


# --- histories, from end to end -------------------------------------------------------------------


def _stamped(message: dict[str, Any]) -> dict[str, Any]:
    """Write id and tokens of a message where the counter looks for them."""
    kept = {key: value for key, value in message.items() if key not in ("id", "tokens")}
    stamp = f"{message['id']}={message['tokens']}"
    if message["role"] == "tool":
        return kept | {"content": stamp}
    return kept | {"name": stamp}


HISTORIES = ["his-001", "his-008", "his-012", "his-018", "his-022", "his-028"]


@pytest.mark.parametrize("identifier", HISTORIES)
def test_history_is_the_same_from_a_list_and_from_a_store(identifier: str) -> None:
    row = case(identifier)
    data = row["input"]
    messages = [_stamped(message) for message in data["messages"]]
    before = copy.deepcopy(messages)
    prompt = Prompt([ConversationHistory(start_on=data.get("start_on", "user"))])
    store = NewestFirst(lambda: reversed(messages))

    rendered = declared().render(prompt, {"history": messages}, budget=data["budget"])
    streamed = declared().render(prompt, {"history": store}, budget=data["budget"])

    kept = [(m.name or m.text).partition("=")[0] for m in rendered.messages]
    assert kept == row["expected"]["kept_ids"]
    assert rendered.layout["conversation_history"].omitted == len(messages) - len(kept)
    assert rendered.token_count <= data["budget"]
    assert messages == before
    leading = any(message["role"] == "system" for message in messages)
    if not leading:  # a store is not read back to where its system message stands
        assert streamed.messages == rendered.messages


@pytest.mark.parametrize("identifier", ["his-016", "his-023"])
def test_a_newest_turn_that_does_not_fit_is_an_error(identifier: str) -> None:
    row = case(identifier)
    messages = [Message(m["role"], words(m["tokens"])) for m in row["input"]["messages"]]

    with pytest.raises(Exception) as caught:  # noqa: PT011
        renderer_for("words").render(
            Prompt([ConversationHistory(name="history")]),
            {"history": messages},
            budget=row["input"]["budget"],
        )

    check_error(caught.value, row["expected"]["raises"])


def test_no_budget_is_an_error_for_a_history_too() -> None:
    row = case("his-019")
    messages = [_stamped(message) for message in row["input"]["messages"]]

    with pytest.raises(Exception) as caught:  # noqa: PT011
        declared().render(Prompt([ConversationHistory()]), {"history": messages}, budget=0)

    check_error(caught.value, row["expected"]["raises"])


def test_a_long_history_costs_what_fits() -> None:
    row = case("his-024")
    roles = ("user", "assistant")
    history = [Message(roles[n % 2], f"{n} " + words(199)) for n in range(5_000)]
    tokenizer = Words()

    rendered = Renderer(tokenizer=tokenizer).render(
        Prompt([ConversationHistory()]), {"history": history}, budget=row["input"]["budget"]
    )

    assert len(rendered.messages) == row["expected"]["kept_count"]
    assert sum(len(text.split()) for text in tokenizer.texts) <= 12 * 200
    assert not rendered.layout.placements[0].natural_is_exact


def test_a_history_as_text_shows_calls_and_results() -> None:
    row = case("his-029")
    messages = [{k: v for k, v in m.items() if k not in ("id", "tokens")}
                for m in row["input"]["messages"]]  # fmt: skip

    rendered = renderer_for("words", text=True).render(
        Prompt([ConversationHistory()]), {"history": messages}, budget=100
    )

    assert rendered.text == row["expected"]["equals"]
    assert rendered.token_count == len(rendered.text.split())


# --- the whole of the data ------------------------------------------------------------------------


def test_a_prompt_is_laid_out_the_same_at_every_budget_when_resolved_once() -> None:
    """The sizes of bud-002, from one resolve and many budgets."""
    row = case("bud-002")
    prompt, memory = prompt_of(row["input"])
    renderer = renderer_for("words")
    resolved = renderer.resolve(prompt, memory, budget=1_000)

    for budget in range(72, 200, 13):
        once = lay_out(resolved, budget)
        again = renderer.render(prompt, memory, budget=budget)
        assert once.messages == again.messages
        assert budget - 1 <= once.token_count == again.token_count <= budget
    assert lay_out(resolved, 100).layout["a"].used == row["expected"]["sizes"]["a"]


def test_roles_are_kept_apart_from_what_a_user_writes() -> None:
    row = case("sec-003")
    prompt, memory = prompt_of(row["input"])

    rendered = renderer_for("words").render(prompt, memory, budget=100)

    assert [m.role for m in rendered.messages] == row["expected"]["message_roles"]
    assert rendered.messages[1].text == row["input"]["vars"]["v"]


def test_a_text_form_reports_what_looks_like_a_role() -> None:
    row = case("sec-004")
    data = row["input"]
    prompt = Prompt([
        SystemMessage("Be kind."),
        ConversationHistory(
            name="history",
            user_prefix=data["prefixes"]["user"],
            assistant_prefix=data["prefixes"]["assistant"],
        ),
        UserMessage("Bye."),
    ])  # fmt: skip

    rendered = renderer_for("words", text=True).render(
        prompt, {"history": data["history"]}, budget=100
    )

    assert data["history"][0]["content"] in rendered.text
    for report in row["expected"]["reported"]:
        notes = [note for note in rendered.layout.notes if note.code == report["kind"]]
        assert notes
        assert all(note.path in report["mentions"] for note in notes)


def test_every_report_is_used_or_left_out_for_a_reason() -> None:
    modules = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    named = {name for name in CASES if any(f'"{name}"' in module for module in modules)}

    assert not CASES.keys() & ELSEWHERE.keys()
    tried = {name for name, row in CASES.items() if row["input"]["op"] in BY_OPERATION}
    assert CASES.keys() - tried - named == set()


BY_OPERATION = (
    {"context_window", "count", "encoding_for", "truncate"}
    | {"layout", "layout_text"}
    | {"render_template"}
)
"""Reports that stand in the parameters of a test."""
