"""The inputs that a `.prompty` file declares: as JSON Schemas, and as sample memory.

Version 1 has a table of names with `type`, version 2 a list or a table with `kind`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from promptsections.config.files import inside
from promptsections.config.keys import Keys, read_json_keys
from promptsections.config.nodes import settle, to_plain

_TYPES = {
    "string": "string",
    "integer": "integer",
    "int": "integer",
    "float": "number",
    "number": "number",
    "boolean": "boolean",
    "bool": "boolean",
    "array": "array",
    "list": "array",
    "object": "object",
    "null": "null",
}
_MEDIA = ("image", "file", "audio")


@frozen
class Inputs:
    """What the file declares."""

    variables: Mapping[str, Mapping[str, Any]]
    """Name → JSON Schema, with the default in it."""
    samples: Mapping[str, Any]
    """Name → default, or else the value that is given as an example."""
    threads: tuple[str, ...]
    """Names of the inputs that are conversations."""
    media: tuple[str, ...]
    """Names of the inputs that are images, files or sound."""


def read_inputs(header: Keys) -> Inputs:
    """Read `inputs` and `sample`."""
    variables: dict[str, Mapping[str, Any]] = {}
    samples: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    for name, value in _declared(header, "inputs"):
        if not isinstance(value, Keys):
            samples[name], variables[name] = value, {}
            continue
        kinds[name] = value.text("kind") or value.text("type") or ""
        variables[name] = schema_of(value)
        for key in ("default", "example", "sample"):
            if key in value:
                samples[name] = value.plain(key)
                break
        else:
            if "required" in value and not value.flag("required", default=True):
                samples[name] = ""  # as the format renders what is missing
    samples |= _sample(header)
    return Inputs(
        variables,
        samples,
        tuple(name for name, kind in kinds.items() if kind == "thread"),
        tuple(name for name, kind in kinds.items() if kind in _MEDIA),
    )


def _declared(header: Keys, key: str) -> Iterator[tuple[str, Any]]:
    """Yield name and declaration, whether they stand in a list or in a table."""
    if isinstance(header.plain(key), list):
        for item in header.tables(key):
            name = item.text("name")
            if not name:
                raise item.error("a name is missing")
            yield name, item
        return
    table = header.inner(key)
    for name, node in table.table.items.items():
        plain = settle(to_plain(node))
        yield name, table.inner(name) if isinstance(plain, dict) else plain


def schema_of(declared: Keys) -> Mapping[str, Any]:
    """Return the JSON Schema of an input, or of a parameter of a tool."""
    schema: dict[str, Any] = {}
    kind = declared.text("kind") or declared.text("type") or ""
    if kind in _TYPES:
        schema["type"] = _TYPES[kind]
    for key, name in (("description",) * 2, ("enumValues", "enum"), ("enum",) * 2):
        if key in declared:
            schema[name] = declared.plain(key)
    if kind == "thread":
        schema |= {"type": "array"}
    if kind in ("array", "list") and "items" in declared:
        schema["items"] = schema_of(declared.inner("items"))
    if kind == "object" and "properties" in declared:
        schema |= object_schema(declared, "properties")
    if "default" in declared:
        schema["default"] = declared.plain("default")
    return schema


def object_schema(owner: Keys, key: str) -> dict[str, Any]:
    """Return the JSON Schema of an object whose properties are declared under a key."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, value in _declared(owner, key):
        properties[name] = schema_of(value) if isinstance(value, Keys) else {}
        if isinstance(value, Keys) and value.flag("required", default=False):
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": required} if required else {})


def _sample(header: Keys) -> Mapping[str, Any]:
    """Read the sample of version 1: a table, or the name of a JSON file beside the prompt."""
    written = header.plain("sample")
    if not isinstance(written, str):
        return {name: header.inner("sample").plain(name) for name in header.inner("sample")}
    name = written.strip().removeprefix("${file:").removesuffix("}")
    if not name.endswith(".json"):
        raise header.error("must be a table, or the name of a JSON file", "sample")
    keys = read_json_keys(inside(header.file.parent, name))
    return {name: keys.plain(name) for name in keys}
