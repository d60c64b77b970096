"""The loop that everybody writes by hand: count newest first until the budget is full.

System message, documents and question are always sent; every message is counted by the published
formula. That is all: no sections, no report, no pairs kept together, no guarantee.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.workload import Workload

Message = dict[str, str]
REPLY_PRIMING = 3
TOKENS_PER_MESSAGE = 4
"""Three for its frame and one for its role."""


def trim(count: Callable[[str], int], budget: int, workload: Workload) -> list[Message]:
    """Return the messages that fit a budget in tokens."""
    first = [
        {"role": "system", "content": workload.system},
        {"role": "system", "content": workload.context},
    ]
    last = {"role": "user", "content": workload.question}
    left = budget - REPLY_PRIMING
    for message in (*first, last):
        left -= TOKENS_PER_MESSAGE + count(message["content"])

    kept: list[Message] = []
    for role, text in reversed(workload.history):
        left -= TOKENS_PER_MESSAGE + count(text)
        if left < 0:
            break
        kept.append({"role": role, "content": text})
    return [*first, *reversed(kept), last]
