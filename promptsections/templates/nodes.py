"""What a template is made of once it is parsed; plain data, without behaviour."""

from __future__ import annotations

from attrs import frozen


@frozen
class Text:
    """Text that comes through as it is, escapes already resolved."""

    text: str


@frozen
class Variable:
    """`<<$path>>`, or `$path` as an argument."""

    path: str
    """Parts joined by dots, without the `$`."""
    position: int
    """Offset in characters of the placeholder's opening delimiter, from 0."""


Argument = str | Variable
"""A string, or a variable whose value is passed itself."""


@frozen
class Call:
    """`<<name argument key=argument>>`."""

    name: str
    position: int
    """Offset in characters of the opening delimiter, from 0."""
    arguments: tuple[Argument, ...] = ()
    keywords: tuple[tuple[str, Argument], ...] = ()
    """Keyword arguments in the order in which they are written; no keyword occurs twice."""


@frozen
class Breakpoint:
    """`<<cache_breakpoint>>`: what stands before it stays the same for longer than the rest."""

    position: int
    """Offset in characters of the opening delimiter, from 0."""


BREAKPOINTS = frozenset({"cache_breakpoint", "cacheBreakpoint"})
"""How it may be written; no function can have these names."""

Node = Text | Variable | Call | Breakpoint
"""One piece of a template."""
