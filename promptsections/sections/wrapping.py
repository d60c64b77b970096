"""Putting the text of a section in an element: arguments of its block, a note on forged tags.

It knows elements and scopes; it knows no particular section.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypedDict

from promptsections.errors import DefinitionError
from promptsections.markup import Escape, XmlElement
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


def wrapped(element: XmlElement | None, texts: Iterable[str], scope: Scope) -> Wrapper:
    """Put texts in an element, with a note if they hold tags of that name."""
    if element is None:
        return {}
    if element.escape == "closing_tag" and any(element.encode(text) != text for text in texts):
        scope.note("markup_escaped", f"tags named {element.tag!r} in the text are escaped")
    return {"before": element.before, "after": element.after, "encode": element.encode}
