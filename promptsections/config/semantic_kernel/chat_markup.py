"""Parts a template of Semantic Kernel into messages, by the tags that are written in it.

Values stand aside while the tags are read, so nothing in a value is ever a tag.
Source: semantic-kernel 1.45, `ChatHistory.from_rendered_prompt`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import unescape
from xml.etree import ElementTree as ET

from attrs import define, field, frozen

from promptsections.config.dialects import Piece, Untranslatable, Verbatim, merged, trimmed
from promptsections.messages import Role
from promptsections.templates.nodes import Text, Variable

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
}
_NO_ROLE = re.compile(rf"<(?!message\s[^>]*\brole\s*=\s*[\"'](?:{'|'.join(_ROLES)})[\"'])\w")
"""The beginning of a tag that is no message with one of these roles."""
_CONTENT = frozenset(
    ("annotation", "audio", "binary", "file_reference", "function_call", "function_result", "image")
) | {"reasoning", "streaming_annotation", "streaming_file_reference"}
"""Tags of content that is no text."""


@frozen
class Speech:
    """What one role says, or the variable of a conversation."""

    role: Role
    pieces: tuple[Piece, ...]
    history: str | None = None
    """Path of the conversation that stands here."""


def speeches(pieces: Sequence[Piece], histories: Collection[str], source: str) -> list[Speech]:
    """Return the messages of a template.

    Without tags, or where the tags are no XML, everything is one message of the user. Otherwise,
    what stands in front of the first tag is the system's, and what stands behind a tag the user's.

    Args:
        pieces: The template.
        histories: Paths of variables that are conversations; they count as tags.
        source: The template as it is written, to find the places of mistakes.

    Raises:
        Untranslatable: at a message without a role, or with content that is no text.
    """
    markup = _Markup(pieces, histories)
    try:
        root = ET.fromstring(f"<root>{markup.text.strip()}</root>")
    except ET.ParseError:
        found = list(_without_tags(pieces, histories))
    else:
        found = _Reader(markup, source).read(root)
    if len(found) == 1 and found[0].role == "system" and found[0].history is None:
        found = [Speech("user", found[0].pieces)]
    return [speech for speech in found if speech.pieces or speech.history]


def _without_tags(pieces: Sequence[Piece], histories: Collection[str]) -> Iterator[Speech]:
    """Yield what stands around conversations as messages of the user."""
    said: list[Piece] = []
    for piece in merged(pieces):
        if isinstance(piece, Variable) and piece.path in histories:
            yield Speech("user", trimmed(said))
            yield Speech("user", (), piece.path)
            said = []
        else:
            said.append(Text(unescape(piece.text)) if isinstance(piece, Text) else piece)
    yield Speech("user", trimmed(said))


class _Markup:
    """A template as XML, with marks in the places of values."""

    def __init__(self, pieces: Sequence[Piece], histories: Collection[str]) -> None:
        self.values: list[Piece] = []
        literal = "".join(piece.text for piece in pieces if isinstance(piece, Text | Verbatim))
        self._mark = next(chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in literal)
        self._number = re.compile(f"{self._mark}([0-9]+){self._mark}")
        self.history_tag = f"history{ord(self._mark):x}"
        """The tag that stands for a conversation."""
        self.text = "".join(self._written(piece, histories) for piece in merged(pieces))

    def _written(self, piece: Piece, histories: Collection[str]) -> str:
        if isinstance(piece, Text):
            return piece.text
        if isinstance(piece, Variable) and piece.path in histories:
            return f"<{self.history_tag}>{piece.path}</{self.history_tag}>"
        self.values.append(piece)
        return f"{self._mark}{len(self.values) - 1}{self._mark}"

    def pieces_of(self, text: str) -> Iterator[Piece]:
        """Yield the pieces of a text, with values in the places of marks."""
        for index, part in enumerate(self._number.split(text)):
            yield self.values[int(part)] if index % 2 else Text(part)


@define
class _Reader:
    """Reads elements one after the other."""

    markup: _Markup
    source: str
    found: list[Speech] = field(factory=list[Speech])

    def read(self, root: ET.Element) -> list[Speech]:
        self._say("system", root.text or "")
        for element in root:
            if element.tag == "message":
                self._message(element)
            elif element.tag == "chat_history":
                for message in element:
                    self._message(message)
            elif element.tag == self.markup.history_tag:
                self.found.append(Speech("user", (), element.text))
            else:
                self._unknown(element)
                continue
            self._say("user", element.tail or "")
        return self.found

    def _say(self, role: Role, text: str) -> None:
        if text.strip():
            pieces = trimmed(list(self.markup.pieces_of(unescape(text.strip()))))
            self.found.append(Speech(role, pieces))

    def _message(self, element: ET.Element) -> None:
        role = _ROLES.get(element.get("role", ""))
        if element.tag != "message" or role is None:
            place = _NO_ROLE.search(self.source)
            raise Untranslatable(
                f"<{element.tag}> is no message that has a role of {', '.join(_ROLES)}",
                place.start() if place else 0,
            )
        texts = [unescape(element.text or "")]
        for inner in element:
            if inner.tag == "text":
                texts.append(unescape(inner.text or ""))
            elif inner.tag in _CONTENT or inner.tag == self.markup.history_tag:
                position = max(0, self.source.find(f"<{inner.tag}"))
                raise Untranslatable("a message here holds a text and nothing else", position)
            else:
                texts.append(_written(inner))
        self.found.append(Speech(role, tuple(self.markup.pieces_of("".join(texts)))))

    def _unknown(self, element: ET.Element) -> None:
        """Add a tag that nobody knows to the message before it, as text."""
        tail, element.tail = element.tail or "", None
        text = _written(element) + unescape(tail)
        last = self.found.pop() if self.found and self.found[-1].history is None else None
        before = last.pieces if last else ()
        pieces = (*before, *self.markup.pieces_of(text))
        role: Role = last.role if last else "user"
        self.found.append(Speech(role, tuple(merged(pieces))))


def _written(element: ET.Element) -> str:
    return unescape(ET.tostring(element, encoding="unicode", short_empty_elements=False))
