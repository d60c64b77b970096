"""Write plain data as YAML, JSON or TOML that people can read and that reads back the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, cast

import yaml

from promptsections.config.document import Callables, KindsLike, Syntax, check_syntax, syntax_of
from promptsections.config.dump import Document, dump
from promptsections.config.nodes import Unquoted
from promptsections.config.prompt_file import PromptFile
from promptsections.errors import ConfigError
from promptsections.prompt import Prompt


def dumps(
    prompt: Prompt | PromptFile,
    *,
    format: Syntax = "yaml",  # noqa: A002  it is what people call it
    kinds: KindsLike | None = None,
    callables: Callables | None = None,
) -> str:
    """Write a prompt as a text; `loads` of it gives an equal prompt.

    Args:
        prompt: A prompt, or one with all that stands beside it in its file.
        format: What it is written in.
        kinds: Your own sections: the name that the document will use → the class.
        callables: Data sources and other functions: the name that the document will use → each.

    Raises:
        ConfigError: if something has no form in a file; names the section and says what to do.
    """
    check_syntax(format)
    return _WRITERS[format](dump(prompt, kinds=kinds, callables=callables))


def save(
    path: str | Path,
    prompt: Prompt | PromptFile,
    *,
    kinds: KindsLike | None = None,
    callables: Callables | None = None,
) -> None:
    """Write a prompt to a file, as UTF-8; its ending says what it is written in.

    Args:
        path: The file; it is replaced if there is one.
        prompt: A prompt, or one with all that stands beside it in its file.
        kinds: Your own sections: the name that the document will use → the class.
        callables: Data sources and other functions: the name that the document will use → each.

    Raises:
        ConfigError: if something has no form in a file; names the section and says what to do.
    """
    file = Path(path)
    text = dumps(prompt, format=syntax_of(file), kinds=kinds, callables=callables)
    file.write_text(text, encoding="utf-8", newline="\n")


# --- YAML -----------------------------------------------------------------------------------------


class _Dumper(yaml.SafeDumper):
    """Writes texts of many lines as blocks, and no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _write_text(dumper: Any, text: str) -> Any:
    style = None
    if _BLOCK.fullmatch(text):
        style = "|"
    elif text == "<<" or _LINE_END.search(text) or not isinstance(Unquoted(text).value, str):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_ENDS = "\n\r\x85\u2028\u2029"
_LINE_END = re.compile(f"[{_ENDS}]")
_LINE = rf"\S(?:[^{_ENDS}]*\S)?"
_BLOCK = re.compile(rf"(?!#){_LINE}(?:\n+ *{_LINE})+\n?")
"""Texts of many lines that a block holds as they are, without blanks at the ends of lines."""


def _write_float(dumper: Any, value: float) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:float", repr(value))


_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?$")

_resolvers: Any = _Dumper  # its stub leaves the types of arguments open
_resolvers.add_representer(str, _write_text)
_resolvers.add_representer(float, _write_float)
_resolvers.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, [*"-0123456789"])


def to_yaml(document: Document) -> str:
    """Write plain data as YAML."""
    written = StringIO()
    dumper: Any = _Dumper(written, allow_unicode=True, sort_keys=False, width=10**9)
    dumper.open()
    dumper.represent(document)
    dumper.close()
    return written.getvalue()


def to_json(document: Document) -> str:
    """Write plain data as JSON."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


# --- TOML -----------------------------------------------------------------------------------------

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f]')
_OF_TABLES = ("sections", "tools")
"""Lists whose tables get headers of their own."""


def to_toml(document: Document) -> str:
    """Write plain data as TOML.

    Raises:
        ConfigError: if it holds a null, which TOML does not have.
    """
    return "\n".join(_toml_table(document, ())).strip() + "\n"


def _toml_table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a table: single values first, then the tables in it."""
    inner: list[tuple[str, object]] = []
    for key, value in table.items():
        if value and (key in _OF_TABLES or (not path and _is_table(value))):
            inner.append((key, cast("object", value)))
        else:
            yield f"{_toml_key(key)} = {_toml(value, (*path, key), _toml_long)}"
    for key, value in inner:
        here = (*path, key)
        name = ".".join(map(_toml_key, here))
        if isinstance(value, list):
            for item in cast("list[Document]", value):
                yield f"\n[[{name}]]"
                yield from _toml_table(item, here)
        else:
            yield f"\n[{name}]"
            yield from _toml_table(cast("Document", value), here)


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _toml_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _toml_text(key)


def _toml(value: object, path: tuple[str, ...], text: Callable[[str], str]) -> str:
    match value:
        case None:
            raise ConfigError(
                f"{'.'.join(path)}: TOML has no null: write YAML or JSON", path="", kind="invalid"
            )
        case bool():
            return str(value).lower()
        case str():
            return text(value)
        case dict():
            items = cast("Document", value).items()
            pairs = [f"{_toml_key(k)} = {_toml(v, (*path, k), _toml_text)}" for k, v in items]
            return f"{{{' ' + ', '.join(pairs) + ' ' if pairs else ''}}}"
        case list():
            parts = [_toml(v, path, _toml_text) for v in cast("list[object]", value)]
            if sum(map(len, parts)) < 80:
                return f"[{', '.join(parts)}]"
            return "[\n" + "".join(f"  {part},\n" for part in parts) + "]"
        case _:
            return repr(value)


def _toml_text(text: str) -> str:
    return f'"{_ESCAPED.sub(_toml_escape, text)}"'


def _toml_long(text: str) -> str:
    """Write a text of many lines on as many lines."""
    if "\n" not in text:
        return _toml_text(text)
    return '"""\n' + "\n".join(_toml_text(line)[1:-1] for line in text.split("\n")) + '"""'


def _toml_escape(match: re.Match[str]) -> str:
    character = match[0]
    return "\\" + character if character in '"\\' else f"\\u{ord(character):04x}"


_WRITERS: Mapping[Syntax, Callable[[Document], str]] = {
    "yaml": to_yaml,
    "json": to_json,
    "toml": to_toml,
}
