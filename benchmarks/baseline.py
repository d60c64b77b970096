"""The work that a render takes, as numbers that are the same on every machine, against a baseline.

`python -m benchmarks.baseline` compares, and fails if anything takes more than in `baseline.json`.
After a change that is meant to take more or less, `python -m benchmarks.baseline --update` writes
what it takes now; the difference then stands in the commit, for a reviewer to see.

What is noted of each prompt:

* calls, characters: of the tokenizer and what it reads, in a cold render; the same everywhere;
* calls_again: of the tokenizer, when it is rendered again; the same everywhere;
* steps: Python functions called in a warm render; a little different in each version of Python;
* blocks: blocks of memory that a rendered prompt consists of, beside its messages;
* peak_bytes: the most memory that a warm render takes at once.

Ratios of times stand there too, from the last run whose numbers the page shows; nobody checks them.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from benchmarks.measuring import peak_bytes
from benchmarks.results import Results
from benchmarks.scenarios import large_text, many_chunks, many_sections, nested_groups
from benchmarks.subjects import MODEL, Meter, make_history, make_prompt
from benchmarks.workload import BUDGETS, HISTORY_SIZES, make_workload
from promptsections import Prompt, Renderer
from promptsections.tokens import CachedTokenizer, Tokenizer

FILE = Path(__file__).with_name("baseline.json")
VARIABLE = {"steps": 0.10, "blocks": 0.10, "peak_bytes": 0.15}
"""By how much these may exceed the baseline: versions of Python differ a little."""
SLACK = {"steps": 20, "blocks": 20, "peak_bytes": 4_096}
"""And by how much in any case, so that small numbers do not fail by chance."""


@frozen
class Work:
    """What one prompt takes."""

    calls: int
    characters: int
    calls_again: int
    steps: int
    blocks: int
    peak_bytes: int


Render = Callable[[], object]
Prepare = Callable[[Tokenizer], Render]
"""Makes a render, with what counts."""


def measure() -> dict[str, Work]:
    """Measure all prompts."""
    return {name: work_of(prepare) for name, prepare in _prompts()}


def _prompts() -> Iterator[tuple[str, Prepare]]:
    for budget in BUDGETS:
        for size in HISTORY_SIZES:
            workload = make_workload(size)
            memory = {"history": make_history(workload), "input": workload.question}
            yield f"history {size}, budget {budget}", _of(make_prompt(workload), memory, budget)
    memory = {"input": "Which?"}
    yield "300 optional sections", _of(many_sections(300), memory, 1_500)
    yield "10,000 chunks", _of(many_chunks(10_000), memory, 1_000)
    yield "a text of 1 MB", _of(large_text(1_000_000), memory, 4_096)
    yield "400 groups, 20 deep", _of(nested_groups(400), memory, 100_000)


def _of(prompt: Prompt, memory: Mapping[str, Any], budget: int) -> Prepare:
    def prepare(tokenizer: Tokenizer) -> Render:
        renderer = Renderer(MODEL, tokenizer=CachedTokenizer(tokenizer))
        return lambda: renderer.render(prompt, memory, budget=budget)

    return prepare


def work_of(prepare: Prepare) -> Work:
    """Measure one prompt."""
    meter = Meter()
    render = prepare(meter)
    render()
    calls, characters = meter.calls, meter.characters
    render()
    again = meter.calls - calls
    return Work(calls, characters, again, _steps(render), _blocks(render), peak_bytes(render))


def _steps(render: Render) -> int:
    """Count the Python functions that a render calls."""
    steps = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal steps
        steps += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        render()
    finally:
        sys.setprofile(before)
    return steps


def _blocks(render: Render) -> int:
    """Count the blocks of memory that a rendered prompt consists of."""
    held = render()
    gc.collect()
    gc.disable()
    try:
        before = sys.getallocatedblocks()
        second = render()
        after = sys.getallocatedblocks()
    finally:
        gc.enable()
    del held, second
    return after - before


def load() -> dict[str, Any]:
    """Read the baseline."""
    read: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def excesses(measured: Mapping[str, Work], known: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Say what takes more than the baseline allows, and what the baseline does not know."""
    found: list[str] = []
    for name, work in measured.items():
        if name not in known:
            found.append(f"{name}: not in the baseline")
            continue
        for what, value in asdict(work).items():
            most = known[name][what]
            allowed = most + int(max(most * VARIABLE[what], SLACK[what]) if what in VARIABLE else 0)
            if value > allowed:
                found.append(f"{name}: {what} {value:,}, at most {allowed:,} allowed")
    return found


def write_work(measured: Mapping[str, Work]) -> None:
    """Take what was measured as the baseline."""
    work = {name: asdict(found) for name, found in measured.items()}
    _write({**(load() if FILE.exists() else {"ratios": {}}), "work": work})


def write_ratios(results: Results) -> None:
    """Note the ratios and times of a run beside the work, for the next run to be held against."""
    ratios = {goal.key: round(goal.value, 3) for goal in results.goals if goal.value is not None}
    _write({**load(), "ratios": ratios})


def _write(baseline: Mapping[str, Any]) -> None:
    FILE.write_text(json.dumps(baseline, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Compare, or write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baseline", description=__doc__)
    parser.add_argument("--update", action="store_true", help="take what is measured as baseline")
    asked = parser.parse_args()
    measured = measure()
    for name, work in measured.items():
        print(name, *(f"{what} {value:,}" for what, value in asdict(work).items()), sep="; ")
    if asked.update:
        write_work(measured)
        print(f"Written: {FILE}")
    elif found := excesses(measured, load()["work"]):
        print(*found, sep="\n", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
