"""How byte-pair encoding merges a run of one byte, without writing the run down.

A run of a million blanks takes tiktoken a fifth of a second, and a search in it would ask many
times. It knows no splitting rules.
"""

from __future__ import annotations

from collections.abc import Mapping


def merged_run(length: int, ranks: Mapping[int, int]) -> int | None:
    """Count the tokens that byte-pair encoding makes of one byte, `length` times.

    Of all pairs of neighbours the one of the lowest rank is merged, the leftmost of several, until
    no pair is a token. While the run is written as `[size, times]`, all pairs of a stretch can be
    merged at once, unless a new token would be merged further before the next pair is.

    Args:
        length: how many bytes.
        ranks: Number of bytes → rank of the token of so many.

    Returns:
        The number of tokens; `None` if the pairs cannot be merged at once.
    """
    stretches = [[1, length]]
    while True:
        best = _lowest_pair(stretches, ranks)
        if best is None:
            return sum(times for _, times in stretches)
        at, within = best
        if not within:
            merged = [stretches[at][0] + stretches[at + 1][0], 1]
            rest = [[size, times - 1] for size, times in stretches[at : at + 2]]
            stretches[at : at + 2] = [rest[0], merged, rest[1]]
        else:
            size, times = stretches[at]
            beside = {size, 2 * size, *(stretches[at - 1][:1] if at else ())}
            rank = ranks[2 * size]
            if times > 2 and any(ranks.get(2 * size + other, rank) < rank for other in beside):
                return None
            stretches[at : at + 1] = [[2 * size, times // 2], [size, times % 2]]
        stretches = _joined(stretches)


def _lowest_pair(stretches: list[list[int]], ranks: Mapping[int, int]) -> tuple[int, bool] | None:
    """Find the stretch with the pair of the lowest rank, and whether both are in that stretch."""
    pairs: list[tuple[int, int, bool]] = []
    for at, (size, times) in enumerate(stretches):
        if times > 1 and 2 * size in ranks:
            pairs.append((ranks[2 * size], at, True))
        if at + 1 < len(stretches) and size + stretches[at + 1][0] in ranks:
            pairs.append((ranks[size + stretches[at + 1][0]], at, False))
    return min(pairs, key=lambda pair: pair[0])[1:] if pairs else None


def _joined(stretches: list[list[int]]) -> list[list[int]]:
    """Leave out what is empty, and join neighbours of one size."""
    joined: list[list[int]] = []
    for size, times in stretches:
        if joined and joined[-1][0] == size and times:
            joined[-1][1] += times
        elif times:
            joined.append([size, times])
    return joined
