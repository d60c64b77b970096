"""Pieces of a template of any language, and how they are written as one of ours.

It knows no language but ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from attrs import frozen

from promptsections.templates import Template, escape
from promptsections.templates.lexer import is_name
from promptsections.templates.nodes import Argument, Call, Text, Variable


@frozen
class Verbatim:
    """Text that a placeholder stands for, so that nothing in it marks a role."""

    text: str


Piece = Text | Verbatim | Variable | Call
"""One piece of a template."""


class Untranslatable(Exception):  # noqa: N818  it never leaves this package
    """Something that our templates cannot say."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        """Offset in characters where it stands, from 0."""


def path_of(parts: Sequence[str], written: str, position: int) -> Variable:
    """Return the variable of a path.

    Raises:
        Untranslatable: if a part is no name.
    """
    path = ".".join(parts)
    if is_name(path):
        return Variable(path, position)
    raise Untranslatable(
        f"{written!r} is no plain variable: the names of a path are letters, digits, '_' and '-'",
        position,
    )


def trimmed(pieces: Iterable[Piece], characters: str | None = None) -> tuple[Piece, ...]:
    """Return pieces without empty texts, and without white space at both ends.

    Args:
        pieces: Pieces of one message.
        characters: What counts as white space; `None` is all of it.
    """
    left = merged(pieces)
    if left and isinstance(first := left[0], Text):
        left[0] = Text(first.text.lstrip(characters))
    if left and isinstance(last := left[-1], Text):
        left[-1] = Text(last.text.rstrip(characters))
    return tuple(piece for piece in left if not isinstance(piece, Text) or piece.text)


def merged(pieces: Iterable[Piece]) -> list[Piece]:
    """Return pieces in which no two texts stand side by side."""
    whole: list[Piece] = []
    for piece in pieces:
        last = whole[-1] if whole else None
        if isinstance(piece, Text) and isinstance(last, Text):
            whole[-1] = Text(last.text + piece.text)
        else:
            whole.append(piece)
    return whole


# --- writing --------------------------------------------------------------------------------------

_DELIMITERS = (("<<", ">>"), ("{{", "}}"), ("@{", "}@"))
"""The last can always be used: no end of a text runs into two different characters."""


def to_template(pieces: Sequence[Piece]) -> Template:
    """Write pieces as a template of ours that renders the same."""
    joined = list(_joined(pieces))
    delimiters = next(
        pair
        for pair in _DELIMITERS
        if all(_stands_apart(joined, index, pair[0]) for index in range(len(joined)))
    )
    return Template(_source(joined, delimiters), delimiters=delimiters)


def _joined(pieces: Sequence[Piece]) -> Iterator[str | Variable | Call]:
    """Yield texts and placeholders in turn; a text, maybe an empty one, comes first and last."""
    text = ""
    for piece in pieces:
        if isinstance(piece, Text | Verbatim):
            text += piece.text
        else:
            yield text
            yield piece
            text = ""
    yield text


def _stands_apart(joined: Sequence[str | Variable | Call], index: int, opening: str) -> bool:
    """Say whether the end of a text does not run into the placeholder that follows it."""
    text = joined[index]
    if not isinstance(text, str) or index + 1 == len(joined):
        return True
    end = text[-(len(opening) - 1) :]
    return f"{end}{opening}".find(opening) == len(end)


def _source(joined: Sequence[str | Variable | Call], delimiters: tuple[str, str]) -> str:
    opening, closing = delimiters
    parts: list[str] = []
    for index, piece in enumerate(joined):
        match piece:
            case str():
                text = escape(piece, delimiters=delimiters)
                if index + 1 < len(joined):  # a backslash would escape the placeholder
                    text += "\\" * (len(text) - len(text.rstrip("\\")))
                parts.append(text)
            case Variable():
                parts.append(f"{opening}${piece.path}{closing}")
            case Call():
                words = [piece.name, *(_argument(value) for value in piece.arguments)]
                words += [f"{key}={_argument(value)}" for key, value in piece.keywords]
                parts.append(f"{opening}{' '.join(words)}{closing}")
            case _:
                assert_never(piece)
    return "".join(parts)


def _argument(value: Argument) -> str:
    if isinstance(value, Variable):
        return f"${value.path}"
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
