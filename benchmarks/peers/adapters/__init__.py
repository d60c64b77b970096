"""One module for each peer: `prepare(workload, budget)`, as its own documentation would do it.

What an application keeps from turn to turn (tokenizers, message objects) is made before the clock
runs, what it makes for each request inside. They run in the peer's environment, where nothing of
ours is installed: they import the workload and the peer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

ENCODING = "o200k_base"


class Prepared(NamedTuple):
    """A peer that is ready to lay out one prompt."""

    run: Callable[[], Any]
    """Does the work; this is timed."""
    read: Callable[[Any], Sequence[tuple[str, str]]]
    """Turns its result into role and text of each message; this is not."""


def of_dicts(result: Sequence[dict[str, str]]) -> list[tuple[str, str]]:
    """Read a result of dicts."""
    return [(message["role"], message["content"]) for message in result]
