"""Places in a source: line, column, and a short excerpt with a caret; it knows no grammar."""

from __future__ import annotations

from attrs import frozen

_BEFORE = 29
_WIDTH = 78


@frozen
class Place:
    """A place in a text, as people count."""

    line: int
    """From 1; lines end at a line feed."""
    column: int
    """In characters, from 1."""

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


def place_of(source: str, position: int) -> Place:
    """Return the place of an offset in characters."""
    start = source.rfind("\n", 0, position) + 1
    return Place(source.count("\n", 0, position) + 1, position - start + 1)


def excerpt(source: str, position: int) -> str:
    """Show the line around an offset, at most 80 characters of it, with a caret below the offset.

    What is further away stays out, so that an error never carries a whole prompt into a log.
    """
    start = source.rfind("\n", 0, position) + 1
    first = max(start, position - _BEFORE)
    shown = source[first : first + _WIDTH].partition("\n")[0]
    last = first + len(shown)
    before = "…" if first > start else ""
    after = "…" if source[last : last + 1] not in ("", "\n") else ""
    line = "".join(c if c.isprintable() else " " for c in shown)  # a tab would move the caret
    return f"{before}{line}{after}\n{' ' * (len(before) + position - first)}^"


def shorten(text: str, characters: int = 40) -> str:
    """Quote a text for a message, cut to so many characters."""
    return repr(text if len(text) <= characters else text[: characters - 1] + "…")
