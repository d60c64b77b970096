"""Where a text may be cut: graphemes, words, lines, sentences."""

from __future__ import annotations

from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from token_samples import hard_texts

from promptsections.tokens import boundaries, first_strong
from promptsections.tokens.graphemes import is_grapheme_boundary
from promptsections.tokens.units import ENDS, STARTS

_PARTS = (
    "a \r\n\u0301\u200d\u200c🙂👍🏽🇩🇪🇫가각각中ािक्षন্ำ"
    "\u0600\u0e33\ufe0f\u20e3©™➡❤\x00\u2028\u00ad\U000e0067👩"
)


@given(st.text(st.sampled_from(_PARTS), max_size=12))
def test_nothing_is_parted_that_unicode_keeps_together(text):
    """Every boundary is one of `\\X`; the other way round, `regex` may part what we keep."""
    unicode = {found.end() for found in regex.finditer(r"\X", text)}

    assert {p for p in range(1, len(text)) if is_grapheme_boundary(text, p)} <= unicode


@given(st.text(st.sampled_from("a é\u0301\r\n🙂👍🏽🇩🇪🇫각각中\ufe0f❤"), max_size=12))
def test_ordinary_text_is_parted_exactly_where_unicode_parts_it(text):
    """Without joiners and conjuncts the boundaries are those of `\\X`."""
    unicode = {found.end() for found in regex.finditer(r"\X", text)}

    assert {p for p in range(1, len(text)) if is_grapheme_boundary(text, p)} == unicode - {
        len(text)
    }


@pytest.mark.parametrize(
    "text",
    ["\r\n", "e\u0301", "👍🏽", "👩‍👩‍👧", "🇩🇪", "각", "ᄀ\uac00\u11a8", "क्षि", "\u0600a", "กำ",
     "❤\ufe0f\u200d🔥", "\U0001f3f4\U000e0067\U000e007f", "\ud83d\ude00", "1\ufe0f\u20e3"],
)  # fmt: skip
def test_what_people_see_as_one_is_not_parted(text):
    assert not [p for p in range(1, len(text)) if is_grapheme_boundary(text, p)]


@pytest.mark.parametrize("text", ["🇩🇪🇫🇷", "a\u200d🙂", "e\u0301e", "\u0301\n\u0301", "각각"])
def test_two_graphemes_are_parted_once(text):
    count = len(regex.findall(r"\X", text))

    assert sum(is_grapheme_boundary(text, p) for p in range(1, len(text))) == count - 1


@pytest.mark.parametrize(
    "text",
    ["e" + "\u0301" * 500, "ᄀ" * 500, "👩\u200d" * 300, "क्" * 300, "\u0600" * 500],
)
def test_no_grapheme_has_more_than_64_characters(text):
    """So that a text of nothing else can be cut; what is in use is shorter by far."""
    cuts = [p for p in range(1, len(text)) if is_grapheme_boundary(text, p)]

    assert cuts[0] == 64
    assert max(b - a for a, b in pairwise([0, *cuts, len(text)])) <= 64


def test_flags_are_whole_in_a_run_that_is_too_long_to_count():
    text = "🇩🇪" * 4_000

    assert [p for p in range(7_000, 7_009) if is_grapheme_boundary(text, p)] == [
        7_000, 7_002, 7_004, 7_006, 7_008,
    ]  # fmt: skip


def test_white_space_without_end_parts_sentences():
    assert STARTS["sentence"].last("One" + " " * 5_000 + "two.", 0, 5_010) == 5_003
    assert STARTS["sentence"].last("One" + " " * 4_000 + "two.", 0, 5_010) is None


@given(st.text(st.sampled_from(_PARTS), max_size=12), st.integers(-1, 13), st.integers(-1, 13))
def test_graphemes_are_searched_from_both_sides(text, above, at_most):
    """The first and the last boundary between two places are those of trying every place."""
    between = [
        p for p in range(1, len(text)) if above < p <= at_most and is_grapheme_boundary(text, p)
    ]

    assert ENDS["grapheme"].first(text, above, at_most) == (between[0] if between else None)
    assert ENDS["grapheme"].last(text, above, at_most) == (between[-1] if between else None)


_BLANK_PARTS = ["  ", "    ", "\t", "\n", "a", ". ", "\u3000", "中", "\x1c"]
blank_texts = st.lists(st.sampled_from(_BLANK_PARTS), max_size=9).map("".join)


@given(blank_texts, st.integers(0, 20), st.integers(0, 30))
def test_skipped_blanks_hide_nothing(text, above, at_most):
    """Every search finds the same, whether spaces and tabs are skipped or tried one by one."""

    def found():
        cuts = [*ENDS.values(), *STARTS.values()]
        both = [(c.first(text, above, at_most), c.last(text, above, at_most)) for c in cuts]
        return first_strong(text, above, at_most), both

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boundaries, "_SKIPPED", 2)
        skipping = found()
    assert skipping == found()


def kept_starts(boundary, text):
    return [text[:p] for p in all_cuts(ENDS[boundary], text)]


def kept_ends(boundary, text):
    return [text[p:] for p in all_cuts(STARTS[boundary], text)]


def all_cuts(cuts, text):
    return [p for p in range(1, len(text)) if cuts.first(text, p - 1, p) == p]


@pytest.mark.parametrize(
    ("boundary", "text", "starts", "ends"),
    [
        ("grapheme", "ae\u0301 ", ["a", "ae\u0301"], ["e\u0301 ", " "]),
        ("word", "one  two three", ["one", "one  two"], ["two three", "three"]),
        ("word", " one ", [" one"], ["one "]),
        ("word", "Oh! 3.14 (is it).", ["Oh", "Oh!", "Oh! 3.14", "Oh! 3.14 (is", "Oh! 3.14 (is it"],
         ["3.14 (is it).", "(is it).", "it)."]),
        ("word", "-- Teams-AI...", ["--", "-- Teams-AI"], ["Teams-AI..."]),
        ("word", "say 数据。ok", ["say", "say 数", "say 数据", "say 数据。"],
         ["数据。ok", "据。ok", "。ok", "ok"]),
        ("word", "か\u3099き", ["か\u3099"], ["き"]),
        ("word", "a \u0301b c", ["a", "a \u0301b"], ["c"]),
        ("line", "one\ntwo\r\n\r\nthree\n", ["one", "one\ntwo", "one\ntwo\r\n\r\nthree"],
         ["two\r\n\r\nthree\n", "three\n"]),
        ("sentence", "Is it 3.14? Yes!! (No.) End", ["Is it 3.14?", "Is it 3.14? Yes!!",
         "Is it 3.14? Yes!! (No.)"], ["Yes!! (No.) End", "(No.) End", "End"]),
        ("sentence", "是。不是！」好", ["是。", "是。不是！」"], ["不是！」好", "好"]),
        ("sentence", "Title\n \nOne\ntwo\n\nthree", ["Title", "Title\n \nOne\ntwo"],
         ["One\ntwo\n\nthree", "three"]),
        ("sentence", "He said “Go…” \u0301 and went", ["He said “Go…”"], ["and went"][:0]),
        ("sentence", "wait.\n", ["wait."], []),
    ],
)  # fmt: skip
def test_units_end_and_begin_where_the_rules_say(boundary, text, starts, ends):
    assert kept_starts(boundary, text) == starts
    assert kept_ends(boundary, text) == ends


@given(
    hard_texts,
    st.sampled_from(["grapheme", "word", "line", "sentence"]),
    st.sampled_from([ENDS, STARTS]),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_searches_for_cuts_find_what_trying_every_place_finds(text, boundary, side, low, high):
    """The first and the last cut between two places, wherever the search begins to read."""
    cuts = side[boundary]
    between = [p for p in all_cuts(cuts, text) if low < p <= high]

    assert cuts.first(text, low, high) == (between[0] if between else None)
    assert cuts.last(text, low, high) == (between[-1] if between else None)


def test_a_search_from_the_end_reads_on_until_it_finds_something():
    assert ENDS["word"].last("a " + "b" * 1000, 0, 1000) == 1
    assert ENDS["word"].last("b" * 1000, 0, 1000) is None
