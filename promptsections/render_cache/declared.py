"""`cacheable`: what people say of their own functions, so that renders that use them can be kept.

It knows no prompt, no memory and no cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, update_wrapper
from types import CellType
from typing import Any, TypeVar, cast, overload

from promptsections.errors import DefinitionError

F = TypeVar("F", bound=Callable[..., Any])


class Declared(partial[Any]):
    """A function with what was said of it; a `partial`, so that all else takes it for itself."""

    key: str
    ttl: float | None
    depends_on: Callable[[], object] | None

    @property
    def place(self) -> str:
        """Where the function stands in the code."""
        named = self.func if hasattr(self.func, "__qualname__") else type(self.func)
        return f"{named.__module__}.{named.__qualname__}"

    def state(self) -> Iterator[object]:
        """Yield what the function carries with it: captured variables, its object, defaults."""
        inner: Any = self  # not its `func`: partials in partials are one
        while isinstance(inner, partial):
            yield inner.args
            yield inner.keywords
            inner = cast("Any", inner).func
        function = getattr(inner, "__func__", inner)
        code = getattr(function, "__code__", None)
        if code is None:
            yield getattr(inner, "__self__", inner)  # a callable object, or a built-in method
            return
        yield getattr(inner, "__self__", None)
        yield function.__defaults__
        yield function.__kwdefaults__
        yield from map(_content, function.__closure__ or ())


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


@overload
def cacheable(
    function: F,
    *,
    key: str,
    ttl: float | None = None,
    depends_on: Callable[[], object] | None = None,
) -> F: ...
@overload
def cacheable(
    *, key: str, ttl: float | None = None, depends_on: Callable[[], object] | None = None
) -> Callable[[F], F]: ...
def cacheable(
    function: F | None = None,
    *,
    key: str,
    ttl: float | None = None,
    depends_on: Callable[[], object] | None = None,
) -> F | Callable[[F], F]:
    """Declare that the results of a function may be kept as part of a render.

    It says that a result depends on nothing but the arguments, what is read of the scope, `key` and
    `depends_on`. For template functions, data sources, and functions in fields of sections.

    Args:
        function: Plain or async; without it, this is a decorator.
        key: Names what else the results depend on: a version, an index. Change it with the code.
        ttl: Seconds for which a render that used it is good, at most.
        depends_on: Called at each look-up, so it should be quick; a render is used again only
            where it returns the same, such as `date.today`.

    Raises:
        DefinitionError: a wrong value.
    """
    if not isinstance(cast("object", key), str) or not key:
        raise DefinitionError(f"cacheable: key={key!r} must be a text, such as 'v1'")
    check_ttl(ttl)
    if depends_on is not None and not callable(depends_on):
        raise DefinitionError("cacheable: depends_on must be a function without arguments")

    def declare(function: F) -> F:
        if not callable(function):
            raise DefinitionError(
                f"cacheable: {type(cast('object', function)).__name__} is not callable"
            )
        declared = Declared(function)
        update_wrapper(declared, function, updated=())
        declared.key, declared.ttl, declared.depends_on = key, ttl, depends_on
        return cast("F", declared)

    return declare if function is None else declare(function)


def check_ttl(ttl: object) -> None:
    """Raise a `DefinitionError` if it is no number of seconds above 0 and not `None`."""
    if ttl is None or (isinstance(ttl, int | float) and not isinstance(ttl, bool) and ttl > 0):
        return
    raise DefinitionError(f"ttl={ttl!r} must be seconds above 0, or None")
