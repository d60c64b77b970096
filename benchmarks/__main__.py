"""`python -m benchmarks`: ours beside the loop that everybody writes by hand, in one process.

Prints Markdown tables and writes `benchmarks/results.json`. Compare ratios and counts, not
milliseconds: they depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import process_time

from attrs import asdict, frozen

from benchmarks.measuring import cold, fresh_interpreter, peak_bytes, warm
from benchmarks.subjects import (
    MODEL,
    Meter,
    make_history,
    make_prompt,
    ours,
    plain_loop,
    remembering_loop,
    sent,
)
from benchmarks.workload import BUDGETS, HISTORY_SIZES, Workload, fresh, make_workload
from promptsections import Renderer, lay_out
from promptsections.tokens import TiktokenTokenizer

RESULTS = Path(__file__).with_name("results.json")


@frozen
class Row:
    """One history at one budget; times are medians in milliseconds of CPU time."""

    budget: int
    history: int
    loop: float
    """The plain loop, which counts anew each time."""
    cold: float
    """Ours, with texts never seen before."""
    ratio: float
    """Median of `cold / loop`, of measurements right after each other."""
    loop_warm: float
    """The plain loop with a dictionary of counts."""
    warm: float
    """Ours, again with the same `Message` values."""
    warm_dicts: float
    """Ours, again with a history of dicts, read anew each time."""
    resolve: float
    """The part of `warm` that reads memory and sources."""
    lay_out: float
    """The part of `warm` that measures, divides, fits and reports."""
    calls: int
    """Of the tokenizer, cold."""
    warm_calls: int
    characters_read: int
    """By the tokenizer, cold."""
    characters_sent: int
    messages: int
    loop_messages: int
    peak_kilobytes: float
    """The most memory that a cold render takes at once, what it returns included."""


@frozen
class StartUp:
    """CPU time of new interpreters, in milliseconds above one that does nothing."""

    bare: float
    """An interpreter that does nothing."""
    importing: float
    """`import promptsections`."""
    loading: float
    """Import, and load the vocabulary."""
    first_render: float
    """Import, load, and render once."""


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--runs", type=int, default=9, help="runs of which the median is taken")
    runs: int = parser.parse_args().runs
    if runs < 5:
        parser.error("--runs must be 5 or more, for a median that means something")
    TiktokenTokenizer().count("load the vocabulary")
    rows = [measure(size, budget, runs) for budget in BUDGETS for size in HISTORY_SIZES]
    start = measure_start_up(runs)
    about = machine()
    show(rows, start, about)
    results = {"machine": about, "start_up": asdict(start), "rows": [asdict(row) for row in rows]}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"\nWritten to {RESULTS}")


def measure(size: int, budget: int, runs: int) -> Row:
    """Measure one history at one budget."""
    workload = make_workload(size)
    mine: list[float] = []
    loop: list[float] = []
    for _ in range(runs):
        loop.append(cold(lambda: plain_loop(fresh(workload), budget)))
        mine.append(cold(lambda: ours(fresh(workload), budget)))
    again = ours(workload, budget)
    messages = sent(again())
    meter = Meter()
    metered = ours(fresh(workload), budget, meter)
    metered()
    calls, characters = meter.calls, meter.characters
    metered()
    resolve, laid_out = phases(workload, budget, runs)
    return Row(
        budget=budget,
        history=size,
        loop=1e3 * median(loop),
        cold=1e3 * median(mine),
        ratio=median(own / plain for own, plain in zip(mine, loop, strict=True)),
        loop_warm=1e3 * warm(remembering_loop(workload, budget), runs),
        warm=1e3 * warm(again, runs),
        warm_dicts=1e3 * warm(ours(workload, budget, dicts=True), runs),
        resolve=1e3 * resolve,
        lay_out=1e3 * laid_out,
        calls=calls,
        warm_calls=meter.calls - calls,
        characters_read=characters,
        characters_sent=messages.characters,
        messages=messages.messages,
        loop_messages=sent(plain_loop(workload, budget)()).messages,
        peak_kilobytes=peak_bytes(ours(fresh(workload), budget)) / 1024,
    )


def phases(workload: Workload, budget: int, runs: int) -> tuple[float, float]:
    """Return the medians of resolve and of layout, warm, in seconds of CPU time."""
    renderer, prompt = Renderer(MODEL), make_prompt(workload)
    memory = {"history": make_history(workload), "input": workload.question}
    renderer.render(prompt, memory, budget=budget)
    resolves: list[float] = []
    layouts: list[float] = []
    for _ in range(5 * runs):
        started = process_time()
        resolved = renderer.resolve(prompt, memory, budget=budget)
        between = process_time()
        lay_out(resolved)
        layouts.append(process_time() - between)
        resolves.append(between - started)
    return median(resolves), median(layouts)


def measure_start_up(runs: int) -> StartUp:
    """Measure new interpreters, each doing a little more."""
    load = "from promptsections.tokens import TiktokenTokenizer\nTiktokenTokenizer().count('x')"
    render = (
        "from promptsections import Prompt, Renderer, SystemMessage, UserInput\n"
        "prompt = Prompt([SystemMessage('Answer <<$who>>.'), UserInput()])\n"
        f"Renderer({MODEL!r}).render(prompt, {{'who': 'Ada', 'input': 'Why?'}})"
    )
    scripts = (
        "pass",
        "import promptsections",
        f"import promptsections\n{load}",
        f"{load}\n{render}",
    )
    bare, *others = (1e3 * fresh_interpreter(script, runs=runs) for script in scripts)
    return StartUp(bare, *(other - bare for other in others))


def machine() -> dict[str, str]:
    """Say on what this ran."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "tiktoken": version("tiktoken"),
        "load": _load(),
    }


def _load() -> str:
    """Say how many processes wanted to run in the last minute: more than cores distort times."""
    try:
        return f"{os.getloadavg()[0]:.1f}"
    except (AttributeError, OSError):  # not on Windows
        return "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")


# --- tables -------------------------------------------------------------------------------------


def show(rows: Sequence[Row], start: StartUp, about: Mapping[str, str]) -> None:
    """Print all tables, as Markdown."""
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    print("\nMilliseconds of CPU time\n")
    times = "plain loop", "ours, cold", "ratio", "loop, warm", "ours, warm", "ours, warm, dicts"
    table(
        ("budget", "history", *times),
        [
            (r.budget, r.history, r.loop, r.cold, r.ratio, r.loop_warm, r.warm, r.warm_dicts)
            for r in rows
        ],
    )
    print("\nWhere a warm render spends it, and what counting adds to a cold one\n")
    table(
        ("budget", "history", "resolve", "lay out", "cold minus warm"),
        [(r.budget, r.history, r.resolve, r.lay_out, r.cold - r.warm) for r in rows],
    )
    print("\nWork: what the tokenizer reads, and what is sent\n")
    read = "calls, cold", "calls, warm", "characters read, cold", "characters sent"
    table(
        ("budget", "history", *read),
        [
            (r.budget, r.history, r.calls, r.warm_calls, r.characters_read, r.characters_sent)
            for r in rows
        ],
    )
    print("\nMessages sent, and peak memory of a cold render\n")
    table(
        ("budget", "history", "messages", "of the loop", "peak KB"),
        [(r.budget, r.history, r.messages, r.loop_messages, round(r.peak_kilobytes)) for r in rows],
    )
    by_size = {r.history: r for r in rows if r.budget == BUDGETS[0]}
    few, many = by_size[100], by_size[10_000]
    print(f"\nGrowth from a history of 100 to one of 10,000 at {BUDGETS[0]:,}\n")
    table(("cold", "warm"), [(many.cold / few.cold, many.warm / few.warm)])
    print("\nA new process, milliseconds of CPU time above a bare interpreter\n")
    table(
        ("bare interpreter", "import", "and load the vocabulary", "and render once"),
        [(start.bare, start.importing, start.loading, start.first_render)],
    )


def table(head: Sequence[str], lines: Iterable[Sequence[float]]) -> None:
    """Print one table."""
    print(f"| {' | '.join(head)} |")
    print(f"|{'---:|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(map(_shown, line))} |")


def _shown(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


if __name__ == "__main__":
    main()
