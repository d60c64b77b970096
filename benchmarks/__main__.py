"""`python -m benchmarks`: ours beside the loop that everybody writes by hand, and other libraries.

Prints tables, and writes them as JSON with a picture beside it. Compare ratios and counts, not
milliseconds: they depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from attrs import asdict
from rich.console import Console

from benchmarks import baseline, page
from benchmarks.comparing import compare, phases
from benchmarks.goals import with_goals
from benchmarks.peers.environment import Environments, default_root
from benchmarks.picture import draw
from benchmarks.results import OURS, Case, Measure, Phase, Results
from benchmarks.scenarios import measure_all
from benchmarks.tables import tables
from benchmarks.workload import BUDGETS, HISTORY_SIZES

OUTPUT = Path(__file__).with_name("latest")
"""Where results go unless asked otherwise; not checked in."""
_LEAST_RUNS = 5


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.runs < _LEAST_RUNS:
        parser.error(f"--runs must be {_LEAST_RUNS} or more, for a median that means something")
    console = Console(width=None if Console().is_terminal else 160)
    results = _run(asked, console)
    for table in tables(results):
        table.show(console)
    for written in _write(results, asked.output):
        console.print(f"Written: {written}")
    if asked.page:
        baseline.write_ratios(results)
        for written in page.update(results):
            console.print(f"Written: {written}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add("--peers", action="store_true", help="measure other libraries too; installs them at first")
    add("--environment", type=Path, default=default_root(), help="where they are installed")
    add("--limit", type=float, default=600, help="seconds that a peer may take for one prompt")
    add("--runs", type=int, default=_LEAST_RUNS, help="measurements of which the median is taken")
    add("--history", type=int, nargs="+", default=HISTORY_SIZES, help="sizes to measure")
    add("--budget", type=int, nargs="+", default=BUDGETS, help="tokens to measure at")
    add("--soak", default="100x50", help="conversations x turns held in one process")
    add("--no-scenarios", action="store_true", help="the common workload alone")
    add("--output", type=Path, default=OUTPUT, help="folder for JSON and picture")
    add("--page", action="store_true", help="write the tables into docs/explanation/how-fast.md")
    return parser


def _run(asked: argparse.Namespace, console: Console) -> Results:
    environments: Environments | str = "not asked for; --peers measures it"
    if asked.peers:
        environments = Environments(asked.environment, lambda text: console.print(text))
    cases: list[Case] = []
    costs: list[Phase] = []
    for budget in asked.budget:
        for history in asked.history:
            with console.status(f"history {history:,}, budget {budget:,}"):
                case = compare(history, budget, asked.runs, environments, asked.limit)
                mine = case.of(OURS)
                counting = mine.cold - mine.warm if mine else 0.0
                costs.append(phases(history, budget, asked.runs, counting))
            cases.append(case)
    measures: list[Measure] = []
    if not asked.no_scenarios:
        conversations, turns = map(int, asked.soak.split("x"))
        with console.status("beside the workload"):
            measures.extend(measure_all(asked.runs, (conversations, turns)))
    results = Results(machine(), asked.runs, cases, costs, measures)
    return with_goals(results, baseline.load()["ratios"])


def _write(results: Results, folder: Path) -> list[Path]:
    """Write JSON, and a picture for each budget."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "results.json"
    file.write_text(json.dumps(asdict(results), indent=1) + "\n", encoding="utf-8")
    written = [file]
    for budget in sorted({case.budget for case in results.cases}):
        picture = folder / f"cold-{budget}.svg"
        picture.write_text(draw(results, budget), encoding="utf-8")
        written.append(picture)
    return written


def machine() -> dict[str, str]:
    """Say on what this ran."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "tiktoken": version("tiktoken"),
        "toktok-rs": _version_or_none("toktok-rs"),
        "load": _load(),
    }


def _version_or_none(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"


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


if __name__ == "__main__":
    main()
