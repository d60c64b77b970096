"""Validate plain data against a `TypedDict` of an SDK, strictly.

A pydantic adapter of such a type has two holes: an `Iterable` is validated only when it is read,
so nested rubbish passes, and unknown keys are ignored. So the type is rebuilt: every iterable
becomes a list, every `TypedDict` forbids other keys, and models of answers are no alternative.
"""

from __future__ import annotations

import collections.abc
import types
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin

import typing_extensions
from pydantic import BaseModel, ConfigDict, TypeAdapter
from typing_extensions import TypedDict, get_type_hints, is_typeddict


def validate(shape: Any, value: Any) -> None:
    """Raise pydantic's `ValidationError` unless the value has exactly this shape."""
    _adapter(shape).validate_python(value, strict=True)


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(closed(shape))


_open: set[Any] = set()
"""Types that are being rebuilt: a type inside itself is taken as any dict."""


def closed(shape: Any) -> Any:
    """Rebuild a type so that it takes nothing else."""
    shape = getattr(shape, "__value__", shape)  # of a `type X = …`
    if is_typeddict(shape):
        return dict[str, Any] if shape in _open else _closed_dict(shape)
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Annotated:
        return closed(arguments[0])
    if origin in (Union, types.UnionType):
        return reduce(or_, [closed(a) for a in arguments if not _is_answer(a)])
    if origin in _LISTS or getattr(origin, "__name__", "") == "SequenceNotStr":
        return list[closed(arguments[0])]  # type: ignore[misc]
    if origin is dict:
        return dict[arguments[0], closed(arguments[1])]  # type: ignore[misc,index]
    return shape


_LISTS = (list, collections.abc.Iterable, collections.abc.Sequence)


def _is_answer(shape: Any) -> bool:
    """Say whether this is a model of an answer, or a union of such."""
    if get_origin(shape) is Annotated:
        shape = get_args(shape)[0]
    if get_origin(shape) in (Union, types.UnionType):
        return all(_is_answer(alternative) for alternative in get_args(shape))
    return isinstance(shape, type) and issubclass(shape, BaseModel)


@cache
def _closed_dict(shape: Any) -> Any:
    # `__required_keys__` is wrong for modules that postpone annotations; the hints are right.
    _open.add(shape)
    fields: dict[str, Any] = {}
    for key, hint in get_type_hints(shape, include_extras=True).items():
        required, plain = shape.__total__, hint
        while get_origin(plain) in _MARKS:
            required, plain = _MARKS[get_origin(plain)], get_args(plain)[0]
        fields[key] = (Required if required else NotRequired)[closed(plain)]
    _open.discard(shape)
    strict = TypedDict(shape.__name__, fields)  # type: ignore[misc,operator]
    strict.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return strict


_MARKS = {
    Required: True,
    NotRequired: False,
    typing_extensions.Required: True,
    typing_extensions.NotRequired: False,
}
