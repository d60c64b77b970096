"""A picture of the results: one line for each subject, both axes logarithmic. Plain SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import pairwise
from math import ceil, floor, log10

from benchmarks.results import FAST, OURS, Results, each

_WIDTH, _HEIGHT = 900, 500
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 310, 46, 50
_LABEL = 15
"""The least distance between two labels."""
_COLOURS = (
    "#7f7f7f", "#bcbd22", "#8c564b", "#2ca02c", "#9467bd", "#17becf",
    "#e377c2", "#ff7f0e", "#1f77b4", "#393b79", "#637939",
)  # fmt: skip
_OURS = "#d62728"

Line = tuple[str, Sequence[tuple[int, float]]]
"""A name, and points of history and milliseconds."""


def draw(results: Results, budget: int) -> str:
    """Draw the cold times at one budget."""
    cases = list(each(results.cases, budget))
    lines: list[Line] = []
    for name in results.subjects():
        points = [(case.history, found.cold) for case in cases if (found := case.of(name))]
        if points:
            lines.append((name, points))
    lows, highs = zip(
        *((min(t), max(t)) for t in ([y for _, y in p] for _, p in lines)), strict=True
    )
    first, last = floor(log10(min(lows))), ceil(log10(max(highs)))
    sizes = [case.history for case in cases]

    def across(size: int) -> float:
        span = log10(sizes[-1] / sizes[0]) or 1
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * log10(size / sizes[0]) / span

    def up(milliseconds: float) -> float:
        share = (log10(milliseconds) - first) / ((last - first) or 1)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share

    parts = [*_frame(budget), *_grid(first, last, sizes, across, up)]
    heights = _apart([up(points[-1][1]) for _, points in lines])
    for (name, points), height, colour in zip(lines, heights, _colours(lines), strict=True):
        path = " ".join(f"{across(size):.1f},{up(time):.1f}" for size, time in points)
        thick = 4 if name in (OURS, FAST) else 1.8
        end = f"{across(points[-1][0]) + 10:.1f}"
        label = f"{escape(name)}, {_short(points[-1][1])} ms"
        parts += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"/>',
            f'<text x="{end}" y="{height + 4:.1f}" fill="{colour}">{label}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _frame(budget: int) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="15">Rendering once, cold, to {budget:,} tokens:',
        " CPU milliseconds by messages of history</text>",
    ]


def _grid(
    first: int,
    last: int,
    sizes: Sequence[int],
    across: Callable[[int], float],
    up: Callable[[float], float],
) -> Iterator[str]:
    """Draw a line for each power of ten, and one for each size."""
    left, right = _LEFT, _WIDTH - _RIGHT
    for power in range(first, last + 1):
        y = f"{up(10**power):.1f}"
        yield f'<line x1="{left}" y1="{y}" x2="{right}" y2="{y}" stroke="#ddd"/>'
        label = f'x="{left - 8}" y="{float(y) + 4:.1f}" text-anchor="end"'
        yield f"<text {label}>{10.0**power:,g}</text>"
    for size in sizes:
        x, bottom = f"{across(size):.1f}", _HEIGHT - _BOTTOM
        yield f'<line x1="{x}" y1="{_TOP}" x2="{x}" y2="{bottom}" stroke="#eee"/>'
        yield f'<text x="{x}" y="{bottom + 20}" text-anchor="middle">{size:,}</text>'


def _colours(lines: Sequence[Line]) -> list[str]:
    others = iter(_COLOURS)
    return [_OURS if name in (OURS, FAST) else next(others, "#444") for name, _ in lines]


def _apart(heights: Sequence[float]) -> list[float]:
    """Move labels down until none covers another, then up again if they left the picture."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    placed = list(heights)
    for above, here in pairwise(order):
        placed[here] = max(placed[here], placed[above] + _LABEL)
    limit = _HEIGHT - _BOTTOM
    for here in reversed(order):
        placed[here] = min(placed[here], limit)
        limit = placed[here] - _LABEL
    return placed


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
