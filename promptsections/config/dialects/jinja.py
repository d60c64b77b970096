"""Jinja2 templates that are texts with variables; everything that runs is refused.

Variables, text literals, comments, `raw`, and white space control are read.
"""

from __future__ import annotations

import re
from ast import literal_eval
from typing import NamedTuple

from promptsections.config.dialects.pieces import Piece, Untranslatable, Verbatim, path_of
from promptsections.templates.nodes import Text

_TAG = re.compile(r"\{(?P<kind>[{%#])(?P<trim>[-+]?)")
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_EXPRESSION = re.compile(
    rf"(?P<inner>(?:{_QUOTED}|(?!-?\}}\}})[^'\"])*+)(?P<trim>-?)\}}\}}", re.DOTALL
)
_COMMENT = re.compile(r"(?P<inner>.*?)(?P<trim>-?)#\}", re.DOTALL)
_STATEMENT = re.compile(r"(?P<inner>.*?)(?P<trim>[-+]?)%\}", re.DOTALL)
_END_OF_RAW = re.compile(r"\{%(?P<before>[-+]?)\s*endraw\s*(?P<trim>[-+]?)%\}")

_PATH = re.compile(rf"[^\W\d]\w*(?:\s*\.\s*\w+|\s*\[\s*(?:\d+|{_QUOTED})\s*\])*+")
_STEP = re.compile(rf"\.\s*(?P<name>\w+)|\[\s*(?P<key>\d+|{_QUOTED})\s*\]")
_LITERALS = frozenset(("true", "false", "none", "True", "False", "None"))


def read_jinja(source: str) -> list[Piece]:
    """Read a Jinja2 template.

    Raises:
        Untranslatable: at anything but a plain variable, a text, a comment or `raw`.
    """
    return _Reader(source).read()


class _Tag(NamedTuple):
    pieces: tuple[Piece, ...]
    end: int
    trims: bool
    """Whether white space after it goes."""


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source

    def read(self) -> list[Piece]:
        pieces: list[Piece] = []
        place, trims = 0, False
        while (tag := _TAG.search(self._source, place)) is not None:
            text = self._source[place : tag.start()]
            pieces.append(Text(_cut(text, start=trims, end=tag["trim"] == "-")))
            inner, place, trims = self._tag(tag)
            pieces += inner
        pieces.append(Text(_cut(self._source[place:], start=trims, end=False)))
        return pieces

    def _tag(self, tag: re.Match[str]) -> _Tag:
        match tag["kind"]:
            case "#":
                found = self._close(_COMMENT, tag, "the comment is not closed")
                return _Tag((), found.end(), found["trim"] == "-")
            case "%":
                return self._statement(tag)
            case _:
                found = self._close(_EXPRESSION, tag, "the placeholder is not closed")
                piece = self._expression(found["inner"].strip(), tag.start())
                return _Tag((piece,), found.end(), found["trim"] == "-")

    def _close(self, pattern: re.Pattern[str], tag: re.Match[str], problem: str) -> re.Match[str]:
        found = pattern.match(self._source, tag.end())
        if found is None:
            raise Untranslatable(problem, tag.start())
        return found

    def _statement(self, tag: re.Match[str]) -> _Tag:
        found = self._close(_STATEMENT, tag, "the statement is not closed")
        words = found["inner"].split()
        if words != ["raw"]:
            raise Untranslatable(
                f"'{{% {' '.join(words[:1])} … %}}' is a program, and a prompt here is a text with "
                "variables: do that in code, or in a section of your own",
                tag.start(),
            )
        end = _END_OF_RAW.search(self._source, found.end())
        if end is None:
            raise Untranslatable("'{% raw %}' is not closed", tag.start())
        text = self._source[found.end() : end.start()]
        text = _cut(text, start=found["trim"] == "-", end=end["before"] == "-")
        return _Tag((Text(text),), end.end(), end["trim"] == "-")

    def _expression(self, inner: str, position: int) -> Piece:
        if re.fullmatch(_QUOTED, inner, re.DOTALL):
            return Verbatim(_unquoted(inner))
        if not _PATH.fullmatch(inner) or inner in _LITERALS:
            raise Untranslatable(
                f"{_shown(inner)} is more than a variable: compute it in code and name the result",
                position,
            )
        first = re.match(r"\w+", inner)
        parts = [first[0]] if first else []
        for step in _STEP.finditer(inner, len("".join(parts))):
            key: str = step["name"] or step["key"]
            parts.append(key if key[0] not in "'\"" else _unquoted(key))
        return path_of(parts, inner, position)


def _cut(text: str, *, start: bool, end: bool) -> str:
    text = text.lstrip() if start else text
    return text.rstrip() if end else text


def _unquoted(text: str) -> str:
    return str(literal_eval(text.replace("\n", "\\n")))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
