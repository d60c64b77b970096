"""Elements are well formed whatever stands in them."""

from __future__ import annotations

import re
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import DefinitionError
from promptsections.markup import Escape, XmlElement, enclose
from promptsections.unicode import well_formed

SNIPPETS = ["</k>", "<k>", "< / K >", "]]>", "]]", ">", "<![CDATA[", "&lt;", "&", '"', "\x00", "\n"]
HOSTILE = st.lists(
    st.sampled_from(SNIPPETS) | st.text(max_size=5) | st.just("\ud800"), max_size=12
).map("".join)


@pytest.mark.parametrize("escape", ["xml", "cdata"])
@given(text=HOSTILE, value=HOSTILE)
def test_what_is_escaped_parses_and_reads_as_it_was(escape: Escape, text: str, value: str) -> None:
    """Any text gives one element without children, which says the text, as does the attribute."""
    written = enclose(XmlElement("k", {"source": value}, escape=escape), text)
    if not text.strip():
        assert written == ""
        return

    element = ET.fromstring(written)

    assert (element.tag, len(element), [*element.attrib]) == ("k", 0, ["source"])
    assert element.text == as_read(f"\n{text}\n")
    assert element.attrib["source"].replace("\r", "\n") == as_read(value, in_attribute=True)


def as_read(text: str, *, in_attribute: bool = False) -> str:
    """Return a text as XML reads it: U+FFFD for what it has no room for, one kind of line end."""
    read = "".join("\ufffd" if _has_no_room(char) else char for char in well_formed(text))
    return read.replace("\r", "\n") if in_attribute else re.sub("\r\n?", "\n", read)


def _has_no_room(char: str) -> bool:
    return (char < " " and char not in "\t\n\r") or char in "\ufffe\uffff"


@given(HOSTILE)
def test_no_text_can_end_its_element(text: str) -> None:
    """However a text writes the tag, the only tags of that name are the element's own."""
    written = XmlElement("k").encode(text).lower().replace(" ", "")

    assert "</k>" not in written
    assert "<k>" not in written


def test_only_tags_of_the_same_name_are_touched() -> None:
    element = XmlElement("k")

    assert element.encode("a & b < c </kk> <p>x</p>") == "a & b < c </kk> <p>x</p>"
    assert element.encode("x</k>y<K a='1'>") == "x&lt;/k>y&lt;K a='1'>"


def test_the_element_stands_on_lines_of_its_own() -> None:
    assert enclose(XmlElement("note"), "one\ntwo") == "<note>\none\ntwo\n</note>"
    assert enclose(XmlElement("note", escape="none"), "</note>") == "<note>\n</note>\n</note>"
    assert enclose(XmlElement("note"), " \n ") == ""


def test_attributes_are_quoted_in_their_order() -> None:
    element = XmlElement("doc", {"source": 'a"<&>\n', "id": "1"})

    assert element.before == '<doc source="a&quot;&lt;&amp;&gt;&#10;" id="1">\n'


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: XmlElement(""), "'' is no name in XML"),
        (lambda: XmlElement("a b"), "'a b' is no name in XML"),
        (lambda: XmlElement("1a"), "'1a' is no name in XML"),
        (lambda: XmlElement("a", {"x y": ""}), "'x y' is no name in XML"),
        (lambda: XmlElement(cast("Any", 5)), "5 is no name in XML"),
        (lambda: XmlElement("a", escape=cast("Any", "html")), "escape='html' must be one of"),
    ],
)
def test_wrong_values_are_errors(wrong: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        wrong()
