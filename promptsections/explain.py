"""A layout for people: as a table, and what changed between two."""

from __future__ import annotations

from collections.abc import Sequence

from promptsections.layout.placement import Layout, Placement, describe_budget

HEADS = ("section", "budget", "floor", "natural", "given", "used", "outcome", "why")
"""What stands above the columns of a table."""


def explain(layout: Layout) -> str:
    """Return the layout as a table: a row a section, then totals and notes."""
    rows = [cells(placement) for placement in layout.walk()]
    widths = [max(len(row[i]) for row in (HEADS, *rows)) for i in range(len(HEADS))]
    lines = [_line(HEADS, widths), "  ".join("─" * width for width in widths)]
    lines += [_line(row, widths) for row in rows]
    return "\n".join([*lines, "", totals(layout), *notes(layout)])


def compare(before: Layout, after: Layout) -> str:
    """Return what differs between two layouts, a line a section; `""` if nothing does."""
    lines = [f"budget {before.budget} → {after.budget}"] if before.budget != after.budget else []
    for path, a, b in differences(before, after):
        if a is None:
            lines.append(f"+ {path}: {_outcome(b)}")
        elif b is None:
            lines.append(f"- {path}: {_outcome(a)}")
        else:
            lines.append(f"  {path}: {_outcome(a)} → {_outcome(b)}")
    if before.token_count != after.token_count:
        lines.append(f"total {before.token_count} → {after.token_count} tokens")
    return "\n".join(lines)


def differences(
    before: Layout, after: Layout
) -> list[tuple[str, Placement | None, Placement | None]]:
    """Return path, old and new placement of each section that came out otherwise."""
    old = {placement.path: placement for placement in before.walk()}
    new = {placement.path: placement for placement in after.walk()}
    pairs = ((path, old.get(path), new.get(path)) for path in dict.fromkeys([*old, *new]))
    return [(path, a, b) for path, a, b in pairs if _came_out(a) != _came_out(b)]


def _came_out(placement: Placement | None) -> object:
    return placement and (placement.outcome, placement.reason, placement.used)


def cells(placement: Placement) -> tuple[str, ...]:
    """Return the row of a section; its name is indented by the groups around it."""
    mark = "" if placement.required else "?"
    natural = str(placement.natural) if placement.natural_is_exact else f">{placement.natural}"
    why = placement.reason.value
    if placement.omitted:
        why += f", {'' if placement.omitted_is_exact else '>'}{placement.omitted} left out"
    if placement.error:
        why += f": {placement.error}"
    return (
        "  " * placement.path.count("/") + placement.name + mark,
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


def totals(layout: Layout) -> str:
    """Say what the prompt takes of its budget, what is kept for the answer, what can be cached."""
    base = f", {layout.base} of them before the first message" if layout.base else ""
    about = "" if layout.exact else "about "
    lines = [f"{about}{layout.token_count} of {layout.budget} tokens{base}"]
    if layout.reserved:
        lines.append(f"{layout.reserved} tokens kept for the answer")
    for prefix in layout.prefixes:
        end = f"up to {prefix.ends_at}" if prefix.ends_at else "all of it"
        words = f"{prefix.prefix_tokens} tokens, {end}, {prefix.fingerprint[:12]}"
        lines.append(f"{prefix.stability} prefix: {words}")
    return "\n".join(lines)


def notes(layout: Layout) -> list[str]:
    """Return the notes of a layout, a line each."""
    return [
        f"note {note.code}{f' ({note.path})' if note.path else ''}: {note.detail}"
        for note in layout.notes
    ]


def _outcome(placement: Placement | None) -> str:
    if placement is None:
        return "absent"
    return f"{placement.outcome} {placement.used} ({placement.reason.value})"
