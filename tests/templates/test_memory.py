"""Memory by path: mappings, lists, objects with `get`, and Teams AI's scopes."""

from __future__ import annotations

from collections import ChainMap, UserDict, defaultdict
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections.errors import DefinitionError, UndefinedVariableError
from promptsections.memory import MISSING, Memory, Miss, ScopedMemory, explain_miss, lookup
from promptsections.templates import Template


class Store:
    """A memory of the protocol's form, flat."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values = values

    def get(self, path: str, default: Any = None, /) -> Any:
        return self.values.get(path, default)


class State:
    """Knows paths of two parts and refuses longer ones, like Teams AI's memory."""

    def __init__(self, **scopes: dict[str, object]) -> None:
        self.scopes = scopes

    def has(self, path: str) -> bool:
        scope, name = self._parts(path)
        return scope in self.scopes and name in self.scopes[scope]

    def get(self, path: str) -> object:
        scope, name = self._parts(path)
        return self.scopes[scope][name] if self.has(path) else None

    def _parts(self, path: str) -> list[str]:
        parts = path.split(".")
        if len(parts) > 2:
            raise ValueError(f"Invalid state path: {path}")
        return parts if len(parts) == 2 else ["temp", *parts]


class OnlyGet:
    def get(self, path: str) -> object:
        return {"temp.a": 1, "a": 2}.get(path)


class NeverGot(UserDict[str, object]):
    def get(self, key: str, default: object = None) -> object:
        raise AssertionError("a mapping is walked")


class Turn(dict[str, Any]):
    """A dict of scopes with keys of its own and a `get` of another form, like Teams AI's state."""

    def get(self, path: str) -> object:  # type: ignore[override]
        raise AssertionError("a mapping is walked")


class Person:
    name = "HUNTER2"

    def __repr__(self) -> str:
        raise AssertionError("must not be shown")


VALUES = {
    "a": {"b": {"c": 1}, "b.c": 2, "": 3},
    "x.y": 4,
    "x": {"y": 5, "z": None},
    "list": [{"t": 6}, [7, 8]],
    "text": "abc",
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b.c", 2),
        ("a.b", {"c": 1}),
        ("x.y", 4),
        ("x.z", None),
        ("list.0.t", 6),
        ("list.1.01", 8),
        ("a.", 3),
        ("list.2", MISSING),
        ("list.-1", MISSING),
        ("list.²", MISSING),
        ("list." + "9" * 5_000, MISSING),
        ("list.t", MISSING),
        ("text.0", MISSING),
        ("text.upper", MISSING),
        ("a.b.d", MISSING),
        ("nope", MISSING),
        ("", MISSING),
    ],
)
@pytest.mark.parametrize("kind", [dict, MappingProxyType, ChainMap, NeverGot, Store])
def test_path_walks_mappings_and_lists(kind: Any, path: str, value: object) -> None:
    assert lookup(kind(VALUES), path) == value
    assert lookup(kind(VALUES), path, "default") == ("default" if value is MISSING else value)


def test_mapping_does_not_grow_by_being_read() -> None:
    memory: dict[str, object] = defaultdict(list)

    assert lookup(memory, "a.b") is MISSING
    assert memory == {}


def test_no_memory_holds_nothing() -> None:
    assert lookup(None, "a") is MISSING
    assert repr(MISSING) == "MISSING"


def test_object_memory_is_asked_for_the_path_and_then_for_beginnings() -> None:
    store = Store({"user": {"name": "A", "tags": ["t"]}, "user.name": "B"})

    assert isinstance(store, Memory)
    assert lookup(store, "user.name") == "B"
    assert lookup(store, "user.tags.0") == "t"


def test_object_memory_may_have_other_forms_of_get() -> None:
    assert lookup(State(temp={"a": None}), "a") is None
    assert lookup(State(), "a") is MISSING
    assert lookup(OnlyGet(), "a") == 2
    assert lookup(OnlyGet(), "b") is MISSING


def test_builtin_get_without_a_signature_is_asked_with_a_default() -> None:
    class Wrapper:
        def __init__(self) -> None:
            self.get = NoSignature({"a": 1})

    assert lookup(Wrapper(), "a") == 1


class NoSignature:
    def __init__(self, values: dict[str, object]) -> None:
        self.values = values

    @property
    def __signature__(self) -> object:
        raise ValueError("no signature")

    def __call__(self, path: str, default: object) -> object:
        return self.values.get(path, default)


def test_memory_of_another_kind_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"must be a mapping or have get.*list has not"):
        lookup([1], "0")


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("person.name", "'person' is an object of type Person, and attributes are never read"),
        ("in.list.0.name", "'in.list.0' is an object of type Person"),
        ("in.list.7", "'in.list' is a list of 1"),
        ("none.a", "'none' is of type NoneType and has no parts"),
        ("text.a.b", "'text' is of type str and has no parts"),
        ("nope", "is not in memory"),
    ],
)
@pytest.mark.parametrize("kind", [dict, Store])
def test_missing_path_is_explained_without_showing_values(kind: Any, path: str, part: str) -> None:
    memory = kind({"person": Person(), "in": {"list": [Person()]}, "none": None, "text": "HUNTER2"})

    with pytest.raises(UndefinedVariableError) as caught:
        Template(f"<<${path}>>").render(memory)

    assert part in str(caught.value)
    assert "HUNTER2" not in str(caught.value)


def test_memory_that_must_be_awaited_is_refused() -> None:
    class Remote:
        async def get(self, path: str, default: object = None) -> object:
            raise AssertionError

    with pytest.raises(DefinitionError, match=r"get\(\) of Remote must be awaited"):
        lookup(Remote(), "a")


def test_explanation_of_a_long_path_is_short() -> None:
    long = "a" * 5_000

    assert len(explain_miss({long: 1}, f"{long}.b").reason) < 200


def test_names_are_those_beside_the_missing_one() -> None:
    memory = {"user": {"name": 1, "age": 2, 3: 4}, "x": 5}

    assert explain_miss(memory, "usr").names == ("user", "x")
    beside = Miss("is not in memory", ("name", "age"), "user.")
    assert explain_miss(memory, "user.nam") == beside
    assert explain_miss(Store(memory), "user.nam") == beside
    assert len(explain_miss({str(n): n for n in range(5_000)}, "x").names) == 1_000


# --- scopes ---------------------------------------------------------------------------------------

SCOPES: dict[str, Any] = {
    "conversation": {"topic": "rain", "user": {"name": "in conversation"}},
    "user": Store({"name": "Ann"}),
    "temp": {"input": "hi", "other": {"name": "temp"}, "user": "in temp"},
    "empty": None,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("conversation.topic", "rain"),
        ("conversation.user.name", "in conversation"),
        ("user.name", "Ann"),
        ("user.age", MISSING),
        ("input", "hi"),
        ("temp.input", "hi"),
        ("other.name", "temp"),
        ("user", "in temp"),
        ("conversation", MISSING),
        ("empty.x", MISSING),
        ("topic", MISSING),
    ],
)
def test_scoped_path_reads_its_scope_and_a_bare_name_the_default(path: str, value: object) -> None:
    memory = ScopedMemory(SCOPES)

    assert lookup(memory, path) == value
    assert memory.get(path) == (None if value is MISSING else value)


def test_default_scope_can_be_chosen_or_absent() -> None:
    assert ScopedMemory(SCOPES, default="conversation").get("topic") == "rain"
    assert ScopedMemory({"user": {}}).get("topic", "none") == "none"


def test_suggestions_name_the_scope() -> None:
    memory = ScopedMemory(SCOPES)

    miss = explain_miss(memory, "conversation.topik")
    assert (miss.prefix, miss.names) == ("conversation.", ("topic", "user"))
    miss = explain_miss(memory, "conversation.user.nmae")
    assert (miss.prefix, miss.names) == ("conversation.user.", ("name",))
    miss = explain_miss(memory, "inptu")
    assert (miss.prefix, miss.names) == ("", ("input", "other", "user"))


@pytest.mark.parametrize(
    "state",
    [
        State(conversation={"hello": "world", "deep": {"a": [1]}}, temp={"x": {"y": 2}, "n": None}),
        Turn(
            conversation={"hello": "world", "deep": {"a": [1]}},
            temp={"x": {"y": 2}, "n": None},
            __key__="",
            __deleted__=[],
        ),
    ],
)
def test_wrapped_state_object_reads_like_its_scopes(state: object) -> None:
    memory = ScopedMemory(state)

    assert lookup(memory, "conversation.hello") == "world"
    assert lookup(memory, "conversation.test") is MISSING
    assert lookup(memory, "conversation.deep.a.0") == 1
    assert lookup(memory, "conversation.deep.b") is MISSING
    assert lookup(memory, "x.y") == 2
    assert lookup(memory, "temp.n") is None
    assert lookup(memory, "n") is None
    assert lookup(memory, "__key__.x") is MISSING
    assert explain_miss(memory, "nope.a").reason == "is not in memory"


@pytest.mark.parametrize(
    ("scopes", "message"),
    [
        (5, "needs a mapping of scopes .* not int"),
        ({"user": 5}, "scope 'user' must be a mapping, .* not int"),
    ],
)
def test_scopes_that_cannot_be_read_are_refused(scopes: Any, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        ScopedMemory(scopes)


class Shouting(Mapping[str, object]):
    """Answers every name, and counts nothing."""

    def __getitem__(self, key: str) -> object:
        return key.upper()

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def test_computed_mapping_is_asked_for_the_whole_path_first() -> None:
    assert lookup(Shouting(), "a.b") == "A.B"


PARTS = st.lists(st.sampled_from(["a", "b", "0", "1"]), min_size=1, max_size=4)
TREES = st.recursive(
    st.integers(),
    lambda inner: (
        st.dictionaries(PARTS.map(".".join), inner, max_size=3) | st.lists(inner, max_size=2)
    ),
    max_leaves=8,
)


@given(st.dictionaries(PARTS.map(".".join), TREES), PARTS)
def test_lookup_follows_the_longest_key(memory: dict[str, object], parts: list[str]) -> None:
    """At each mapping the longest key that the path begins with is followed, and no other."""

    def follow(value: Any, rest: list[str]) -> object:
        if not rest:
            return value
        if isinstance(value, dict):
            keys = [key for key in value if (".".join(rest) + ".").startswith(key + ".")]
            if not keys:
                return MISSING
            key = max(keys, key=len)
            return follow(value[key], rest[key.count(".") + 1 :])
        if isinstance(value, list) and rest[0].isdigit() and int(rest[0]) < len(value):
            return follow(value[int(rest[0])], rest[1:])
        return MISSING

    assert lookup(memory, ".".join(parts)) == follow(memory, parts)
