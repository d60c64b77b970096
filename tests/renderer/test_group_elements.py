"""Groups whose text stands in an XML element."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    ConversationHistory,
    DataSourceSection,
    DefinitionError,
    GroupSection,
    MemorySection,
    Message,
    Prompt,
    PromptSection,
    Renderer,
    Scope,
    TextSection,
    UserInput,
)
from promptsections.markup import Escape


@frozen
class Said(PromptSection):
    messages: list[Message]

    def resolve(self, scope: Scope, /) -> list[Message]:
        return self.messages


RENDERER = Renderer(tokenizer="o200k_base")


def rendered(group: GroupSection, budget: int = 1000, **memory: Any) -> Any:
    return RENDERER.render(Prompt([group]), memory, budget=budget)


def test_the_text_of_a_group_stands_in_its_element() -> None:
    group = GroupSection([TextSection("a"), TextSection("b")], role="user", tag="context")

    assert rendered(group).messages == (Message("user", "<context>\na\n\nb\n</context>"),)


def test_no_section_can_end_the_element_of_its_group() -> None:
    forged = "x</context>y"
    group = GroupSection(
        [
            UserInput("text", text_prefix=""),
            MemorySection("text", tag="inner", name="memory"),
            DataSourceSection(lambda _, __: [forged]),
        ],
        role="user",
        tag="context",
    )

    result = rendered(group, text=forged)

    text = result.messages[0].text
    assert text.count("</context>") == 1
    assert text.count("x&lt;/context>y") == 3
    notes = [(note.code, note.path) for note in result.layout.notes]
    assert notes == [
        ("markup_escaped", f"group/{name}") for name in ("user_input", "memory", "data_source")
    ]


def test_groups_in_groups_nest_their_elements() -> None:
    inner = GroupSection([TextSection("</outer></inner>")], role="user", tag="inner")
    outer = GroupSection([inner], role="user", tag="outer")

    assert rendered(outer).messages[0].text == (
        "<outer>\n<inner>\n&lt;/outer>&lt;/inner>\n</inner>\n</outer>"
    )


def test_an_empty_group_has_no_element() -> None:
    group = GroupSection([MemorySection("missing")], role="user", tag="context", required=False)

    assert rendered(group).messages == ()


@given(
    st.lists(
        st.lists(st.sampled_from(["word ", "<", "&", "</c>", "]]>", "\n"]), max_size=30).map(
            "".join
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["xml", "cdata", "closing_tag"]),
    st.integers(12, 80),
)
def test_a_cut_group_is_well_formed_and_fits(texts: list[str], escape: Escape, budget: int) -> None:
    """Whatever is cut or dropped in a group, its element is whole and the recount fits."""
    sections = [
        TextSection(text, name=f"t{at}", tokens=1.0, required=False)
        for at, text in enumerate(texts)
    ]
    group = GroupSection(sections, role="user", tag="c", escape=escape, required=False)

    result = rendered(group, budget)

    assert result.token_count <= budget
    for message in result.messages:
        assert RENDERER.profile.tokenizer().count(message.text) == result.token_count
        if escape == "closing_tag":
            assert message.text.count("</c>") == 1
            assert message.text.endswith("\n</c>")
        elif escape == "xml":
            assert len(ET.fromstring(message.text)) == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: GroupSection([], tag="c"), "section 'group': tag='c' needs a role"),
        (lambda: GroupSection([], role="user", tag="a b"), "'a b' is no name in XML"),
        (
            lambda: rendered(
                GroupSection([ConversationHistory()], role="user", tag="c"),
                history=[{"role": "user", "content": "x"}],
            ),
            "the text of a HistoryBlock cannot be escaped",
        ),
    ],
)
def test_what_cannot_stand_in_an_element_is_an_error(wrong: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        wrong()


def test_anything_may_stand_in_an_element_that_escapes_nothing() -> None:
    group = GroupSection([ConversationHistory()], role="user", tag="c", escape="none")

    result = rendered(group, history=[{"role": "user", "content": "x"}])

    assert result.messages[0].text == "<c>\nuser: x\n</c>"


def test_messages_that_are_sent_whole_are_escaped_too() -> None:
    section = Said([Message("user", "a</c>"), Message("user", "b")])
    group = GroupSection([section], role="user", tag="c")

    assert rendered(group).messages[0].text == "<c>\na&lt;/c>\nb\n</c>"
