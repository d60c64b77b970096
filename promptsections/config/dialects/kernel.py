"""Semantic Kernel's own template language: variables, texts in quotes, functions.

It has no escapes: what opens no block is text. Source: semantic-kernel 1.45, `template_engine`.
"""

from __future__ import annotations

import re

from promptsections.config.dialects.pieces import Piece, Untranslatable, path_of
from promptsections.errors import TemplateSyntaxError
from promptsections.templates.nodes import Call, Text
from promptsections.templates.parser import parse

_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_INSIDE = re.compile(rf"(?:{_QUOTED}|\{{(?!\{{)|\}}(?!\}})|[^'\"{{}}])*+", re.DOTALL)
_WORD = re.compile(rf"{_QUOTED}|\$\w*")


def read_kernel(source: str) -> list[Piece]:
    """Read a template of Semantic Kernel.

    Raises:
        Untranslatable: at a block that is neither a variable, a text nor a call.
    """
    pieces: list[Piece] = []
    place = start = 0
    while (start := source.find("{{", start)) >= 0:
        if source.startswith("{", start + 2):
            start += 1
            continue
        inside = _INSIDE.match(source, start + 2)
        end = inside.end() if inside else start
        if source.startswith("{{", end):  # what was open is text
            start = end
            continue
        if not source.startswith("}}", end):
            break  # a quote or the block is not closed: the rest is text
        pieces.append(Text(source[place:start]))
        inner = source[start + 2 : end]
        pieces.append(_block(inner, source[start : end + 2], start))
        place = start = end + 2
    pieces.append(Text(source[place:]))
    return pieces


def _block(inner: str, written: str, position: int) -> Piece:
    words = inner.strip()
    if not words:
        return Text(written)
    first = _WORD.match(words)
    if first is None:
        return _call(words, position)
    if first.end() < len(words):
        raise Untranslatable(f"nothing may follow {first[0]!r} in {written!r}", position)
    if first[0][0] == "$":
        return path_of([first[0][1:]], first[0], position)
    return Text(re.sub(r"\\([\\'\"])", r"\1", first[0][1:-1]))


def _call(words: str, position: int) -> Piece:
    try:
        nodes = parse(f"{{{{{words}}}}}", ("{{", "}}"))
    except TemplateSyntaxError:
        nodes = ()
    call = nodes[0] if len(nodes) == 1 else None
    if isinstance(call, Call):
        return call
    raise Untranslatable(
        f"{words!r} is neither a variable, a text in quotes nor a call of a function", position
    )
