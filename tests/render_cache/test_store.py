"""`MemoryStore`: the least used is forgotten first, and its bytes are those that Python takes."""

from __future__ import annotations

import tracemalloc
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import DefinitionError
from promptsections.render_cache import MemoryStore, Store
from promptsections.render_cache.store import keys_of


def test_what_was_used_last_is_kept_longest() -> None:
    size = MemoryStore(10**6)
    size["a"] = b"x"
    store = MemoryStore(size.bytes * 2)
    store["a"] = b"1"
    store["b"] = b"2"
    assert store["a"] == b"1"
    store["c"] = b"3"

    assert list(store) == ["a", "c"]
    assert (len(store), store.evicted, store.bytes) == (2, 1, store.max_bytes)


def test_it_counts_what_python_takes() -> None:
    tracemalloc.start()
    try:
        store = MemoryStore(10**8)
        before = tracemalloc.get_traced_memory()[0]
        for number in range(3_000):
            store[f"promptsections:render:{number:032x}"] = b"x" * (100 + number % 7)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()

    assert 0.7 * store.bytes <= taken <= store.bytes


def test_what_is_larger_than_all_is_refused_and_nothing_forgotten() -> None:
    store = MemoryStore(400)
    store["a"] = b"1"
    with pytest.raises(ValueError, match="bytes are more than max_bytes=400"):
        store["b"] = b"2" * 400

    assert list(store) == ["a"]


_KEYS = st.sampled_from("abcd")
_STEPS = st.lists(
    st.tuples(st.just("set"), _KEYS, st.binary(max_size=300))
    | st.tuples(st.sampled_from(["get", "del"]), _KEYS, st.none()),
    max_size=30,
)


@given(_STEPS)
def test_it_is_a_mapping_that_forgets(steps: list[tuple[str, str, Any]]) -> None:
    """It holds what a mapping would, but for the least used, and never more than its bound."""
    store, model = MemoryStore(900), OrderedDict[str, bytes]()
    for step, key, value in steps:
        if step == "set":
            store[key] = value
            model[key] = value
            model.move_to_end(key)
            while list(store) != list(model):
                assert model.popitem(last=False)
        elif step == "del" and key in model:
            del store[key], model[key]
        elif key in model:
            model.move_to_end(key)
            assert store[key] == model[key]
        else:
            with pytest.raises(KeyError):
                store[key]
        assert list(store) == list(model)
        assert store.bytes <= store.max_bytes
    for key in list(store):
        del store[key]
    assert store.bytes == 0


@pytest.mark.parametrize("most", [0, -1, True, 1.5, None])
def test_a_bound_is_a_number_of_bytes(most: Any) -> None:
    with pytest.raises(DefinitionError, match="max_bytes"):
        MemoryStore(most)


class Redis:
    """As a Redis client is: no iteration, keys as bytes, `scan_iter`."""

    def __init__(self) -> None:
        self.held: dict[bytes, bytes] = {}

    def __getitem__(self, key: str) -> bytes:
        return self.held[key.encode()]

    def __setitem__(self, key: str, value: bytes) -> None:
        self.held[key.encode()] = value

    def __delitem__(self, key: str) -> None:
        self.held.pop(key.encode(), None)

    def scan_iter(self, match: str) -> Any:
        assert match.endswith("*")
        return iter([*self.held, b"another"])


class Unlisted:
    """A store that can only be asked."""

    def __getitem__(self, key: str) -> bytes:
        raise KeyError(key)

    def __setitem__(self, key: str, value: bytes) -> None: ...

    def __delitem__(self, key: str) -> None: ...


def test_keys_are_listed_as_the_store_lists_them() -> None:
    for store in ({}, Redis(), MemoryStore(10**6)):
        assert isinstance(store, Store)
        store["ps:a:1"] = store["ps:b:1"] = b"1"

        assert keys_of(store, "ps:a:") == ["ps:a:1"]


def test_a_store_that_lists_none_cannot_be_cleared() -> None:
    with pytest.raises(DefinitionError, match="Unlisted cannot list its keys"):
        keys_of(Unlisted(), "ps:")
