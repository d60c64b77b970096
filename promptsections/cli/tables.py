"""Tables for people: aligned, coloured on a terminal, plain everywhere else.

It knows rich and cells of text; it knows no layouts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console, detect_legacy_windows
from rich.table import Table
from rich.text import Text

from promptsections.cli import streams

_RULE = Box("    \n    \n ─  \n    \n    \n    \n    \n    \n", ascii=True)
"""A line below the heads; said to be ASCII, since `streams.drawn` looks after other consoles."""
_WIDE = 10_000
"""Columns of what is no terminal: nothing is broken into lines there."""
_LAST = 20
"""Columns that the last one of a table gets at least."""
_STYLES = {
    "whole": "green", "cut": "yellow", "dropped": "red", "failed": "bold red", "empty": "dim",
    "error": "bold red", "warning": "yellow",
}  # fmt: skip

Column = tuple[str, bool]
"""A head, and whether numbers stand below it."""


def write_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Write a table; on a narrow terminal the last column breaks, and then whole lines do."""
    table = Table(box=_RULE, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for index, (head, numeric) in enumerate(columns):
        last = index == len(columns) - 1
        table.add_column(
            head,
            justify="right" if numeric else "left",
            no_wrap=not last,
            overflow="fold" if last else "crop",
        )
    for row in rows:
        table.add_row(*(Text(cell, style=_style(cell)) for cell in row))
    console = _console()
    console.width = max(console.width, _needed([[head for head, _ in columns], *rows]))
    with console.capture() as captured:
        console.print(table)
    lines = captured.get().splitlines()
    streams.write(streams.drawn("\n".join(line.rstrip() for line in lines)) + "\n")


def _needed(rows: Sequence[Sequence[str]]) -> int:
    """Return the columns of a terminal that a table needs at least, so that no number is cut."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return sum(widths[:-1]) + min(widths[-1], _LAST) + 2 * len(widths)


def _style(cell: str) -> str:
    return _STYLES.get(cell.rpartition(" ")[2], "")


def styled(text: str, style: str) -> str:
    """Return a text as a terminal shows it in a style, or as it is."""
    console = _console()
    with console.capture() as captured:
        console.print(Text(text, style=style), end="", soft_wrap=True)
    return captured.get()


def bar(used: int, natural: int, budget: int, *, width: int = 20) -> str:
    """Draw a size beside a budget: what is sent, and what was left out of it."""
    filled = _part(used, budget, width)
    wanted = _part(max(natural, used), budget, width)
    return "█" * filled + "░" * (wanted - filled)


def _part(tokens: int, budget: int, width: int) -> int:
    """Return the characters for so many tokens; anything is at least one, all at most `width`."""
    return min(width, max(round(tokens * width / budget), 1)) if tokens else 0


def _console() -> Console:
    terminal = sys.stdout.isatty()
    return Console(
        file=sys.stdout,
        width=None if terminal else _WIDE,
        color_system="auto" if terminal and not detect_legacy_windows() else None,
        legacy_windows=False,
        safe_box=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
