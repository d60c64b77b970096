"""Numbers beside the common workload: what is large, many, deep, new or long-lived."""

from __future__ import annotations

import asyncio
import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from time import perf_counter, process_time

from benchmarks.measuring import cold, fresh_interpreter, warm
from benchmarks.results import Measure
from benchmarks.soak import soak_apart
from benchmarks.subjects import MODEL, make_history, make_prompt, ours
from benchmarks.workload import BUDGETS, HISTORY_SIZES, Workload, fresh, make_workload
from promptsections import (
    DataSourceSection,
    GroupSection,
    Message,
    Prompt,
    PromptSection,
    Renderer,
    TextSection,
    UserInput,
    truncate,
)
from promptsections.tokens import CachedTokenizer, TiktokenTokenizer

_SENTENCE = "a few words that say little. "
SMALL, LARGE = BUDGETS


def measure_all(runs: int, soaked: tuple[int, int]) -> Iterator[Measure]:
    """Measure everything here.

    Args:
        runs: Measurements of which the median is taken.
        soaked: Conversations of the soak, and turns of each.
    """
    yield from _growth(runs)
    yield from _starting(runs)
    yield from _new_turn(runs)
    yield from _large(runs)
    yield from _cutting(runs)
    yield from _remembering()
    yield from _soaking(*soaked)
    yield _heartbeat(runs)


def _ms(key: str, text: str, seconds: float) -> Measure:
    return Measure(key, text, 1e3 * seconds, "ms")


def _renderer() -> Renderer:
    """Make a renderer that remembers nothing yet."""
    return Renderer(MODEL, tokenizer=CachedTokenizer(TiktokenTokenizer()))


def _growth(runs: int) -> Iterator[Measure]:
    """Measure a short and a long history in turn, so that what else runs hits both alike."""
    few, many = (make_workload(size) for size in (HISTORY_SIZES[1], HISTORY_SIZES[-1]))
    again = [ours(workload, SMALL) for workload in (few, many)]
    first: list[float] = []
    later: list[float] = []
    for _ in range(2 * runs):
        short, long = (cold(lambda w=w: ours(fresh(w), SMALL)) for w in (few, many))
        first.append(long / short)
        short, long = (warm(run, 1) for run in again)
        later.append(long / short)
    text = f"a history of {HISTORY_SIZES[-1]:,} against one of {HISTORY_SIZES[1]}, {SMALL:,} tokens"
    yield Measure("growth_cold", f"{text}, cold", median(first), "×")
    yield Measure("growth_warm", f"{text}, warm", median(later), "×")


def _starting(runs: int) -> Iterator[Measure]:
    """Measure new interpreters, each doing a little more."""
    load = "from promptsections.tokens import BundledTokenizer\nBundledTokenizer().count('x')"
    render = (
        "from promptsections import Prompt, Renderer, SystemMessage, UserInput\n"
        "prompt = Prompt([SystemMessage('Answer <<$who>>.'), UserInput()])\n"
        f"Renderer({MODEL!r}).render(prompt, {{'who': 'Ada', 'input': 'Why?'}})"
    )
    scripts = ("pass", "import promptsections", load, render)
    bare, *others = (fresh_interpreter(script, runs=runs) for script in scripts)
    importing, loading, rendering = (other - bare for other in others)
    yield _ms("bare", "a bare interpreter", bare)
    yield _ms("import", "import promptsections, above that", importing)
    yield _ms("load", "import, and load the vocabulary", loading)
    yield _ms("first_render", "import, load, and render once", rendering)
    yield _ms("first_render_over_load", "the first render, above loading", rendering - loading)


def _new_turn(runs: int) -> Iterator[Measure]:
    """Measure one turn more on a prompt of 100,000 tokens, against counting the new texts."""
    workload = make_workload(HISTORY_SIZES[-1])
    renderer, prompt = _renderer(), make_prompt(workload)
    history = make_history(workload)
    said = iter(fresh(make_workload(HISTORY_SIZES[-1])).history)
    count = TiktokenTokenizer().count
    memory = {"history": history, "input": workload.question}
    renderer.render(prompt, memory, budget=LARGE)
    times: list[float] = []
    for turn in range(4 * runs):
        texts = [f"{next(said).text} ({turn})", f"{next(said).text} ({turn})"]
        added = [Message("user", texts[0]), Message("assistant", texts[1])]
        started = process_time()
        history += added
        renderer.render(prompt, {**memory, "input": f"And {turn}?"}, budget=LARGE)
        between = process_time()
        for text in texts:
            count(text)
        times.append(2 * between - started - process_time())
    yield _ms(
        "new_turn",
        f"one new turn on a prompt of {LARGE:,} tokens, above counting it",
        median(times),
    )


def _both(
    key: str, text: str, prompt: Callable[[], Prompt], budget: int, runs: int
) -> Iterator[Measure]:
    """Measure a prompt without history, cold and warm."""

    def prepare() -> Callable[[], object]:
        renderer, made = _renderer(), prompt()
        return lambda: renderer.render(made, {"input": "Which?"}, budget=budget)

    first = median(cold(prepare, 1) for _ in range(runs))
    yield _ms(f"{key}_cold", f"{text}, cold", first)
    yield _ms(f"{key}_warm", f"{text}, warm", warm(prepare(), runs))


def many_sections(count: int) -> Prompt:
    """Make optional sections of about ten tokens, of seven priorities."""
    return Prompt(
        [
            TextSection(
                f"section number {number} says something of its own",
                required=False,
                priority=number % 7,
            )
            for number in range(count)
        ]
    )


def many_chunks(count: int) -> Prompt:
    """Make a data source of chunks of about eight tokens."""
    chunks = [f"chunk number {number} of a great many" for number in range(count)]
    return Prompt([DataSourceSection(lambda _query, _scope: chunks), UserInput()])


def large_text(characters: int) -> Prompt:
    """Make a text that is cut."""
    text = _SENTENCE * (characters // len(_SENTENCE))
    return Prompt([TextSection(text, tokens=1_000), UserInput()])


def nested_groups(count: int, depth: int = 20) -> Prompt:
    """Make many sections, each in groups in groups."""

    def nest(number: int) -> PromptSection:
        section: PromptSection = TextSection(f"section number {number}", required=False)
        for _ in range(depth):
            section = GroupSection([section], required=False)
        return section

    return Prompt([nest(number) for number in range(count // depth)])


def _large(runs: int) -> Iterator[Measure]:
    yield from _both(
        "sections",
        "300 optional sections, half of them fit",
        lambda: many_sections(300),
        1_500,
        runs,
    )
    yield from _both(
        "chunks", "10,000 chunks, 1,000 tokens", lambda: many_chunks(10_000), 1_000, runs
    )
    yield from _both(
        "text", "a text of 1 MB cut to 1,000 tokens", lambda: large_text(1_000_000), 4_096, runs
    )
    yield from _both("nested", "2,000 groups, 20 deep", lambda: nested_groups(2_000), 100_000, runs)


def _cutting(runs: int) -> Iterator[Measure]:
    """Measure `truncate` alone, on ten megabytes."""
    text = "".join(f"{number}: {_SENTENCE}" for number in range(280_000))[:10_000_000]
    tokenizer = TiktokenTokenizer()
    for keep in ("start", "end", "middle"):
        seconds = warm(
            lambda keep=keep: truncate(text, 1_000, tokenizer=tokenizer, keep=keep), runs
        )
        yield _ms(f"cut_{keep}", f"10 MB cut to 1,000 tokens, {keep} kept", seconds)


def _remembering() -> Iterator[Measure]:
    """Measure what a remembered count takes."""
    texts = [turn.text for turn in make_workload(HISTORY_SIZES[-1]).history]
    tokenizer = CachedTokenizer(TiktokenTokenizer())

    def remember() -> None:
        for text in texts:
            tokenizer.count(text)

    each = _traced(remember) / len(texts)
    size = sum(map(sys.getsizeof, texts)) / len(texts)
    yield Measure("remembered", "memory of each remembered count, beside its text", each, "bytes")
    yield Measure("remembered_text", "memory of such a text of 50 tokens", size, "bytes")


def _traced(run: Callable[[], object]) -> int:
    """Return by how many bytes memory grew."""
    tracemalloc.start()
    try:
        run()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def _soaking(conversations: int, turns: int) -> Iterator[Measure]:
    """Measure many conversations in one process."""
    found = soak_apart(conversations, turns)
    what = f"{conversations:,} conversations of {turns:,} turns"
    yield Measure("soak_messages", f"{what}: their messages", found.messages, "MB")
    yield Measure(
        "soak_left", f"{what}: what rendering each turn left beside them", found.left, "MB"
    )
    yield Measure(
        "soak_again",
        f"{what}: what rendering all of them again left, beside that",
        found.left_again,
        "MB",
    )
    yield Measure("soak_growth", f"{what}: blocks left by each render", found.blocks_per_render, "")


def _heartbeat(runs: int) -> Measure:
    """Measure the longest silence of an event loop beside renders of 10,000 messages, cold."""
    workload = make_workload(HISTORY_SIZES[-1])
    longest = [asyncio.run(_longest_silence(fresh(workload))) for _ in range(runs)]
    return _ms(
        "silence", f"longest silence of the event loop, {LARGE:,} tokens, cold", median(longest)
    )


async def _longest_silence(workload: Workload) -> float:
    renderer, prompt = _renderer(), make_prompt(workload)
    memory = {"history": make_history(workload, dicts=True), "input": workload.question}
    beats: list[float] = []

    async def beat() -> None:
        while True:
            beats.append(perf_counter())
            await asyncio.sleep(0.001)

    heart = asyncio.create_task(beat())
    await asyncio.sleep(0.01)
    await renderer.arender(prompt, memory, budget=LARGE)
    await asyncio.sleep(0.01)
    heart.cancel()
    return max(_gaps(beats))


def _gaps(beats: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(beats)]
