"""Calls and their results: the one order of messages that providers accept.

A call is answered once, by a result right after the message that asks for it. It knows no
provider's format and repairs nothing: what is missing, is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from promptsections.errors import ProviderError
from promptsections.messages import Message
from promptsections.notes import Note
from promptsections.providers.ids import IdRule, Ids


def check_order(messages: Sequence[Message]) -> None:
    """Check that every call is answered once, by results right after the message that asks for it.

    Raises:
        ProviderError: at the first message that breaks the rule, by its index from 0.
    """
    for _ in _steps(messages):
        pass


def pair(
    messages: Sequence[Message], rule: IdRule, notes: list[Note] | None = None
) -> list[Message]:
    """Return the messages with ids that the provider accepts, and results that know their function.

    A result belongs to the first unanswered call with its id, one without an id to the first call
    that is unanswered then; both get the same id, which no other call has that it could be
    mistaken for.

    Args:
        messages: in order.
        rule: which ids the provider accepts.
        notes: gets an `id_rewritten` for each call whose id changed.

    Raises:
        ProviderError: as `check_order`.
    """
    ids = Ids(rule)
    paired = list(messages)
    for step in _steps(messages):
        asking = messages[step.at]
        given = ids.give_all([call.id for call in asking.tool_calls])
        calls = [evolve(c, id=each) for c, each in zip(asking.tool_calls, given, strict=True)]
        for old, new in zip(asking.tool_calls, calls, strict=True):
            if old.id != new.id and notes is not None:
                detail = f"message {step.at}: call {old.id!r} of {old.name!r} is sent as {new.id!r}"
                notes.append(Note("id_rewritten", "", detail))
        if tuple(calls) != asking.tool_calls:
            paired[step.at] = evolve(asking, tool_calls=calls)
        for at, position in enumerate(step.answers, step.at + 1):
            call = calls[position]
            paired[at] = evolve(messages[at], tool_call_id=call.id, name=call.name)
    return paired


# --- steps --------------------------------------------------------------------------------------


@frozen
class _Step:
    """An assistant message with calls, and the results right after it."""

    at: int
    """Index of the message that asks."""
    answers: tuple[int, ...]
    """For each result: the position of the call that it answers."""


def _steps(messages: Sequence[Message]) -> Iterator[_Step]:
    index = 0
    while index < len(messages):
        asking, at = messages[index], index
        if asking.role == "tool":
            raise _orphan(asking, at)
        _check_fields(asking, at)
        index += 1
        while index < len(messages) and messages[index].role == "tool":
            index += 1
        answers = _answers(asking, messages[at + 1 : index], at)
        if answers:
            yield _Step(at, answers)


def _answers(asking: Message, results: Sequence[Message], at: int) -> tuple[int, ...]:
    """Return which call each result answers: results with an id choose first."""
    waiting = dict(enumerate(asking.tool_calls))
    answers: dict[int, int] = {}
    with_id = [n for n, result in enumerate(results) if result.tool_call_id]
    without = [n for n, result in enumerate(results) if not result.tool_call_id]
    for number in (*with_id, *without):
        result = results[number]
        if result.tool_calls:
            raise ProviderError(
                f"message {at + 1 + number}: a tool result cannot ask for tool calls"
            )
        wanted = result.tool_call_id
        found = next((p for p, call in waiting.items() if not wanted or call.id == wanted), None)
        if found is None:
            raise _orphan(result, at + 1 + number)
        answers[number] = found
        del waiting[found]
    if waiting:
        ids = ", ".join(repr(call.id) for call in waiting.values())
        raise ProviderError(
            f"message {at}: its tool calls {ids} have no results right after it; "
            "send a call with all its results or leave it out"
        )
    return tuple(answers[number] for number in range(len(results)))


def _orphan(result: Message, index: int) -> ProviderError:
    if not result.tool_call_id:
        return ProviderError(
            f"message {index}: a tool result has no tool_call_id, and there is no unanswered call "
            "right before it"
        )
    return ProviderError(
        f"message {index}: the tool result answers {result.tool_call_id!r}, which is no "
        "unanswered call of the assistant message before it"
    )


def _check_fields(message: Message, index: int) -> None:
    if message.tool_calls and message.role != "assistant":
        raise ProviderError(
            f"message {index}: only an assistant message has tool_calls, not a {message.role} one"
        )
    if message.tool_call_id:
        raise ProviderError(
            f"message {index}: only a tool message has a tool_call_id, not a {message.role} one"
        )
