"""convopack: a `Packer` that keeps the newest."""

from __future__ import annotations

from convopack import Packer, Recency

from benchmarks.peers.adapters import Prepared, of_dicts
from benchmarks.workload import Workload


def prepare(workload: Workload, budget: int) -> Prepared:
    """Keep the packer and the history as dicts."""
    packer = Packer(
        budget=budget,
        tokenizer="tiktoken:gpt-4o",
        strategy=Recency(),
        pin=["system", "last_user"],
    )
    messages = [
        {"role": "system", "content": workload.system},
        {"role": "system", "content": workload.context},
        *({"role": turn.role, "content": turn.text} for turn in workload.history),
        {"role": "user", "content": workload.question},
    ]
    return Prepared(lambda: packer.pack_openai(messages), of_dicts)
