"""Reads what conatus 0.1.0 was seen to do, recorded beside this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES: tuple[dict[str, Any], ...] = tuple(
    map(json.loads, Path(__file__).with_name("conatus.jsonl").read_text("utf-8").splitlines())
)


def cases_of(function: str) -> tuple[dict[str, Any], ...]:
    """Return the recorded calls of one function."""
    return tuple(case for case in CASES if case["fn"] == function)
