"""Whether a layout is a matter of milliseconds; it knows no event loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from promptsections.blocks import Block, HistoryBlock, ItemsBlock, MessagesBlock, TextBlock
from promptsections.layout.resolved import ResolvedContent
from promptsections.messages import Message, MessageLike

_MOST_TOKENS = 16_000
"""About 15 ms of counting."""
_MOST_SECTIONS = 200
_MOST_CHARACTERS = 200_000
"""Of all texts: what does not fit may have to be counted whole, to say what it needs."""
_NEWEST = 10
"""Messages of a history that are looked at; what is older is read no further than it fits."""


def is_light(content: ResolvedContent) -> bool:
    """Say whether a layout takes a few milliseconds, whatever comes of it.

    Blocks of an unknown kind could do anything, so they are not light.
    """
    left = _MOST_CHARACTERS
    for number, section in enumerate(content.sections()):
        left -= _characters(section.block)
        if left < 0 or number >= _MOST_SECTIONS:
            return False
    return content.budget < _MOST_TOKENS


def _characters(block: Block | None) -> int:
    match block:
        case None:
            return 0
        case TextBlock():
            return len(block.text)
        case ItemsBlock():
            return sum(len(chunk.text) for chunk in block.chunks)
        case MessagesBlock():
            return sum(map(_length, block.messages))
        case HistoryBlock():
            return sum(map(_length, _last(block.messages)))
        case _:
            return _MOST_CHARACTERS + 1


def _last(messages: Sequence[MessageLike]) -> list[MessageLike]:
    return [messages[at] for at in range(max(0, len(messages) - _NEWEST), len(messages))]


def _length(message: MessageLike) -> int:
    if isinstance(message, Message):
        return len(message.text) + sum(len(call.arguments) for call in message.tool_calls)
    if isinstance(message, Mapping):
        content = cast("Mapping[str, Any]", message).get("content")
        return len(content) if isinstance(content, str) else 0
    return 0
