"""cendor-contextkit: pinned blocks, and a block of messages that drops its oldest."""

from __future__ import annotations

from cendor.contextkit import Block, Context

from benchmarks.peers.adapters import Prepared, of_dicts
from benchmarks.workload import Workload


def prepare(workload: Workload, budget: int) -> Prepared:
    """Keep the history as dicts; make the context anew, as it is filled only once."""
    history = [{"role": turn.role, "content": turn.text} for turn in workload.history]

    def run() -> object:
        context = Context(budget_tokens=budget, model="gpt-4o")
        context.add(Block(workload.system, priority=10, pin=True, role="system"))
        context.add(Block(workload.context, priority=9, pin=True, role="system"))
        context.add(Block(messages=history, priority=3, evict="drop_oldest"))
        context.add(Block(workload.question, priority=9, pin=True, role="user"))
        return context.assemble()

    return Prepared(run, of_dicts)
