"""A layout for people: as a table, and what changed between two."""

from __future__ import annotations

from collections.abc import Sequence

from promptsections.layout.placement import Layout, Placement, describe_budget

_HEADS = ("section", "budget", "floor", "natural", "given", "used", "outcome", "why")


def explain(layout: Layout) -> str:
    """Return the layout as a table: a row a section, then totals and notes."""
    rows = [_row(placement, depth) for placement, depth in _walk(layout)]
    widths = [max(len(row[i]) for row in (_HEADS, *rows)) for i in range(len(_HEADS))]
    lines = [_line(_HEADS, widths), "  ".join("─" * width for width in widths)]
    lines += [_line(row, widths) for row in rows]
    return "\n".join([*lines, "", _totals(layout), *_notes(layout)])


def compare(before: Layout, after: Layout) -> str:
    """Return what differs between two layouts, a line a section; `""` if nothing does."""
    old = {placement.path: placement for placement in before.walk()}
    new = {placement.path: placement for placement in after.walk()}
    lines = [f"budget {before.budget} → {after.budget}"] if before.budget != after.budget else []
    for path in dict.fromkeys([*old, *new]):
        a, b = old.get(path), new.get(path)
        if a is None:
            lines.append(f"+ {path}: {_outcome(b)}")
        elif b is None:
            lines.append(f"- {path}: {_outcome(a)}")
        elif (a.outcome, a.reason, a.used) != (b.outcome, b.reason, b.used):
            lines.append(f"  {path}: {_outcome(a)} → {_outcome(b)}")
    if before.token_count != after.token_count:
        lines.append(f"total {before.token_count} → {after.token_count} tokens")
    return "\n".join(lines)


def _walk(layout: Layout) -> list[tuple[Placement, int]]:
    return [(placement, placement.path.count("/")) for placement in layout.walk()]


def _row(placement: Placement, depth: int) -> tuple[str, ...]:
    mark = "" if placement.required else "?"
    natural = str(placement.natural) if placement.natural_is_exact else f">{placement.natural}"
    why = placement.reason.value
    if placement.omitted:
        why += f", {'' if placement.omitted_is_exact else '>'}{placement.omitted} left out"
    if placement.error:
        why += f": {placement.error}"
    return (
        "  " * depth + placement.name + mark,
        describe_budget(placement.budget),
        str(placement.floor),
        natural,
        str(placement.given),
        str(placement.used),
        placement.outcome,
        " ".join(why.split()),
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    numbers = range(2, 6)
    padded = (
        cell.rjust(width) if index in numbers else cell.ljust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(padded).rstrip()


def _totals(layout: Layout) -> str:
    base = f", {layout.base} of them before the first message" if layout.base else ""
    kept = f"; {layout.reserved} kept for the answer" if layout.reserved else ""
    about = "" if layout.exact else "about "
    return f"{about}{layout.token_count} of {layout.budget} tokens{base}{kept}"


def _notes(layout: Layout) -> list[str]:
    return [
        f"note {note.code}{f' ({note.path})' if note.path else ''}: {note.detail}"
        for note in layout.notes
    ]


def _outcome(placement: Placement | None) -> str:
    if placement is None:
        return "absent"
    return f"{placement.outcome} {placement.used} ({placement.reason.value})"
