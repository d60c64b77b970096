"""Counting with the bundled encodings, by either backend: exact, offline, loaded once."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from token_samples import BACKENDS, ENCODINGS, texts

from promptsections.errors import DefinitionError, PromptSectionsError
from promptsections.tokens import (
    ScaledTokenizer,
    TiktokenTokenizer,
    cached,
    is_loaded,
    tiktoken_encoding,
)
from promptsections.tokens.runs import merged_run

both_backends = pytest.mark.parametrize("kind", BACKENDS)
BYTES = {bytes([value]): value for value in range(256)}


def own_encoding(name: str = "mine", pattern: str = r"\S+|\s+(?!\S)|\s+") -> tiktoken.Encoding:
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})


@both_backends
@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"o200k_base": 0, "cl100k_base": 0}),
        ("Hello World", {"o200k_base": 2, "cl100k_base": 2}),
        ("<|endoftext|>", {"o200k_base": 7, "cl100k_base": 7}),
        ("a<|endoftext|>b", {"o200k_base": 9, "cl100k_base": 9}),
        ("\ude00", {"o200k_base": 1, "cl100k_base": 1}),
        ("\ud83d\ude00", {"o200k_base": 1, "cl100k_base": 2}),
        ("\udbff x", {"o200k_base": 2, "cl100k_base": 2}),
        ("\x00", {"o200k_base": 1, "cl100k_base": 1}),
    ],
)
def test_text_is_counted_as_ordinary_text(kind, name, text, expected):
    assert kind(name).count(text) == expected[name]


@both_backends
@pytest.mark.parametrize("value", [None, 5, b"bytes", ["a"]])
def test_what_is_no_text_is_not_counted(kind, value):
    with pytest.raises(TypeError):
        kind().count(value)


@both_backends
@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
        ("Hello, World", [9906, 11, 4435]),
    ],
)
def test_text_is_encoded_as_the_published_examples_say(kind, text, ids):
    assert list(kind("cl100k_base").encode(text)) == ids


@both_backends
def test_a_tokenizer_says_what_it_is(kind):
    tokenizer = kind()

    assert (tokenizer.name, tokenizer.exact, tokenizer.joints) == ("o200k_base", True, "strong")


@both_backends
def test_a_tokenizer_is_equal_by_name_and_survives_pickling(kind):
    tokenizer = kind("cl100k_base")

    assert pickle.loads(pickle.dumps(tokenizer)) == tokenizer
    assert len(pickle.dumps(tokenizer)) < 500
    assert hash(tokenizer) == hash(kind("cl100k_base"))
    assert tokenizer != kind("o200k_base")


@both_backends
@pytest.mark.parametrize("name", ["o200k", "p50k_base", "", None, 5])
def test_an_unknown_encoding_is_refused_and_the_bundled_ones_are_named(kind, name):
    with pytest.raises(DefinitionError, match="'o200k_base' and 'cl100k_base'"):
        kind(name)


@both_backends
def test_a_name_that_is_nearly_right_is_suggested(kind):
    with pytest.raises(DefinitionError, match="Did you mean 'o200k_base'"):
        kind("o200k-base")


# --- long runs ----------------------------------------------------------------------------------


@both_backends
@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("blank", [" ", "\t", "\u3000", " \t", "\u3000 "])
@pytest.mark.parametrize("around", ["", "x_", "_x", "!_?", "a\n_b", "a\n_", "a_\nb", "_\n"])
def test_runs_of_blanks_are_counted_as_tiktoken_counts_them(kind, name, blank, around):
    encoding = TiktokenTokenizer(name)._encoding()
    before, _, after = around.partition("_")
    for times in (600, 1_023, 1_024, 1_025, 1_500, 4_001):
        text = (before + blank * times + after) * 3

        assert kind(name).count(text) == len(encoding.encode_ordinary(text))


@given(st.integers(1, 40_000), st.sampled_from(" \ta=-0"), st.sampled_from(ENCODINGS))
def test_a_run_of_one_byte_is_merged_as_tiktoken_merges_it(length, character, name):
    """Counted without being written down."""
    encoding = TiktokenTokenizer(name)._encoding()
    ranks = tiktoken_encoding._run_ranks(encoding, character)

    assert merged_run(length, ranks) == len(encoding._encode_single_piece(character * length))


@pytest.mark.parametrize("run", [" " * 1_500 + "\t" * 700, "\u3000" * 250_000, "\t " * 120_000])
def test_a_run_of_several_blanks_is_merged_by_tiktoken(run):
    encoding = TiktokenTokenizer()._encoding()
    text = f"a{run}b"

    assert TiktokenTokenizer().count(text) == len(encoding.encode_ordinary(text))


def merged_one_by_one(length, ranks):
    """Merge as it is defined: the leftmost pair of the lowest rank, until there is none."""
    sizes = [1] * length
    while pairs := [
        (ranks[a + b], at) for at, (a, b) in enumerate(pairwise(sizes)) if a + b in ranks
    ]:
        at = min(pairs)[1]
        sizes[at : at + 2] = [sizes[at] + sizes[at + 1]]
    return len(sizes)


@given(st.integers(1, 60), st.permutations(range(11)), st.sets(st.integers(2, 12)))
def test_merging_stretches_is_merging_pair_by_pair(length, ranks, sizes):
    """For any vocabulary and length: the same number of tokens, or no answer."""
    vocabulary = {size: ranks[size - 2] for size in sizes}

    assert merged_run(length, vocabulary) in (None, merged_one_by_one(length, vocabulary))


@given(st.integers(1, 60), st.sets(st.integers(2, 12)))
def test_a_vocabulary_in_which_longer_tokens_rank_later_is_always_merged_at_once(length, sizes):
    """As in the bundled ones."""
    vocabulary = {size: size for size in sizes}

    assert merged_run(length, vocabulary) == merged_one_by_one(length, vocabulary)


def test_a_run_that_cannot_be_merged_at_once_is_left_to_tiktoken(monkeypatch):
    """Where three are merged before two more pairs are: bytes 1 → 2 → 3 → 4 by rank 1, 0, 2."""
    assert merged_run(100, {1: 9, 2: 1, 3: 0}) is None
    assert merged_run(2, {1: 9, 2: 1, 3: 0}) == 1
    monkeypatch.setattr(tiktoken_encoding, "_run_ranks", lambda *_: {1: 9, 2: 1, 3: 0})

    assert TiktokenTokenizer().count(" " * 12_800) == 100


@both_backends
@pytest.mark.parametrize("name", ENCODINGS)
def test_a_million_blanks_do_not_panic(kind, name):
    blanks = " " * 1_280_000

    assert kind(name).count(blanks) == 10_000
    assert kind(name).count(f"a{blanks} b") == 10_002


@both_backends
def test_a_long_run_of_one_character_is_counted(kind):
    assert kind("cl100k_base").count("~" * 800_000) == 25_000


# --- encodings of one's own ---------------------------------------------------------------------


def test_an_encoding_of_ones_own_is_counted_with():
    tokenizer = TiktokenTokenizer(own_encoding())

    assert (tokenizer.name, tokenizer.joints) == ("mine", "none")
    assert tokenizer.count("abc d") == 5
    assert TiktokenTokenizer(own_encoding()) != tokenizer
    assert pickle.loads(pickle.dumps(tokenizer)).count("abc d") == 5


@pytest.mark.parametrize(
    "pattern", [tiktoken_encoding.O200K_PATTERN, tiktoken_encoding.CL100K_PATTERN]
)
def test_an_encoding_with_a_proven_splitting_rule_has_strong_joints(pattern):
    assert TiktokenTokenizer(own_encoding(pattern=pattern)).joints == "strong"


def test_a_huge_text_goes_to_an_unknown_encoding_as_it_is():
    assert TiktokenTokenizer(own_encoding(pattern=r"\S+|\s")).count("a " * 250_001) == 500_002


def test_a_panic_of_an_unknown_encoding_becomes_an_error_that_can_be_caught():
    with pytest.raises(PromptSectionsError, match="cannot split a text of 1300001 characters"):
        TiktokenTokenizer(own_encoding()).count(" " * 1_300_000 + "x")


def test_other_failures_of_an_unknown_encoding_stay_what_they_are():
    class Stopped:
        name = "stopped"

        def encode_ordinary(self, text):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TiktokenTokenizer(Stopped()).count("a" * 500_001)


# --- loading ------------------------------------------------------------------------------------


def test_many_threads_load_a_vocabulary_once(monkeypatch):
    monkeypatch.setattr(tiktoken_encoding, "_loaded", {})
    made = []
    real = tiktoken.Encoding
    monkeypatch.setattr(tiktoken, "Encoding", lambda *a, **k: made.append(a) or real(*a, **k))
    together = Barrier(8)

    def count(_):
        together.wait()
        return TiktokenTokenizer("cl100k_base").count("Hello World")

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(count, range(8))) == {2}
    assert len(made) == 1


def test_an_encoding_that_the_host_has_loaded_is_used(monkeypatch):
    host = own_encoding("o200k_base")
    monkeypatch.setattr(tiktoken_encoding, "_loaded", {})
    monkeypatch.setitem(tiktoken.registry.ENCODINGS, "o200k_base", host)

    assert TiktokenTokenizer("o200k_base").count("Hello World") == 11


def test_nothing_is_registered_with_tiktoken(monkeypatch):
    monkeypatch.setattr(tiktoken_encoding, "_loaded", {})
    before = dict(tiktoken.registry.ENCODINGS)

    TiktokenTokenizer("cl100k_base").count("")

    assert before == tiktoken.registry.ENCODINGS


def test_whether_a_vocabulary_is_loaded_can_be_asked(monkeypatch):
    monkeypatch.setattr(tiktoken_encoding, "_loaded", {})
    tokenizer = TiktokenTokenizer("cl100k_base")

    assert not is_loaded(tokenizer)
    tokenizer.count("")
    assert is_loaded(tokenizer)
    assert is_loaded(len)


def test_a_wrapped_tokenizer_is_loaded_as_what_it_wraps(monkeypatch):
    monkeypatch.setattr(tiktoken_encoding, "_loaded", {})
    inner = TiktokenTokenizer("cl100k_base")
    wrapped = cached(ScaledTokenizer(inner, 1.2))

    assert not is_loaded(wrapped)
    inner.count("")
    assert is_loaded(wrapped)


@both_backends
def test_neither_a_socket_nor_a_cache_is_needed(tmp_path, kind):
    code = """
import socket, sys
def refuse(*_, **__): raise AssertionError("a socket was opened")
socket.socket = socket.create_connection = refuse
import promptsections.tokens as tokens
assert not {"tiktoken", "toktok", "regex", "anyio", "requests"} & set(sys.modules), "imported early"
for name in ("o200k_base", "cl100k_base"):
    assert tokens.{kind}(name).count("Hello World") == 2
"""
    environment = {"TIKTOKEN_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code.replace("{kind}", kind.__name__)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []


@given(texts)
def test_a_count_is_the_length_of_the_encoded_text(text):
    """Counting and encoding agree, with either backend."""
    for kind in BACKENDS:
        for name in ENCODINGS:
            assert kind(name).count(text) == len(kind(name).encode(text))
