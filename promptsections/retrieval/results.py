"""Asking a retriever of another library, plain or async, whatever it calls its methods.

It knows no library: what has the methods will do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, cast

from promptsections.blocks import Chunk
from promptsections.errors import DefinitionError
from promptsections.scope import Scope

Chunks = list[Chunk] | Awaitable[list[Chunk]]


def check_methods(retriever: object, plain: str, awaited: str, *, library: str) -> None:
    """Raise a `DefinitionError` if a retriever can be asked in neither way."""
    if not any(callable(getattr(retriever, name, None)) for name in (plain, awaited)):
        raise DefinitionError(
            f"{type(retriever).__name__} is no retriever of {library}: it has neither "
            f"{plain}(query) nor {awaited}(query)"
        )


def ask(
    retriever: object,
    methods: tuple[str, str],
    query: str,
    scope: Scope,
    *,
    read: Callable[[object], Chunk],
) -> Chunks:
    """Ask the plain method, or where the render may wait the async one, and read what it returns.

    A retriever with an async method only is an error where the render does not wait.
    """
    plain, awaited = (getattr(retriever, name, None) for name in methods)
    if awaited is not None and (scope.may_await or plain is None):
        return _asked(awaited, query, read)
    return _read(cast("Any", plain)(query), read)


async def _asked(
    method: Callable[[str], Awaitable[object]], query: str, read: Callable[[object], Chunk]
) -> list[Chunk]:
    return _read(await method(query), read)


def _read(found: object, read: Callable[[object], Chunk]) -> list[Chunk]:
    return [read(item) for item in cast("Iterable[object]", found or ())]


def metadata_of(item: object) -> Mapping[str, Any]:
    """Return what an item says of itself; nothing if it says nothing."""
    found = getattr(item, "metadata", None)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def number(value: object) -> float | None:
    """Return a score as a plain number; `None` if it is none."""
    try:
        return None if value is None or isinstance(value, bool) else float(cast("Any", value))
    except (TypeError, ValueError):
        return None


def first_text(metadata: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """Return the first text or number among these keys, as a text."""
    for key in keys:
        value = metadata.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return None
