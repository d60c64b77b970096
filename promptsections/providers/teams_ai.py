"""Histories that Teams AI stored: its messages, as objects or as the dicts that a store keeps.

It imports no Teams AI and sends nothing. Source: teams-ai 1.8.2, `teams.ai.prompts.message`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from promptsections.messages import Message, MessageLike, to_message

__all__ = ["from_messages"]


def from_messages(messages: Iterable[MessageLike]) -> tuple[Message, ...]:
    """Read messages of Teams AI's conversation history.

    `action_calls` and `action_call_id`, and the older `function_call` with role `function`, become
    calls and results. The `context` with its citations stays in `extra`. Nothing is repaired: give
    the messages to a history, which leaves out what cannot be sent.

    Args:
        messages: its dataclasses, their dicts, or what jsonpickle makes of them.

    Raises:
        DefinitionError: if one is no message.
    """
    return tuple(m if isinstance(m, Message) else to_message(_plain(m)) for m in messages)


_PICKLED = "py/"
"""Keys that begin so are jsonpickle's, which the bot's storage uses."""


def _plain(value: Any) -> Any:
    """Copy dataclasses as dicts, at any depth; everything else stays as it is."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {key: _plain(item) for key, item in items if not str(key).startswith(_PICKLED)}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    return value
