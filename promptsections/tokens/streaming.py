"""Counting a text that comes in pieces, without holding all of it.

It knows no files and no units.
"""

from __future__ import annotations

from collections.abc import Iterable

from promptsections.tokens.approximate import ScaledTokenizer
from promptsections.tokens.boundaries import LOOK, last_strong
from promptsections.tokens.cache import CachedTokenizer
from promptsections.tokens.tokenizer import Tokenizer, joints_of

_HELD = 262_144
"""Characters that are gathered before some of them are counted."""


def count_stream(pieces: Iterable[str], tokenizer: Tokenizer) -> int:
    """Count the text that pieces make together, exactly as if it were counted whole.

    Counts add at strong boundaries (see `boundaries`), so what stands before the last one is
    counted and let go. A tokenizer that promises nothing about joints gets the whole text.
    """
    inner = tokenizer.tokenizer if isinstance(tokenizer, CachedTokenizer) else tokenizer
    if isinstance(inner, ScaledTokenizer):
        return inner.scaled(count_stream(pieces, inner.base))
    if joints_of(inner) == "none":
        return inner.count("".join(pieces))
    tokens = searched = 0
    held: list[str] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length < max(_HELD, 2 * searched):
            continue
        text = "".join(held)
        cut = last_strong(text, start=max(0, searched - LOOK))
        if cut is None:  # no place to part it yet: gather twice as much before the next search
            held, searched = [text], length
            continue
        tokens += inner.count(text[:cut])
        held, length, searched = [text[cut:]], len(text) - cut, 0
    return tokens + inner.count("".join(held))
