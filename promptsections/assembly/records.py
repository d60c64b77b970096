"""What formatters read: fields of mappings and objects, and numbers as text.

One rule for all of them: a field that is missing, and one that is `None`, say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any, cast

from promptsections.errors import DefinitionError
from promptsections.templates import to_text

Record = Mapping[str, Any] | object
"""A mapping by field, or any object that has the fields as attributes."""

_SCALARS = (str, bytes, int, float, Decimal, Sequence, type(None))


def field_of(record: Record, name: str) -> Any:
    """Return the value of a field; `None` if there is none.

    Raises:
        DefinitionError: if the record is a text, a number or a list, which have no fields.
    """
    if isinstance(record, Mapping):
        return cast("Mapping[str, Any]", record).get(name)
    if isinstance(record, _SCALARS):
        kind = type(cast("object", record)).__name__
        raise DefinitionError(
            f"a record with the field {name!r} is needed, not {kind}: pass a mapping or an object"
        )
    return getattr(record, name, None)


def text_of(record: Record, name: str) -> str:
    """Return a field as text; `""` if it is missing or `None`."""
    return as_text(field_of(record, name), name)


def as_text(value: object, name: str) -> str:
    """Write a value: numbers as short as they are, flat lists with commas, the rest as JSON.

    Whole floats lose their `.0`; exponents appear from 1e21 on and below 1e-6 (the notation of
    ECMAScript's Number::toString).

    Raises:
        ValueRenderError: for what has no text, NaN and infinities among it.
    """
    if isinstance(value, float) and isfinite(value):
        return _number(value)
    if isinstance(value, list | tuple):
        items = cast("Sequence[object]", value)
        if not any(isinstance(item, Mapping | list | tuple | set | frozenset) for item in items):
            return ",".join(as_text(item, name) for item in items)
    return to_text(cast("object", value), name=name)


def _number(value: float) -> str:
    if 1e-6 <= abs(value) < 1e21 or value == 0:
        text = format(Decimal(repr(value)), "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text == "-0" else text
    mantissa, _, exponent = repr(value).partition("e")
    power = int(exponent)
    return f"{mantissa}e{power:+d}"
