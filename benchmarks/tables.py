"""Results as tables: for a terminal with rich, for the page as Markdown. It measures nothing."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from benchmarks.results import OURS, Case, Goal, Reading, Results, each

NONE = "–"


@frozen
class Table:
    """Cells that are already text; the first column stands left, the others right."""

    name: str
    """What the page calls it."""
    title: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self, *, without: str = "") -> str:
        """Write it for the page, without the column of a name."""
        kept = [at for at, name in enumerate(self.head) if name != without]
        rows = [self.head, ["---", *["---:"] * (len(self.head) - 1)], *self.lines]
        rows = [[row[at] for at in kept] for row in rows]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def show(self, console: Console) -> None:
        """Print it."""
        table = RichTable(title=self.title, title_justify="left", caption=self.note or None)
        for position, name in enumerate(self.head):
            table.add_column(name, justify="right" if position else "left", overflow="fold")
        for line in self.lines:
            table.add_row(*map(escape, line))
        console.print(table)
        console.print()


def tables(results: Results) -> list[Table]:
    """Return all tables, in the order of the page."""
    budgets = sorted({case.budget for case in results.cases})
    made = [_times(results, budget) for budget in budgets]
    made += [_work(results, budget) for budget in budgets]
    if missing := results.missing():
        lines = [[name, reason] for name, reason in missing.items()]
        made.append(Table("missing", "Missing", ("subject", "why"), lines))
    if results.phases:
        made.append(_phases(results))
    if results.measures:
        made.append(_measures(results))
    if results.goals:
        made.append(_goals(results))
    return made


def in_short(results: Results) -> str:
    """Return the longest history at each budget, for the README."""
    budgets = sorted({case.budget for case in results.cases})
    longest = [list(each(results.cases, budget))[-1] for budget in budgets]
    heads = (f"{budget:,} tokens{when}" for budget in budgets for when in ("", ", warm"))
    lines: list[list[str]] = []
    for name in results.subjects():
        found = [case.of(name) for case in longest]
        lines.append([name, *(cell for one in found for cell in _cold_and_warm(one))])
    head = (f"CPU ms, {longest[0].history:,} messages", *heads)
    return Table("speed", "In short", head, lines).markdown()


def _cold_and_warm(found: Reading | None) -> tuple[str, str]:
    return (ms(found.cold), ms(found.warm)) if found else (NONE, NONE)


def _times(results: Results, budget: int) -> Table:
    cases = list(each(results.cases, budget))
    longest = cases[-1]
    mine = longest.of(OURS)
    head = (
        f"CPU ms, budget {budget:,}",
        *(f"history {case.history:,}" for case in cases),
        "× ours",
        "warm",
        "× ours, warm",
    )
    lines: list[list[str]] = []
    for name in results.subjects():
        last = longest.of(name)
        line = [name, *(_cold(case, name) for case in cases)]
        if last and mine:
            line += [
                _times_of(last.cold, mine.cold),
                ms(last.warm),
                _times_of(last.warm, mine.warm),
            ]
        else:
            line += [NONE] * 3
        lines.append(line)
    note = f"cold, but where it says warm; the last three at a history of {longest.history:,}"
    return Table(f"times-{budget}", "Time of a render", head, lines, note)


def _cold(case: Case, name: str) -> str:
    found = case.of(name)
    return ms(found.cold) if found else NONE


def _work(results: Results, budget: int) -> Table:
    longest = list(each(results.cases, budget))[-1]
    head = (
        f"history {longest.history:,}, budget {budget:,}",
        "calls",
        "characters read",
        "messages sent",
        "tokens sent",
        "counts framing",
        "fits",
        "peak KB",
    )
    lines = [[name, *_work_of(longest.of(name))] for name in results.subjects()]
    note = "calls of the tokenizer, cold; tokens as we count them, framing and priming included"
    return Table(f"work-{budget}", "What a render reads, sends and holds", head, lines, note)


def _work_of(found: Reading | None) -> list[str]:
    if found is None:
        return [NONE] * 7
    return [
        f"{found.calls:,}",
        f"{found.characters:,}",
        f"{found.messages:,}",
        f"{found.tokens:,}",
        "yes" if found.framing else "no",
        "yes" if found.fits else "no",
        NONE if found.peak_kilobytes is None else f"{found.peak_kilobytes:,.0f}",
    ]


def _phases(results: Results) -> Table:
    head = ("budget", "history", "resolve", "lay out", "cold minus warm")
    lines = [
        [f"{p.budget:,}", f"{p.history:,}", ms(p.resolve), ms(p.lay_out), ms(p.counting)]
        for p in results.phases
    ]
    return Table("phases", "Where the CPU milliseconds of our render go", head, lines)


def _measures(results: Results) -> Table:
    lines = [[found.text, amount(found.value, found.unit)] for found in results.measures]
    return Table("measures", "Beside the workload", ("what", "cost"), lines)


def _goals(results: Results) -> Table:
    words = {True: "yes", False: "no", None: "not measured"}

    def cell(value: float | None, goal: Goal) -> str:
        return NONE if value is None else amount(value, goal.unit)

    lines = [
        [
            goal.text,
            cell(goal.value, goal),
            f"{'≥' if goal.at_least else '≤'} {amount(goal.bound, goal.unit)}",
            words[goal.met],
            cell(goal.before, goal),
        ]
        for goal in results.goals
    ]
    head = ("what", "measured", "goal", "met", "on the page")
    return Table("goals", "What we promise", head, lines)


def ms(value: float) -> str:
    """Write milliseconds with about three digits."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def amount(value: float, unit: str) -> str:
    """Write a number with its unit."""
    match unit:
        case "×":
            return f"{ms(value)}×"
        case "":
            return f"{value:,.0f}" if value == int(value) else ms(value)
        case "ms":
            return f"{ms(value)} ms"
        case _:
            return f"{value:,.1f} {unit}" if value < 100 else f"{value:,.0f} {unit}"


def _times_of(value: float, ours: float) -> str:
    return f"{ms(value / ours)}×"
