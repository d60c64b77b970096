"""What requests are made from: a rendered prompt, or messages of your own.

It knows no provider's format.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from promptsections.errors import DefinitionError
from promptsections.layout import Layout
from promptsections.messages import Message, MessageLike, Tool, to_messages


@runtime_checkable
class Rendered(Protocol):
    """The part of a rendered prompt that a request is made of."""

    @property
    def messages(self) -> Sequence[Message]:
        """The messages, in order."""
        ...

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools that were counted with them."""
        ...


Source = Rendered | Sequence[MessageLike]


def read_source(
    source: Source, tools: Sequence[Tool] = ()
) -> tuple[Sequence[Message], Sequence[Tool]]:
    """Return the messages and tools of a source.

    Raises:
        DefinitionError: if tools come with a rendered prompt that was counted without them, or
            something in the source is no message.
    """
    if not isinstance(source, Rendered):
        return to_messages(source), tools
    if tools and tuple(tools) != tuple(source.tools):
        raise DefinitionError(
            "tools= is for bare messages: this prompt was counted with its own tools, "
            "so give them to the Prompt"
        )
    return source.messages, source.tools


def is_whole(source: Source) -> bool:
    """Say whether nothing is known to be missing: no section of it was cut, dropped or failed.

    Of messages of your own, nothing is known to be missing.
    """
    layout = getattr(source, "layout", None)
    if not isinstance(layout, Layout):
        return True
    return not any(
        placement.omitted or placement.outcome in ("cut", "dropped", "failed")
        for placement in layout.walk()
    )
