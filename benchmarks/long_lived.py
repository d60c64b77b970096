"""Many long conversations in one process: what they take, and that renders leave nothing behind.

    python -m benchmarks.long_lived                        # 1,000 conversations of 500 turns
    python -m benchmarks.long_lived --conversations 50 --turns 40 --threads 4

All conversations share one `Renderer`, one `Prompt` and one cache of counts. In a turn a user asks,
the prompt is rendered, and the answer is appended. At the end every conversation is rendered again
some times, which must not take memory. Exits with 1 if it does, or if the cache exceeds its bound.
"""

from __future__ import annotations

import gc
import os
import sys
import tracemalloc
from argparse import ArgumentParser
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, process_time

from attrs import define, field

from promptsections import (
    ConversationHistory,
    Message,
    Prompt,
    Renderer,
    TextSection,
    UserInput,
)
from promptsections.tokens import BundledTokenizer, CachedTokenizer

BUDGET = 4_096
CACHE_BYTES = 8 * 1024 * 1024
KEPT = 64 * 1024
"""Bytes that renders may leave behind in all: what interpreters keep for the next call."""
_WORDS = (
    "order", "parcel", "refund", "invoice", "address", "label", "warehouse", "customer", "account",
    "delivery", "delay", "please", "thanks", "where", "when", "yesterday", "arrived", "receipt",
)  # fmt: skip


@define(eq=False)
class Conversations:
    """Conversations, and the renderer that serves all of them."""

    many: int
    cache: CachedTokenizer = field(
        factory=lambda: CachedTokenizer(BundledTokenizer(), max_bytes=CACHE_BYTES)
    )
    renderer: Renderer = field(init=False)
    prompt: Prompt = field(init=False)
    histories: list[list[Message]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.renderer = Renderer("gpt-4o", tokenizer=self.cache)
        self.prompt = Prompt(
            [
                TextSection("You answer questions about orders. Be brief."),
                ConversationHistory(),
                UserInput(),
            ]
        )
        self.histories = [[] for _ in range(self.many)]

    def turn(self, number: int, turn: int) -> int:
        """Take one turn in a conversation; return the tokens of its prompt."""
        history = self.histories[number]
        question = sentence(number, turn, 24)
        tokens = self.render(number, question)
        history.append(Message("user", question))
        history.append(Message("assistant", sentence(number, ~turn, 60)))
        return tokens

    def render(self, number: int, question: str) -> int:
        """Render a conversation; return the tokens of its prompt."""
        memory = {"history": self.histories[number], "input": question}
        return self.renderer.render(self.prompt, memory, budget=BUDGET).token_count


def sentence(number: int, turn: int, words: int) -> str:
    """Make up a text that no other turn has, always the same."""
    seed = (number * 7_919 + turn * 104_729) & 0xFFFF_FFFF
    chosen: list[str] = []
    for _ in range(words):
        seed = (seed * 1_103_515_245 + 12_345) & 0x7FFF_FFFF
        chosen.append(_WORDS[(seed >> 8) % len(_WORDS)])
    return f"{number}/{turn}: {' '.join(chosen)}."


def take_turns(conversations: Conversations, turns: Sequence[int], threads: int) -> None:
    """Take these turns in all conversations; each conversation belongs to one thread."""

    def serve(start: int) -> None:
        for turn in turns:
            for number in range(start, conversations.many, threads):
                conversations.turn(number, turn)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(serve, range(threads)))


def left_behind(conversations: Conversations, rounds: int = 3) -> int:
    """Return the bytes that renders without a new message leave behind, once all is warm."""

    def again() -> None:
        for number in range(conversations.many):
            conversations.render(number, "And now?")

    again()
    again()
    gc.collect()
    tracemalloc.start()
    try:
        again()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(rounds):
            again()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def resident_mb() -> float:
    """Return the memory that the process holds now, in MB; 0 where that cannot be read."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return 0.0
    return int(statm.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print a table."""
    parser = ArgumentParser(prog="python -m benchmarks.long_lived")
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)

    Conversations(1).turn(0, 0)  # loads the vocabulary and all modules
    conversations = Conversations(options.conversations)
    start, step = resident_mb(), max(1, options.turns // 10)
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(
        f"{options.conversations} conversations of {options.turns} turns, {options.threads} threads"
        f", GIL {'on' if locked else 'off'}, {conversations.cache.tokenizer!r}\n\n"
        "| turns | messages | resident MB | bytes a message | cache MB | ms a turn | wall s |\n"
        "|---:|---:|---:|---:|---:|---:|---:|"
    )
    began = perf_counter()
    for first in range(0, options.turns, step):
        turns = range(first, min(first + step, options.turns))
        cpu = process_time()
        take_turns(conversations, turns, options.threads)
        each = (process_time() - cpu) / len(turns) / options.conversations
        messages = sum(map(len, conversations.histories))
        taken = resident_mb() - start
        held = conversations.cache.statistics()
        print(
            f"| {turns[-1] + 1} | {messages:,} | {taken:.1f} | {taken * 1e6 / messages:.0f} | "
            f"{held.bytes / 1e6:.1f} | {each * 1e3:.2f} | {perf_counter() - began:.0f} |",
            flush=True,
        )
    left, held = left_behind(conversations), conversations.cache.statistics()
    print(f"\n{held}\n3 renders more of each conversation left {left:,} bytes behind")
    return int(left > KEPT or held.bytes > held.max_bytes)


if __name__ == "__main__":
    sys.exit(main())
