"""Anthropic's `cache_control`: put on blocks, taken off blocks.

It knows no conversation. Source: the `anthropic` package 2.14.0, `cache_control_ephemeral_param`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from promptsections.caching import CachePlan
from promptsections.notes import Note
from promptsections.providers.marks import Kept, limit_kept, place
from promptsections.providers.plain import Block, blocks_of
from promptsections.providers.turns import Piece, Turn

KEY = "cache_control"
_LIFETIMES = ("5m", "1h")
_CARRIERS = frozenset({"text", "image", "document", "search_result", "tool_use", "tool_result"})
"""Types of blocks that take a mark; thinking takes none."""


def mark_turns(
    plan: CachePlan | None,
    system: Turn | None,
    turns: Sequence[Turn],
    *,
    has_tools: bool,
    notes: list[Note],
) -> Block | None:
    """Put the marks of a plan on the blocks of a request; without a plan, keep those it has.

    Returns:
        The mark of the definitions of tools, if they carry one.
    """
    instructions = [] if system is None else list(system.pieces)
    pieces = [*instructions, *(piece for turn in turns for piece in turn.pieces)]
    if plan is None:
        found = [
            Kept(number < len(instructions), partial(block.pop, KEY))
            for number, piece in enumerate(pieces)
            for block in _marked(piece.blocks)
            if block[KEY] is not None
        ]
        limit_kept(found, notes)
        return None
    for piece in pieces:
        for block in _marked(piece.blocks):
            del block[KEY]
    placed = place(
        plan,
        pieces,
        _can_carry,
        system=instructions[-1].index + 1 if instructions else 0,
        has_tools=has_tools,
        lifetimes=_LIFETIMES,
        notes=notes,
    )
    on_tools: Block | None = None
    for each in placed:
        mark: Block = {"type": "ephemeral"}
        if each.lifetime is not None:
            mark["ttl"] = each.lifetime
        if each.blocks is None:
            on_tools = mark
        else:
            each.block[KEY] = mark
    return on_tools


def _marked(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield all blocks that carry a mark, those inside of results too."""
    for block in blocks:
        yield from list(_marked(blocks_of(block.get("content")) or ()))
        if KEY in block:
            yield block


def _can_carry(piece: Piece, at: int) -> bool:
    return piece.blocks[at].get("type") in _CARRIERS
