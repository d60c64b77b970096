"""Where a text may be cut: after or before whole graphemes, words, lines or sentences.

* A word ends before white space, and begins after it; it may also end before the punctuation at
  its end ("Hello World" of "Hello World!"). Chinese and Japanese characters, which are written
  without blanks, count as words of their own.
* A line ends before its line break, and begins after it; blank lines belong to no line.
* A sentence ends after `.`, `!`, `?` or `…`, with closing quotes and brackets, if white space
  follows; after `。`, `！` or `？` in any case; and before a blank line. It knows no abbreviations.

No cut parts a grapheme (see `graphemes`). It knows no tokens.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Literal

from attrs import frozen

from promptsections.tokens.boundaries import past_blanks
from promptsections.tokens.graphemes import is_grapheme_boundary

Boundary = Literal["grapheme", "word", "line", "sentence"]

_SENTENCE_LOOK = 72
"""Characters around a cut that the patterns for sentences may look at."""
_LONGEST_SPACE = 4_096
"""Characters of white space that are looked through for the end of a sentence."""
_FIRST_WINDOW = 48
"""Characters that a backward search reads first; doubled until something is found."""

_CLOSERS = "[\"'”’»)\\]」』）】]{0,8}+"
_CJK = (
    "[\u3001-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60"
    "\U00020000-\U0003ffff]"
)
_PUNCTUATION = "[.,;:!?…\"'”’»)\\]}]"
_BARE_END = rf"(?={_PUNCTUATION}{{1,8}}+(?:\s|\Z))"
_IDEOGRAPHIC_END = f"[。！？](?![。！？]){_CLOSERS}"
_BLANK_LINE = r"[ \t]{0,30}\r?\n[ \t]{0,30}\r?\n"


_compiled = functools.cache(re.compile)
"""Compiles a pattern of this module when it is first used: that of words takes milliseconds."""


@frozen
class Cuts:
    """The places where a text may be cut in one way; a pattern's matches end at them."""

    pattern: str
    allowed: Callable[[str, int], bool]
    """Confirms a place that the pattern has found."""
    look: int = 1
    """Characters around a cut that the pattern may look at."""

    def first(self, text: str, above: int, at_most: int) -> int | None:
        """Find the first cut that is larger than `above` and at most `at_most`."""
        return next(self._between(text, above, min(at_most, len(text) - 1)), None)

    def last(self, text: str, above: int, at_most: int) -> int | None:
        """Find the last cut that is larger than `above` and at most `at_most`."""
        high, window = min(at_most, len(text) - 1), _FIRST_WINDOW
        while high > above:
            low = max(above, high - window)
            found = list(self._between(text, low, high))
            if found:
                return found[-1]
            high, window = low, window * 2
        return None

    def _between(self, text: str, above: int, at_most: int) -> Iterator[int]:
        above = past_blanks(text, max(0, above), at_most)
        start, stop = max(0, above - self.look), at_most + self.look
        for found in _compiled(self.pattern).finditer(text, start, stop):
            end = found.end()
            if end > at_most:
                return
            if end > above and self.allowed(text, end):
                yield end


def _begins_sentence(text: str, position: int) -> bool:
    """Confirm that a sentence ends before the white space that stands before `position`.

    White space of more than 4,096 characters is as good as a blank line.
    """
    if not is_grapheme_boundary(text, position):
        return False
    start = max(0, position - _LONGEST_SPACE)
    end = start + len(text[start:position].rstrip())
    return (
        (end == start > 0)
        or _compiled(_BLANK_LINE).match(text, end, position) is not None
        or _compiled(_ENDED).search(text, max(0, end - _SENTENCE_LOOK), end) is not None
    )


_ENDED = f"[.!?…。！？]{_CLOSERS}\\Z"


def _ends_word(text: str, position: int) -> bool:
    """Confirm the end of a word with all of the text: a window of it has an end of its own."""
    return (
        is_grapheme_boundary(text, position)
        and _compiled(_WORD_ENDED).match(text, position) is not None
    )


_WORD_ENDED = rf"(?=\s|{_CJK})|(?<={_CJK})|{_BARE_END}"


@frozen
class _Graphemes:
    """The places between graphemes; nearly every place is one, so no pattern looks for them."""

    def first(self, text: str, above: int, at_most: int) -> int | None:
        places = range(max(above, 0) + 1, min(at_most, len(text) - 1) + 1)
        return next((place for place in places if is_grapheme_boundary(text, place)), None)

    def last(self, text: str, above: int, at_most: int) -> int | None:
        places = range(min(at_most, len(text) - 1), max(above, 0), -1)
        return next((place for place in places if is_grapheme_boundary(text, place)), None)


_ANY = _Graphemes()

ENDS: dict[Boundary, Cuts | _Graphemes] = {
    "grapheme": _ANY,
    "word": Cuts(rf"\S(?=\s|{_CJK})|{_CJK}|(?!{_PUNCTUATION})\S{_BARE_END}", _ends_word),
    "line": Cuts(r"[^\r\n](?=[\r\n])", is_grapheme_boundary),
    "sentence": Cuts(
        rf"[.!?…](?![.!?…]){_CLOSERS}(?=\s)|{_IDEOGRAPHIC_END}|\S(?={_BLANK_LINE})",
        is_grapheme_boundary,
        _SENTENCE_LOOK,
    ),
}
"""Where the start of a text may end."""

STARTS: dict[Boundary, Cuts | _Graphemes] = {
    "grapheme": _ANY,
    "word": Cuts(rf"\s(?=\S)|\S(?={_CJK})|{_CJK}(?=\S)", is_grapheme_boundary),
    "line": Cuts(r"[\r\n](?=[^\r\n])", is_grapheme_boundary),
    "sentence": Cuts(rf"\s(?=\S)|{_IDEOGRAPHIC_END}(?=\S)", _begins_sentence, _SENTENCE_LOOK),
}
"""Where the end of a text may begin."""
