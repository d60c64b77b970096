"""Calls and their results: the one order of messages that providers accept.

It knows no provider's format and repairs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from promptsections.errors import ProviderError
from promptsections.messages import Message


def check_order(messages: Sequence[Message]) -> None:
    """Check that every call is answered once, by results right after the message that asks for it.

    Raises:
        ProviderError: at the first message that breaks the rule, by its index from 0.
    """
    open_calls: dict[str, None] = {}
    asked_at = 0
    for index, message in enumerate(messages):
        if message.role == "tool":
            _answer(message, index, open_calls)
            continue
        _check_answered(open_calls, asked_at)
        _check_fields(message, index)
        open_calls = dict.fromkeys(call.id for call in message.tool_calls)
        if len(open_calls) < len(message.tool_calls):
            raise ProviderError(f"message {index}: two of its tool calls have the same id")
        if "" in open_calls:
            raise ProviderError(f"message {index}: a tool call has no id, so nothing can answer it")
        asked_at = index
    _check_answered(open_calls, asked_at)


def _answer(message: Message, index: int, open_calls: dict[str, None]) -> None:
    if not message.tool_call_id:
        raise ProviderError(
            f"message {index}: a tool result has no tool_call_id, so it answers no call"
        )
    if message.tool_calls:
        raise ProviderError(f"message {index}: a tool result cannot ask for tool calls")
    if message.tool_call_id not in open_calls:
        raise ProviderError(
            f"message {index}: the tool result answers {message.tool_call_id!r}, which is no "
            "unanswered call of the assistant message before it"
        )
    del open_calls[message.tool_call_id]


def _check_answered(open_calls: dict[str, None], index: int) -> None:
    if open_calls:
        ids = ", ".join(map(repr, open_calls))
        raise ProviderError(
            f"message {index}: its tool calls {ids} have no results right after it; "
            "send a call with all its results or leave it out"
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
