"""Many long conversations in one process: what they hold, and that nothing grows per render.

`python -m benchmarks.soak 1000 500` holds so many conversations of so many turns in a new process.
Messages are the application's own, and are made first. What rendering leaves behind beside them is
the cache of counts, which has a bound, and the count that each message remembers.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage

from attrs import asdict, frozen

from benchmarks.subjects import MODEL
from promptsections import (
    ConversationHistory,
    Message,
    Prompt,
    RenderedPrompt,
    Renderer,
    SystemMessage,
    UserInput,
)
from promptsections.tokens import CachedTokenizer, TiktokenTokenizer

_TEXT = "again and so they went on to ask where the parcel was that never came to their door"

_PROMPT = Prompt([SystemMessage("You help with parcels."), ConversationHistory(), UserInput()])


@frozen
class Soaked:
    """What a soak left."""

    renders: int
    messages: float
    """Megabytes that the messages take."""
    left: float
    """Megabytes more after every turn of every conversation was rendered."""
    left_again: float
    """Megabytes more after all conversations were rendered again."""
    blocks_per_render: float
    """Blocks of memory that each of those later renders left behind."""
    tokens: Sequence[int]
    """Of the last render of each conversation."""


def soak(
    conversations: int,
    turns: int,
    *,
    again: int = 3,
    threads: int = 1,
    budget: int = 1_000,
    cache_bytes: int = 8 * 1024 * 1024,
) -> Soaked:
    """Hold conversations turn by turn, all at once, then render each a few times more.

    Args:
        conversations: How many are under way at the same time.
        turns: Of each: the user's message and the answer.
        again: How often each is rendered when it is complete.
        threads: How many threads share the renderer.
        budget: In tokens.
        cache_bytes: The bound of the cache of counts.
    """
    renderer = Renderer(MODEL, tokenizer=CachedTokenizer(TiktokenTokenizer(), cache_bytes))
    _render(renderer, _conversation(conversations, 1), budget)
    loaded = resident()
    written = [_conversation(number, turns) for number in range(conversations)]
    made = resident()
    under_way: list[list[Message]] = [[] for _ in written]

    def take_turn(number: int) -> None:
        """Render one conversation, and note what was said since."""
        history = under_way[number]
        _render(renderer, history, budget)
        history += written[number][len(history) : len(history) + 2]

    with ThreadPoolExecutor(threads) as pool:
        for _ in range(turns):
            list(pool.map(take_turn, range(conversations)))
        rendered = resident()
        tokens = _again(renderer, under_way, budget)
        before = _blocks()
        for _ in range(again):
            tokens = _again(renderer, under_way, budget)
        after = _blocks()
    renders = again * conversations
    return Soaked(
        renders=conversations * turns + renders,
        messages=made - loaded,
        left=rendered - made,
        left_again=resident() - rendered,
        blocks_per_render=(after - before) / renders,
        tokens=tokens,
    )


def soak_apart(conversations: int, turns: int) -> Soaked:
    """Do it in a new process, whose memory is its own."""
    command = [sys.executable, "-m", "benchmarks.soak", str(conversations), str(turns)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Soaked(**json.loads(done.stdout))


def _again(renderer: Renderer, histories: Sequence[list[Message]], budget: int) -> list[int]:
    return [_render(renderer, history, budget).token_count for history in histories]


def _render(renderer: Renderer, history: Sequence[Message], budget: int) -> RenderedPrompt:
    return renderer.render(_PROMPT, {"history": history, "input": "And now?"}, budget=budget)


def _conversation(number: int, turns: int) -> list[Message]:
    """Make messages of about thirty tokens, no two alike."""
    random, words = Random(number), _TEXT.split()
    return [
        Message(
            ("user", "assistant")[at % 2],
            f"Number {number}, message {at}: {' '.join(random.choices(words, k=20))}.",
        )
        for at in range(2 * turns)
    ]


def _blocks() -> int:
    gc.collect()
    return sys.getallocatedblocks()


def resident() -> float:
    """Return how much memory the process holds, in megabytes; at its peak, where not on Linux."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return getrusage(RUSAGE_SELF).ru_maxrss * unit / 1e6
    return pages * 4096 / 1e6


def main() -> None:
    """Write what a soak left, as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("conversations", type=int)
    parser.add_argument("turns", type=int)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    found = soak(asked.conversations, asked.turns, threads=asked.threads)
    print(json.dumps({**asdict(found), "tokens": found.tokens[:3]}))


if __name__ == "__main__":
    main()
