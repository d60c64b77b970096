"""OpenAI's `prompt_cache_breakpoint` and `prompt_cache_key`, and the `cache_salt` of vLLM.

It knows no conversation. Source: the `openai` package 3.57.0, and vLLM's guide to prefix caching.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

from promptsections.caching import CachePlan
from promptsections.notes import Note
from promptsections.providers.marks import place
from promptsections.providers.plain import Block, blocks_of
from promptsections.providers.turns import Piece, is_blank

KEY = "prompt_cache_breakpoint"
_LIFETIMES = ("30m", "12h")


class CacheOptions(TypedDict):
    """That prefixes are cached up to the marks of the request and nowhere else."""

    mode: Literal["explicit"]


class CacheFields(TypedDict, total=False):
    """What a request says to the cache beside its marks."""

    prompt_cache_key: str
    prompt_cache_options: CacheOptions
    extra_body: dict[str, str]


def mark_messages(
    plan: CachePlan | None,
    messages: Sequence[tuple[int, Block, str]],
    as_part: Callable[[str], Block],
    *,
    carriers: frozenset[str],
    notes: list[Note],
) -> CacheFields:
    """Put the marks of a plan on parts; without a plan, keep those that messages brought along.

    Args:
        plan: the marks and the key.
        messages: index of a message, what is sent for it, and the key of its content; those that
            can carry no mark are left out.
        as_part: writes a text as a part.
        carriers: types of parts that take a mark.
        notes: gets notes of marks that are moved or left out.

    Returns:
        Fields of the request.
    """
    if plan is None:
        return {}
    pieces = [_piece(index, sent, key, as_part) for index, sent, key in messages]
    for piece in pieces:
        for part in piece.blocks:
            part.pop(KEY, None)
    placed = place(
        plan,
        pieces,
        lambda piece, at: piece.blocks[at].get("type") in carriers,
        system=0,
        has_tools=False,
        lifetimes=_LIFETIMES,
        notes=notes,
        field="prompt_cache_key",
    )
    for each in placed:
        each.block[KEY] = {"mode": "explicit"}
        if each.lifetime is not None:
            each.block[KEY]["ttl"] = each.lifetime
    for piece, (_, sent, key) in zip(pieces, messages, strict=True):
        if any(each.blocks is piece.blocks for each in placed):
            sent[key] = piece.blocks
    return _fields(plan, has_marks=bool(placed))


def _piece(index: int, sent: Block, key: str, as_part: Callable[[str], Block]) -> Piece:
    content = sent.get(key)
    if isinstance(content, str):
        return Piece(index, "", [] if is_blank(content) else [as_part(content)])
    return Piece(index, "", blocks_of(content) or [])


def _fields(plan: CachePlan, *, has_marks: bool) -> CacheFields:
    fields: CacheFields = {}
    if plan.key is not None and plan.field == "cache_salt":
        fields["extra_body"] = {"cache_salt": plan.key}
    elif plan.key is not None:
        fields["prompt_cache_key"] = plan.key
    if plan.explicit or has_marks:
        fields["prompt_cache_options"] = {"mode": "explicit"}
    return fields
