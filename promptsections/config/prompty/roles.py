"""Parts the body of a `.prompty` file into messages, before any value exists.

So a value that holds `system:` on a line of its own is text like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from promptsections.config.dialects import Piece, merged, trimmed
from promptsections.messages import Role
from promptsections.templates.nodes import Text

ROLES: tuple[Role, ...] = ("assistant", "developer", "system", "user")

MARKER = re.compile(
    rf"[^\S\n]*#?[^\S\n]*(?P<role>{'|'.join(ROLES)})(?P<attributes>\[[^\]\n]*\])?[^\S\n]*:[^\S\n]*",
    re.IGNORECASE,
)
"""A line that begins a message: `user:`, `# System:`, `user[name="Ann"]:`."""


@frozen
class Speech:
    """What one role says."""

    role: Role
    attributes: str
    """As they stand in brackets behind the role; mostly nothing."""
    pieces: tuple[Piece, ...]


def speeches(pieces: Sequence[Piece]) -> Iterator[Speech]:
    """Yield the messages of a body; what stands before the first marker is the system's."""
    role: Role = "system"
    attributes = ""
    said: list[Piece] = []
    for piece in _lines(merged(pieces)):
        if isinstance(piece, re.Match):
            if kept := trimmed(said, "\n"):
                yield Speech(role, attributes, kept)
            role, attributes, said = _role(piece["role"]), piece["attributes"] or "", []
        else:
            said.append(piece)
    if kept := trimmed(said, "\n"):
        yield Speech(role, attributes, kept)


def _role(written: str) -> Role:
    return next(role for role in ROLES if role == written.lower())


def _lines(pieces: Sequence[Piece]) -> Iterator[Piece | re.Match[str]]:
    """Yield pieces, with lines that are markers as matches; a marker fills its line."""
    for index, piece in enumerate(pieces):
        if not isinstance(piece, Text):
            yield piece
            continue
        lines = piece.text.split("\n")
        for number, line in enumerate(lines):
            starts = number > 0 or index == 0
            ends = number < len(lines) - 1 or index == len(pieces) - 1
            marker = MARKER.fullmatch(line) if starts and ends else None
            if marker is not None:
                yield marker
            else:
                yield Text(line if number == len(lines) - 1 else f"{line}\n")
