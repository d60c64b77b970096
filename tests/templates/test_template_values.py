"""Values to text: one rule for each kind of value."""

from __future__ import annotations

import json
import math
import uuid
from collections import OrderedDict, deque, namedtuple
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel

from promptsections.errors import ValueRenderError
from promptsections.templates import Template, to_text


class Color(Enum):
    RED = "red"
    NONE = None
    PAIR = (1, 2)


class Size(IntEnum):
    S = 1


class Word(StrEnum):
    W = "w"


class Loud(str):
    def __str__(self) -> str:
        return self.upper()


class LongFloat(float):
    def __repr__(self) -> str:
        return "LongFloat"


@dataclass
class Point:
    x: int
    y: object = None
    _seen: int = field(default=0)


@attrs.frozen
class Box:
    label: str
    content: object = None


class Numbers(RootModel[list[int]]):
    pass


class Model(BaseModel):
    name: str
    at: date
    inner: list[Numbers] = []


Pair = namedtuple("Pair", "a b")


class Lazy(Mapping[str, object]):
    """Makes its values when they are asked for."""

    def __getitem__(self, key: str) -> object:
        return [key]

    def __iter__(self) -> Iterator[str]:
        return iter("ab")

    def __len__(self) -> int:
        return 2


ZONE = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-(2**70), "-1180591620717411303424"),
        (0.1, "0.1"),
        (1e21, "1e+21"),
        (-0.0, "-0.0"),
        (LongFloat(1.5), "1.5"),
        ("<b> & 'x'\n", "<b> & 'x'\n"),
        (Loud("x"), "x"),
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 12, tzinfo=ZONE), "2024-02-29T12:00:00+02:00"),
        (time(8, 30), "08:30:00"),
        (Decimal("1.10"), "1.10"),
        (Decimal("-0"), "-0"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Color.RED, "red"),
        (Color.NONE, ""),
        (Color.PAIR, "[1,2]"),
        (Size.S, "1"),
        (Word.W, "w"),
        (b"\x00\xff", "AP8="),
        (bytearray(b"a"), "YQ=="),
        (memoryview(b"abcd")[::2], "YWM="),
        ([], "[]"),
        ({}, "{}"),
        (set(), "[]"),
        ([1, None, True, "a", 0.5], '[1,null,true,"a",0.5]'),
        ((1, (2,)), "[1,[2]]"),
        (Pair(1, 2), "[1,2]"),
        (range(3), "[0,1,2]"),
        (deque([1]), "[1]"),
        ({"z": 1, "a": {"b": 'é"\\\n'}}, '{"z":1,"a":{"b":"é\\"\\\\\\n"}}'),
        (OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
        (MappingProxyType({"a": 1}), '{"a":1}'),
        (Lazy(), '{"a":["a"],"b":["b"]}'),
        ({10, 9, -1, 2.5}, "[-1,2.5,9,10]"),
        (frozenset({"b", "a", 3, None, (1,)}), '[3,"a","b",[1],null]'),
        ({"a": 1}.keys(), '["a"]'),
        (
            {
                1: 1,
                1.5: 2,
                None: 3,
                Size.S: 4,
                Color.RED: 5,
                date(2024, 1, 2): 6,
                Loud("k"): 7,
            },
            '{"1":4,"1.5":2,"null":3,"red":5,"2024-01-02":6,"k":7}',
        ),
        ({False: 1}, '{"false":1}'),
        (
            [
                date(2024, 1, 2),
                Decimal("1.10"),
                uuid.UUID(int=0),
                b"a",
                Color.RED,
                Word.W,
                Loud("x"),
            ],
            '["2024-01-02",1.10,"00000000-0000-0000-0000-000000000000","YQ==","red","w","x"]',
        ),
        (Point(1, [Box("b", {2, 1})]), '{"x":1,"y":[{"label":"b","content":[1,2]}]}'),
        (
            Model(name="n", at=date(2024, 1, 2), inner=[Numbers([1, 2])]),
            '{"name":"n","at":"2024-01-02","inner":[[1,2]]}',
        ),
        (Numbers([1, 2]), "[1,2]"),
        ([Numbers([1, 2])], "[[1,2]]"),
    ],
)
def test_value_has_one_text(value: object, text: str) -> None:
    assert to_text(value, name="v") == text


def circular_list() -> object:
    value: list[object] = [1]
    value.append({"a": value})
    return value


def circular_object() -> object:
    value = Point(1)
    value.y = [value]
    return value


def circular_set() -> object:
    held: list[object] = []
    box = Held(held)
    held.append({box})
    return held


@dataclass(eq=False)
class Held:
    content: object


def nested(kind: Any, times: int) -> object:
    value = kind()
    for _ in range(times):
        value = kind([value])
    return value


class Broken:
    def model_dump(self) -> object:
        raise RuntimeError("no")


class Endless:
    def model_dump(self) -> object:
        return Endless()


class Generous(Mapping[str, object]):
    """Holds another one of its kind, without end."""

    def __getitem__(self, key: str) -> object:
        return Generous()

    def __iter__(self) -> Iterator[str]:
        return iter("a")

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (math.nan, "NaN"),
        (math.inf, "infinity"),
        (Decimal("NaN"), "NaN"),
        (Decimal("sNaN"), "NaN"),
        ({"a": [-math.inf]}, "infinity"),
        ({math.nan: 1}, "NaN"),
        (circular_list(), "holds itself"),
        (circular_object(), "holds itself"),
        (circular_set(), "holds itself"),
        (nested(list, 20_000), "nested more than 10,000 deep"),
        (Generous(), "nested more than 10,000 deep"),
        (nested(frozenset, 200), "sets nested more than 50 deep"),
        (object(), "type object"),
        ([object()], "type object"),
        (Point, "type type"),
        ((n for n in ()), "type generator"),
        (timedelta(1), "type timedelta"),
        (1j, "type complex"),
        ({(1, 2): 1}, "key of type tuple"),
        (Broken(), "model_dump() failed"),
        (Endless(), "no plain data"),
    ],
)
def test_value_without_text_is_an_error_that_names_the_variable(
    value: object, problem: str
) -> None:
    with pytest.raises(ValueRenderError) as caught:
        to_text(value, name="user.data", position=7)

    assert problem in str(caught.value)
    assert "'user.data'" in str(caught.value)
    assert (caught.value.name, caught.value.position) == ("user.data", 7)


def test_failing_model_dump_is_chained() -> None:
    with pytest.raises(ValueRenderError) as caught:
        to_text(Broken(), name="v")

    assert isinstance(caught.value.__cause__, RuntimeError)


def test_deep_list_has_a_text() -> None:
    assert to_text(nested(list, 5_000), name="v") == "[" * 5_001 + "]" * 5_001


def test_shared_container_is_not_circular() -> None:
    shared = [1]

    assert to_text([shared, shared, {"a": shared}], name="v") == '[[1],[1],{"a":[1]}]'


@pytest.mark.parametrize("times", [4_300, 5_000, 20_000])
def test_integer_of_any_size_has_its_digits(times: int) -> None:
    assert to_text(10**times + 7, name="v") == "1" + "0" * (times - 1) + "7"
    assert to_text([-(10**times)], name="v") == "[-1" + "0" * times + "]"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        (["\udc00", {"\ud800": "\ud83d\ude00"}], '["\ufffd",{"\ufffd":"😀"}]'),
        ("é\ud800", "é\ufffd"),
    ],
)
def test_surrogates_leave_as_characters_that_can_be_sent(value: object, text: str) -> None:
    assert to_text(value, name="v") == text


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False)
)
JSON_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(JSON_VALUES) | st.dictionaries(st.text(), JSON_VALUES))
def test_json_value_reads_back_as_itself(value: object) -> None:
    """Any container of JSON values parses back, and is as `json.dumps` writes it compactly."""
    text = to_text(value, name="v")

    assert json.loads(text) == value
    assert text == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@given(st.text(st.characters(codec=None)))
def test_value_is_never_parsed_or_changed(text: str) -> None:
    """Law 8: a string comes out as it went in; only lone surrogates leave as U+FFFD."""
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    assert Template("<<$x>>").render({"x": text}) == expected
    assert Template("<<f>>").render(functions={"f": lambda: text}) == expected


@given(st.sets(SCALARS | st.tuples(st.integers(), st.text())))
def test_set_is_written_in_one_order(members: set[object]) -> None:
    """The order of a set's text depends on its members only, and numbers rise."""
    text = to_text(members, name="v")

    backwards: set[object] = set()
    for member in list(members)[::-1]:
        backwards.add(member)  # one by one: collisions then settle in another order
    assert text == to_text(backwards, name="v")
    numbers = [n for n in json.loads(text) if type(n) in (int, float)]
    assert numbers == sorted(numbers)
