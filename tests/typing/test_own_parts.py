"""Blocks, tokenizers, functions, data sources and memories that people bring along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, assert_type

from attrs import frozen

from promptsections import (
    Block,
    Chunk,
    Content,
    Counter,
    DataSourceSection,
    Measurement,
    Memory,
    Message,
    ModelProfile,
    NewestFirst,
    Prompt,
    PromptSection,
    Renderer,
    Scope,
    SystemMessage,
    Tokenizer,
    Truncate,
    UserInput,
    truncate,
)


@frozen
class LongOrShort:
    """A block that sends one of two texts."""

    long: str
    short: str

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        short, long = (counter.cost(self._messages(text)) for text in (self.short, self.long))
        return Measurement(min(short, at_most + 1), min(long, at_most + 1))

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        long = self._messages(self.long)
        return long if counter.cost(long) <= tokens else self._messages(self.short)

    def _messages(self, text: str) -> tuple[Message, ...]:
        return (Message("system", text),)


@frozen
class Rules(PromptSection):
    def resolve(self, scope: Scope, /) -> Content:
        block: Block = LongOrShort("Be brief. Be kind. Be honest. Be on time.", "Be good.")
        return block


class Words:
    """A tokenizer that counts words."""

    name = "words"
    exact = True

    def count(self, text: str, /) -> int:
        return len(text.split())


class Store:
    """A memory that is no mapping."""

    def get(self, path: str, default: Any = None, /) -> Any:
        return {"input": "What is new?", "user": "Ann"}.get(path, default)


def find(query: str, scope: Scope) -> list[Chunk | str]:
    return [Chunk(f"About {query}", id="a"), "Something else"]


def greeting(scope: Scope, word: str) -> str:
    return f"{word}, {scope.read('user')}!"


def test_all_of_them_work_together() -> None:
    tokenizer: Tokenizer = Words()
    memory: Memory = Store()
    renderer = Renderer(tokenizer=tokenizer, functions={"greeting": greeting})
    prompt = Prompt(
        [
            Rules(),
            SystemMessage("<<greeting 'Good morning'>>"),
            DataSourceSection(find, when_over=Truncate(keep="end", marker="…")),
            UserInput(),
        ]
    )

    rendered = renderer.render(prompt, memory, budget=40)

    assert_type(rendered.messages, tuple[Message, ...])
    assert [message.text for message in rendered.messages] == [
        "Be brief. Be kind. Be honest. Be on time.",
        "Good morning, Ann!",
        "About What is new?\n\nSomething else",
        "What is new?",
    ]


def test_a_block_of_ones_own_gives_way() -> None:
    rendered = Renderer(tokenizer=Words()).render(Prompt([Rules()]), budget=5)

    assert [message.text for message in rendered.messages] == ["Be good."]


def test_a_history_may_come_from_a_store() -> None:
    def newest_first() -> Iterator[dict[str, str]]:
        yield {"role": "user", "content": "Hi"}

    assert_type(NewestFirst(newest_first), NewestFirst)


def test_a_function_is_a_tokenizer_too() -> None:
    profile = ModelProfile.plain(len)

    assert_type(profile, ModelProfile)
    assert truncate("one two three", 2, tokenizer=Words()) == "one two"
