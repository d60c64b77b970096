"""Turns any value into text, the one way this library does it; it knows no templates.

The table of values and their texts stands in `docs/reference/templates.md`.
"""

from __future__ import annotations

import dataclasses
import json
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from math import isfinite
from typing import Any, Final, NoReturn, cast
from uuid import UUID

import attrs

from promptsections.errors import ValueRenderError
from promptsections.unicode import well_formed

DEEPEST: Final = 10_000
"""How many containers may stand in each other; more is taken for an endless structure."""

DEEPEST_SETS: Final = 50
"""How many sets may stand in each other: they are sorted by their texts, from the inside out."""

_ALREADY_PLAIN: Final = frozenset({dict, list, tuple, str, bool, type(None)})
_CONTAINERS: Final = (Mapping, Set, Sequence)

_FEW: Final = 5_000
"""Things in a value that are written in about 15 milliseconds."""

_CHARACTERS_OF_A_THING: Final = 500
"""Characters of a text that take as long as a thing."""

_LISTS: Final = frozenset({list, tuple, set, frozenset})

_quote = json.JSONEncoder(ensure_ascii=False).encode


def to_text(value: object, *, name: str, position: int | None = None) -> str:
    """Write a value as the text that stands for it in a prompt.

    Strings come out as they are, `None` as nothing, containers as compact JSON. The result never
    holds lone surrogates and does not depend on the hash seed.

    Args:
        value: Any value.
        name: The variable or function that it comes from, for the error.
        position: Offset in characters of the placeholder, for the error; `None` outside templates.

    Raises:
        ValueRenderError: for NaN, infinities, circular containers and objects of unknown types.
    """
    if type(value) is str:
        return well_formed(value)
    if value is None:
        return ""
    plain = _Writer(name, position).plain(value)
    if isinstance(plain, str):
        return well_formed(plain)
    return "" if plain is None else well_formed(_Writer(name, position).write(plain))


def takes_long(value: object) -> bool:
    """Say whether it takes more than a few milliseconds to write a value.

    Of a large one no more is looked at than decides it. Objects count as one thing, whatever they
    hold: to look into them is to run somebody's code. A text by itself is only passed on.
    """
    if type(value) is str:
        return False
    things = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is str:
            things += len(cast("str", item)) // _CHARACTERS_OF_A_THING
        elif kind is dict or kind in _LISTS:
            inner = cast("Collection[object]", item.values() if isinstance(item, dict) else item)
            things += len(inner)
            if things <= _FEW:
                waiting.extend(inner)
        if things > _FEW:
            return True
    return False


@attrs.frozen
class _Number:
    """A number that is already written."""

    text: str


_Plain = None | bool | str | _Number | Mapping[Any, Any] | Sequence[Any] | Set[Any]
"""What every value is reduced to before it is written."""

_Frame = tuple[Iterator[tuple[str, object]], str, object]
"""A container that is being written: its items, each with what comes before it; its end; itself.

Itself, because an identity is only good as long as the object lives.
"""


@attrs.frozen
class _Writer:
    name: str
    position: int | None
    open_ids: set[int] = attrs.field(factory=set[int])
    """Identities of the containers around the one that is being written."""
    sets_around: int = 0

    def write(self, value: object) -> str:
        """Write a value as JSON, without recursion, however deep it is."""
        out: list[str] = []
        frames: list[_Frame] = []
        self._begin("", value, out, frames)
        while frames:
            items, end, container = frames[-1]
            for before, item in items:
                if self._begin(before, item, out, frames):
                    break
            else:
                frames.pop()
                self.open_ids.discard(id(container))
                out.append(end)
        return "".join(out)

    def _begin(self, before: str, value: object, out: list[str], frames: list[_Frame]) -> bool:
        """Write a scalar, or the start of a container; return whether it was one."""
        out.append(before)
        if type(value) is str:
            out.append(_quote(value))
            return False
        plain = self.plain(value)
        if isinstance(plain, _CONTAINERS) and not isinstance(plain, str):
            if id(value) in self.open_ids:
                self._fail("holds itself")
            if len(self.open_ids) >= DEEPEST:
                self._fail(f"is nested more than {DEEPEST:,} deep")
            self.open_ids.add(id(value))
            start, items, end = self._items(plain)
            out.append(start)
            frames.append((items, end, value))
            return True
        out.append(_scalar(plain))
        return False

    def _items(
        self, container: Mapping[Any, Any] | Set[Any] | Sequence[Any]
    ) -> tuple[str, Iterator[tuple[str, object]], str]:
        match container:
            case Mapping():
                return "{", self._pairs(cast("Mapping[object, object]", container)), "}"
            case Set():
                texts = self._sorted(container)
                return "[", ((_comma(n), _Number(text)) for n, text in enumerate(texts)), "]"
            case _:
                return "[", ((_comma(n), item) for n, item in enumerate(container)), "]"

    def _pairs(self, mapping: Mapping[object, object]) -> Iterator[tuple[str, object]]:
        for n, key in enumerate(mapping):
            text = key
            if type(text) is not str:
                plain = self.plain(key)
                if isinstance(plain, _CONTAINERS) and not isinstance(plain, str):
                    self._fail(f"has a key of type {type(key).__name__}, which JSON cannot write")
                text = plain if isinstance(plain, str) else _scalar(plain)
            yield f"{_comma(n)}{_quote(text)}:", mapping[key]

    def _sorted(self, members: Set[Any]) -> list[str]:
        if self.sets_around >= DEEPEST_SETS:
            self._fail(f"holds sets nested more than {DEEPEST_SETS} deep")
        inner = attrs.evolve(self, sets_around=self.sets_around + 1)
        return sorted((inner.write(member) for member in members), key=_rank)

    def plain(self, value: object) -> _Plain:
        """Reduce a value to what JSON has; containers are only looked at from outside."""
        if type(value) in _ALREADY_PLAIN:  # no other rule applies to these; most values are
            return cast("_Plain", value)
        while isinstance(value, Enum):
            value = value.value
        match value:
            case None | bool():
                return value
            case str():
                return str.__str__(value)
            case int():
                return _Number(_digits(value))
            case float():
                return _Number(float.__repr__(value)) if isfinite(value) else self._not_finite()
            case Decimal():
                return _Number(str(value)) if value.is_finite() else self._not_finite()
            case datetime() | date() | time():
                return value.isoformat()
            case UUID():
                return str(value)
            case bytes() | bytearray() | memoryview():
                return b64encode(bytes(cast("bytes", value))).decode()
            case Mapping() | Sequence() | Set() | _Number():
                return cast("_Plain", value)
            case _:
                return self._object(value)

    def _object(self, value: Any) -> _Plain:
        """Read an object that says what its fields are."""
        kind = cast("Any", type(value))
        names: Sequence[str] = ()
        if callable(getattr(kind, "model_dump", None)):
            return self._dumped(value)
        if attrs.has(kind):
            names = [field.name for field in attrs.fields(kind)]
        elif dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind)]
        else:
            self._fail(
                f"is or holds an object of type {kind.__name__}, which has no text: pass a string, "
                "or a mapping of what should be said"
            )
        return {name: getattr(value, name) for name in names if not name.startswith("_")}

    def _dumped(self, value: Any) -> _Plain:
        try:
            dumped = value.model_dump()
        except Exception as error:
            self._fail(f"holds a {type(value).__name__} whose model_dump() failed", error)
        if callable(getattr(dumped, "model_dump", None)):
            self._fail(f"holds a {type(value).__name__} whose model_dump() gives no plain data")
        return self.plain(dumped)

    def _not_finite(self) -> NoReturn:
        self._fail("is or holds NaN or an infinity, which JSON cannot write")

    def _fail(self, problem: str, cause: Exception | None = None) -> NoReturn:
        raise ValueRenderError(
            f"{self.name!r} cannot be written as text: it {problem}",
            name=self.name,
            position=self.position,
        ) from cause


def _scalar(plain: object) -> str:
    match plain:
        case None:
            return "null"
        case bool():
            return "true" if plain else "false"
        case _Number():
            return plain.text
        case _:
            return _quote(plain)


def _comma(n: int) -> str:
    return "," if n else ""


def _digits(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:  # Python refuses to print more digits than sys.get_int_max_str_digits()
        return format(Decimal(value), "f")


def _rank(text: str) -> tuple[int, Decimal, str]:
    """Sort numbers by value, before everything else by text."""
    return (0, Decimal(text), text) if text[0] in "-0123456789" else (1, Decimal(0), text)
