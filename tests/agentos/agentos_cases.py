"""Recorded calls of AgentOS 0.9, and what it answered; faults included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

HERE = Path(__file__).parent


@frozen
class Case:
    """One call that was recorded."""

    id: str
    function: str
    input: dict[str, Any]
    output: Any
    note: str


def read(path: Path) -> list[Case]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Case(
            row["id"],
            row.get("fn", ""),
            row.get("input", {}),
            row.get("output"),
            row.get("note", ""),
        )
        for row in rows
    ]


CASES = read(HERE / "cases.jsonl")


def of(function: str) -> list[Any]:
    """Return the cases of a function as parameters of a test."""
    return [pytest.param(case, id=case.id) for case in CASES if case.function == function]


def of_id(number: int) -> Case:
    """Return the case with this number."""
    return next(case for case in CASES if case.id == f"agentos-{number:04}")
