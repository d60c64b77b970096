"""A history of a million messages costs what fits of it, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from promptsections import (
    ConversationHistory,
    Message,
    NewestFirst,
    Prompt,
    Renderer,
    SystemMessage,
    UserInput,
)
from promptsections.tokens import TiktokenTokenizer

MILLION = 1_000_000
OPTIONS: dict[str, dict[str, Any]] = {
    "by default": {},
    "with every option": {
        "omission_marker": "{n} earlier messages omitted",
        "max_result_tokens": 20,
        "repair": "stub",
    },
}


def message(number: int) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {"role": role, "content": f"This is message {number} of a long conversation."}


class Meter:
    """The real tokenizer, with a record of how much it reads."""

    name = "metered"
    exact = True
    joints = "strong"

    def __init__(self) -> None:
        self.characters = 0
        self._inner = TiktokenTokenizer("o200k_base")

    def count(self, text: str, /) -> int:
        self.characters += len(text)
        return self._inner.count(text)


class Listed(Sequence[dict[str, Any]]):
    """A list that counts how many of its messages are looked at."""

    def __init__(self) -> None:
        self.read: set[int] = set()

    def __len__(self) -> int:
        return MILLION

    def __getitem__(self, index: Any) -> Any:
        self.read.add(index)
        return message(index)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("stored", [True, False], ids=["a store", "a sequence"])
def test_of_a_million_messages_only_what_fits_and_one_exchange_is_read(
    stored: bool, options: dict[str, Any]
) -> None:
    listed, meter = Listed(), Meter()

    def newest_first() -> Iterator[Message | dict[str, Any]]:
        for number in reversed(range(MILLION)):
            yield listed[number]

    prompt = Prompt([SystemMessage("Be brief."), ConversationHistory(**options), UserInput()])
    memory = {"history": NewestFirst(newest_first) if stored else listed, "input": "Go on."}

    rendered = Renderer(tokenizer=meter).render(prompt, memory, budget=4_096)

    sent = [m for m in rendered.messages if m.role in ("user", "assistant")][:-1]
    assert 300 < len(sent) <= len(listed.read) <= len(sent) + 4
    assert sent[-1].text == message(MILLION - 1)["content"]
    assert rendered.token_count <= 4_096
    assert meter.characters < 2 * sum(len(m.text) + 20 for m in sent)
    marker = [m.text for m in rendered.messages if "omitted" in m.text]
    omitted = rendered.layout["conversation_history"].omitted
    if stored:
        assert omitted == len(listed.read) - len(sent)
        assert marker == ([f"more than {omitted} earlier messages omitted"] if options else [])
    else:
        assert omitted == MILLION - len(sent)
        assert marker == ([f"{omitted} earlier messages omitted"] if options else [])
