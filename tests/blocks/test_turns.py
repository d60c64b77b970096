"""What must stay together in a conversation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from promptsections.blocks.turns import exchange_of
from promptsections.messages import Message, ToolCall

USER = Message("user", "u")
ANSWER = Message("assistant", "a")


def calling(*ids: str) -> Message:
    return Message("assistant", None, tool_calls=[ToolCall(name, "f") for name in ids])


def result(call_id: str | None, text: str = "r") -> Message:
    return Message("tool", text, tool_call_id=call_id)


def codes(*messages: Message) -> list[str]:
    return [note.code for note in exchange_of(messages).notes]


def left(*messages: Message) -> tuple[Message, ...]:
    return exchange_of(messages).messages


ids = st.sampled_from(["c1", "c2", "", None])
anything = st.one_of(
    st.just(USER),
    st.just(ANSWER),
    st.just(Message("system", "s")),
    st.lists(st.sampled_from(["c1", "c2", "c3", ""]), min_size=1, max_size=3).map(
        lambda names: calling(*names)
    ),
    st.builds(result, ids, st.sampled_from(["x", "y"])),
)


@given(st.lists(anything.filter(lambda message: message is not USER), max_size=12))
def test_what_is_left_is_whole_steps_in_their_order(later: list[Message]) -> None:
    """Each call has its one result right behind it, nothing was edited, nothing moved."""
    messages = (USER, *later)

    exchange = exchange_of(messages)

    rest = iter(messages)
    assert all(any(message is original for original in rest) for message in exchange.messages)
    assert exchange.user is USER
    for step in exchange.steps:
        head, *results = step.messages
        assert head.role != "tool"
        assert all(message.role == "tool" for message in results)
        assert len(results) == len(head.tool_calls)
        wanted = [call.id for call in head.tool_calls]
        for message in results:
            if message.tool_call_id:
                wanted.remove(message.tool_call_id)


@given(st.lists(anything, max_size=12))
def test_what_is_left_is_left_as_it_is(messages: list[Message]) -> None:
    """A conversation without broken pieces stays whole, and there is nothing to say about it."""
    once = exchange_of(messages).messages

    again = exchange_of(once)

    assert again.messages == once
    assert again.notes == ()


def test_several_calls_and_their_results_are_one_step() -> None:
    messages = (USER, calling("c1", "c2"), result("c2"), result("c1"), ANSWER)

    exchange = exchange_of(messages)

    assert [len(step.messages) for step in exchange.steps] == [3, 1]
    assert exchange.messages == messages


def test_a_step_with_an_unanswered_call_is_left_out_as_a_whole() -> None:
    exchange = exchange_of((USER, calling("c1", "c2"), result("c1"), ANSWER))

    assert exchange.messages == (USER, ANSWER)
    assert [note.code for note in exchange.notes] == ["unanswered_call"]
    assert "'c2'" in exchange.notes[0].detail


def test_a_call_that_is_pending_at_the_end_is_left_out() -> None:
    assert left(USER, calling("c1")) == (USER,)
    assert codes(USER, calling("c1")) == ["unanswered_call"]


def test_a_result_without_its_call_is_left_out() -> None:
    assert left(USER, result("c9"), ANSWER) == (USER, ANSWER)
    assert codes(USER, result("c9"), ANSWER) == ["orphan_result"]
    assert codes(USER, ANSWER, result("c9")) == ["orphan_result"]
    assert codes(USER, calling("c1"), result("c9"), result("c1")) == ["orphan_result"]
    assert "'c9'" in exchange_of((USER, result("c9"))).notes[0].detail


def test_of_two_results_the_first_is_kept() -> None:
    first, second = result("c1", "A"), result("c1", "B")

    assert left(USER, calling("c1"), first, second) == (USER, calling("c1"), first)
    assert codes(USER, calling("c1"), first, second) == ["duplicate_result"]


def test_a_result_without_an_id_belongs_to_the_first_unanswered_call() -> None:
    messages = (USER, calling("c1", "c2"), result(None, "for c2"), result("c1"))

    assert left(*messages) == messages
    assert codes(USER, calling("c1"), result(None, "A"), result(None, "B")) == ["orphan_result"]
    assert codes(USER, result(None)) == ["orphan_result"]


def test_calls_that_share_an_id_have_a_result_each() -> None:
    messages = (USER, calling("c", "c"), result("c", "A"), result("c", "B"))

    assert left(*messages) == messages
    assert codes(*messages[:-1]) == ["unanswered_call"]


def test_the_same_id_in_two_steps_means_two_calls() -> None:
    messages = (USER, calling("c"), result("c", "A"), calling("c"), result("c", "B"))

    assert left(*messages) == messages


def test_a_result_behind_another_message_answers_nothing() -> None:
    aside = Message("system", "s")

    assert left(USER, calling("c1"), aside, result("c1")) == (USER, aside)
    assert codes(USER, calling("c1"), aside, result("c1")) == ["unanswered_call", "orphan_result"]


def test_an_exchange_is_under_way_until_it_is_answered() -> None:
    aside = Message("system", "s")

    assert exchange_of((USER,)).under_way
    assert exchange_of((USER, aside)).under_way
    assert exchange_of((USER, calling("c1"), result("c1"))).under_way
    assert not exchange_of((USER, calling("c1"), result("c1"), ANSWER)).under_way
    assert not exchange_of((USER, ANSWER, aside)).under_way
    assert not exchange_of((aside,)).under_way
