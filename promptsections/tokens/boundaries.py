"""Places in a text where token counts add exactly, whatever stands on either side.

A position p of a text, with x the character before and y the character after it, is *strong* if
one of these holds (blank: Unicode White_Space other than CR and LF):

* P1: x is no white space; y is blank.
* P2: x is a letter or number; y is CR or LF.
* P3: x is CR or LF; y is neither white space nor "/".
* P4: x is CR or LF; a run of up to 200 blanks and then something that is no white space follow.
* P5: x is a letter or number; y is punctuation or a symbol, but not "'".

There, `count(text) == count(text[:p]) + count(text[p:])` for cl100k_base, o200k_base and
o200k_harmony. Proof, by the alternatives of their splitting rules, which look ahead for white
space only and never behind, so that it is enough that some piece always ends at p, and ends
there too when nothing follows:

* P1: a blank stands only first in a piece or in a piece of white space; x is no white space, so
  the piece of x ends at p.
* P2: a piece that holds a letter or number consists of one optional first character, letters,
  numbers and marks, and a contraction; none of it is CR or LF.
* P3: y cannot continue the piece of x: after a line break only white space, or in o200k a "/", can.
  The first character of a word piece is not a line break.
* P4: white space that holds line breaks is taken up to the last of them; the blanks after it begin
  a new piece because something else follows. Without it (`\\s++$`) the same characters are taken.
* P5: after a letter only letters, marks and a contraction, which begins with "'", can follow in a
  piece; after a number only numbers.

Whether a character is a letter, number, punctuation or symbol is decided by Python's Unicode
tables. They agree with tiktoken's on all characters both know; what Python does not know is not
strong. It knows no tokenizer.
"""

from __future__ import annotations

import re
from unicodedata import category

BLANKS = "[\\t\\x0b\\x0c \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"
"""A regular expression for one blank: the 25 characters of White_Space without CR and LF."""
_BLANK_OR_BREAK = BLANKS[1:-1] + "\\r\\n"

_WORD = r"(?<=[^\W_])"  # a letter or number before; exactly str.isalnum()
_CANDIDATE = re.compile(
    f"(?<=[^{_BLANK_OR_BREAK}]){BLANKS}"  # P1
    f"|{_WORD}[\\r\\n]"  # P2
    f"|(?<=[\\r\\n])[^{_BLANK_OR_BREAK}/]"  # P3
    f"|(?<=[\\r\\n]){BLANKS}(?={BLANKS}{{0,199}}+[^{_BLANK_OR_BREAK}])"  # P4
    f"|{_WORD}(?P<mark>[^\\w{_BLANK_OR_BREAK}']|_)"  # P5, to be confirmed
)
LOOK = 202
"""Characters around a position that decide whether it is strong."""
_SKIPPED = 1_024
"""Spaces and tabs that are skipped at once."""
_FIRST_WINDOW = 32
"""Characters that a backward search reads first; doubled until something is found."""


def is_strong(text: str, position: int) -> bool:
    """Say whether `position`, between 1 and `len(text) - 1`, is strong in `text`."""
    return position > 0 and _confirmed(_CANDIDATE.match(text, position))


def strong_joint(left: str, right: str) -> bool:
    """Say whether the joint of `left + right` is strong. Beside nothing it always is."""
    if not left or not right:
        return True
    x, y = left[-1], right[0]
    if y in "\r\n":  # only P2 speaks of it
        return x.isalnum()
    if x not in "\r\n":
        return _confirmed(_CANDIDATE.match(x + y, 1))
    # P3 of most, without a search
    return y.isalnum() or _confirmed(_CANDIDATE.match(x + right[:LOOK], 1))


def first_strong(text: str, start: int = 0, end: int | None = None) -> int | None:
    """Find the first strong position of `text` above `start` and below `end`."""
    stop = len(text) if end is None else end
    start = past_blanks(text, start, stop)
    for found in _CANDIDATE.finditer(text, start + 1, stop + LOOK):
        if found.start() >= stop:
            break
        if _confirmed(found):
            return found.start()
    return None


def past_blanks(text: str, start: int, end: int) -> int:
    """Skip spaces and tabs above `start`, as far as nothing can begin or end among them.

    Patterns try each of them, which takes long where there are millions.
    """
    while start + _SKIPPED < end and not text[start : start + _SKIPPED + 1].strip(" \t"):
        start += _SKIPPED
    return start


def last_strong(text: str, end: int | None = None, start: int = 0) -> int | None:
    """Find the last strong position of `text` above `start` and below `end`."""
    stop = len(text) if end is None else end
    window, high = _FIRST_WINDOW, stop
    while high > start + 1:
        low = max(start + 1, high - window)
        candidates: list[re.Match[str]] = []
        for candidate in _CANDIDATE.finditer(text, low, high + LOOK):
            if candidate.start() >= high:
                break
            candidates.append(candidate)
        for candidate in reversed(candidates):
            if _confirmed(candidate):
                return candidate.start()
        high, window = low, window * 2
    return None


def _confirmed(found: re.Match[str] | None) -> bool:
    """Confirm a candidate; of P5 only what Unicode calls punctuation or symbol is one."""
    if found is None:
        return False
    mark = found["mark"]
    return mark is None or category(mark)[0] in "PS"
