"""Plain data out of whatever a provider's SDK hands out: dicts, lists, text, numbers.

It knows no messages and no provider's format, and imports no SDK.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, cast

from promptsections.errors import DefinitionError
from promptsections.profiles.tools import json_text

Block = dict[str, Any]
"""A piece of a payload: a content block, a part, an item, a message."""


def _base64(value: bytes) -> object:
    return base64.b64encode(value).decode("ascii")


def to_plain(value: object, from_bytes: Callable[[bytes], object] = _base64) -> Any:
    """Copy a value as plain data: objects with `model_dump()` become dicts, at any depth.

    Fields of such objects that are `None` are left out: an answer names every field, a request
    takes `null` for few of them. Bytes become base64.

    Raises:
        DefinitionError: if something in it is no plain data.
    """
    match value:
        case Enum():
            return to_plain(value.value, from_bytes)
        case None | bool() | int() | float() | str():
            return value
        case bytes() | bytearray():
            return from_bytes(bytes(value))
        case Mapping():
            items = cast("Mapping[object, object]", value).items()
            return {str(key): to_plain(item, from_bytes) for key, item in items}
        case _:
            pass
    dumped = _dump(value)
    if dumped is not None:
        return to_plain(dumped, from_bytes)
    if isinstance(value, Iterable):
        return [to_plain(item, from_bytes) for item in cast("Iterable[object]", value)]
    raise DefinitionError(f"{type(value).__name__} is no plain data: pass dicts, lists and text")


def to_block(value: object, from_bytes: Callable[[bytes], object] = _base64) -> Block:
    """Copy one message or block as plain data.

    Raises:
        DefinitionError: if it is none.
    """
    plain = to_plain(value, from_bytes)
    if not isinstance(plain, dict):
        raise DefinitionError(f"a dict is needed here, not {type(value).__name__}")
    return cast("Block", plain)


def copied(value: Any) -> Any:
    """Copy plain data, so that a request shares nothing with what it was made of.

    Raises:
        TypeError, ValueError: if it is no JSON.
    """
    return json.loads(json_text(value))


def blocks_of(value: object) -> list[Block] | None:
    """Return a list of dicts as such, or `None` if it is something else."""
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    return cast("list[Block]", items) if all(isinstance(item, dict) for item in items) else None


def block_of(value: object) -> Block:
    """Return a dict as such, and an empty one for anything else."""
    return cast("Block", value) if isinstance(value, dict) else {}


def _dump(value: object) -> Mapping[str, Any] | None:
    dump = getattr(value, "model_dump", None)
    if not callable(dump):
        return None
    try:
        dumped = dump(by_alias=True, exclude_none=True)
    except TypeError:  # not pydantic's: it takes no such arguments
        dumped = dump()
    return cast("Mapping[str, Any]", dumped) if isinstance(dumped, Mapping) else None
