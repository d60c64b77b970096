"""`promptsections explain`: what every section gets of a budget, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from promptsections import BudgetExceededError, InvalidBudgetError, Layout, Placement
from promptsections.cli import streams, tables
from promptsections.cli.failures import Failed, as_failure
from promptsections.cli.inputs import Job, read_job
from promptsections.cli.options import (
    BudgetOption,
    FunctionOption,
    JsonOption,
    MemoryOption,
    ModelOption,
    PromptArgument,
    VarOption,
)
from promptsections.explain import HEADS, cells, differences, notes, totals

_MORE = 100
"""Tokens of which is said what they would buy."""
NoLayout = BudgetExceededError | InvalidBudgetError
"""Why there is none: too few tokens, or more than the model's window."""


def run(
    *,
    prompt: PromptArgument,
    memory: MemoryOption = None,
    var: VarOption = None,
    function: FunctionOption = None,
    budget: BudgetOption = None,
    model: ModelOption = None,
    budgets: Annotated[
        str | None,
        typer.Option("--budgets", metavar="A,B,…", help="Several budgets, side by side."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Lay a prompt out and show the layout."""
    several = _numbers(budgets)
    job = read_job(
        prompt, memory=memory, variables=var, functions=function, budget=budget, model=model
    )
    if several:
        layouts = [_try(job, number) for number in several]
        if json:
            facts = [_fact(*pair) for pair in zip(several, layouts, strict=True)]
            streams.write_json({"budgets": facts})
        else:
            _side_by_side(several, layouts)
        return
    layout = job.render().layout
    least = job.resolve().minimum_budget()
    more = _try(job, layout.budget + _MORE)
    if json:
        buys = None if isinstance(more, Exception) else _changes(layout, more)
        streams.write_json(
            {
                "layout": layout.to_dict(),
                "minimum_budget": least,
                "next": {"tokens": _MORE, "changes": buys},
            }
        )
        return
    _write(layout)
    streams.write(streams.drawn(f"at least {least} tokens are needed\n{_buys(layout, more)}\n"))


def _numbers(text: str | None) -> list[int]:
    try:
        numbers = [int(word) for word in text.split(",")] if text is not None else []
    except ValueError:
        numbers = [0]
    if any(number < 1 for number in numbers):
        raise Failed(f"promptsections: --budgets {text}: write whole numbers, parted by commas", 2)
    return numbers


def _try(job: Job, budget: int) -> Layout | NoLayout:
    """Lay the prompt out, or return why that cannot be."""
    try:
        return job.render(budget).layout
    except Failed as failure:
        if isinstance(failure.__cause__, BudgetExceededError | InvalidBudgetError):
            return failure.__cause__
        raise


# --- one budget ---------------------------------------------------------------------------------


def _write(layout: Layout) -> None:
    """Write the table of the library, with a bar for what each section takes of the budget."""
    heads = [(head, index in range(2, 6)) for index, head in enumerate(HEADS)]
    heads.insert(6, (f"of {layout.budget}", False))
    rows = [
        (*row[:6], tables.bar(placement.used, placement.natural, layout.budget), *row[6:])
        for placement in layout.walk()
        for row in [cells(placement)]
    ]
    tables.write_table(heads, rows)
    lines = ["", totals(layout), *notes(layout)]
    streams.write(streams.drawn("\n".join(lines) + "\n"))


def _buys(layout: Layout, more: Layout | NoLayout) -> str:
    """Say in a line what the next tokens would buy."""
    if isinstance(more, Exception):
        return f"{_MORE} more tokens are more than the model takes"
    bought = [
        f"{path} {old.used} → {new.used} ({_how(old, new)})"
        for path, old, new in differences(layout, more)
        if old and new and _says_something(layout, old)
    ]
    return f"{_MORE} more tokens would buy: {', '.join(bought) or 'nothing'}"


def _says_something(layout: Layout, placement: Placement) -> bool:
    """Say whether a change is told here: of a group that was left out, not of what stands in it."""
    around = placement.path.rpartition("/")[0]
    if around and not layout[around].kept:
        return False
    return not (placement.children and placement.kept)


def _how(old: Placement, new: Placement) -> str:
    if old.outcome != new.outcome:
        return f"{old.outcome} → {new.outcome}"
    fewer = old.omitted - new.omitted
    return f"{fewer} fewer left out" if fewer > 0 else new.outcome


def _changes(before: Layout, after: Layout) -> list[dict[str, Any]]:
    return [
        {"path": path, "before": _short(old), "after": _short(new)}
        for path, old, new in differences(before, after)
    ]


def _short(placement: Placement | None) -> dict[str, Any] | None:
    if placement is None:
        return None
    return {
        "used": placement.used,
        "outcome": placement.outcome,
        "reason": placement.reason.value,
        "omitted": placement.omitted,
    }


# --- several budgets ----------------------------------------------------------------------------


def _side_by_side(budgets: Sequence[int], found: Sequence[Layout | NoLayout]) -> None:
    """Write a row for each section and a column for each budget."""
    layouts = [layout for layout in found if isinstance(layout, Layout)]
    rows: list[list[str]] = []
    for placement in layouts[0].walk() if layouts else ():
        row = [cells(placement)[0]]
        for layout in found:
            here = layout[placement.path] if isinstance(layout, Layout) else None
            row.append(f"{here.used} {here.outcome}" if here else "")
        rows.append(row)
    rows.append(["in all", *map(_in_all, found)])
    heads = [("section", False), *((f"{budget}", True) for budget in budgets)]
    tables.write_table(heads, rows)


def _in_all(layout: Layout | NoLayout) -> str:
    match layout:
        case BudgetExceededError():
            return f"needs {layout.needed}"
        case InvalidBudgetError():
            return "more than the window"
        case Layout():
            return str(layout.token_count)


def _fact(budget: int, layout: Layout | NoLayout) -> dict[str, Any]:
    if isinstance(layout, Layout):
        return {"budget": budget, "layout": layout.to_dict()}
    return {"budget": budget, "error": as_failure(layout).facts}
