"""What must stay together in a conversation: calls with their results, turns with their answers.

A *step* is one assistant message with the results of its calls, right behind it. An *exchange* is a
user turn with the steps up to the next one. What cannot be sent (a call without a result, a result
without a call) is left out here, as whole messages: nothing is edited, nothing is moved.
It knows no tokens, no budgets and no providers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from promptsections.messages import Message, ToolCall
from promptsections.notes import Note


@frozen
class Step:
    """Messages that are sent together or not at all, oldest first."""

    messages: tuple[Message, ...]
    """An assistant message with the results of its calls, or a system message by itself."""


@frozen
class Exchange:
    """A user turn with its steps: what a history keeps or leaves out as a whole."""

    messages: tuple[Message, ...] = ()
    """All that is left of it, oldest first."""
    notes: tuple[Note, ...] = ()
    """What was left out of it because it could not be sent, oldest first."""

    @property
    def user(self) -> Message | None:
        """The user's turn; `None` for what stands before the first one."""
        return self.messages[0] if self.messages and opens_exchange(self.messages[0]) else None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps behind the user's turn, oldest first."""
        rest = self.messages if self.user is None else self.messages[1:]
        return tuple(Step((head, *results)) for head, results in runs(rest) if head is not None)

    @property
    def under_way(self) -> bool:
        """Whether the model is to speak next: system messages aside, it ends without an answer."""
        for message in reversed(self.messages):
            if not is_system(message):
                return message.role in ("user", "tool")
        return False


def is_system(message: Message) -> bool:
    """Say whether the message instructs the model: role `system` or its newer word `developer`."""
    return message.role in ("system", "developer")


def opens_exchange(message: Message) -> bool:
    """Say whether an exchange begins with this message."""
    return message.role == "user"


def exchange_of(messages: Sequence[Message], notes: Sequence[Note] = ()) -> Exchange:
    """Read the messages of one exchange, oldest first: a user turn, if any, and what follows it.

    `notes` are added behind what is noted here.
    """
    for message in messages:
        if message.tool_calls or message.role == "tool":
            return _repaired(messages, notes)
    return Exchange(tuple(messages), tuple(notes))


def _repaired(messages: Sequence[Message], notes: Sequence[Note]) -> Exchange:
    """Leave out steps that cannot be sent, and results that belong to nothing."""
    start = 1 if opens_exchange(messages[0]) else 0
    left = [*messages[:start]]
    found: list[Note] = []
    for head, results in runs(messages[start:]):
        calls = () if head is None else head.tool_calls
        kept = _answers(calls, results, found)
        if head is not None and kept is not None:
            left += (head, *kept)
    return Exchange(tuple(left), (*found, *notes))


def runs(messages: Sequence[Message]) -> Iterator[tuple[Message | None, list[Message]]]:
    """Part messages before each that is no result: such a head, with the results behind it."""
    head: Message | None = None
    results: list[Message] = []
    for message in messages:
        if message.role == "tool":
            results.append(message)
            continue
        if head is not None or results:
            yield head, results
        head, results = message, []
    if head is not None or results:
        yield head, results


def _answers(
    calls: Sequence[ToolCall], results: Sequence[Message], notes: list[Note]
) -> list[Message] | None:
    """Return the results that answer the calls, one for each, or `None` if a call has none.

    A result belongs to the first unanswered call with its id; one without an id belongs to the
    first call that is unanswered then. Ids mean something inside one step only: some servers use
    the same one over and over.
    """
    open_calls = list(calls)
    known = {call.id for call in calls}
    answering: set[int] = set()
    named = [(at, result) for at, result in enumerate(results) if result.tool_call_id]
    unnamed = [(at, result) for at, result in enumerate(results) if not result.tool_call_id]
    for at, result in (*named, *unnamed):
        matching = (
            index
            for index, call in enumerate(open_calls)
            if not result.tool_call_id or call.id == result.tool_call_id
        )
        index = next(matching, None)
        if index is not None:
            del open_calls[index]
            answering.add(at)
        elif result.tool_call_id in known:
            notes.append(_note("duplicate_result", result, "its call has a result before it"))
        else:
            notes.append(_note("orphan_result", result, "there is no such call right before it"))
    for call in open_calls:
        detail = f"call {call.id!r} of {call.name!r} has no result: its step was left out"
        notes.append(Note("unanswered_call", "", detail))
    return None if open_calls else [result for at, result in enumerate(results) if at in answering]


def _note(code: str, result: Message, reason: str) -> Note:
    name = f"for call {result.tool_call_id!r}" if result.tool_call_id else "without a call id"
    return Note(code, "", f"a result {name} was left out: {reason}")
