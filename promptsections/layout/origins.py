"""Which section each message of a finished layout comes from."""

from __future__ import annotations

from attrs import frozen

from promptsections.blocks import HistoryBlock
from promptsections.layout.compose import Pieces
from promptsections.layout.resolved import ResolvedGroup, ResolvedNode, ResolvedSection


@frozen
class Origin:
    """A section that stands among messages, or a group that is one message."""

    path: str
    messages: int
    """How many messages it sends; they stand beside each other."""
    is_history: bool = False
    """Whether they are a conversation that was there before this turn."""


def origins(root: ResolvedGroup, pieces: Pieces) -> tuple[Origin, ...]:
    """Return the origins of all messages, in the order in which they are sent."""
    found: list[Origin] = []
    _add(found, root, pieces)
    return tuple(found)


def _add(found: list[Origin], node: ResolvedNode, pieces: Pieces) -> None:
    if isinstance(node, ResolvedSection):
        piece = pieces.get(node.path)
        is_history = isinstance(node.block, HistoryBlock)
        if piece is not None or is_history:
            sent = 0 if piece is None else len(piece.messages)
            found.append(Origin(node.path, sent, is_history))
    elif node.role is not None:
        if _sends(node, pieces):
            found.append(Origin(node.path, 1))
    else:
        for child in node.children:
            _add(found, child, pieces)


def _sends(node: ResolvedNode, pieces: Pieces) -> bool:
    """Say whether a group that is one message is sent."""
    if isinstance(node, ResolvedSection):
        piece = pieces.get(node.path)
        return piece is not None and piece.segment is not None and bool(piece.messages)
    return any(_sends(child, pieces) for child in node.children)
