"""Validate plain data against a `TypedDict` of an SDK, strictly.

A pydantic adapter of such a type has two holes: an `Iterable` is validated only when it is read,
so nested rubbish passes, and unknown keys are ignored. So the type is rebuilt: every iterable
becomes a list, every `TypedDict` forbids other keys.
"""

from __future__ import annotations

import collections.abc
import types
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin

import typing_extensions
from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict, get_type_hints, is_typeddict


def validate(shape: Any, value: Any) -> None:
    """Raise pydantic's `ValidationError` unless the value has exactly this shape."""
    _adapter(shape).validate_python(value, strict=True)


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(_closed(shape))


def _closed(shape: Any) -> Any:
    if is_typeddict(shape):
        return _closed_dict(shape)
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Annotated:
        return _closed(arguments[0])
    if origin in (Union, types.UnionType):
        return reduce(or_, map(_closed, arguments))
    if origin in (list, collections.abc.Iterable, collections.abc.Sequence):
        return list[_closed(arguments[0])]  # type: ignore[misc]
    if origin is dict:
        return dict[arguments[0], _closed(arguments[1])]  # type: ignore[misc,index]
    return shape


@cache
def _closed_dict(shape: Any) -> Any:
    # `__required_keys__` is wrong for modules that postpone annotations; the hints are right.
    fields: dict[str, Any] = {}
    for key, hint in get_type_hints(shape, include_extras=True).items():
        required, plain = shape.__total__, hint
        while get_origin(plain) in _MARKS:
            required, plain = _MARKS[get_origin(plain)], get_args(plain)[0]
        fields[key] = (Required if required else NotRequired)[_closed(plain)]
    closed = TypedDict(shape.__name__, fields)  # type: ignore[misc,operator]
    closed.__pydantic_config__ = ConfigDict(extra="forbid")
    return closed


_MARKS = {
    Required: True,
    NotRequired: False,
    typing_extensions.Required: True,
    typing_extensions.NotRequired: False,
}
