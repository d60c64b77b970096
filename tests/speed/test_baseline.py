"""No more work, and no more memory, than `benchmarks/baseline.json` says."""

from __future__ import annotations

import subprocess
import sys

import pytest
from attrs import asdict, evolve

from benchmarks import baseline
from benchmarks.baseline import Work, excesses

HOW = "make bench-baseline (python -m benchmarks.baseline --update), if that is meant"


@pytest.fixture(scope="module")
def measured() -> dict[str, Work]:
    return baseline.measure()


def test_nothing_takes_more_than_the_baseline(measured: dict[str, Work]) -> None:
    found = excesses(measured, baseline.load()["work"])

    assert not found, "\n".join(["more work than the baseline:", *found, HOW])


def test_baseline_holds_nothing_that_is_no_longer_measured(measured: dict[str, Work]) -> None:
    assert set(baseline.load()["work"]) == set(measured), HOW


def test_work_is_the_same_in_every_process_whatever_the_hash_seed(
    measured: dict[str, Work],
) -> None:
    code = (
        "import json\nfrom attrs import asdict\nfrom benchmarks import baseline\n"
        "print(json.dumps([[work.calls, work.characters, work.calls_again]"
        " for work in baseline.measure().values()]))"
    )

    printed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout

    here = [[work.calls, work.characters, work.calls_again] for work in measured.values()]
    assert printed.strip() == str(here)


WORK = Work(calls=20, characters=3_000, calls_again=0, steps=900, blocks=150, peak_bytes=90_000)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"calls": 21}, "calls 21, at most 20 allowed"),
        ({"characters": 3_001}, "characters 3,001, at most 3,000 allowed"),
        ({"calls_again": 1}, "calls_again 1, at most 0 allowed"),
        ({"steps": 991}, "steps 991, at most 990 allowed"),
        ({"blocks": 171}, "blocks 171, at most 170 allowed"),
        ({"peak_bytes": 103_501}, "peak_bytes 103,501, at most 103,500 allowed"),
    ],
)
def test_growth_is_named_with_what_was_allowed(more: dict[str, int], said: str) -> None:
    grown = evolve(WORK, **more)

    assert excesses({"a prompt": grown}, {"a prompt": asdict(WORK)}) == [f"a prompt: {said}"]


def test_memory_and_steps_may_differ_a_little_as_versions_of_python_do() -> None:
    another = evolve(WORK, steps=980, blocks=165, peak_bytes=100_000)

    assert excesses({"a prompt": another}, {"a prompt": asdict(WORK)}) == []


def test_prompt_that_the_baseline_does_not_know_is_named() -> None:
    assert excesses({"a new one": WORK}, {}) == ["a new one: not in the baseline"]
