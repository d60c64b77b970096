"""What all providers share: templates, ids, arguments, data URLs, plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from promptsections.errors import DefinitionError, ProviderError, UnsupportedContentError
from promptsections.messages import FilePart, Message, TextPart, ToolCall
from promptsections.notes import Note
from promptsections.providers.calls import arguments_of
from promptsections.providers.ids import IdRule, Ids
from promptsections.providers.kept import Writer, fill, read_blocks, template
from promptsections.providers.media import Data, ending_of, read_data_url, read_file, registered
from promptsections.providers.pairing import pair
from promptsections.providers.plain import to_block, to_plain

leaves = st.none() | st.booleans() | st.integers() | st.text(alphabet="=ab", max_size=3)
plain = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(alphabet="=ab", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


# --- templates ----------------------------------------------------------------------------------


@given(plain, plain)
def test_a_filled_template_is_the_original(original: Any, written: Any) -> None:
    """Whatever was read comes back byte for byte, whatever we would have written."""
    assume(original is not None)
    kept = json.loads(json.dumps(template(original, written)))

    assert json.dumps(fill(kept, written)) == json.dumps(original)


@given(plain)
def test_a_template_of_what_we_write_anyway_is_one_hole(original: Any) -> None:
    """Nothing is kept of what the message says itself."""
    assert template(original, json.loads(json.dumps(original))) == "="


def test_a_template_takes_new_values() -> None:
    kept = template(
        {"k": 1, "text": "a", "list": [{"x": "a"}]}, {"text": "a", "list": [{"x": "a"}]}
    )

    assert fill(kept, {"text": "b", "list": [{"x": "c"}]}) == {
        "k": 1,
        "text": "b",
        "list": [{"x": "c"}],
    }
    assert fill(kept, {}) == {"k": 1}
    assert fill({"list": ["=", {"a": "="}]}, {"list": ["x"]}) == {"list": ["x", {}]}
    assert fill(["="], "no list") == []


def test_a_blank_block_is_understood_though_nothing_is_sent_for_it() -> None:
    def write(_: str, thing: Any) -> Any:
        return {"text": thing.text} if thing.text else None

    blocks = [{"text": "", "mark": 1}, {"text": "a", "mark": 1}]
    read = read_blocks(blocks, lambda block: ("text", TextPart(block["text"])), write)
    message = Message("user", read.parts)

    assert Writer("p", 0, write, []).blocks(message, read.data()) == [{"text": "a", "mark": 1}]


# --- ids ----------------------------------------------------------------------------------------


@given(st.lists(st.text(alphabet="ab.", max_size=3), max_size=20), st.integers(0, 20))
def test_ids_are_accepted_unique_and_independent_of_later_ones(wanted: list[str], cut: int) -> None:
    """No two calls share an id, and what follows never changes what was given before."""
    rule = IdRule("[a-zA-Z0-9]+")
    given_ids = Ids(rule).give_all(wanted)

    assert all(rule.pattern.fullmatch(each) for each in given_ids)
    assert len(set(given_ids)) == len(wanted)
    assert Ids(rule).give_all(wanted[:cut]) == given_ids[:cut]
    for index, each in enumerate(wanted):
        if rule.pattern.fullmatch(each) and each not in given_ids[:index]:
            assert given_ids[index] == each


def test_an_id_that_looks_like_a_made_up_one_is_told_apart() -> None:
    made = Ids(IdRule("[a-zA-Z0-9]+")).give_all(["a.b"])[0]

    assert len(set(Ids(IdRule("[a-zA-Z0-9]+")).give_all(["a.b", made, "a.b"]))) == 3


def test_ids_may_be_used_again_where_the_provider_allows_it() -> None:
    ids = Ids(IdRule(".+", reusable=True))

    assert ids.give_all(["c1"]) == ids.give_all(["c1"]) == ["c1"]
    assert ids.give_all(["c1", "c1"])[1] != "c1"


def test_pairing_leaves_messages_alone_that_need_nothing() -> None:
    ask = Message("assistant", tool_calls=[ToolCall("c1", "f")])
    messages = [Message("user", "q"), ask, Message("tool", "R", tool_call_id="c1", name="f")]

    assert pair(messages, IdRule(".+")) == messages
    assert pair(messages, IdRule(".+"))[1] is ask


# --- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        (" ", {}),
        ("{}", {}),
        ('{"a": [1.5, null]}', {"a": [1.5, None]}),
        (r'{"a": "\ud83d\ude00 \ud83d"}', {"a": "😀 \ufffd"}),
    ],
)
def test_arguments_become_objects(text: str, found: Any) -> None:
    assert arguments_of(ToolCall("c1", "f", text), 0) == found


@pytest.mark.parametrize(
    "text", ["{", "[1]", "1", "null", '{"a": NaN}', '{"a": 1e999}', "[" * 100_000, "9" * 5000]
)
def test_arguments_that_are_no_object_are_errors(text: str) -> None:
    with pytest.raises(ProviderError, match="message 3: call 'c1' of 'f'") as caught:
        arguments_of(ToolCall("c1", "f", text), 3)

    assert len(str(caught.value)) < 400


# --- data URLs ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "data"),
    [
        ("data:image/png;base64,QUJD", Data("image/png", "QUJD")),
        ("DATA:Image/JPG;charset=x;BASE64,QUJD", Data("image/jpeg", "QUJD")),
        ("data:text/plain,A%20B", Data("text/plain", "QSBC")),
        ("https://x/y.png", None),
    ],
)
def test_data_urls_are_read(url: str, data: Data | None) -> None:
    assert read_data_url(url, 0) == data


def test_files_have_the_type_of_their_url_declaration_or_name() -> None:
    assert read_file(FilePart(data="data:a/b;base64,QUJD", media_type="c/d"), 0) == Data(
        "a/b", "QUJD"
    )
    assert read_file(FilePart(data="QUJD", filename="x.pdf", media_type="c/d"), 0) == Data(
        "c/d", "QUJD"
    )
    assert read_file(FilePart(data="QUJD", filename="x.TXT"), 0) == Data("text/plain", "QUJD")
    assert read_file(FilePart(file_id="f"), 0) is None
    with pytest.raises(UnsupportedContentError, match="message 2: what kind of file is 'x'"):
        read_file(FilePart(data="QUJD", filename="x"), 2)


def test_media_types_are_the_registered_ones() -> None:
    assert registered(" Image/JPG ") == "image/jpeg"
    assert ending_of("text/markdown") == "md"
    assert ending_of("video/mp4") is None


# --- plain data ---------------------------------------------------------------------------------


class Kind(Enum):
    A = "a"


class Dumps:
    """Has a `model_dump` of its own, which takes no arguments."""

    def model_dump(self) -> dict[str, Any]:
        return {"inner": (Kind.A, b"ABC", bytearray(b"A"))}


class DumpsText:
    def model_dump(self, **options: Any) -> str:
        return "text"


def test_objects_become_plain_data_at_any_depth() -> None:
    assert to_plain([Dumps(), {1: range(2)}]) == [{"inner": ["a", "QUJD", "QQ=="]}, {"1": [0, 1]}]


@pytest.mark.parametrize("wrong", [object(), DumpsText(), {"a": object()}])
def test_what_is_no_plain_data_is_an_error(wrong: Any) -> None:
    with pytest.raises(DefinitionError, match="is no plain data"):
        to_plain(wrong)


@pytest.mark.parametrize("wrong", [1, "text", [1]])
def test_a_message_must_be_a_dict(wrong: Any) -> None:
    with pytest.raises(DefinitionError, match="a dict is needed here"):
        to_block(wrong)


def test_notes_are_collected_only_if_wanted() -> None:
    calls = [ToolCall("a.b", "f")]
    messages: Sequence[Message] = [Message("assistant", tool_calls=calls), Message("tool", "R")]
    notes: list[Note] = []

    assert pair(messages, IdRule("[a-z]+|[a-zA-Z0-9]{9}")) == pair(
        messages, IdRule("[a-z]+|[a-zA-Z0-9]{9}"), notes
    )
    assert [note.code for note in notes] == ["id_rewritten"]
