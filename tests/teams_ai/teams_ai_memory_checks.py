"""What holds with us instead, for Teams AI's cases of memory and of registered functions."""

from __future__ import annotations

from collections import ChainMap
from typing import Any

import pytest
from teams_ai_cases import (
    ENCODING,
    Row,
)

from promptsections import (
    Renderer,
    ScopedMemory,
    Template,
    UnknownFunctionError,
)


def functions_are_a_mapping(row: Row) -> None:
    function = {"test": lambda *arguments: "found"}
    assert Renderer(tokenizer=ENCODING, functions=function).functions["test"]() == "found"
    assert Template("<<test>>").render(functions=function) == "found"
    with pytest.raises(UnknownFunctionError):
        Template("<<test>>").render(functions={})


def reads_a_chain_of_mappings(row: Row) -> None:
    """A fork is a `ChainMap`: what is set goes into its first mapping, reads see both."""
    scopes: dict[str, ChainMap[str, Any]] = {}
    for path, value in row["input"]["parent"].items():
        scope, name = path.split(".")
        scopes[scope] = ChainMap({}, {name: value})
    memory = ScopedMemory(scopes)
    results: list[object] = []
    for operation, path, *values in row["input"]["ops"]:
        scope, name = path.split(".") if "." in path else ("temp", path)
        own = scopes.setdefault(scope, ChainMap({})).maps[0]
        match operation:
            case "set":
                (own[name],) = values
            case "delete":
                own.pop(name, None)
            case "has":
                results.append(memory.get(path, row) is not row)
            case _:
                results.append(memory.get(path))
    assert results == row["expected"]["results"]


def paths_are_of_any_depth(row: Row) -> None:
    (operation,) = row["input"]["ops"]
    path = operation[1]
    value: object = 7
    for part in reversed(path.split(".")):
        value = {part: value}
    assert Template(f"<<${path}>>").render(value) == "7"


def wraps_a_state_object(row: Row) -> None:
    """Teams AI's `TurnState` knows `has(path)` and `get(path)`, of two parts; so does this one."""
    (stored,) = row["input"]["storage"].values()

    class State:
        def has(self, path: str) -> bool:
            return path.removeprefix("conversation.") in stored

        def get(self, path: str) -> object:
            return stored.get(path.removeprefix("conversation."))

    memory = ScopedMemory(State())
    missing = object()
    if "has" in row["input"]:
        found = [memory.get(path, missing) is not missing for path in row["input"]["has"]]
    else:
        found = [memory.get(path) for path in row["input"]["get"]]
    assert found == row["expected"]["results"]
