"""haystack-ai: `SlidingWindowCompactor` with its `TiktokenCounter`."""

from __future__ import annotations

import warnings
from typing import Any

from haystack.dataclasses import ChatMessage
from haystack.hooks.compaction import SlidingWindowCompactor
from haystack.token_counters import TiktokenCounter

from benchmarks.peers.adapters import ENCODING, Prepared
from benchmarks.workload import Workload


def prepare(workload: Workload, budget: int) -> Prepared:
    """Keep messages, compactor and counter."""
    warnings.simplefilter("ignore")  # it says in each run that it is experimental
    counter, compactor = TiktokenCounter(encoding=ENCODING), SlidingWindowCompactor()
    messages = [
        ChatMessage.from_system(workload.system),
        ChatMessage.from_system(workload.context),
        *(
            ChatMessage.from_user(turn.text)
            if turn.role == "user"
            else ChatMessage.from_assistant(turn.text)
            for turn in workload.history
        ),
        ChatMessage.from_user(workload.question),
    ]

    def run() -> list[Any]:
        return compactor.compact(messages, budget, counter) or messages

    def read(kept: list[Any]) -> list[tuple[str, str]]:
        return [(message.role.value, message.text) for message in kept]

    return Prepared(run, read)
