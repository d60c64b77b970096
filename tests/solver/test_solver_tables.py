"""The solver against small cases that people can check by hand: `tests/layouts/*.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from solver_oracles import FixedSizes

from promptsections.solver import Join, Plan, Track, solve

TABLES = sorted((Path(__file__).parents[1] / "layouts").glob("*.json"))


def cases() -> Iterator[Any]:
    for table in TABLES:
        for case in json.loads(table.read_text("utf-8")):
            yield pytest.param(case, id=f"{table.stem}: {case['case']}")


def read_join(
    data: dict[str, Any], names: dict[int, str], sizes: dict[int, tuple[int, int]]
) -> Join:
    """Read a group; tracks are numbered in document order."""
    children: list[Track | Join] = []
    for name, entry in data["tracks"].items():
        if "tracks" in entry:
            children.append(read_join(entry, names, sizes))
            continue
        number = len(names)
        names[number] = name
        floor, natural = entry["sizes"]
        sizes[number] = floor, natural
        kind = next((kind for kind in ("share", "rest") if kind in entry), "content")
        children.append(
            Track(
                number,
                kind,
                Fraction(entry.get(kind, 1)).as_integer_ratio(),
                entry.get("ceiling"),
                not entry.get("optional", False),
                entry.get("priority", 0),
                entry.get("bond"),
            )
        )
    return Join(
        tuple(children),
        data.get("separator", 0),
        data.get("wrapper", 0),
        not data.get("optional", False),
        data.get("priority", 0),
    )


@pytest.mark.parametrize("case", list(cases()))
def test_given_is_what_the_table_says(case: dict[str, Any]) -> None:
    names: dict[int, str] = {}
    sizes: dict[int, tuple[int, int]] = {}
    plan = Plan(read_join(case, names, sizes))

    solution = solve(plan, case["available"], FixedSizes(sizes))

    given = None if solution is None else {names[t]: n for t, n in solution.given.items()}
    assert given == case["given"]
