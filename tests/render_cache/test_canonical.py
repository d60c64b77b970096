"""Canonical forms: equal for equal values only, and refused where a value is more than it shows."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType
from typing import Any
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from promptsections import Chunk, Message, ModelProfile, NewestFirst, ToolCall
from promptsections.render_cache import cacheable
from promptsections.render_cache.canonical import Canonical, Unkeyable, digest_of
from promptsections.testing import FakeSource, WordTokenizer
from promptsections.tokens import CachedTokenizer


@attrs.frozen
class Point:
    x: object
    y: object = 0


@dataclasses.dataclass
class Pair:
    x: object
    y: object = 0


class Model(BaseModel):
    x: int = 0


class Mood(Enum):
    GLAD = 1
    SAD = 2


class Level(IntEnum):
    ONE = 1


class Key(bytes):
    __slots__ = ()


class Word(str):
    __slots__ = ()


Place = namedtuple("Place", "x y")

ALL_DIFFERENT: list[Any] = [
    None, True, False, 0, 1, -1, 10**5000, 1.0, -0.0, 0.0, float("nan"), float("inf"),
    "", "1", "True", "None", "a", "Aa", "BB", "\ud800", Word("a"),
    Key(b"1"), b"", b"1", bytearray(b"1"), Decimal(1), Decimal("1.0"), Fraction(1), Fraction(1, 2),
    date(2026, 1, 1), datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC),
    datetime(2026, 1, 1, tzinfo=timezone(timedelta(), "GMT")), datetime(2026, 1, 1, fold=1),
    time(1), timedelta(1), UUID(int=1), range(1), range(2),
    [], (), {}, set(), [[]], [[], []], ["a", "b"], ["ab"], ["b", "a"], ("a", "b"), {"a": "b"},
    {"a": 1, "b": 2}, {"b": 2, "a": 1}, {1: "a"}, {"1": "a"}, {"a", "b"}, {("a", "b")},
    frozenset({1}), deque([1]), deque([1], 5), OrderedDict(a=1), defaultdict(int, a=1),
    defaultdict(list, a=1), {"a": 1}, Place(1, 2), (1, 2), [1, 2],
    Point(1), Point("1"), Point(1, 1), Pair(1), Model(x=1), Model(x=0), Model(),
    Mood.GLAD, Mood.SAD, Level.ONE,
    Message("user", "a"), Message("system", "a"), Message("user", "a", name="b"),
    Message("user", None), Message("user", ""), Message("tool", "a", tool_call_id=""),
    Message("assistant", "a", tool_calls=[ToolCall("1", "f")]), {"role": "user", "content": "a"},
    Message("user", "a", extra={"a": 1}), Message("user", "a", provider_data={"openai": {}}),
    Chunk("a"), Chunk("a", id="b"), ModelProfile.plain("o200k_base"),
    ModelProfile.plain("cl100k_base"), ModelProfile.plain(WordTokenizer()),
]  # fmt: skip


def test_values_that_differ_in_value_or_type_have_different_forms() -> None:
    digests = [(digest_of(value), value) for value in ALL_DIFFERENT]
    same = [(a, b) for (da, a), (db, b) in combinations(digests, 2) if da == db]

    assert same == []


def plain() -> st.SearchStrategy[Any]:
    """Values of JSON and a little more, many of them nearly alike."""
    leaves = (
        st.sampled_from([None, True, False, 0, 1, 1.0, "", "1", "a", "aa", b"a", Decimal(1)])
        | st.integers(-3, 3)
        | st.text("a1:.", max_size=3)
    )
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.dictionaries(st.text("a1", max_size=2), inner, max_size=3)
        ),
        max_leaves=8,
    )


@given(plain(), plain())
def test_two_values_have_one_form_exactly_if_they_print_alike(one: Any, other: Any) -> None:
    """`repr` tells plain values apart by type, order and content; so do their forms."""
    assert (digest_of(one) == digest_of(other)) == (repr(one) == repr(other))


@given(st.lists(plain(), max_size=4), st.lists(plain(), max_size=4))
def test_values_one_after_the_other_do_not_run_together(one: list[Any], other: list[Any]) -> None:
    """Forms are prefix-free, so what is written in a row can be told apart too."""
    writers = []
    for values in (one, other):
        writer = Canonical()
        for value in values:
            writer.write(value)
        writers.append(writer.digest())

    assert (writers[0] == writers[1]) == (repr(one) == repr(other))


def test_equal_values_have_one_form() -> None:
    assert digest_of({"a", "b", "c"}) == digest_of({"c", "b", "a"})
    assert digest_of(MappingProxyType({"a": 1})) == digest_of({"a": 1})
    assert digest_of(Point([1])) == digest_of(Point([1]))
    assert digest_of(CachedTokenizer(WordTokenizer())) == digest_of(WordTokenizer())
    assert digest_of(ModelProfile.plain("o200k_base")) == digest_of(
        ModelProfile.plain("o200k_base")
    )


def local() -> Any:
    @attrs.frozen
    class Local:
        x: int = 1

    return Local()


def endless() -> list[Any]:
    inner: list[Any] = []
    inner.append(inner)
    return inner


class More(Point):
    """Has a `__dict__`, unlike what it derives from."""

    def __init__(self) -> None:
        super().__init__(1)
        object.__setattr__(self, "z", 2)


@attrs.define(eq=False)
class Changing:
    x: int = 1


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        (len, "is the function len, of which nothing is declared"),
        (lambda: 1, "of which nothing is declared"),
        ([{"a": len}], "0.a is the function len"),
        (FakeSource(["a"]), "is the function FakeSource"),
        (NewestFirst(list), "open is the function"),
        (object(), "is an object of type object, which is more than its fields"),
        (Changing(), "is an object of type Changing"),
        (Point(Point(object())), "x.x is an object"),
        (local(), "define it at the top of a module"),
        (endless(), "is nested more than 100 levels deep, or holds itself"),
        (defaultdict(lambda: 1), "is a defaultdict with a factory of its own"),
        (More(), "has more than its fields: z"),
        (iter([]), "is an object of type list_iterator"),
    ],
)
def test_what_is_more_than_it_shows_is_refused(value: object, detail: str) -> None:
    with pytest.raises(Unkeyable) as caught:
        digest_of(value)

    assert detail in caught.value.detail


def made(answer: str) -> Callable[[], str]:
    return lambda: answer


def fixed(word: str = "a", *, other: object = None) -> str:
    return word


class Box:
    def __init__(self, content: str) -> None:
        self.content = content

    def open(self) -> str:
        return self.content


def test_a_declared_function_is_its_place_its_key_and_what_it_carries() -> None:
    one = digest_of(cacheable(made("a"), key="v1"))

    assert one == digest_of(cacheable(made("a"), key="v1"))
    assert one != digest_of(cacheable(made("b"), key="v1"))
    assert one != digest_of(cacheable(made("a"), key="v2"))
    assert one != digest_of(cacheable(fixed, key="v1"))


def test_what_it_carries_may_be_fields_arguments_and_an_object_of_its_own() -> None:
    from functools import partial

    sources = [FakeSource(["a"]), FakeSource(["b"]), partial(fixed, "a"), partial(fixed, "b")]
    bound = [Message("user", "a").saying, Message("user", "b").saying]
    digests = {digest_of(cacheable(f, key="v1")) for f in [*sources, *bound]}

    assert len(digests) == 6
    # What has no form is left to the key.
    assert digest_of(cacheable(Box("a").open, key="v1")) == digest_of(
        cacheable(Box("b").open, key="v1")
    )


def test_a_function_may_capture_what_is_not_there_yet() -> None:
    function = cacheable(lambda: later, key="v1")
    before = digest_of(function)
    later = 1

    assert digest_of(function) != before


def test_what_it_depends_on_is_asked_each_time() -> None:
    today = date(2026, 1, 1)
    function = cacheable(fixed, key="v1", depends_on=lambda: today)
    before = digest_of(function)
    today = date(2026, 1, 2)

    assert digest_of(function) != before
    assert before != digest_of(cacheable(fixed, key="v1"))


def test_what_it_depends_on_must_have_a_form() -> None:
    with pytest.raises(Unkeyable) as caught:
        digest_of(cacheable(fixed, key="v1", depends_on=object))

    assert caught.value.detail.startswith("what fixed depends on is an object")
