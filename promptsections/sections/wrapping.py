"""Putting the text of a section in an element: arguments of its block, a note on forged tags.

It knows elements and scopes; it knows no particular section.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypedDict

from promptsections.errors import DefinitionError
from promptsections.fences import Fenced
from promptsections.markup import Enclosure, Escape, XmlElement
from promptsections.scope import Scope


class Wrapper(TypedDict, total=False):
    """Arguments of a block for what its text is put in."""

    before: str
    after: str
    encode: Callable[[str], str]


def element_of(tag: str | None, escape: Escape, *, owner: str) -> XmlElement | None:
    """Return what the text of a section is put in; `None` without a tag.

    Raises:
        DefinitionError: if the tag is no name in XML, or `escape` none of the choices.
    """
    try:
        element = XmlElement("text" if tag is None else tag, escape=escape)
    except DefinitionError as error:
        raise DefinitionError(f"section {owner!r}: {error}") from None
    return None if tag is None else element


def wrapped(enclosure: Enclosure | None, texts: Iterable[str], scope: Scope) -> Wrapper:
    """Put texts in an element or a fence, with a note if they hold what could end it."""
    match enclosure:
        case None:
            return {}
        case XmlElement(escape="closing_tag", tag=tag) if _changes(enclosure, texts):
            scope.note("markup_escaped", f"tags named {tag!r} in the text are escaped")
        case Fenced() if _changes(enclosure, texts):
            what = "tags, tokens of chat formats or lines of other speakers"
            scope.note("forgery_escaped", f"{what} in the text are escaped")
        case _:
            pass
    return {"before": enclosure.before, "after": enclosure.after, "encode": enclosure.encode}


def _changes(enclosure: Enclosure, texts: Iterable[str]) -> bool:
    return any(enclosure.encode(text) != text for text in texts)
