"""Canonical form: a value as bytes that no other value has, to be hashed.

Types are written beside values and lengths in front, so that `True` is not `1`, `"1"` not `1`, and
no two lists run together. What has no such form (functions that are not declared, objects that are
more than their fields) is `Unkeyable`. It knows no prompt and no cache.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, cast
from uuid import UUID

import attrs
from attrs import define, field, frozen

from promptsections.messages import Message
from promptsections.render_cache.declared import Declared
from promptsections.summaries import ExtractiveSummarizer
from promptsections.tokens import CachedTokenizer

MOST_LEVELS: Final = 100
"""How deep values may nest; deeper ones are taken for endless."""


class Unkeyable(Exception):  # noqa: N818 - an answer, which never leaves this package
    """Why something has no canonical form."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = path
        """Path of the section that it stands in."""
        self.where: list[str] = []
        """Names of fields and keys that lead to it, innermost first."""

    @property
    def detail(self) -> str:
        """What is where, in words."""
        where = ".".join(reversed(self.where))
        return f"{where} {self.problem}" if where else self.problem


@frozen
class _Shape:
    """What of the objects of a class is written."""

    tag: bytes
    names: dict[str, None]
    """Names of fields."""
    is_open: bool
    """Whether objects may have attributes beside them."""


@define
class Canonical:
    """Writes values; what was declared of functions among them comes along."""

    ttl: float | None = None
    """Seconds: the least that was declared of what was written."""
    _out: list[bytes] = field(factory=list[bytes])
    _shapes: dict[type, _Shape] = field(factory=dict[type, "_Shape"])
    """Class → what is written of its objects, found out once."""

    def digest(self) -> str:
        """Return the SHA-256 of all that was written, in hexadecimal digits."""
        return hashlib.sha256(b"".join(self._out)).hexdigest()

    def tag(self, *names: str) -> None:
        """Write names that say what follows."""
        self._out += map(_text, names)

    def expire(self, ttl: float | None) -> None:
        """Take note of a time, in seconds, for which something is good."""
        if ttl is not None:
            self.ttl = ttl if self.ttl is None else min(ttl, self.ttl)

    def write(self, value: object, level: int = 0) -> None:
        """Write a value.

        Raises:
            Unkeyable: it has no canonical form.
        """
        kind = type(value)
        scalar = _SCALARS.get(kind)
        if scalar is not None:
            self._out.append(scalar(value))
        elif kind is Message and _is_plain(cast("Message", value)):
            said = cast("Message", value)
            self._out += (b"P", _text(said.role), _text(cast("str", said.content)))
        elif level >= MOST_LEVELS:
            raise Unkeyable(f"is nested more than {MOST_LEVELS} levels deep, or holds itself")
        elif kind in _LISTS:
            self._items(_LISTS[kind], cast("Sequence[object]", value), level)
        elif kind in _MAPPINGS:
            self._mapping(cast("Mapping[object, object]", value), level)
        elif kind in (set, frozenset):
            self._set(cast("Iterable[object]", value))
        else:
            self._object(value, level)

    # --- containers -------------------------------------------------------------------------------

    def _items(self, tag: bytes, items: Sequence[object], level: int) -> None:
        self._out.append(b"%b%d:" % (tag, len(items)))
        if isinstance(items, deque):
            self.write(items.maxlen)
        for index, item in enumerate(items):
            try:
                self.write(item, level + 1)
            except Unkeyable as error:
                error.where.append(str(index))
                raise

    def _mapping(self, mapping: Mapping[object, object], level: int) -> None:
        self._out.append(b"%b%d:" % (_MAPPINGS[type(mapping)], len(mapping)))
        if isinstance(mapping, defaultdict):
            factory = cast("Any", mapping).default_factory
            if factory not in (None, list, dict, set, int, str, float, bool):
                raise Unkeyable("is a defaultdict with a factory of its own")
            self.tag(repr(factory))
        for key, item in mapping.items():  # in their order, in which they are written
            self.write(key, level + 1)
            if type(item) is str:  # most are, and long conversations hold many
                self._out.append(_text(item))
                continue
            try:
                self.write(item, level + 1)
            except Unkeyable as error:
                error.where.append(str(key))
                raise

    def _set(self, members: Iterable[object]) -> None:
        digests: list[str] = []
        for member in members:
            inner = Canonical()
            inner.write(member)
            digests.append(inner.digest())
        self.tag("set", str(len(digests)), *sorted(digests))

    # --- objects ----------------------------------------------------------------------------------

    def _object(self, value: Any, level: int) -> None:
        kind = cast("type[Any]", type(value))
        if isinstance(value, Declared):
            self._declared(value)
        elif isinstance(getattr(value, "__self__", None), Declared):  # its `__call__`
            self._declared(value.__self__)
        elif isinstance(value, CachedTokenizer):
            self.write(value.tokenizer, level + 1)
        elif isinstance(value, Enum):
            self.tag("enum", name_of(kind), value.name)
        elif callable(value) and kind is not ExtractiveSummarizer:  # which asks nobody
            raise Unkeyable(
                f"is the function {_shown(value)}, of which nothing is declared: "
                "write cacheable(…, key='v1')"
            )
        elif issubclass(kind, _SIMPLE) and not getattr(value, "__dict__", None):
            self.tag("subclass", name_of(kind))
            if issubclass(kind, tuple):
                self._items(b"U", cast("Sequence[object]", value), level)
            else:
                base = next(base for base in kind.__mro__ if base in _SCALARS)
                self._out.append(_SCALARS[base](value))
        else:
            self.write_fields(value, level)

    def _declared(self, function: Declared) -> None:
        self.expire(function.ttl)
        states = [_state(state) for state in function.state()]
        self.tag("function", function.place, function.key, str(len(states)), *states)
        if function.depends_on is None:
            return
        self.tag("depends on")
        try:
            self.write(function.depends_on())
        except Unkeyable as error:
            error.where.append(f"what {_shown(function)} depends on")
            raise

    def write_fields(self, value: object, level: int = 0) -> None:
        """Write the fields of an object that is no more than they are.

        Raises:
            Unkeyable: it is more.
        """
        kind = type(value)
        known = self._shapes.get(kind)
        if known is None:
            known = self._shapes[kind] = _shape_of(kind)
        more = () if known.is_open else getattr(value, "__dict__", {}).keys() - known.names
        if more:
            raise Unkeyable(f"has more than its fields: {', '.join(sorted(more))}")
        self._out.append(known.tag)
        for name in known.names:
            try:
                self.write(getattr(value, name), level + 1)
            except Unkeyable as error:
                error.where.append(name)
                raise


def _shape_of(kind: type[Any]) -> _Shape:
    """Find the fields of a class of values.

    Raises:
        Unkeyable: its objects are not equal by their fields.
    """
    by_value = cast("Any", kind).__eq__ is not object.__eq__
    ours = kind.__module__.startswith("promptsections.")
    if attrs.has(kind) and by_value:
        names = [a.name for a in attrs.fields(kind) if a.eq or not ours]
    elif dataclasses.is_dataclass(kind) and by_value:
        names = [f.name for f in dataclasses.fields(kind)]
    elif isinstance(getattr(kind, "__pydantic_fields__", None), Mapping):
        names = [f"__{n}__" for n in ("dict", "pydantic_extra", "pydantic_private")]
        names.append("__pydantic_fields_set__")
    else:
        raise Unkeyable(f"is an object of type {kind.__qualname__}, which is more than its fields")
    tag = _text(f"fields {len(names)} {name_of(kind)}")
    return _Shape(tag, dict.fromkeys(names), ours or "__dict__" in names)


def digest_of(value: object) -> str:
    """Return the SHA-256 of a value's canonical form, in hexadecimal digits.

    Raises:
        Unkeyable: it has none.
    """
    writer = Canonical()
    writer.write(value)
    return writer.digest()


def name_of(kind: type) -> str:
    """Name a class as no other class of this process, or of another one, is named.

    Raises:
        Unkeyable: others may have the same name, since it is not found by it.
    """
    found: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is not kind:
        raise Unkeyable(
            f"is of the class {kind.__qualname__}, which cannot be found by its name: define it at "
            "the top of a module"
        )
    script = getattr(sys.modules["__main__"], "__file__", "") if _is_script(kind) else ""
    return f"{kind.__module__}:{script}:{kind.__qualname__}"


def _state(value: object) -> str:
    """Return the digest of something that a function carries with it, if it has one."""
    inner = Canonical()
    try:
        if callable(value):
            inner.write_fields(value)
        else:
            inner.write(value)
    except Unkeyable:  # a client, a lock, another function: the declared key speaks for it
        return "opaque"
    return inner.digest()


def _is_script(kind: type) -> bool:
    return kind.__module__ == "__main__"


def _is_plain(message: Message) -> bool:
    """Say whether a message is a role and a text; most are, and there may be many."""
    return type(message.content) is str and not (
        message.name is not None
        or message.tool_calls
        or message.tool_call_id is not None
        or message.provider_data
        or message.extra
    )


def _shown(value: object) -> str:
    return getattr(value, "__qualname__", type(value).__qualname__)


# --- values without parts -------------------------------------------------------------------------


def _framed(tag: bytes, data: bytes) -> bytes:
    return b"%b%d:%b" % (tag, len(data), data)


def _text(value: str) -> bytes:
    data = str.encode(value, "utf-8", "surrogatepass")
    return b"s%d:%b" % (len(data), data)


def _printed(tag: bytes, write: Callable[[Any], str]) -> Callable[[Any], bytes]:
    return lambda value: _framed(tag, write(value).encode("utf-8", "surrogatepass"))


def _moment(value: datetime | time) -> str:
    return f"{value.isoformat()} {value.tzname()} {value.fold}"


_SCALARS: Final[Mapping[type, Callable[[Any], bytes]]] = {
    type(None): lambda _: b"N",
    bool: lambda value: b"T" if value else b"F",
    int: lambda value: b"i%x;" % value,  # decimal digits are limited
    float: _printed(b"f", float.__repr__),
    str: _text,
    bytes: lambda value: _framed(b"b", value),
    bytearray: lambda value: _framed(b"a", bytes(value)),
    Decimal: _printed(b"d", str),
    Fraction: _printed(b"q", str),
    datetime: _printed(b"m", _moment),
    date: _printed(b"y", date.isoformat),
    time: _printed(b"h", _moment),
    timedelta: _printed(b"e", repr),
    UUID: _printed(b"u", str),
    range: _printed(b"r", repr),
}
_SIMPLE: Final[tuple[type, ...]] = (str, bytes, int, float, tuple)
"""What classes derive from whose objects are no more than that."""
_LISTS: Final[Mapping[type, bytes]] = {list: b"L", tuple: b"U", deque: b"Q"}
_MAPPINGS: Final[Mapping[type, bytes]] = {
    dict: b"M", MappingProxyType: b"M", OrderedDict: b"O", defaultdict: b"D",
}  # fmt: skip
