"""teams-ai: the prompt classes of its `teams.ai.prompts`, without a bot around them."""

from __future__ import annotations

import asyncio
from typing import Any

import tiktoken
from teams.ai.prompts import (
    ConversationHistorySection,
    Message,
    Prompt,
    PromptManager,
    PromptManagerOptions,
    SystemMessage,
    UserMessage,
)
from teams.ai.tokenizers import GPTTokenizer
from teams.state import MemoryBase

from benchmarks.peers.adapters import ENCODING, Prepared
from benchmarks.workload import Workload


class Encoder(GPTTokenizer):
    """Its own tokenizer, for the encoding of the others."""

    def __init__(self) -> None:
        self._encoding = tiktoken.get_encoding(ENCODING)


class Memory(MemoryBase):
    """Values by name; its own state objects need a bot's turn."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def has(self, path: str) -> bool:
        return path in self.values

    def get(self, path: str) -> Any:
        return self.values.get(path)

    def set(self, path: str, value: Any) -> None:
        self.values[path] = value

    def delete(self, path: str) -> None:
        del self.values[path]


def prepare(workload: Workload, budget: int) -> Prepared:
    """Keep memory, functions, tokenizer and an event loop; write the prompt anew."""
    tokenizer, loop = Encoder(), asyncio.new_event_loop()
    functions = PromptManager(PromptManagerOptions(prompts_folder="."))
    memory = Memory(
        {
            "instructions": workload.system,
            "documents": workload.context,
            "history": [Message(turn.role, turn.text) for turn in workload.history],
            "input": workload.question,
        }
    )

    def run() -> object:
        prompt = Prompt(
            [
                SystemMessage("{{$instructions}}"),
                SystemMessage("{{$documents}}"),
                ConversationHistorySection("history"),
                UserMessage("{{$input}}"),
            ]
        )
        rendering = prompt.render_as_messages(None, memory, functions, tokenizer, budget)
        return loop.run_until_complete(rendering)

    def read(rendered: Any) -> list[tuple[str, str]]:
        return [(message.role, message.content) for message in rendered.output]

    return Prepared(run, read)
