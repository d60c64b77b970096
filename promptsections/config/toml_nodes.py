"""Read TOML into nodes; the standard library reads it, the lines are found beside it."""

from __future__ import annotations

import math
import re
import tomllib
from datetime import date, time
from typing import Any, cast

from promptsections.config.nodes import MAX_DEPTH, Items, Mistake, Node, Scalar, Table

_AT = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"[ \t]*(?P<open>\[\[?)[ \t]*(?P<key>{_DOTTED})[ \t]*\]")
_PAIR = re.compile(rf"[ \t]*(?P<key>{_DOTTED})[ \t]*=[ \t]*(?P<value>.*)")
_LONG_QUOTE = re.compile(r'"""|\'\'\'')

_Path = tuple[str | int, ...]
_Lines = dict[_Path, int]


def parse_toml(text: str) -> Node:
    """Read a TOML document.

    Raises:
        Mistake: says what cannot be read, and on which line.
    """
    try:
        data = tomllib.loads(text)
        lines, texts = _find_lines(text)
        return _node(data, (), lines, texts, 1)
    except tomllib.TOMLDecodeError as error:
        why = str(error)
        at = _AT.search(why)
        line = int(at["line"]) if at and at["line"] else text.count("\n") + 1
        why = _AT.sub("", why)
        raise Mistake(f"this is no TOML: {why[:1].lower()}{why[1:]}", line) from None
    except RecursionError:
        raise Mistake(f"lists and tables nest more than {MAX_DEPTH} deep") from None


def _node(value: Any, path: _Path, lines: _Lines, texts: _Lines, line: int) -> Node:
    """Make nodes; what has no line of its own stands on that of what it is in."""
    if len(path) > MAX_DEPTH:
        raise Mistake(f"lists and tables nest more than {MAX_DEPTH} deep", line)
    line = lines.get(path, line)
    match value:
        case dict():
            items = cast("dict[str, Any]", value)
            made = {
                key: _node(item, (*path, key), lines, texts, line) for key, item in items.items()
            }
            return Table(made, line, {key: lines.get((*path, key), line) for key in items})
        case list():
            values = cast("list[Any]", value)
            return Items(
                [_node(item, (*path, n), lines, texts, line) for n, item in enumerate(values)], line
            )
        case float() if not math.isfinite(value):
            raise Mistake(f"{value} is no number that a prompt can use", line)
        case date() | time():
            return Scalar(value.isoformat(), line)
        case _:
            return Scalar(value, line, texts.get(path))


def _find_lines(text: str) -> tuple[_Lines, _Lines]:
    """Find the line of each key and table, and the first line of each text of many lines."""
    lines: _Lines = {}
    texts: _Lines = {}
    here: _Path = ()
    counts: dict[_Path, int] = {}
    quote: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if quote:
            quote = None if _is_odd(line, quote) else quote
            continue
        header, pair = _HEADER.match(line), _PAIR.match(line)
        if header:
            here = _last(_keys(header["key"]), counts)
            if header["open"] == "[[":
                index = counts[here] = counts.get(here, -1) + 1
                lines.setdefault(here, number)
                here = (*here, index)
            lines[here] = number
        elif pair:
            path = (*here, *_keys(pair["key"]))
            for length in range(len(here) + 1, len(path) + 1):
                lines.setdefault(path[:length], number)
            opened = _LONG_QUOTE.match(pair["value"])
            if opened:
                texts[path] = number + (pair["value"] == opened[0])
        quotes = _LONG_QUOTE.findall(line)
        quote = quotes[0] if quotes and _is_odd(line, quotes[0]) else None
    return lines, texts


def _is_odd(line: str, quote: str) -> bool:
    """Say whether a line opens or closes a text of many lines."""
    return line.count(quote) % 2 == 1


def _keys(dotted: str) -> list[str]:
    parts: list[str] = re.findall(_PART, dotted)
    return [next(iter(tomllib.loads(f"{part} = 0"))) for part in parts]


def _last(keys: list[str], counts: dict[_Path, int]) -> _Path:
    """Return the path of a table: through a list of tables, that of the last one."""
    path: _Path = ()
    for place, key in enumerate(keys):
        path = (*path, key)
        if path in counts and place < len(keys) - 1:
            path = (*path, counts[path])
    return path
