"""The short way to add up a history gives what the long one gives."""

from __future__ import annotations

from typing import Any

from block_laws import HONEST, plain_words
from hypothesis import given
from hypothesis import strategies as st

from promptsections.blocks import HistoryBlock
from promptsections.counting import Counter
from promptsections.messages import Message, ToolCall

ROLES = st.sampled_from(["user", "assistant", "assistant", "tool", "system"])


@st.composite
def messages(draw: st.DrawFn) -> Message:
    role: Any = draw(ROLES)
    text = draw(st.sampled_from(["", "one", "one two", "one two three four"]))
    if role == "assistant" and draw(st.integers(0, 3)) == 0:
        return Message(role, text, tool_calls=[ToolCall("c1", "f")])
    return Message(role, text, tool_call_id="c1" if role == "tool" else None)


@given(
    st.lists(messages(), max_size=12),
    st.sampled_from(["drop", "raise"]),
    st.booleans(),
    st.integers(0, 60),
    st.sampled_from(HONEST),
)
def test_the_short_way_gives_the_same(
    history: list[Message], repair: Any, keep_system: bool, size: int, counter: Counter
) -> None:
    """`max_messages` that limits nothing takes the long way, and nothing else changes."""
    options: dict[str, Any] = {"keep_system": keep_system, "repair": repair}

    def seen(block: HistoryBlock) -> object:
        try:
            measured = block.measure(counter, size)
            whole = block.measure(counter, 10_000)
            return measured, whole, block.place(counter, max(size, whole.floor))
        except Exception as error:
            return type(error), str(error)

    assert seen(HistoryBlock(history, **options)) == seen(
        HistoryBlock(history, max_messages=1_000, **options)
    )


def test_a_history_without_a_user_sends_its_instructions_alone() -> None:
    block = HistoryBlock([Message("system", "be brief"), Message("assistant", "hello")])
    counter = plain_words()

    assert block.measure(counter, 10) == (2, 2)
    assert block.fit(counter, 2) == (Message("system", "be brief"),)
    assert [note.code for note in block.place(counter, 2).notes] == ["leading_turn"]
