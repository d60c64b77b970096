"""Divide whole tokens in proportion to weights, exactly, by d'Hondt's rule."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heapreplace
from math import lcm


def apportion(
    space: int,
    floors: Sequence[int],
    limits: Sequence[int],
    weights: Sequence[tuple[int, int]],
) -> list[int]:
    """Divide `space` whole tokens in proportion to weights, by d'Hondt's rule.

    Each starts at its floor; each further token goes to the one with the smallest
    `(size + 1) / weight` that is below its limit (ties: the first). The sum of the floors is at
    most `space`. The same result as handing out token by token, in O(n log n): at the level
    `v = size / weight` that the real-valued division reaches, all keys up to `v` are taken, and
    fewer than n tokens remain.
    """
    if sum(limits) <= space:
        return list(limits)
    scale = lcm(*(denominator for _, denominator in weights))
    parts = [numerator * (scale // denominator) for numerator, denominator in weights]
    whole = lcm(*parts)
    steps = [whole // part for part in parts]  # level at which the first token is due
    bounds = list(zip(floors, limits, steps, strict=True))

    def sizes_at(level: int) -> list[int]:
        return [max(floor, min(level // step, limit)) for floor, limit, step in bounds]

    corners = sorted({f * s for f, _, s in bounds} | {c * s for _, c, s in bounds})
    low, high = 0, len(corners)
    while high - low > 1:
        middle = (low + high) // 2
        if sum(sizes_at(corners[middle])) <= space:
            low = middle
        else:
            high = middle
    level = corners[low]
    growing = [floor * step <= level < limit * step for floor, limit, step in bounds]
    if any(growing):
        still = sum(size for size, grows in zip(sizes_at(level), growing, strict=True) if not grows)
        pace = sum(part for part, grows in zip(parts, growing, strict=True) if grows)
        level = max(level, (space - still) * whole // pace)
        if high < len(corners):
            level = min(level, corners[high])
    result = sizes_at(level)
    left = space - sum(result)
    heap = [((result[i] + 1) * s, i) for i, (_, c, s) in enumerate(bounds) if result[i] < c]
    heapify(heap)
    while left and heap:
        _, index = heap[0]
        result[index] += 1
        left -= 1
        if result[index] < limits[index]:
            heapreplace(heap, ((result[index] + 1) * steps[index], index))
        else:
            heappop(heap)
    return result
