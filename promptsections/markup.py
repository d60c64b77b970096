"""Texts in XML elements that stay well formed, whatever is in the text and wherever it is cut.

The text is cut first and wrapped then. It knows no blocks, no sections and no tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, Protocol, assert_never, get_args

from attrs import field, frozen

from promptsections.errors import DefinitionError
from promptsections.unicode import well_formed

Escape = Literal["closing_tag", "xml", "cdata", "none"]
"""What is done about markup in a text.

| written | does |
|---|---|
| `"closing_tag"` | tags of the same name lose their `<`, everything else stays as it is |
| `"xml"` | `&`, `<` and `>` become entities, what XML 1.0 has no room for U+FFFD; it parses |
| `"cdata"` | the text stands in a CDATA section; it parses, and reads as it is |
| `"none"` | nothing; the text can end the element |
"""

_NAME: Final = re.compile(r"[^\W\d][\w.-]*")
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What no XML 1.0 document may hold (section 2.2, Char)."""


class Enclosure(Protocol):
    """Something that a text is put in; the text can be cut, what is around it cannot."""

    @property
    def before(self) -> str:
        """What stands in front."""
        ...

    @property
    def after(self) -> str:
        """What stands behind."""
        ...

    def encode(self, text: str, /) -> str:
        """Return the text as it is written inside; of a shorter text it is no longer."""
        ...


def enclose(enclosure: Enclosure, text: str) -> str:
    """Put a text inside; blank text gives nothing."""
    if not text.strip():
        return ""
    return f"{enclosure.before}{enclosure.encode(text)}{enclosure.after}"


def _attributes(value: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType(dict(value))


@frozen
class XmlElement:
    """An element on lines of its own: the tag, the text, the closing tag.

    Raises:
        DefinitionError: if the tag or an attribute is no name in XML.
    """

    tag: str
    attributes: Mapping[str, str] = field(factory=dict[str, str], converter=_attributes, hash=False)
    """Name → value, in this order."""
    escape: Escape = field(default="closing_tag", kw_only=True)

    def __attrs_post_init__(self) -> None:
        for name in (self.tag, *self.attributes):
            if not isinstance(name, str) or not _NAME.fullmatch(name):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise DefinitionError(
                    f"{name!r} is no name in XML: begin with a letter or _, and go on with "
                    "letters, digits, _, - or ."
                )
        if self.escape not in get_args(Escape):
            listed = ", ".join(map(repr, get_args(Escape)))
            raise DefinitionError(f"escape={self.escape!r} must be one of {listed}")

    @property
    def before(self) -> str:
        """The opening tag and a line break."""
        attributes = "".join(f' {n}="{_in_quotes(v)}"' for n, v in self.attributes.items())
        start = "<![CDATA[" if self.escape == "cdata" else ""
        return f"<{self.tag}{attributes}>\n{start}"

    @property
    def after(self) -> str:
        """A line break and the closing tag."""
        end = "]]>" if self.escape == "cdata" else ""
        return f"{end}\n</{self.tag}>"

    def encode(self, text: str, /) -> str:
        """Return the text as it is written inside."""
        match self.escape:
            case "none":
                return text
            case "closing_tag":
                return self._own_tag().sub("&lt;", text)
            case "cdata":
                return _printable(text).replace("]]>", "]]]]><![CDATA[>")
            case "xml":
                return _entities(_printable(text))
            case _ as never:
                assert_never(never)

    def _own_tag(self) -> re.Pattern[str]:
        return re.compile(rf"<(?=\s*(?:/\s*)?{re.escape(self.tag)}(?![\w.-]))", re.IGNORECASE)


@frozen
class Bare:
    """A text without an element, whose markup is written so that what stands around it parses."""

    escape: Literal["xml", "cdata"]

    @property
    def before(self) -> str:
        """The beginning of a CDATA section, or nothing."""
        return "<![CDATA[" if self.escape == "cdata" else ""

    @property
    def after(self) -> str:
        """The end of a CDATA section, or nothing."""
        return "]]>" if self.escape == "cdata" else ""

    def encode(self, text: str, /) -> str:
        """Return the text as it is written inside."""
        return XmlElement("text", escape=self.escape).encode(text)


def _printable(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", well_formed(text))


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _in_quotes(value: str) -> str:
    text = _entities(_printable(value)).replace('"', "&quot;")
    return re.sub(r"[\t\n\r]", lambda blank: f"&#{ord(blank[0])};", text)
