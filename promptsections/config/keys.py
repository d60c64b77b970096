"""`Keys`: the keys of a table in a file, read one by one, with errors that name file, line and key.

For formats of others, whose files may hold keys that nobody here knows. It knows no prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import frozen

from promptsections.config.files import read_text
from promptsections.config.json_nodes import parse_json
from promptsections.config.nodes import (
    Items,
    Mistake,
    Node,
    Scalar,
    Table,
    Unquoted,
    as_written,
    line_of,
    settle,
    shown,
    to_plain,
)
from promptsections.config.problems import config_error
from promptsections.config.remarks import Remarks
from promptsections.config.yaml_nodes import parse_yaml
from promptsections.errors import ConfigError, Problem
from promptsections.templates.suggestions import did_you_mean, suggest

_FLAGS = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
}


@frozen
class Keys:
    """A table of a document, and where it stands there."""

    file: Path
    document: Node
    location: tuple[str | int, ...]
    table: Table
    first_line: int = 1
    """The line of the file on which the document begins."""

    @classmethod
    def of_item(cls, file: Path, document: Items, index: int) -> Keys:
        """Return a table in a document that is a list.

        Raises:
            ConfigError: if it is something else.
        """
        item = document.items[index]
        if not isinstance(item, Table):
            raise invalid(file, "must be a table of keys and values", item.line, f"[{index}]")
        return cls(file, document, (index,), item)

    def error(self, message: str, *location: str | int) -> ConfigError:
        """Make an error about something in this table."""
        return invalid(self.file, message, self.line(*location), self.path(*location))

    def line(self, *location: str | int) -> int | None:
        """Return the line of the file where something in this table is written."""
        line = line_of(self.document, (*self.location, *location))
        return None if line is None else line + self.first_line - 1

    def path(self, *location: str | int) -> str:
        """Write where something in this table stands, for a note."""
        return shown((*self.location, *location))

    def __contains__(self, key: str) -> bool:
        return not _is_nothing(self.table.items.get(key))

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.items)

    def plain(self, key: str) -> Any:
        """Return a value as plain data, whatever it is; `None` if there is none."""
        node = self.table.items.get(key)
        return None if node is None else settle(to_plain(node))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {key: self.plain(key) for key in self}

    def text(self, key: str) -> str | None:
        """Return a text exactly as it is written, or `None`."""
        match self._scalar(key, "a text"):
            case None:
                return None
            case Unquoted(text=text) | str(text):
                return text
            case other:
                raise self.error(f"must be a text, not {other!r}", key)

    def text_line(self, key: str) -> int | None:
        """Return the line of the file where the first line of a text stands."""
        node = self.table.items.get(key)
        line = node.text_line or node.line if isinstance(node, Scalar) else None
        return None if line is None else line + self.first_line - 1

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a truth value, or the default."""
        value = self._scalar(key, "true or false")
        if isinstance(value, Unquoted):
            value = _FLAGS.get(value.text.lower(), value.text)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        raise self.error(f"must be true or false, not {value!r}", key)

    def number(self, key: str) -> int | float | None:
        """Return a number, or `None`."""
        value = self._scalar(key, "a number")
        if isinstance(value, Unquoted):
            value = value.value
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        raise self.error(f"must be a number, not {value!r}", key)

    def whole(self, key: str, *, at_least: int) -> int | None:
        """Return a whole number, or `None`."""
        value = self.number(key)
        if value is None:
            return None
        if Fraction(value).denominator != 1 or value < at_least:
            raise self.error(f"must be a whole number of at least {at_least}, not {value!r}", key)
        return int(value)

    def inner(self, key: str) -> Keys:
        """Return the table under a key; an empty one if there is none."""
        node = self.table.items.get(key)
        if node is None or _is_nothing(node):
            node = Table({}, self.table.line)
        if not isinstance(node, Table):
            raise self.error("must be a table of keys and values", key)
        return Keys(self.file, self.document, (*self.location, key), node, self.first_line)

    def tables(self, key: str) -> list[Keys]:
        """Return the tables of the list under a key; none if there is no list."""
        tables: list[Keys] = []
        for index, node in enumerate(self._items(key)):
            if not isinstance(node, Table):
                raise self.error("must be a table of keys and values", key, index)
            where = (*self.location, key, index)
            tables.append(Keys(self.file, self.document, where, node, self.first_line))
        return tables

    def texts(self, key: str) -> list[str]:
        """Return the texts of the list under a key; none if there is no list."""
        texts: list[str] = []
        for index, node in enumerate(self._items(key)):
            text = as_written(to_plain(node))
            if not isinstance(text, str):
                raise self.error(f"must be a text, not {text!r}", key, index)
            texts.append(text)
        return texts

    def _items(self, key: str) -> Sequence[Node]:
        node = self.table.items.get(key)
        if _is_nothing(node):
            return ()
        if not isinstance(node, Items):
            raise self.error("must be a list", key)
        return node.items

    def _scalar(self, key: str, needed: str) -> object:
        node = self.table.items.get(key)
        if node is None or _is_nothing(node):
            return None
        if isinstance(node, Scalar):
            return node.value
        kind = "list" if isinstance(node, Items) else "table"
        raise self.error(f"must be {needed}, not a {kind}", key)

    def check_names(self, known: Sequence[str], remarks: Remarks) -> None:
        """Refuse keys that look like one that is missing, and take note of other unknown ones.

        Raises:
            ConfigError: says which key was probably meant.
        """
        for key in self.table.items.keys() - set(known):
            near = [name for name in suggest(key, known) if name not in self.table.items]
            if near:
                raise self.error(f"the key {key!r} is not known{did_you_mean(key, near)}", key)
        for key in self.table.items:
            if key not in known:
                remarks.say(
                    "unknown_key", self.path(key), f"the key {key!r} is not known; not read"
                )


def _is_nothing(node: Node | None) -> bool:
    if not isinstance(node, Scalar):
        return node is None
    return node.value is None or (isinstance(node.value, Unquoted) and node.value.is_null)


def read_json(file: Path) -> Node:
    """Read a JSON file.

    Raises:
        ConfigError: if it is missing, or no JSON; names the line.
    """
    return _parse(file, read_text(file), parse_json)


def read_json_keys(file: Path) -> Keys:
    """Read a JSON file that holds one table.

    Raises:
        ConfigError: if it is missing or holds something else.
    """
    return as_keys(file, read_json(file))


def read_yaml_keys(file: Path, text: str, first_line: int = 1) -> Keys:
    """Read YAML that holds one table; an empty text is an empty table.

    Args:
        file: Where it stands, for errors.
        text: The YAML.
        first_line: The line of the file on which it begins.

    Raises:
        ConfigError: if it is no YAML or holds something else.
    """
    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n")):
        return Keys(file, Table({}, 1), (), Table({}, 1), first_line)
    return as_keys(file, _parse(file, text, parse_yaml, first_line), first_line)


def as_keys(file: Path, node: Node, first_line: int = 1) -> Keys:
    """Return the table that a whole document is."""
    if not isinstance(node, Table):
        raise invalid(file, "must hold a table of keys and values", node.line)
    return Keys(file, node, (), node, first_line)


def _parse(file: Path, text: str, parse: Callable[[str], Node], first_line: int = 1) -> Node:
    try:
        return parse(text)
    except Mistake as mistake:
        line = None if mistake.line is None else mistake.line + first_line - 1
        raise invalid(file, mistake.message, line) from None


def invalid(file: Path, message: str, line: int | None = None, where: str = "") -> ConfigError:
    """Make the error for a file whose content is wrong.

    Args:
        file: The file.
        message: What is wrong, and what to do.
        line: The line, from 1.
        where: The key.
    """
    return config_error([Problem(message, line, where)], str(file.absolute()))
