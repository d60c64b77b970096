"""promptbudget: `pack_chat`."""

from __future__ import annotations

from promptbudget import Message, pack_chat
from promptbudget.tokenizers import TiktokenTokenizer

from benchmarks.peers.adapters import ENCODING, Prepared, of_dicts
from benchmarks.workload import Workload


def prepare(workload: Workload, budget: int) -> Prepared:
    """Keep messages and tokenizer."""
    tokenizer = TiktokenTokenizer(ENCODING)
    context = [Message("user", chunk) for chunk in workload.chunks]
    history = [Message(turn.role, turn.text) for turn in workload.history]
    history.append(Message("user", workload.question))

    def run() -> object:
        return pack_chat(
            system=workload.system,
            context=context,
            history=history,
            budget=budget,
            tokenizer=tokenizer,
            tokens_per_message=4,
        )

    return Prepared(run, lambda packed: of_dicts(packed.to_openai()))
