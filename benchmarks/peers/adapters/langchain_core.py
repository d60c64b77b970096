"""langchain-core: `trim_messages`, with the counter from its how-to guide."""

from __future__ import annotations

from collections.abc import Sequence

import tiktoken
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    trim_messages,
)

from benchmarks.peers.adapters import ENCODING, Prepared
from benchmarks.workload import Workload

_ROLES = {"system": "system", "human": "user", "ai": "assistant"}
_FRAME, _PRIMING = 3, 3


def prepare(workload: Workload, budget: int) -> Prepared:
    """Keep the messages; it knows one system message, so the documents stand in it."""
    encode = tiktoken.get_encoding(ENCODING).encode

    def count(messages: Sequence[BaseMessage]) -> int:
        tokens = _PRIMING
        for message in messages:
            role = _ROLES[message.type]
            tokens += _FRAME + len(encode(role)) + len(encode(str(message.content)))
        return tokens

    messages = [
        SystemMessage(f"{workload.system}\n\n{workload.context}"),
        *(
            HumanMessage(turn.text) if turn.role == "user" else AIMessage(turn.text)
            for turn in workload.history
        ),
        HumanMessage(workload.question),
    ]

    def run() -> list[BaseMessage]:
        return trim_messages(
            messages,
            max_tokens=budget,
            token_counter=count,
            strategy="last",
            include_system=True,
            start_on="human",
            end_on=("human", "tool"),
        )

    def read(kept: list[BaseMessage]) -> list[tuple[str, str]]:
        return [(_ROLES[message.type], str(message.content)) for message in kept]

    return Prepared(run, read)
