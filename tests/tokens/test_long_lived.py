"""Long-lived bots: many conversations in one process and many threads, in bounded memory."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.long_lived import KEPT, Conversations, left_behind, main, take_turns
from promptsections import Message
from promptsections.tokens import BundledTokenizer, CachedTokenizer

SMALL = 64 * 1024


@pytest.fixture
def busy():
    """Threads that change places after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_many_conversations_in_many_threads_give_what_each_gives_alone(busy):
    """One renderer, one prompt and a cache that is far too small for all of them."""
    together = Conversations(24, CachedTokenizer(BundledTokenizer(), max_bytes=SMALL))
    take_turns(together, range(20), threads=8)
    alone = Conversations(24)
    take_turns(alone, range(20), threads=1)

    assert together.histories == alone.histories
    assert [together.render(n, "And?") for n in range(24)] == [
        alone.render(n, "And?") for n in range(24)
    ]
    assert together.cache.statistics().bytes <= SMALL
    assert together.cache.statistics().forgotten > 0


def test_renders_leave_nothing_behind():
    conversations = Conversations(8)
    take_turns(conversations, range(60), threads=1)

    assert left_behind(conversations) <= KEPT / 8


def test_a_message_that_was_counted_takes_56_bytes_more():
    """Its count lives with it, whatever becomes of the cache, and dies with it."""
    conversations = Conversations(1)
    take_turns(conversations, range(10), threads=1)
    conversations.render(0, "And?")
    remembered = [message._memo for message in conversations.histories[0]]

    assert {sys.getsizeof(memo) for memo in remembered} == {56}
    conversations.histories[0].clear()
    gc.collect()
    assert not [o for o in gc.get_objects() if type(o) is Message and "0/3: " in o.text]


def test_threads_may_share_messages(busy):
    """Each profile's count of a message is right, however many are asked for at once."""
    first, second = Conversations(1), Conversations(1)
    second.renderer = type(second.renderer)("gpt-4", tokenizer=second.cache)
    take_turns(first, range(40), threads=1)
    second.histories = first.histories
    expected = first.render(0, "x"), second.render(0, "x")
    first.histories[0][:] = [Message(m.role, m.text) for m in first.histories[0]]  # uncounted
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: (first, second)[n % 2].render(0, "x"), range(64)))

    assert found == [*expected] * 32


def test_the_script_says_what_it_measured(capsys):
    assert main(["--conversations", "3", "--turns", "5", "--threads", "2"]) == 0
    assert "| 5 | 30 |" in capsys.readouterr().out
