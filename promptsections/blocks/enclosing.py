"""Blocks whose text stands in the element of a group, and must not be able to end it.

It knows elements; it knows no groups and no sections.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from promptsections.blocks.block import Block
from promptsections.blocks.items import ItemsBlock
from promptsections.blocks.messages import MessagesBlock
from promptsections.blocks.text import TextBlock
from promptsections.errors import DefinitionError
from promptsections.markup import XmlElement
from promptsections.messages import Message


def inside(block: Block, element: XmlElement) -> tuple[Block, bool]:
    """Return a block whose text is written as it must be in an element, and whether that differs.

    Raises:
        DefinitionError: the block cuts its text by itself, so that it cannot be written otherwise.
    """
    if element.escape == "none":
        return block, False
    match block:
        case TextBlock():
            changed = element.encode(block.text) != block.text
            return evolve(block, encode=_then(block.encode, element)), changed
        case ItemsBlock():
            changed = any(element.encode(chunk.text) != chunk.text for chunk in block.chunks)
            heads = map(element.encode, block.heads)
            return evolve(block, encode=_then(block.encode, element), heads=heads), changed
        case MessagesBlock() if block.cut is None:
            messages = tuple(_written(message, element) for message in block.messages)
            return evolve(block, messages=messages), messages != block.messages
        case _:
            raise DefinitionError(
                f"the text of a {type(block).__name__} cannot be escaped for the element "
                f"{element.tag!r} of its group: put it outside, or write escape='none'"
            )


def _then(encode: Callable[[str], str] | None, element: XmlElement) -> Callable[[str], str]:
    if encode is None:
        return element.encode
    return lambda text: element.encode(encode(text))


def _written(message: Message, element: XmlElement) -> Message:
    if not isinstance(message.content, str):
        return message
    return evolve(message, content=element.encode(message.content))
