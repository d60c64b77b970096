"""Long-lived processes: nothing grows per render, whatever was rendered before."""

from __future__ import annotations

import gc
import tracemalloc

from benchmarks.soak import soak
from promptsections import Message
from promptsections.tokens import CachedTokenizer, TiktokenTokenizer


def test_rendering_again_leaves_nothing_behind() -> None:
    found = soak(conversations=15, turns=8, again=6)

    assert found.renders == 15 * 8 + 6 * 15
    assert found.blocks_per_render < 0.1  # a rendered prompt alone is more than a hundred


def test_conversations_that_do_not_fit_the_cache_leave_nothing_behind_either() -> None:
    found = soak(conversations=15, turns=8, again=6, cache_bytes=4_096)

    assert found.blocks_per_render < 0.1


def test_threads_that_share_a_renderer_send_what_one_thread_sends() -> None:
    alone = soak(conversations=12, turns=6, again=1)
    together = soak(conversations=12, turns=6, again=1, threads=4, cache_bytes=8_192)

    assert together.tokens == alone.tokens


def test_what_rendering_holds_is_bounded_by_the_cache_and_a_count_in_each_message() -> None:
    """Ten times as many texts take no more of the cache."""
    bound = 64 * 1024

    def held(texts: int) -> int:
        tokenizer = CachedTokenizer(TiktokenTokenizer(), bound)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(texts):
            tokenizer.count(Message("user", f"text number {number} of a great many").text)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    TiktokenTokenizer().count("load the vocabulary")
    tracemalloc.start()
    try:
        few, many = held(1_000), held(10_000)
    finally:
        tracemalloc.stop()

    assert few < 1.2 * bound
    assert many < 1.2 * bound
