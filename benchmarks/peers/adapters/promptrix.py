"""promptrix: sections in a `Prompt`, the history proportional."""

from __future__ import annotations

import tiktoken
from promptrix.ConversationHistory import ConversationHistory
from promptrix.FunctionRegistry import FunctionRegistry
from promptrix.Prompt import Prompt
from promptrix.promptrixTypes import Tokenizer
from promptrix.SystemMessage import SystemMessage
from promptrix.UserMessage import UserMessage
from promptrix.VolatileMemory import VolatileMemory

from benchmarks.peers.adapters import ENCODING, Prepared, of_dicts
from benchmarks.workload import Workload


class Encoder(Tokenizer):
    """Its own tokenizer class, for the encoding of the others."""

    def __init__(self) -> None:
        encoding = tiktoken.get_encoding(ENCODING)
        self.encode, self.decode = encoding.encode, encoding.decode

    def encode(self, text: str) -> list[int]: ...  # set above; the base class asks for both
    def decode(self, tokens: list[int]) -> str: ...


def prepare(workload: Workload, budget: int) -> Prepared:
    """Keep memory and tokenizer, write the prompt anew: its sections hold no state."""
    tokenizer, functions = Encoder(), FunctionRegistry()
    history = [{"role": turn.role, "content": turn.text} for turn in workload.history]
    memory = VolatileMemory(
        {
            "instructions": workload.system,
            "documents": workload.context,
            "history": history,
            "input": workload.question,
        }
    )

    def run() -> object:
        prompt = Prompt(
            [
                SystemMessage("{{$instructions}}"),
                SystemMessage("{{$documents}}"),
                ConversationHistory("history"),
                UserMessage("{{$input}}"),
            ]
        )
        return prompt.renderAsMessages(memory, functions, tokenizer, budget)

    return Prepared(run, lambda rendered: of_dicts(rendered.output))
