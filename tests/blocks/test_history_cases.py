"""Histories that have gone wrong elsewhere, and those that Teams AI's tests use."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from block_laws import CL100K, LABELS, UNBOUNDED, plain_words

from promptsections.blocks import HistoryBlock
from promptsections.counting import Counter, Lines
from promptsections.messages import Message, to_message
from promptsections.profiles import ModelProfile
from promptsections.tokens import CallableTokenizer

CASES = Path(__file__).parent / "cases"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


def by_id(name: str) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in rows(name)}


# --- reports from the field ---------------------------------------------------------------------

FIELD = by_id("history.jsonl")
# What these expect is an error of the whole layout, or they make up their messages.
OTHER = {"his-016", "his-019", "his-023", "his-024"}


def declared_tokens() -> Counter:
    """Count a message as what is written in its name: `u1=5` is message u1 of 5 tokens."""

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
    return Counter(profile, profile.tokenizer())


def declared(row: Mapping[str, Any]) -> dict[str, Any]:
    """Make a message dict whose name holds its id and its tokens; results keep their tokens too."""
    message = {key: value for key, value in row.items() if key not in ("id", "tokens")}
    stamp = f"{row['id']}={row['tokens']}"
    if row["role"] == "tool":
        return message | {"content": stamp}
    return message | {"name": stamp}


def identity(message: Message) -> str:
    return (message.name or message.text).split("=")[0]


@pytest.mark.parametrize("case", sorted(FIELD.keys() - OTHER))
def test_field_case(case: str) -> None:
    row = FIELD[case]
    data = row["input"]
    messages = [declared(message) for message in data["messages"]]
    before = copy.deepcopy(messages)
    marker = data.get("omission_marker")
    block = HistoryBlock(
        messages,
        keep_system=data["keep_system"],
        start_on=data.get("start_on", "user"),
        omission_marker=marker,
    )

    placed = block.place(declared_tokens(), data["budget"])

    sent = [*placed.messages]
    if marker is not None:
        said = sent.pop(0)
        assert said == Message("system", marker.format(n=row["expected"]["marker_mentions"]))
    assert [identity(message) for message in sent] == row["expected"]["kept_ids"]
    assert placed.omitted == len(messages) - len(sent)
    reported = row["expected"].get("reported", [])
    codes = [note.code for note in placed.notes if note.code != "omission"]
    assert codes == [report["kind"] for report in reported]
    for note, report in zip(placed.notes, reported, strict=False):
        assert all(word in note.detail for word in report["mentions"])
    assert messages == before
    assert block.measure(declared_tokens(), data["budget"]).floor <= data["budget"]


@pytest.mark.parametrize("case", ["his-016", "his-023"])
def test_a_newest_turn_that_does_not_fit_says_what_it_needs(case: str) -> None:
    row = FIELD[case]
    needed = row["expected"]["raises"]["needed"]
    block = HistoryBlock(
        [Message(message["role"], "w " * message["tokens"]) for message in row["input"]["messages"]]
    )

    assert block.must_send
    assert block.measure(plain_words(), UNBOUNDED).floor == needed
    assert block.measure(plain_words(), row["input"]["budget"]).floor > row["input"]["budget"]


def test_a_long_history_costs_what_fits() -> None:
    read = 0

    def count(text: str) -> int:
        nonlocal read
        read += text.count("w ")
        return len(text.split())

    profile = ModelProfile.plain(CallableTokenizer("words", count))
    counter = Counter(profile, profile.tokenizer())
    roles = ["user", "assistant"]
    history = [
        {"role": roles[number % 2], "content": f"{number} " + "w " * 199} for number in range(5_000)
    ]
    block = HistoryBlock(history)

    natural = block.measure(counter, 2_000).natural
    placed = block.place(counter, 2_000)

    assert natural == 2_001
    assert len(placed.messages) == 10
    assert placed.omitted == 4_990
    assert read <= 12 * 200


def test_calls_and_results_are_shown_in_a_text() -> None:
    """Field report his-029: the text form of a history loses its tools."""
    profile = ModelProfile.plain(CL100K, form="text")
    counter = Counter(profile, CL100K, Lines(labels=LABELS))
    history = [
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "f", "arguments": {"q": "c1"}}],
        },
        {"role": "tool", "content": "25C", "tool_call_id": "c1"},
    ]

    sent = HistoryBlock(history).fit(counter, 100)

    assert counter.text(sent) == 'user: weather?\nassistant: f({"q":"c1"})\ntool f: 25C'


# --- Teams AI -----------------------------------------------------------------------------------

TEAMS_AI = by_id("teams_ai_history.jsonl")
AS_TEXT = {"render": "text"}


def stored(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    memory, name = row["input"]["memory"], row["input"]["section"]["variable"]
    return memory.get(name, memory.get(f"temp.{name}", []))


def fitted(row: Mapping[str, Any]) -> tuple[HistoryBlock, Counter, tuple[Message, ...]]:
    """Fit a case's history to its budget; nothing is sent if not even the floor fits."""
    text = row["input"]["render"] == "text"
    profile = ModelProfile.plain(CL100K, form="text" if text else "messages")
    counter = Counter(profile, CL100K, Lines(labels=LABELS) if text else None)
    block = HistoryBlock(stored(row))
    size = row["input"]["max_tokens"]
    floor = block.measure(counter, size).floor
    return block, counter, block.place(counter, size).messages if floor <= size else ()


@pytest.mark.parametrize("case", [row["id"] for row in TEAMS_AI.values() if row["agrees"]])
def test_teams_ai_case(case: str) -> None:
    row = TEAMS_AI[case]
    expected = row["expected"]

    _, counter, sent = fitted(row)

    if row["input"]["render"] == "text":
        assert counter.text(sent) == expected["output"]
    else:
        assert sent == tuple(to_message(message) for message in expected["output"])
    if row["id"] != "K401":  # that one counts roles, too
        assert counter.cost(sent) == expected["length"]


DIFFERENT = [row["id"] for row in TEAMS_AI.values() if not row["agrees"]]


@pytest.mark.parametrize("case", DIFFERENT)
def test_where_we_differ_from_teams_ai(case: str) -> None:
    row = TEAMS_AI[case]
    reason = row["differs_because"]
    history = [to_message(message) for message in stored(row)]

    block, counter, sent = fitted(row)

    if reason.startswith("length only"):
        assert counter.text(sent) == row["expected"]["output"]
        assert counter.cost(sent) == (7 if case == "K117" else 35)
    elif reason.startswith("law 1"):
        floor = block.measure(counter, UNBOUNDED).floor
        assert floor == counter.cost(history[2:]) > row["input"]["max_tokens"]
    elif reason.startswith("whole exchanges"):
        assert sent == ()
    elif reason.startswith("a history starts with a user turn"):
        assert sent == ()
        codes = [note.code for note in block.place(counter, 100).notes]
        assert codes == ["orphan_result", "leading_turn"]
        assert HistoryBlock(history, start_on="any").fit(counter, 100) == (history[1],)
    else:
        assert case == "K399"
        assert sent == tuple(history)
