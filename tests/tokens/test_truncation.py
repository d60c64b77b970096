"""Cutting text to a number of tokens: never over, never less for more, and not read whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from token_samples import Watched, texts, tokenizers, words

from promptsections.errors import DefinitionError
from promptsections.tokens import (
    BundledTokenizer,
    CallableTokenizer,
    TiktokenTokenizer,
    Truncate,
    as_tokenizer,
    count_up_to,
    cut,
    smallest_cut,
    truncate,
)
from promptsections.tokens.graphemes import is_grapheme_boundary
from promptsections.tokens.units import ENDS, STARTS

CASES = Path(__file__).parent / "cases" / "truncation.jsonl"
NAMED = {"words": as_tokenizer(words), "characters": as_tokenizer(len)}
PROSE = "The quick brown fox jumps over it. It's (fine), 1,234 times!\n\n数据很大。 return x\n"

boundaries = st.sampled_from(["grapheme", "word", "line", "sentence"])
markers = st.sampled_from(["", "…", " [cut]", "\n[… cut …]\n"])
sides = st.sampled_from(["start", "end"])
keeps = st.sampled_from(["start", "end", "middle"])
limits = st.integers(0, 40)


def ways(keep=keeps):
    return st.builds(Truncate, keep, boundaries, markers)


@pytest.mark.parametrize(
    "case", [*map(json.loads, CASES.read_text("utf-8").splitlines())], ids=lambda case: case["id"]
)
def test_cases(case):
    options = {key: case[key] for key in ("keep", "boundary", "marker") if key in case}
    tokenizer = NAMED.get(case["encoding"]) or TiktokenTokenizer(case["encoding"])

    assert (
        truncate(case["text"], case["tokens"], tokenizer=tokenizer, **options) == case["expected"]
    )


@given(texts, limits, tokenizers, ways())
def test_a_cut_text_is_never_over(text, tokens, tokenizer, how):
    """The result counts at most `tokens`, marker included; with no room it is empty."""
    result = cut(text, tokens, tokenizer, how)

    assert tokenizer.count(result) <= max(tokens, tokenizer.count(""))
    assert tokens or result == ""


@given(texts, tokenizers, ways())
def test_a_text_that_fits_comes_back_as_the_same_object(text, tokenizer, how):
    """With room for all of it, nothing is done."""
    tokens = max(1, tokenizer.count(text))

    assert cut(text, tokens, tokenizer, how) is text or text == ""


@given(texts, limits, tokenizers, ways())
def test_nothing_is_broken_that_was_whole(text, tokens, tokenizer, how):
    """No U+FFFD appears, when sent, that the text did not have."""
    sent = cut(text, tokens, tokenizer, how).encode("utf-16", "surrogatepass")
    whole = text.encode("utf-16", "surrogatepass")

    assert sent.decode("utf-16", "replace").count("\ufffd") <= whole.decode(
        "utf-16", "replace"
    ).count("\ufffd")


def kept_lengths(text: str, result: str, how: Truncate) -> set[int]:
    """How much of the text the result can have kept; two answers if the marker is in the text."""
    size = len(how.marker)
    if how.keep == "start":
        plain, marked = result, result.removesuffix(how.marker)
        found = {len(part) for part in (plain, marked) if text.startswith(part)}
    else:
        plain, marked = result, result[size:] if result.startswith(how.marker) else result
        found = {len(part) for part in (plain, marked) if text.endswith(part)}
    assert found
    return found


@given(texts, tokenizers, ways(sides))
def test_a_larger_limit_never_keeps_less(text, tokenizer, how):
    """What is kept is a prefix (suffix) of what a larger limit keeps, and parts no grapheme."""
    before = 0
    for tokens in range(tokenizer.count(text) + 2):
        kept = kept_lengths(text, cut(text, tokens, tokenizer, how), how)
        places = [length if how.keep == "start" else len(text) - length for length in kept]

        assert max(kept) >= before
        assert any(p in (0, len(text)) or is_grapheme_boundary(text, p) for p in places)
        before = min(kept)


@given(texts, limits, tokenizers, st.builds(Truncate, sides, boundaries))
def test_one_unit_more_would_not_fit(text, tokens, tokenizer, how):
    """The cut after the one that was made, at the same kind of place, exceeds the limit."""
    result = cut(text, tokens, tokenizer, how)
    cuts = (ENDS if how.keep == "start" else STARTS)[how.boundary]
    if how.keep == "start":
        following = cuts.first(text, len(result), len(text))
        longer = text[:following]
    else:
        following = cuts.last(text, 0, len(text) - len(result) - 1)
        longer = text[following or 0 :]

    assert tokens == 0 or result == text or tokenizer.count(longer) > tokens


@given(texts, limits, tokenizers, boundaries, markers)
def test_keeping_the_middle_out_keeps_both_ends(text, tokens, tokenizer, boundary, marker):
    """The result is a start, the marker or what parts words, and an end of the text."""
    how = Truncate("middle", boundary, marker)
    result = cut(text, tokens, tokenizer, how)

    assert result == text or any(
        text.startswith(result[:i]) and text.endswith(result[i:].removeprefix(gap))
        for gap in ("", " ", "\n", marker)
        for i in range(len(result) + 1)
        if result[i:].startswith(gap)
    )


# --- long texts ---------------------------------------------------------------------------------

LONG = {
    "prose": PROSE * 5_000,
    "accents on one letter": "e" + "\u0301" * 300_000,
    "accents": "e\u0301" * 150_000,
    "joined emoji": "👩\u200d" * 100_000,
    "flags": "🇩🇪" * 100_000,
    "Hangul without end": "ᄀ" * 300_000,
    "conjuncts": "क्" * 150_000,
    "lone surrogates": "\ud83d" * 200_000,
    "marks": "!" * 300_000,
    "spaces": " " * 300_000,
    "tabs and breaks": "\t\n" * 150_000,
    "slashes": "\n/" * 150_000,
    "words without end": "word " * 60_000,
    "one letter": "a" * 300_000,
    "Chinese": "中文" * 100_000,
    "blanks": " " * 300_000 + "x",
    "lines": "\n" * 200_000,
    "digits": "૨૦૧" * 50_000,
    "a long word at the end": "one two three " + "b" * 300_000,
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("keep", ["start", "end", "middle"])
@pytest.mark.parametrize("boundary", ["grapheme", "word", "line", "sentence"])
def test_a_long_text_is_not_read_whole(name, keep, boundary):
    """Law 12: what counts in pieces is read about twice; what is in one piece, some times more."""
    tokenizer = Watched(TiktokenTokenizer())
    text = LONG[name]

    result = truncate(text, 200, tokenizer=tokenizer, keep=keep, boundary=boundary, marker="…")

    times = 6 if (name, boundary) == ("prose", "word") else 80 if keep == "middle" else 48
    # 200 tokens of blanks are up to 25,600 characters: to know what fits, as many are read.
    most = 25_600 if name in ("blanks", "spaces") else max(len(result), 1_000)
    assert tokenizer.characters <= times * most
    assert tokenizer.calls <= 150
    assert 1 <= tokenizer.count(result) <= 200


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("keep", ["start", "end"])
@pytest.mark.parametrize("boundary", ["grapheme", "word", "sentence"])
def test_a_larger_limit_never_keeps_less_of_a_long_text(name, keep, boundary):
    tokenizer = BundledTokenizer()
    how = Truncate(keep, boundary)
    kept = [
        len(cut(LONG[name], tokens, tokenizer, how)) for tokens in (*range(1, 12), 30, 99, 100, 101)
    ]

    assert kept == sorted(kept)


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("keep", ["start", "end", "middle"])
def test_the_smallest_cut_of_a_long_text_is_small(name, keep):
    tokenizer = Watched(TiktokenTokenizer())

    smallest = smallest_cut(LONG[name], tokenizer, Truncate(keep))

    assert 1 <= tokenizer.count(smallest) <= 512  # two graphemes of 64 characters at most
    assert tokenizer.characters <= 300_000


@pytest.mark.parametrize("keep", ["start", "end"])
@pytest.mark.parametrize("function", [words, len, TiktokenTokenizer().count])
def test_without_a_promise_a_long_text_is_read_by_bisection(function, keep):
    """The whole of what is kept is counted at every step; what is not kept is not read."""
    tokenizer = Watched(CallableTokenizer("unpromised", function))

    result = truncate(PROSE * 20_000, 2_000, tokenizer=tokenizer, keep=keep, marker="…")

    assert tokenizer.characters <= 24 * len(result) + 60_000
    assert 1_990 <= tokenizer.count(result) <= 2_000


def test_a_long_text_is_cut_as_a_short_one_is():
    tokenizer = TiktokenTokenizer()
    short = PROSE * 30

    assert truncate(PROSE * 3_000, 250, tokenizer=tokenizer) == truncate(
        short, 250, tokenizer=tokenizer
    )
    assert truncate(PROSE * 3_000, 250, tokenizer=tokenizer, keep="end") == truncate(
        short, 250, tokenizer=tokenizer, keep="end"
    )


# --- count_up_to --------------------------------------------------------------------------------


@given(texts, st.integers(0, 30), tokenizers)
def test_counting_up_to_a_limit_is_exact_up_to_it(text, at_most, tokenizer):
    """`min(count, at_most + 1)`, for every tokenizer."""
    assert count_up_to(text, at_most, tokenizer) == min(tokenizer.count(text), at_most + 1)


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("strong", [True, False])
def test_counting_a_long_text_is_exact_up_to_the_limit_and_reads_little_beyond(name, strong):
    inner = TiktokenTokenizer()
    tokenizer = Watched(inner if strong else CallableTokenizer("unpromised", inner.count))
    text = LONG[name][:60_000]
    whole = inner.count(text)

    for at_most in (whole - 1, whole, whole + 1):
        assert count_up_to(text, at_most, tokenizer) == min(whole, at_most + 1)
    tokenizer.characters = 0
    assert count_up_to(LONG[name], 100, tokenizer) == 101
    assert tokenizer.characters <= 70_000


# --- the smallest useful cut --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "how", "expected"),
    [
        ("One two. Three four five.", Truncate(), "One two."),
        ("One two. Three four five.", Truncate(marker=" …"), "One two. …"),
        ("One two. Three four five.", Truncate("end"), "Three four five."),
        ("One two. Three four five.", Truncate("end", marker="… "), "… Three four five."),
        ("One two. Three four five.", Truncate("middle"), "One five."),
        ("One two three.", Truncate(), "One"),
        ("One two three.", Truncate("end"), "three."),
        ("One two three.", Truncate(marker=" and so on"), "One"),
        ("One.", Truncate(), "One."),
        ("Teams-AI", Truncate(), "Teams-AI"),
        ("One. Two.", Truncate(marker=" …"), "One. Two."),
        ("w " * 40, Truncate(), " ".join("w" * 16)),
        ("w " * 40, Truncate(marker=" …"), " ".join("w" * 15) + " …"),
        ("w " * 40 + "end. More.", Truncate("end", marker="… "), "… More."),
        ("", Truncate(), ""),
    ],
)
def test_smallest_useful_cuts_are_those_of_the_table(text, how, expected):
    assert smallest_cut(text, NAMED["words"], how) == expected


def test_a_smallest_cut_settles_where_its_own_size_gives_it_again():
    how, characters = Truncate("middle", marker="…"), NAMED["characters"]
    text = "xxxxxxxxxxx x xxx"

    assert cut(text, 16, characters, how) == "xxxxxxxx…x xxx"
    assert smallest_cut(text, characters, how) == "xxxxxx…x xxx"


def test_a_first_grapheme_of_more_than_16_tokens_is_the_smallest_cut():
    letter = "e" + "\u0301" * 20

    assert smallest_cut(letter + "f" * 50, NAMED["characters"], Truncate()).startswith(letter)


@given(texts, tokenizers, ways())
def test_a_smallest_cut_is_smaller_than_the_whole_or_the_whole(text, tokenizer, how):
    """It has content if the text has, and cutting to its size gives it again."""
    smallest = smallest_cut(text, tokenizer, how)
    tokens = tokenizer.count(smallest)

    assert bool(smallest) == bool(text)
    assert smallest == text or tokens < tokenizer.count(text)
    assert smallest == text or cut(text, max(1, tokens), tokenizer, how) == smallest


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": "left"}, "keep must be one of 'start', 'end', 'middle'"),
        ({"boundary": "letter"}, "boundary must be one of 'grapheme', 'word'"),
        ({"boundary": None}, "boundary must be one of"),
        ({"marker": None}, "marker must be a string"),
    ],
)
def test_options_that_do_not_exist_are_refused_at_once(options, message):
    with pytest.raises(DefinitionError, match=message):
        truncate("fits", 100, tokenizer=TiktokenTokenizer(), **options)
