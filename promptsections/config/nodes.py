"""What a document says and on which line, whatever it is written in: YAML, JSON or TOML.

It knows no prompts and no pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, assert_never, cast

from attrs import field, frozen

MAX_DEPTH = 300
"""Levels of tables and lists in a document; groups nest 100 deep and take two each."""

Location = Sequence[str | int]
"""Keys and indexes that lead from the top of a document to something in it."""


class Mistake(Exception):  # noqa: N818  it never leaves this package
    """Something that is wrong with a document as it is written."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@frozen
class Unquoted:
    """A YAML value without quotes; what it means is up to the field that it is for."""

    text: str
    """As it is written."""

    @property
    def value(self) -> str | int | float | bool | None:
        """What it means where nothing says: a number only if that number prints the same."""
        if self.text in _WORDS:
            return _WORDS[self.text]
        if _WHOLE.fullmatch(self.text):
            return int(self.text)
        if _NUMBER.fullmatch(self.text) and repr(float(self.text)) == self.text:
            return float(self.text)
        return self.text

    @property
    def is_null(self) -> bool:
        """Whether it says that there is nothing."""
        return self.text in _NULLS


_NULLS = {"", "~", "null", "Null", "NULL"}
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(_NULLS),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,4000}")  # Python reads no longer ones from a text
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?")


@frozen
class Scalar:
    """A text, number, truth value or nothing."""

    value: object
    """`Unquoted` where YAML leaves open what it is."""
    line: int | None
    """Where the value begins, from 1."""
    text_line: int | None = None
    """Where the first line of a text stands, if its lines are lines of the file."""


@frozen
class Items:
    """A list."""

    items: list[Node]
    line: int | None


@frozen
class Table:
    """Keys and values."""

    items: dict[str, Node]
    line: int | None
    key_lines: dict[str, int | None] = field(factory=dict[str, "int | None"])


Node = Scalar | Items | Table


def to_plain(node: Node) -> Any:
    """Return a node as lists, dicts and values; YAML's unquoted values stay `Unquoted`."""
    match node:
        case Scalar():
            return node.value
        case Items():
            return [to_plain(item) for item in node.items]
        case Table():
            return {key: to_plain(item) for key, item in node.items.items()}
        case _:
            assert_never(node)


def settle(value: object) -> Any:
    """Decide what unquoted values mean, at any depth."""
    return _replaced(value, lambda unquoted: unquoted.value)


def as_written(value: object) -> Any:
    """Take unquoted values as the texts that they are written as, at any depth."""
    return _replaced(value, lambda unquoted: unquoted.text)


def _replaced(value: object, meaning: Callable[[Unquoted], object]) -> object:
    match value:
        case Unquoted():
            return meaning(value)
        case list():
            return [_replaced(item, meaning) for item in cast("list[object]", value)]
        case dict():
            items = cast("dict[str, object]", value).items()
            return {key: _replaced(item, meaning) for key, item in items}
        case _:
            return value


def trail(node: Node, location: Location) -> Iterator[tuple[str | int | None, Node]]:
    """Yield the top node and the nodes that a location leads through, as far as it does."""
    yield None, node
    for key in location:
        if isinstance(node, Table) and key in node.items:
            node = node.items[str(key)]
        elif isinstance(node, Items) and isinstance(key, int) and key < len(node.items):
            node = node.items[key]
        else:
            return
        yield key, node


def line_of(node: Node, location: Location) -> int | None:
    """Return the line where something is written: that of its key, if it has one."""
    line = node.line
    above: Node = node
    for key, inner in trail(node, location):
        if isinstance(above, Table) and isinstance(key, str):
            line = above.key_lines.get(key) or inner.line or line
        elif key is not None:
            line = inner.line or line
        above = inner
    return line


def find(node: Node, location: Location) -> Node | None:
    """Return the node at a location, or `None` if there is none."""
    found = list(trail(node, location))
    return found[-1][1] if len(found) == len(location) + 1 else None


def shown(location: Location) -> str:
    """Write a location for people: `sections[2].tokens`."""
    text = ""
    for key in location:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text
