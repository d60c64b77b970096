"""Read YAML into nodes from the parser's events, so that no tag is ever obeyed.

Nothing is constructed here, anchors repeat a bounded amount of text, and depth is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import yaml
from attrs import define, field

from promptsections.config.nodes import MAX_DEPTH, Items, Mistake, Node, Scalar, Table, Unquoted

MAX_REPEATED = 1_000_000
"""How much anchors may repeat in a document, in characters and values together."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same events, faster
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT_TAG = "tag:yaml.org,2002:str"


def parse_yaml(text: str) -> Node:
    """Read one YAML document.

    Raises:
        Mistake: says what cannot be read, and on which line.
    """
    bad = _UNPRINTABLE.search(text)
    if bad:
        line = text.count("\n", 0, bad.start()) + 1
        raise Mistake(
            f"the character {bad[0]!a} may not stand in YAML as it is: "
            "write its escape in a text with double quotes",
            line,
        )
    try:
        return _Builder().build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = ", ".join(part for part in (error.context, error.problem) if part)
        message = f"this is no YAML: {why}{_hint(error, text)}"
        raise Mistake(message, mark.line + 1 if mark else None) from None


def _hint(error: yaml.MarkedYAMLError, text: str) -> str:
    """Say what to do about the mistakes that people make most; empty for all others."""
    problem, mark = error.problem or "", error.problem_mark
    if mark is None:
        return ""
    written = [*text.split("\n"), ""][mark.line]
    character = written[mark.column : mark.column + 1]
    if "tab character" in problem or character == "\t":
        return "; YAML is indented with spaces, not with tabs"
    if "cannot start any token" in problem:
        return f"; a text that begins with {character} needs quotes"
    if "mapping values are not allowed" in problem and written.count(":") > 1:
        return "; a text that holds ': ' needs quotes, or '|' and lines of its own"
    if "mapping values are not allowed" in problem:
        return _ALIGN
    if "did not find expected key" in problem or "expected '-'" in problem:
        quoted = "'" in written or '"' in written
        return "; nothing may follow the quote that ends a text" if quoted else _ALIGN
    return ""


_ALIGN = "; keys of a table, and items of a list, begin in the same column"


@define
class _Open:
    """A list or table that is being read."""

    node: Items | Table
    anchor: str | None
    weight: int = 1
    key: str | None = None
    key_line: int = 0
    is_merge: bool = False
    """Whether the key is `<<`, which brings in what other tables say."""
    merged: list[Table] = field(factory=list[Table])
    """What `<<` brings in."""


class _Builder:
    """Makes nodes of events, without recursion."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._pending: set[str] = set()
        self._repeated = 0
        self._top: Node | None = None

    def build(self, events: Iterator[object]) -> Node:
        documents = 0
        for event in events:
            match event:
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise Mistake("one file holds one document", _line(event))
                case yaml.AliasEvent():
                    self._alias(event)
                case yaml.ScalarEvent():
                    self._scalar(event)
                case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    self._start(event)
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._end()
                case _:
                    pass
        if self._top is None:
            raise Mistake("the document is empty")
        return self._top

    def _alias(self, event: Any) -> None:
        line = _line(event)
        if event.anchor in self._pending:
            raise Mistake(f"*{event.anchor} stands inside of what it repeats", line)
        if event.anchor not in self._anchors:
            raise Mistake(f"nothing is marked &{event.anchor}", line)
        node, weight = self._anchors[event.anchor]
        self._repeated += weight
        if self._repeated > MAX_REPEATED:
            raise Mistake(
                f"anchors repeat more than {MAX_REPEATED:,} characters: the document is too large",
                line,
            )
        self._add(node, weight, line)

    def _scalar(self, event: Any) -> None:
        line = _line(event)
        _check_tag(event.tag, line)
        text: str = event.value
        plain = not event.style and event.tag != _TEXT_TAG
        is_block = event.style in ("|", ">")
        node = Scalar(Unquoted(text) if plain else text, line, line + 1 if is_block else None)
        self._remember(event.anchor, node, len(text) + 1)
        self._add(node, len(text) + 1, line)

    def _start(self, event: Any) -> None:
        line = _line(event)
        _check_tag(event.tag, line)
        if len(self._open) >= MAX_DEPTH:
            raise Mistake(f"lists and tables nest more than {MAX_DEPTH} deep", line)
        is_table = isinstance(event, yaml.MappingStartEvent)
        if self._expects_key():
            braces = isinstance(event, yaml.MappingStartEvent) and event.flow_style
            hint = "; a text that begins with {{ needs quotes" if braces else ""
            raise Mistake(f"a key must be a text{hint}", line)
        if event.anchor:
            self._pending.add(event.anchor)
        node: Items | Table = Table({}, line) if is_table else Items([], line)
        self._open.append(_Open(node, event.anchor))

    def _end(self) -> None:
        done = self._open.pop()
        if isinstance(done.node, Table):
            _merge(done.node, done.merged)
        if done.anchor:
            self._pending.discard(done.anchor)
        self._remember(done.anchor, done.node, done.weight)
        self._add(done.node, done.weight, done.node.line or 0)

    def _remember(self, anchor: str | None, node: Node, weight: int) -> None:
        if anchor:
            self._anchors[anchor] = (node, weight)

    def _expects_key(self) -> bool:
        top = self._open[-1] if self._open else None
        return top is not None and isinstance(top.node, Table) and top.key is None

    def _add(self, node: Node, weight: int, line: int) -> None:
        if not self._open:
            self._top = node
            return
        top = self._open[-1]
        top.weight += weight
        if isinstance(top.node, Items):
            top.node.items.append(node)
        elif top.key is None:
            self._key(top, top.node, node, line)
        else:
            key, top.key = top.key, None
            if top.is_merge:
                top.merged += _to_merge(node, line)
            else:
                top.node.items[key] = node
                top.node.key_lines[key] = top.key_line

    def _key(self, top: _Open, table: Table, node: Node, line: int) -> None:
        if not isinstance(node, Scalar):
            raise Mistake("a key must be a text", line)
        is_plain = isinstance(node.value, Unquoted)
        key = node.value.text if isinstance(node.value, Unquoted) else cast("str", node.value)
        if key in table.items:
            first = table.key_lines[key]
            raise Mistake(f"the key {key!r} stands here twice, first on line {first}", line)
        top.key, top.is_merge = key, is_plain and key == "<<"
        top.key_line = line


def _to_merge(node: Node, line: int) -> list[Table]:
    nodes = node.items if isinstance(node, Items) else [node]
    tables = [item for item in nodes if isinstance(item, Table)]
    if len(tables) < len(nodes):
        raise Mistake("<< takes a table, or a list of them", line)
    return tables


def _merge(table: Table, others: list[Table]) -> None:
    """Put in what the table does not say itself; what comes first wins."""
    for other in others:
        for key, node in other.items.items():
            if key not in table.items:
                table.items[key] = node
                table.key_lines[key] = other.key_lines[key]


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _check_tag(tag: str | None, line: int) -> None:
    if tag is not None and tag not in (_TEXT_TAG, "!"):
        written = tag.replace("tag:yaml.org,2002:", "!!")
        raise Mistake(f"the tag {written} is not obeyed: leave it out", line)
