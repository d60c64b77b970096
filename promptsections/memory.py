"""What a prompt reads from: mappings and `get` objects, walked by path, never changed.

It knows values and paths only: no templates, no sections, no functions.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import islice
from typing import Any, Final, Protocol, TypeGuard, cast, runtime_checkable

from attrs import field, frozen

from promptsections.errors import DefinitionError

MOST_NAMES: Final = 1_000
"""How many names are looked through for a suggestion; more would make an error slow."""


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING
"""What a lookup gives when memory holds no such value; `None` is a value."""


@runtime_checkable
class Memory(Protocol):
    """Memory that is no mapping: it is asked by path."""

    def get(self, path: str, default: Any = None, /) -> Any:
        """Return the value at a path (parts joined by dots), or the default."""
        ...


def check_memory(memory: object) -> None:
    """Raise if nothing can be read from it.

    Raises:
        DefinitionError: it is neither a mapping nor an object with `get(path)`, nor `None`.
    """
    if memory is not None and not isinstance(memory, Mapping):
        _reader(memory)


def lookup(memory: object, path: str, default: object = MISSING) -> object:
    """Return the value at a path, or the default.

    In a mapping, a key that holds the dots itself wins over walking them, the longest key first. In
    a list, a part of digits is an index. Attributes are never read. A memory with `get(path,
    default)` is asked for the whole path first; if it has nothing there, for ever shorter
    beginnings, and the rest is walked.

    Args:
        memory: A mapping, a `Memory`, an object with `get(path)` and maybe `has(path)`, or `None`.
        path: Parts joined by dots.
        default: What to return if there is no such value.

    Raises:
        DefinitionError: memory is none of these.
    """
    if isinstance(memory, dict) and path in memory:  # what is asked for most
        return cast("dict[str, object]", memory)[path]
    if isinstance(memory, Watched):
        memory.tell("path", path)
        return lookup(memory.inner, path, default)
    value = _trace(cast("object", memory), path).value
    return default if value is MISSING else value


@frozen
class Miss:
    """Why a path leads nowhere, for an error that helps."""

    reason: str
    """Words that follow the name of the variable; they never show a value."""
    names: tuple[str, ...] = ()
    """Keys that memory has where the path ends; at most `MOST_NAMES`."""
    prefix: str = ""
    """The beginning of the path that was found, with its last dot."""


def explain_miss(memory: object, path: str) -> Miss:
    """Say why `lookup` finds nothing at a path.

    Args:
        memory: The memory that was looked into.
        path: The path that is missing.
    """
    prefix = ""
    if isinstance(memory, Watched):
        memory = memory.inner
    if isinstance(memory, ScopedMemory):
        memory, path, prefix = memory.scope_of(path)
    trace = _trace(memory, path)
    reached = prefix + ".".join(trace.parts[: trace.used])
    where = trace.reached
    if isinstance(where, Mapping):
        keys = islice(cast("Mapping[object, object]", where), MOST_NAMES)
        found = prefix + "".join(part + "." for part in trace.parts[: trace.used])
        return Miss("is not in memory", tuple(key for key in keys if isinstance(key, str)), found)
    if not trace.used:
        return Miss("is not in memory")
    if _is_list(where):
        return Miss(f"is not in memory: {_short(reached)} is a list of {len(where)}")
    kind = type(where).__name__
    if where is None or isinstance(where, bool | int | float | str | bytes):
        return Miss(f"is not in memory: {_short(reached)} is of type {kind} and has no parts")
    return Miss(
        f"is not in memory: {_short(reached)} is an object of type {kind}, and attributes are "
        "never read; put a mapping in its place, such as its model_dump(), attrs.asdict() or vars()"
    )


def _short(path: str) -> str:
    return repr(path if len(path) <= 80 else path[:79] + "…")


@frozen
class ScopedMemory:
    """Teams AI's scopes: `conversation.topic` reads a scope, a bare name the default scope.

    A first part that names no scope belongs to a path in the default scope.
    """

    scopes: object
    """Scope → its values: a mapping, a `Memory` or `None`; or an object with `get("scope.name")`.

    Keys that begin with an underscore belong to whoever made the mapping and are no scopes.
    """
    default: str = field(default="temp", kw_only=True)
    """The scope of names without one."""

    def __attrs_post_init__(self) -> None:
        scopes = self._by_name()
        if scopes is None:
            if not callable(getattr(self.scopes, "get", None)):
                raise DefinitionError(
                    "ScopedMemory needs a mapping of scopes or an object with get(path), "
                    f"not {type(self.scopes).__name__}"
                )
            return
        for name in scopes:
            scope = scopes[name]
            kind: type[object] = type(scope)
            readable = isinstance(scope, Mapping) or callable(getattr(scope, "get", None))
            if scope is not None and not readable and not str(name).startswith("_"):
                raise DefinitionError(
                    f"scope {name!r} must be a mapping, an object with get(path, default) or None, "
                    f"not {kind.__name__}"
                )

    def get(self, path: str, default: Any = None, /) -> Any:
        """Return the value at a path, or the default."""
        scope, rest, _ = self.scope_of(path)
        return lookup(scope, rest, default)

    def scope_of(self, path: str) -> tuple[object, str, str]:
        """Return what to look into for a path, with which path, and what stood in front of that."""
        scopes = self._by_name()
        if scopes is None:
            return _StateObject(self.scopes, self.default), path, ""
        first, dot, rest = path.partition(".")
        if dot and first in scopes and not first.startswith("_"):
            return scopes[first], rest, first + "."
        return (scopes[self.default] if self.default in scopes else None), path, ""  # noqa: SIM401

    def _by_name(self) -> Mapping[str, object] | None:
        scopes = self.scopes
        return cast("Mapping[str, object]", scopes) if isinstance(scopes, Mapping) else None


@frozen
class _StateObject:
    """Asks an object that knows paths of exactly two parts, as Teams AI's `Memory` does."""

    state: Any
    default: str

    def get(self, path: str, default: Any = None, /) -> Any:
        read = _reader(self.state)
        parts = path.split(".")
        for scope, rest in ((parts[0], parts[1:]), (self.default, parts)):
            value = read(f"{scope}.{rest[0]}") if rest else MISSING
            if value is not MISSING:
                reached, used = _walk(value, rest[1:])
                return reached if used == len(rest) - 1 else default
        return default


Tell = Callable[[str, str], None]
"""Is told `"path"`, `"key"`, `"all"` or `"other"` and a name, before something is read."""


class Watched:
    """A memory that tells somebody what is read of it, and otherwise is what it is."""

    def __init__(self, inner: Any, tell: Tell) -> None:
        self.inner = inner
        self.tell = tell

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        self.tell("other", name)
        return found


class _WatchedMapping(Watched, Mapping[Any, Any]):
    """The same of a mapping."""

    def __getitem__(self, key: object) -> Any:
        self._tell_key(key)
        return self.inner[key]

    def get(self, key: object, default: Any = None) -> Any:
        """Return the value of a key, or the default."""
        self._tell_key(key)
        return self.inner.get(key, default)

    def __contains__(self, key: object) -> bool:
        self._tell_key(key)
        return key in self.inner

    def __iter__(self) -> Iterator[Any]:
        self.tell("all", "")
        return iter(self.inner)

    def __len__(self) -> int:
        self.tell("all", "")
        return len(self.inner)

    def __setitem__(self, key: object, value: object) -> None:
        self.tell("other", "assignment")
        self.inner[key] = value

    def __delitem__(self, key: object) -> None:
        self.tell("other", "deletion")
        del self.inner[key]

    def _tell_key(self, key: object) -> None:
        if type(key) is str:
            self.tell("key", key)
        else:
            self.tell("other", f"a key of type {type(key).__name__}")


def watched(memory: object, tell: Tell) -> Watched:
    """Return a memory that tells what is read of it, a mapping if it is one."""
    kind = _WatchedMapping if isinstance(memory, Mapping) else Watched
    return kind(cast("Any", memory), tell)


@frozen
class _Trace:
    """How far a path led."""

    parts: list[str]
    used: int
    reached: object

    @property
    def value(self) -> object:
        return self.reached if self.used == len(self.parts) else MISSING


def _trace(memory: object, path: str) -> _Trace:
    parts = path.split(".")
    if memory is None or isinstance(memory, Mapping):
        reached, used = _walk(cast("object", memory), parts)
        return _Trace(parts, used, reached)
    read = _reader(memory)
    if isinstance(memory, ScopedMemory | _StateObject):  # they walk what they find themselves
        value = read(path)
        return _Trace(parts, 0 if value is MISSING else len(parts), value)
    for end in range(len(parts), 0, -1):
        value = read(".".join(parts[:end]))
        if value is not MISSING:
            reached, used = _walk(value, parts[end:])
            return _Trace(parts, end + used, reached)
    return _Trace(parts, 0, None)


def _walk(start: object, parts: Sequence[str]) -> tuple[object, int]:
    """Walk as far as the parts lead; return what was reached and how many of them were used."""
    value, used = start, 0
    while used < len(parts):
        if isinstance(value, Mapping):
            mapping = cast("Mapping[str, object]", value)
            for end in range(len(parts), used, -1):
                key = ".".join(parts[used:end])
                if key in mapping:  # never `.get` or a bare index: a defaultdict would grow
                    value, used = mapping[key], end
                    break
            else:
                return mapping, used
        elif _is_list(value) and (index := _index(parts[used])) < len(value):
            value, used = value[index], used + 1
        else:
            break
    return value, used


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _index(part: str) -> int:
    """Read a part as an index; what is none is larger than any list."""
    return int(part) if len(part) < 19 and part.isascii() and part.isdigit() else sys.maxsize


def _reader(memory: Any) -> Callable[[str], object]:
    """Return how to ask an object by path: `get(path, default)`, or `has(path)` and `get(path)`."""
    get = getattr(memory, "get", None)
    if not callable(get):
        raise DefinitionError(
            f"memory must be a mapping or have get(path, default); {type(memory).__name__} has not"
        )
    if inspect.iscoroutinefunction(get):
        raise DefinitionError(
            f"get() of {type(memory).__name__} must be awaited, and reading memory never waits: "
            "load what the prompt needs first, or read it in a section's own resolve()"
        )
    try:
        inspect.signature(get).bind("path", MISSING)
    except TypeError:
        has = getattr(memory, "has", None)
        if callable(has):
            return lambda path: get(path) if has(path) else MISSING
        return lambda path: MISSING if (value := get(path)) is None else value
    except ValueError:  # built in, without a signature
        pass
    return lambda path: get(path, MISSING)
