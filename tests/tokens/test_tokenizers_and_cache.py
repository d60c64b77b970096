"""Tokenizers of other people, estimates, and the memory of counts."""

from __future__ import annotations

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from functools import partial
from sys import getsizeof
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st
from token_samples import Watched, any_texts, texts, words

from promptsections.errors import DefinitionError
from promptsections.tokens import (
    ApproximateTokenizer,
    BundledTokenizer,
    CachedTokenizer,
    CacheStatistics,
    CallableTokenizer,
    ScaledTokenizer,
    TiktokenTokenizer,
    Tokenizer,
    as_tokenizer,
    cached,
    encoder_of,
    joints_of,
)
from promptsections.tokens.cache import ENTRY_BYTES, MAX_CACHED_CHARACTERS


class Counter:
    """A tokenizer without `name`, as other libraries have them."""

    exact = False

    def count_tokens(self, text):
        return len(text)


# --- as_tokenizer -------------------------------------------------------------------------------


def test_a_tokenizer_stays_what_it_is():
    tokenizer = ApproximateTokenizer()

    assert as_tokenizer(tokenizer) is tokenizer
    assert isinstance(tokenizer, Tokenizer)


def test_the_name_of_a_bundled_encoding_is_a_tokenizer():
    assert as_tokenizer("cl100k_base") == BundledTokenizer("cl100k_base")


def test_a_function_is_a_tokenizer():
    tokenizer = as_tokenizer(words)

    assert tokenizer.count("a b c") == 3
    assert tokenizer.exact
    assert tokenizer.name.startswith("token_samples.words:")
    assert joints_of(tokenizer) == "none"
    assert encoder_of(tokenizer) is None


def test_an_object_that_is_called_is_a_tokenizer_named_by_its_class():
    assert as_tokenizer(partial(words)).name == "functools.partial"
    assert as_tokenizer(len).name == "builtins.len"


def test_an_object_with_count_tokens_is_a_tokenizer():
    tokenizer = as_tokenizer(Counter())

    assert (tokenizer.count("abc"), tokenizer.exact) == (3, False)
    assert tokenizer.name.endswith("Counter")


def test_the_name_and_the_promise_of_an_object_are_kept():
    counter = Counter()
    counter.name, counter.joints = "theirs", "strong"

    assert as_tokenizer(counter).name == "theirs"
    assert joints_of(as_tokenizer(counter)) == "strong"


def test_an_encoding_of_tiktoken_is_a_tokenizer():
    encoding = TiktokenTokenizer("cl100k_base")._encoding()

    assert as_tokenizer(encoding).count("Hello World") == 2


@pytest.mark.parametrize("value", [None, 5, object(), ["a"], Counter])
def test_what_cannot_count_is_refused(value):
    with pytest.raises(DefinitionError, match="is no tokenizer"):
        as_tokenizer(value)


@pytest.mark.parametrize("answer", [None, -1, 1.0, True, "3", [1, 2]])
@pytest.mark.parametrize("wrap", [as_tokenizer, lambda f: cached(Answering(f))])
def test_an_answer_that_is_no_count_is_refused(answer, wrap):
    with pytest.raises(DefinitionError, match="must return a whole number >= 0"):
        wrap(lambda _: answer).count("x")


class Answering:
    name, exact = "answering", True

    def __init__(self, function):
        self.count = function


# --- estimates ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokenizer", "text", "tokens"),
    [
        (ApproximateTokenizer(), "", 0),
        (ApproximateTokenizer(), "abcd", 1),
        (ApproximateTokenizer(), "abcde", 2),
        (ApproximateTokenizer(0.1), "a" * 3, 30),
        (ApproximateTokenizer(Decimal("3.5")), "a" * 7, 2),
        (ApproximateTokenizer(bytes_per_token=1), "é🦀\ud83d\ude00\ude00", 13),
        (ScaledTokenizer(CallableTokenizer("n", len), 1.2), "a" * 10, 12),
        (ScaledTokenizer(CallableTokenizer("n", len), 1.2), "a" * 11, 14),
    ],
)
def test_estimates_round_up_and_say_that_they_are_estimates(tokenizer, text, tokens):
    assert tokenizer.count(text) == tokens
    assert not tokenizer.exact


def test_estimates_are_named_by_how_they_estimate():
    assert ApproximateTokenizer().name == "approximate-4-characters"
    assert ApproximateTokenizer(bytes_per_token=2.5).name == "approximate-5/2-bytes"
    assert ApproximateTokenizer(name="rough").name == "rough"
    assert ScaledTokenizer(ApproximateTokenizer(), 1.2).name == "approximate-4-characters*6/5"


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "4", 1 + 2j])
def test_a_ratio_that_means_nothing_is_refused(value):
    with pytest.raises(DefinitionError, match="number > 0"):
        ApproximateTokenizer(value)


def test_two_ratios_at_once_are_refused():
    with pytest.raises(DefinitionError, match="not both"):
        ApproximateTokenizer(4, bytes_per_token=3)


@given(any_texts, any_texts, st.fractions(min_value=Fraction(1, 50), max_value=50))
def test_a_longer_text_is_never_estimated_lower(text, more, ratio):
    """Estimates are monotone, and a token to a byte bounds every byte-level vocabulary."""
    for tokenizer in (ApproximateTokenizer(ratio), ApproximateTokenizer(bytes_per_token=ratio)):
        assert tokenizer.count(text) <= tokenizer.count(text + more) + (
            more[:1] >= "\udc00" and text[-1:] >= "\ud800"
        )
    assert TiktokenTokenizer().count(text) <= ApproximateTokenizer(bytes_per_token=1).count(text)


# --- the cache ----------------------------------------------------------------------------------


def test_what_was_counted_is_not_counted_again():
    watched = Watched(TiktokenTokenizer())
    tokenizer = CachedTokenizer(watched)

    assert tokenizer.count("Hello World") == tokenizer.count("Hello" + " World") == 2
    assert watched.calls == 1


def test_a_cached_tokenizer_is_what_it_wraps():
    tokenizer = cached(TiktokenTokenizer("o200k_base"))

    assert (tokenizer.name, tokenizer.exact, tokenizer.joints) == ("o200k_base", True, "strong")
    assert list(tokenizer.encode("Hello World")) == list(TiktokenTokenizer().encode("Hello World"))
    assert repr(tokenizer).startswith("CachedTokenizer(TiktokenTokenizer(")
    assert pickle.loads(pickle.dumps(tokenizer)).count("Hello World") == 2


def test_caching_is_shared_for_bundled_encodings_and_done_once():
    tokenizer = cached(TiktokenTokenizer("cl100k_base"))

    assert cached(TiktokenTokenizer("cl100k_base")) is tokenizer
    assert cached(tokenizer) is tokenizer
    assert cached(TiktokenTokenizer("o200k_base")) is not tokenizer
    assert cached(BundledTokenizer("cl100k_base")) is cached(BundledTokenizer("cl100k_base"))
    assert cached(BundledTokenizer("cl100k_base")) is not tokenizer  # who asks for tiktoken gets it
    assert cached(as_tokenizer(words)) is not cached(as_tokenizer(words))
    own = as_tokenizer(TiktokenTokenizer("cl100k_base")._encoding())
    assert cached(own) is not cached(own)


def test_a_known_count_can_be_put_in():
    watched = Watched(as_tokenizer(words))
    tokenizer = CachedTokenizer(watched)
    tokenizer.put("a b", 2)
    tokenizer.put("x " * MAX_CACHED_CHARACTERS, MAX_CACHED_CHARACTERS)

    assert tokenizer.count("a b") == 2
    assert watched.calls == 0
    with pytest.raises(DefinitionError):
        tokenizer.put("a", -1)


def test_long_texts_are_not_kept():
    watched = Watched(as_tokenizer(len))
    tokenizer = CachedTokenizer(watched)
    text = "a" * (MAX_CACHED_CHARACTERS + 1)

    assert tokenizer.count(text) == tokenizer.count(text) == len(text)
    assert watched.calls == 2


def test_a_cache_stays_within_its_bound_and_keeps_what_is_used():
    watched = Watched(as_tokenizer(len))
    tokenizer = CachedTokenizer(watched, max_bytes=40_000)
    for number in range(5_000):
        tokenizer.count(f"text {number}")
        tokenizer.count("always")
        assert tokenizer.statistics().bytes <= 40_000

    assert watched.calls == 5_001


def test_a_cache_says_what_it_holds_and_what_it_did():
    tokenizer = CachedTokenizer(as_tokenizer(len), max_bytes=4_000)
    empty = tokenizer.statistics()
    for number in range(100):
        tokenizer.count(f"text {number:03}")
    after = tokenizer.statistics()
    each = getsizeof("text 000") + ENTRY_BYTES

    assert empty == CacheStatistics(entries=0, bytes=0, max_bytes=4_000, misses=0, forgotten=0)
    assert (after.misses, after.entries + after.forgotten) == (100, 100)
    assert after.bytes == after.entries * each
    assert 3_000 < after.bytes + each <= 4_000 + each


def test_texts_that_fit_three_quarters_of_a_cache_are_counted_once():
    """In any order again and again: a cache that is a little too small does not thrash."""
    watched = Watched(as_tokenizer(len))
    many = [f"text {number:04}" for number in range(1_000)]
    needed = sum(getsizeof(text) + ENTRY_BYTES for text in many)
    tokenizer = CachedTokenizer(watched, max_bytes=needed * 4 // 3 + 4_000)
    for _ in range(7):
        for text in many:
            tokenizer.count(text)

    assert watched.calls == 1_000


def test_texts_that_pass_by_do_not_push_out_what_is_used_now_and_then():
    watched = Watched(as_tokenizer(len))
    tokenizer = CachedTokenizer(watched, max_bytes=100_000)
    for number in range(3_000):
        tokenizer.count(f"passing {number}")
        if number % 200 == 0:  # after 40,000 bytes of others
            tokenizer.count("now and then")

    assert watched.calls == 3_001


def test_a_cache_really_takes_no_more_than_it_says():
    """Dictionaries, texts and numbers, as Python itself adds them up."""
    tracemalloc.start()
    try:
        tokenizer = CachedTokenizer(as_tokenizer(lambda text: 1_000 + len(text)), max_bytes=1 << 20)
        before = tracemalloc.get_traced_memory()[0]
        for number in range(20_000):
            tokenizer.count(f"{number:05} " + "x" * 60)
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()

    assert held <= tokenizer.statistics().bytes <= 1 << 20


def test_a_cache_can_forget():
    watched = Watched(as_tokenizer(len))
    tokenizer = CachedTokenizer(watched)
    tokenizer.count("secret")
    tokenizer.forget()

    assert tokenizer.statistics().entries == 0
    assert tokenizer.count("secret") == 6
    assert watched.calls == 2


def test_a_text_that_is_larger_than_the_cache_is_counted_and_pushes_nothing_out():
    watched = Watched(as_tokenizer(len))
    tokenizer = CachedTokenizer(watched, max_bytes=1_000)
    tokenizer.count("abc")
    large = "x" * 200

    assert tokenizer.count(large) == tokenizer.count(large) == 200
    assert tokenizer.count("abc") == 3
    assert watched.calls == 3
    with pytest.raises(DefinitionError, match="at least 1 byte"):
        CachedTokenizer(as_tokenizer(len), max_bytes=0)


def test_threads_share_a_cache():
    """Many at once, while generations come and go: no count is wrong and no byte is lost."""
    tokenizer = CachedTokenizer(as_tokenizer(len), max_bytes=10_000)
    together = Barrier(16)

    def count(start):
        together.wait()
        for number in range(start, start + 3_000):
            text = "x" * (number % 97)
            assert tokenizer.count(text) == number % 97
            if number % 50 == 0:
                assert tokenizer.statistics().bytes <= 10_000
            if number % 1_000 == 0:
                tokenizer.forget()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(count, range(16)))
    sizes = [getsizeof(t) + ENTRY_BYTES for g in (tokenizer._young, *tokenizer._older) for t in g]

    assert tokenizer.statistics().bytes == sum(sizes)
    assert tokenizer.statistics().entries == len(sizes)


def test_two_threads_that_miss_the_same_text_keep_it_once():
    def twice(text):
        tokenizer.put(text, 3)
        return 3

    tokenizer = CachedTokenizer(CallableTokenizer("twice", twice))
    tokenizer.count("abc")

    assert tokenizer.statistics().entries == 1


@given(st.lists(texts, max_size=30))
def test_a_cache_changes_no_count(many):
    """Cached counts are the counts of the tokenizer, however little is kept."""
    plain = TiktokenTokenizer()
    tokenizer = CachedTokenizer(plain, max_bytes=1_000)

    assert [tokenizer.count(text) for text in many] == [plain.count(text) for text in many]
