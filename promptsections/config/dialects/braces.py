"""Mustache and Handlebars templates that are texts with variables; all else is refused.

Nothing is escaped for HTML: a prompt is no web page.
"""

from __future__ import annotations

import re

from promptsections.config.dialects.pieces import Piece, Untranslatable, path_of
from promptsections.templates.nodes import Text

_TAG = re.compile(
    r"\{\{!--(?P<long>.*?)--\}\}|\{\{!(?P<comment>.*?)\}\}"
    r"|\{\{\{(?P<triple>[^{}]*+)\}\}\}|\{\{&(?P<raw>[^{}]*+)\}\}|\{\{(?P<name>[^{}]*+)\}\}|\{\{",
    re.DOTALL,
)
_WORDS = frozenset(("", ".", "this", "else"))
_PROGRAMS = {
    "#": "a section",
    "^": "an inverted section",
    "/": "the end of a section",
    ">": "a partial",
    "=": "a change of delimiters",
    "~": "white space control",
}


def read_braces(source: str) -> list[Piece]:
    """Read a Mustache or Handlebars template.

    Raises:
        Untranslatable: at anything but a variable or a comment.
    """
    pieces: list[Piece] = []
    place = 0
    while (tag := _TAG.search(source, place)) is not None:
        start, end = tag.span()
        if tag["comment"] is not None or tag["long"] is not None:
            start, end = _whole_line(source, start, end)
            pieces.append(Text(source[place : max(place, start)]))
        else:
            pieces.append(Text(source[place:start]))
            pieces.append(_variable(tag))
        place = end
    pieces.append(Text(source[place:]))
    return pieces


def _whole_line(source: str, start: int, end: int) -> tuple[int, int]:
    """Widen a comment that stands alone to its line; otherwise return it as it is."""
    before = source.rfind("\n", 0, start) + 1
    after = source.find("\n", end)
    after = len(source) if after < 0 else after + 1
    alone = not source[before:start].strip() and not source[end:after].strip()
    return (before, after) if alone else (start, end)


def _variable(tag: re.Match[str]) -> Piece:
    written = next((tag[name] for name in ("triple", "raw", "name") if tag[name] is not None), None)
    if written is None:
        raise Untranslatable("the placeholder is not closed", tag.start())
    name = written.strip()
    if name[:1] in _PROGRAMS:
        raise Untranslatable(
            f"{tag[0]!r} is {_PROGRAMS[name[:1]]}, and a prompt here is a text with variables: do "
            "that in code, or in a section of your own",
            tag.start(),
        )
    if name in _WORDS or len(name.split()) > 1:
        raise Untranslatable(
            f"{tag[0]!r} is more than a variable: compute it in code and name the result",
            tag.start(),
        )
    return path_of(name.split("."), name, tag.start())
