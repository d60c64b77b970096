"""Bedrock's `cachePoint`: a block of its own behind the block that it marks.

It knows no conversation. Source: the Converse operation in botocore 1.44.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from promptsections.caching import CachePlan
from promptsections.notes import Note
from promptsections.providers.marks import Kept, limit_kept, place
from promptsections.providers.plain import Block
from promptsections.providers.turns import Turn

KEY = "cachePoint"
_LIFETIMES = ("5m", "1h")


def mark_turns(
    plan: CachePlan | None,
    system: Turn | None,
    turns: Sequence[Turn],
    *,
    has_tools: bool,
    notes: list[Note],
) -> Block | None:
    """Put the marks of a plan behind the blocks of a request; without a plan, keep those it has.

    Returns:
        The point behind the definitions of tools, if there is one.
    """
    instructions = [] if system is None else list(system.pieces)
    pieces = [*instructions, *(piece for turn in turns for piece in turn.pieces)]
    if plan is None:
        found = [
            Kept(number < len(instructions), partial(_remove, piece.blocks, block))
            for number, piece in enumerate(pieces)
            for block in piece.blocks
            if KEY in block
        ]
        limit_kept(found, notes)
        return None
    for piece in pieces:
        others = [block for block in piece.blocks if KEY not in block]
        piece.blocks[:] = others or piece.blocks
    within = _between_results(turns)
    placed = place(
        plan,
        pieces,
        lambda piece, at: piece.index not in within and _can_carry(piece.blocks[at]),
        system=instructions[-1].index + 1 if instructions else 0,
        has_tools=has_tools,
        lifetimes=_LIFETIMES,
        notes=notes,
    )
    on_tools: Block | None = None
    for each in reversed(placed):  # a point moves the blocks behind it
        point: Block = {KEY: {"type": "default"}}
        if each.lifetime is not None:
            point[KEY]["ttl"] = each.lifetime
        if each.blocks is None:
            on_tools = point
        else:
            each.blocks.insert(each.at + 1, point)
    return on_tools


def _remove(blocks: list[Block], block: Block) -> None:
    blocks[:] = [other for other in blocks if other is not block]


def _between_results(turns: Sequence[Turn]) -> set[int]:
    """Return the messages behind which nothing may stand, as another result follows."""
    results = ([piece.index for piece in turn.pieces if piece.is_result] for turn in turns)
    return {index for found in results for index in found[:-1]}


def _can_carry(block: Block) -> bool:
    return "reasoningContent" not in block and KEY not in block
