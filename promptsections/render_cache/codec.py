"""A `RenderedPrompt` as JSON, and back; a closed list of classes, so that no entry runs anything.

A tuple is a JSON array, everything else that JSON has not is an object with one key that says what
it is. It knows no store and no key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite
from types import MappingProxyType
from typing import Any, Final, cast

import attrs

from promptsections.budgets import Auto, Rest, Share, Tokens
from promptsections.caching.plan import CachePlan, Mark
from promptsections.layout import Layout, Origin, Placement, Prefix, Reason
from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    TextPart,
    Tool,
    ToolCall,
)
from promptsections.notes import Note
from promptsections.profiles.caching import Lifetime
from promptsections.rendered import RenderedPrompt
from promptsections.summaries import Summary

_CLASSES: Final[Mapping[str, type[Any]]] = {
    kind.__name__: kind
    for kind in (
        RenderedPrompt, Message, TextPart, ImagePart, FilePart, AudioPart, ToolCall, Tool,
        Layout, Placement, Prefix, Note, Origin, CachePlan, Mark, Lifetime, Summary,
        Auto, Tokens, Share, Rest, Summary,
    )
}  # fmt: skip
_KINDS: Final = frozenset(_CLASSES.values())


class Unwritable(Exception):  # noqa: N818 - an answer, which never leaves this package
    """Why something cannot be written."""


class Unreadable(Exception):  # noqa: N818 - an answer, which never leaves this package
    """Data that this module has not written."""


def to_plain(value: object) -> object:
    """Return a rendered prompt, or anything in one, as plain data.

    Timings are left out.

    Raises:
        Unwritable: it holds what would not come back as it was.
    """
    kind: type[Any] = type(value)
    if value is None or kind in (str, int, bool):
        return value
    if kind is tuple:
        return [to_plain(item) for item in cast("tuple[object, ...]", value)]
    if kind in _KINDS:
        return {kind.__name__: {n: to_plain(getattr(value, n)) for n in _fields(kind)}}
    if kind is list:
        return {"list": [to_plain(item) for item in cast("list[object]", value)]}
    if kind in (dict, MappingProxyType):
        return {
            "map": {_key(k): to_plain(v) for k, v in cast("dict[object, object]", value).items()}
        }
    if kind is float and isfinite(cast("float", value)):
        return value
    if kind is Fraction:
        return {"fraction": str(value)}
    if kind is Reason:
        return {"reason": str(value)}
    raise Unwritable(f"holds a {kind.__qualname__}, which cannot be kept")


def _fields(kind: type[Any]) -> list[str]:
    return [field.name for field in attrs.fields(kind) if field.init and field.eq]


def _key(key: object) -> str:
    if type(key) is str:
        return key
    raise Unwritable(f"holds a key of type {type(key).__qualname__}, which cannot be kept")


def from_plain(data: object) -> Any:
    """Return what `to_plain` was given.

    Raises:
        Unreadable: it is nothing that `to_plain` returns.
    """
    if data is None or isinstance(data, str | int | float):
        return data
    if isinstance(data, list):
        return tuple(map(from_plain, cast("list[object]", data)))
    if not isinstance(data, dict) or len(cast("dict[str, object]", data)) != 1:
        raise Unreadable("an object does not say what it is")
    ((name, inner),) = cast("dict[str, object]", data).items()
    try:
        read = _READERS.get(name)
        return _object(name, inner) if read is None else read(inner)
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise Unreadable(f"{name!r} cannot be read: {error}") from error


def _object(name: str, fields: Any) -> object:
    kind = _CLASSES.get(name)
    if kind is None:
        raise Unreadable(f"{name!r} is not known")
    return kind(**{key: from_plain(value) for key, value in fields.items()})


_READERS: Final[Mapping[str, Callable[[Any], object]]] = {
    "list": lambda items: list(map(from_plain, items)),
    "map": lambda items: {key: from_plain(value) for key, value in items.items()},
    "fraction": Fraction,
    "reason": Reason,
}
