"""What is done about calls and results that no provider would take."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from attrs import evolve
from talks import answer, call, check_sendable, plain, result, system, user

from promptsections import (
    ConversationHistory,
    InvalidHistoryError,
    Message,
    NewestFirst,
    Prompt,
    Renderer,
    ToolCall,
)
from promptsections.blocks import HistoryBlock

STUB = "[no result]"
BROKEN: dict[str, tuple[list[Message], list[Message], list[Message], list[str], list[str]]] = {
    "unanswered": (
        [user(), call("x"), answer()],
        [user(), answer()],
        [user(), call("x"), result("x", STUB), answer()],
        ["unanswered_call"],
        ["result_stubbed"],
    ),
    "partly answered": (
        [user(), call("x", "y", "z"), result("y"), answer()],
        [user(), answer()],
        [user(), call("x", "y", "z"), result("y"), result("x", STUB), result("z", STUB), answer()],
        ["unanswered_call", "unanswered_call"],
        ["result_stubbed", "result_stubbed"],
    ),
    "duplicated": (
        [user(), call("x"), result("x", "A"), result("x", "B"), answer()],
        [user(), call("x"), result("x", "A"), answer()],
        [user(), call("x"), result("x", "A"), answer()],
        ["duplicate_result"],
        ["duplicate_result"],
    ),
    "orphaned": (
        [user(), result("x"), answer()],
        [user(), answer()],
        [user(), answer()],
        ["orphan_result"],
        ["orphan_result"],
    ),
    "result before its call": (
        [user(), result("x"), call("x"), answer()],
        [user(), answer()],
        [user(), call("x"), result("x", STUB), answer()],
        ["orphan_result", "unanswered_call"],
        ["orphan_result", "result_stubbed"],
    ),
    "result behind an answer": (
        [user(), call("x"), answer("wait"), result("x"), answer()],
        [user(), answer("wait"), answer()],
        [user(), call("x"), result("x", STUB), answer("wait"), answer()],
        ["unanswered_call", "orphan_result"],
        ["result_stubbed", "orphan_result"],
    ),
    "results in another order": (
        [user(), call("x", "y"), result("y"), result("x"), answer()],
        [user(), call("x", "y"), result("y"), result("x"), answer()],
        [user(), call("x", "y"), result("y"), result("x"), answer()],
        [],
        [],
    ),
    "without ids": (
        [user(), call("x", "y"), result(None, "A"), result("x"), result(None, "B"), answer()],
        [user(), call("x", "y"), result(None, "A"), result("x"), answer()],
        [user(), call("x", "y"), result(None, "A"), result("x"), answer()],
        ["orphan_result"],
        ["orphan_result"],
    ),
    "reused ids": (
        [user(), call("x"), result("x", "A"), call("x"), result("x", "B"), answer()],
        [user(), call("x"), result("x", "A"), call("x"), result("x", "B"), answer()],
        [user(), call("x"), result("x", "A"), call("x"), result("x", "B"), answer()],
        [],
        [],
    ),
    "a reused id without its own result": (
        [user(), call("x"), result("x", "A"), call("x"), answer()],
        [user(), call("x"), result("x", "A"), answer()],
        [user(), call("x"), result("x", "A"), call("x"), result("x", STUB), answer()],
        ["unanswered_call"],
        ["result_stubbed"],
    ),
    "no id at all": (
        [user(), call(""), answer()],
        [user(), answer()],
        [user(), call(""), result(None, STUB), answer()],
        ["unanswered_call"],
        ["result_stubbed"],
    ),
    "the id of a call in a wrong message": (
        [user(), Message("assistant", "a", tool_call_id="x"), answer()],
        [user(), answer()],
        [user(), answer()],
        ["misplaced_call"],
        ["misplaced_call"],
    ),
    "a result that calls": (
        [user(), call("x"), evolve(result("x"), tool_calls=[ToolCall("y", "f")])],
        [user()],
        [user(), call("x"), result("x", STUB)],
        ["misplaced_call", "unanswered_call"],
        ["misplaced_call", "result_stubbed"],
    ),
    "instructions that call": (
        [Message("system", "s", tool_calls=[ToolCall("y", "f")]), system(), user()],
        [user()],
        [user()],
        ["misplaced_call", "leading_turn"],
        ["misplaced_call", "leading_turn"],
    ),
    "a user who calls": (
        [user("old"), Message("user", "u", tool_calls=[ToolCall("y", "f")]), answer(), user()],
        [user("old"), user()],
        [user("old"), user()],
        ["misplaced_call", "leading_turn"],
        ["misplaced_call", "leading_turn"],
    ),
}  # fmt: skip
CASES = pytest.mark.parametrize("case", BROKEN)


@CASES
def test_whole_steps_are_left_out_by_default(case: str) -> None:
    history, dropped, _, codes, _ = BROKEN[case]
    before = copy.deepcopy(history)

    placed = HistoryBlock(history).place(plain(), 99)

    assert list(placed.messages) == dropped
    assert [note.code for note in placed.notes] == codes
    assert placed.omitted == len(history) - len(dropped)
    assert history == before
    check_sendable(placed.messages)


@CASES
def test_placeholders_are_put_in_where_results_are_missing(case: str) -> None:
    history, _, stubbed, _, codes = BROKEN[case]

    placed = HistoryBlock(history, repair="stub").place(plain(), 99)

    assert list(placed.messages) == stubbed
    assert [note.code for note in placed.notes] == codes
    stubs = sum(message.text == STUB for message in stubbed)
    assert placed.omitted == len(history) - len(stubbed) + stubs
    check_sendable(placed.messages)


@CASES
def test_it_is_an_error_where_that_is_wanted(case: str) -> None:
    history, dropped, _, codes, _ = BROKEN[case]
    strict = HistoryBlock(history, repair="raise")

    if codes:
        with pytest.raises(InvalidHistoryError) as caught:
            strict.place(plain(), 99)
        assert f"({codes[0]})" in str(caught.value)
        assert "of the history: " in str(caught.value)
    else:
        assert list(strict.place(plain(), 99).messages) == dropped


def render(history: object, **options: Any) -> list[Message]:
    prompt = Prompt([ConversationHistory(**options)])
    return list(Renderer("gpt-4o").render(prompt, {"history": history}, budget=200).messages)


def test_the_error_says_which_message_what_and_what_to_do() -> None:
    history = [user(), answer(), user(), call("x", "y"), result("x"), answer()]

    with pytest.raises(InvalidHistoryError) as caught:
        render(history, repair="raise")

    assert caught.value.message == (
        "message 3 of the history: call 'y' of 'fy' has no result (unanswered_call); "
        'repair="drop" leaves out what cannot be sent, repair="stub" puts placeholders where '
        "results are missing"
    )


def test_the_error_counts_from_the_newest_where_older_ones_are_not_read() -> None:
    history = [*[user("w " * 150), answer()] * 9, user(), call("x"), answer()]

    with pytest.raises(InvalidHistoryError, match="message 1 of the history, from the newest"):
        render(NewestFirst(lambda: history[::-1]), repair="raise")
    with pytest.raises(InvalidHistoryError, match="message 19 of the history: "):
        render(history, repair="raise")


def test_only_what_is_read_is_an_error() -> None:
    history = [user(), call("x"), *[user("w " * 90), answer()] * 9]

    assert len(render(history, repair="raise")) == 2


def test_the_text_of_placeholders_can_be_chosen() -> None:
    sent = render([user(), call("x"), user()], repair="stub", stub_text="(stopped)")

    assert sent[2] == Message("tool", "(stopped)", tool_call_id="x")


def test_a_call_that_waits_for_its_result_can_be_stubbed() -> None:
    block = HistoryBlock([user(), call("x")], repair="stub")

    assert block.must_send
    assert block.fit(plain(), 9) == (user(), call("x"), result("x", STUB))


def test_what_is_read_of_a_store_is_repaired_too() -> None:
    history = [user("w " * 150), call("x"), user(), call("y"), answer()]

    sent = render(NewestFirst(lambda: history[::-1]), repair="stub")

    assert [message.text for message in sent][-4:] == ["u", "", STUB, "a"]
