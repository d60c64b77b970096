"""Read JSON into nodes, with the lines of everything, without recursion."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Any, NoReturn, cast

from promptsections.config.nodes import MAX_DEPTH, Items, Mistake, Node, Scalar, Table

_BLANKS = re.compile(r"[ \t\n]*")


def parse_json(text: str) -> Node:
    """Read a JSON document.

    Raises:
        Mistake: says what cannot be read, and on which line.
    """
    return _Reader(text).read()


def read_json(text: str) -> Any:
    """Read JSON as plain data, without lines, which is much faster.

    Raises:
        ValueError, RecursionError: if it cannot be read; `parse_json` says where.
    """
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


class _Reader:
    """Goes through the text once; the standard library reads the single values."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._values = json.JSONDecoder(parse_constant=_refuse)
        self._open: list[Items | Table] = []

    def read(self) -> Node:
        top = self._value()
        while self._open:
            self._next(self._open[-1])
        if self._peek():
            self._fail("the document goes on after its end")
        return top

    def _next(self, inner: Items | Table) -> None:
        """Read one more value of the innermost list or table, or its end."""
        closing = "]" if isinstance(inner, Items) else "}"
        if self._peek() == closing:
            self._place += 1
            self._open.pop()
            return
        if inner.items:
            if self._peek() != ",":
                self._fail(f"',' or {closing!r} is needed here")
            self._place += 1
            if self._peek() == closing:
                self._fail(f"a comma may not stand in front of {closing!r}")
        if isinstance(inner, Items):
            inner.items.append(self._value())
            return
        key, line = self._key(inner)
        inner.key_lines[key] = line
        inner.items[key] = self._value()

    def _key(self, table: Table) -> tuple[str, int]:
        if self._peek() != '"':
            self._fail("a key in double quotes is needed here")
        line = self._line()
        key = cast("str", self._scalar())
        if key in table.items:
            first = table.key_lines[key]
            raise Mistake(f"the key {key!r} stands here twice, first on line {first}", line)
        if self._peek() != ":":
            self._fail("':' is needed here")
        self._place += 1
        return key, line

    def _value(self) -> Node:
        """Read a single value, or the opening of a list or table."""
        opening, line = self._peek(), self._line()
        if opening not in ("[", "{"):
            return Scalar(self._scalar(), line)
        if len(self._open) >= MAX_DEPTH:
            self._fail(f"lists and tables nest more than {MAX_DEPTH} deep")
        self._place += 1
        node: Items | Table = Items([], line) if opening == "[" else Table({}, line)
        self._open.append(node)
        return node

    def _scalar(self) -> object:
        try:
            value, self._place = self._values.raw_decode(self._text, self._place)
        except json.JSONDecodeError as error:
            self._place = error.pos
            self._fail(error.msg[:1].lower() + error.msg[1:])
        except ValueError as error:  # NaN, or a number of more digits than Python reads
            self._fail(str(error))
        return cast("object", value)

    def _peek(self) -> str:
        match = _BLANKS.match(self._text, self._place)
        self._place = match.end() if match else self._place
        return self._text[self._place : self._place + 1]

    def _line(self) -> int:
        return bisect_right(self._starts, self._place)

    def _fail(self, why: str) -> NoReturn:
        line = self._line()
        column = self._place - self._starts[line - 1] + 1
        raise Mistake(f"this is no JSON: {why} (column {column})", line)
