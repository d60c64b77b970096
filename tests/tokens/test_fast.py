"""The fast backend: tiktoken's counts, or tiktoken itself; and never silently."""

from __future__ import annotations

import logging
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
import toktok
from hypothesis import given
from hypothesis import strategies as st
from token_samples import ENCODINGS, any_texts, hard_texts

from promptsections.tokens import (
    BundledTokenizer,
    FastBackendWarning,
    TiktokenTokenizer,
    bundled,
    fast,
    tiktoken_encoding,
)
from promptsections.tokens.golden import GOLDEN, first_difference

SYSTEM = toktok._encoding("o200k_base")


@pytest.fixture
def afresh(monkeypatch):
    """A process in which nothing was chosen yet."""
    monkeypatch.setattr(bundled, "_chosen", {})
    monkeypatch.setattr(fast, "_refused", [])
    return monkeypatch


def pretend(monkeypatch, **changes):
    """Put another toktok in the place of the real one."""
    given = {"__version__": toktok.__version__, "_encoding": toktok._encoding, **changes}
    monkeypatch.setitem(sys.modules, "toktok", SimpleNamespace(__spec__=toktok.__spec__, **given))


def native(count=None, encode=None):
    """A toktok whose encodings answer otherwise."""
    return lambda name: SimpleNamespace(
        count=count or toktok._encoding(name).count,
        encode_ordinary=encode or toktok._encoding(name).encode_ordinary,
    )


# --- what it is compared with -------------------------------------------------------------------


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_golden_texts_are_counted_as_tiktoken_counts_them(name):
    tokenizer = TiktokenTokenizer(name)

    assert first_difference(name, tokenizer.count, tokenizer.encode) is None


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_golden_texts_tell_the_two_vocabularies_apart(name):
    (other,) = {*ENCODINGS} - {name}
    tokenizer = TiktokenTokenizer(other)

    assert first_difference(name, tokenizer.count, tokenizer.encode) is not None
    assert sum(o200k != cl100k for _, o200k, cl100k in GOLDEN) > 20


@pytest.mark.parametrize("name", ENCODINGS)
def test_its_vocabulary_is_ours(name):
    size, _ = tiktoken_encoding._BUNDLED[name]
    ranks = tiktoken_encoding.read_ranks(name, size)

    assert toktok._encoding(name).token_byte_values() == list(ranks)


CONTEXTS = ("{0}", "a{0}'s", "1{0}A", "'{0}\n")


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("context", CONTEXTS)
def test_every_character_is_counted_as_tiktoken_counts_it(name, context):
    """Many in one text; without those that are left to tiktoken, which would get all of it.

    Beyond are planes in which Unicode has put no letters.
    """
    tiktoken, other = TiktokenTokenizer(name), BundledTokenizer(name)
    for start in range(0, 0x34000, 0x1000):
        characters = filter(
            lambda c: not fast._doubtful().match(c), map(chr, range(start, start + 0x1000))
        )
        text = " \n\n".join(map(context.format, characters))
        assert other.count(text) == tiktoken.count(text), hex(start)


@given(st.one_of(hard_texts, any_texts), st.sampled_from(ENCODINGS))
def test_it_makes_the_tokens_that_tiktoken_makes(text, name):
    """Both backends give the same tokens of any text, and count them alike."""
    tiktoken, other = TiktokenTokenizer(name), BundledTokenizer(name)

    assert other.backend == "toktok"
    assert list(other.encode(text)) == list(tiktoken.encode(text))
    assert other.count(text) == tiktoken.count(text)


runs = st.builds(lambda piece, times: piece * times, hard_texts, st.integers(0, 400))


@given(st.lists(runs, max_size=4).map("".join), st.sampled_from(ENCODINGS))
def test_long_runs_are_counted_as_tiktoken_counts_them(text, name):
    """Repeated pieces, where merges reach far."""
    assert BundledTokenizer(name).count(text) == TiktokenTokenizer(name).count(text)


@given(
    st.lists(st.sampled_from([*"'sſStxX ", "\u088f", "\U0001e6c0", "\u1acf", "\ud800"])).map(
        "".join
    )
)
def test_characters_on_which_the_two_differ_are_left_to_tiktoken(text):
    """Long s after an apostrophe, letters that are new in Unicode, and lone surrogates."""
    for name in ENCODINGS:
        assert list(BundledTokenizer(name).encode(text)) == list(
            TiktokenTokenizer(name).encode(text)
        )
        assert BundledTokenizer(name).count(text) == TiktokenTokenizer(name).count(text)


def test_the_two_do_differ_on_them():
    """Else tiktoken would be asked for nothing."""
    tiktoken = TiktokenTokenizer("o200k_base")

    assert SYSTEM.encode_ordinary("a'ſ'st") != list(tiktoken.encode("a'ſ'st"))
    with pytest.raises(UnicodeEncodeError):
        SYSTEM.count("\ud800")


# --- which one counts ---------------------------------------------------------------------------


def test_it_counts_where_it_is_installed_and_sound(afresh):
    tokenizer = BundledTokenizer("cl100k_base")

    assert not tokenizer.loaded
    assert tokenizer.count("Hello World") == 2
    assert tokenizer.loaded
    assert tokenizer.backend == "toktok"


def test_tiktoken_is_not_loaded_beside_it(afresh):
    afresh.setattr(tiktoken_encoding, "_loaded", {})
    BundledTokenizer().count("Grüße \ud83d\ude00 中文")

    assert tiktoken_encoding._loaded == {}
    BundledTokenizer().count("'ſ")
    assert list(tiktoken_encoding._loaded) == ["o200k_base"]


def test_without_the_extra_tiktoken_counts_and_nothing_is_said(afresh, caplog):
    afresh.setattr(fast, "find_spec", lambda name: None if name == "toktok" else find_spec(name))
    tokenizer = BundledTokenizer("cl100k_base")

    assert (tokenizer.count("Hello World"), tokenizer.backend) == (2, "tiktoken")
    assert list(tokenizer.encode("Hello World")) == [9906, 4435]
    assert tokenizer.loaded
    assert caplog.records == []


def failing(*_):
    raise RuntimeError("no table")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"__version__": "0.3.1"},
            r"toktok-rs 0\.3\.1 was not compared with tiktoken, only 0\.3\.0",
        ),
        ({"_encoding": failing}, "toktok-rs failed with RuntimeError: no table"),
        ({"_encoding": None}, "toktok-rs failed with TypeError"),
        ({"_encoding": native(count=failing)}, "toktok-rs failed with RuntimeError"),
        ({"_encoding": native(count=lambda text: 2)}, "is not tiktoken: '' has 0 tokens"),
        (
            {"_encoding": native(encode=lambda text: [0] * SYSTEM.count(text))},
            "is not tiktoken: it makes other tokens in o200k_base",
        ),
        (
            {"_encoding": lambda name: toktok._encoding("cl100k_base")},
            r"is not tiktoken: '.*' has \d+ tokens in o200k_base, not \d+",
        ),
    ],
)
def test_one_that_is_not_sound_is_not_used_and_that_is_said_once(afresh, caplog, changes, reason):
    pretend(afresh, **changes)
    tokenizer = BundledTokenizer("o200k_base")

    with pytest.warns(FastBackendWarning, match=reason) as said:
        counts = [t.count("Hello World") for t in (tokenizer, BundledTokenizer("cl100k_base"))]
    assert counts == [2, 2]
    assert tokenizer.backend == BundledTokenizer("cl100k_base").backend == "tiktoken"
    assert len(said) == 1
    assert [(r.name, r.levelno) for r in caplog.records] == [("promptsections", logging.WARNING)]
    assert "tiktoken counts instead" in caplog.text


def test_one_that_cannot_be_imported_is_not_used(afresh):
    afresh.setattr(fast, "import_module", failing)

    with pytest.warns(FastBackendWarning, match="failed with RuntimeError: no table"):
        assert BundledTokenizer("o200k_base").backend == "tiktoken"


def test_where_warnings_are_errors_the_next_count_is_right(afresh):
    pretend(afresh, __version__="9")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FastBackendWarning):
            BundledTokenizer().count("Hello World")
        assert BundledTokenizer().count("Hello World") == 2


def test_many_threads_are_told_once(afresh):
    pretend(afresh, __version__="9")
    with pytest.warns(FastBackendWarning) as said, ThreadPoolExecutor(8) as pool:
        counts = set(pool.map(lambda _: BundledTokenizer().count("Hello World"), range(32)))

    assert counts == {2}
    assert len(said) == 1
