"""Where what people see as one character ends: extended grapheme clusters, after UAX #29.

The rules that matter for cutting: an accent, a variation selector, a skin tone, a vowel sign stays
with its letter; a joined emoji, a flag, a Hangul syllable, an Indic conjunct, CR LF and a split
surrogate pair stay whole. Where Python's Unicode tables lack a property (Extended_Pictographic,
InCB), ranges stand for it that hold some characters more, so that rather too much is kept together
than too little. A grapheme has at most 64 characters, so that a text of nothing but accents can be
cut, and is cut in time; the longest in use have about ten, and UAX #15 allows 30 marks on a letter
where text is streamed. It knows no tokens.
"""

from __future__ import annotations

from unicodedata import category

_JOINER = "\u200d"
_EXTENDING = frozenset("\u200c\u200d\uff9e\uff9f\u0e33\u0eb3")
_PREPENDED = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd"
    "\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011a84\U00011a85\U00011a86\U00011a87"
    "\U00011a88\U00011a89\U00011d46\U00011f02"
)
_VIRAMAS = frozenset("\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d")
_PICTURES = frozenset("©®‼⁉™ℹ〰〽㊗㊙")


_LONGEST = 64
"""Characters of a grapheme, at most."""
_FLAG_LOOK = 4_096
"""Halves of flags that are counted; in a longer run flags are parted by their places in it."""


def is_grapheme_boundary(text: str, position: int) -> bool:
    """Say whether `text` may be parted at `position`, between 1 and `len(text) - 1`."""
    if _is_parted(text, position):
        return True
    start = position - _LONGEST
    return start >= 0 and not any(
        place and _is_parted(text, place) for place in range(position - 1, start, -1)
    )


def _is_parted(text: str, position: int) -> bool:
    """Say whether the rules part the text there."""
    x, y = text[position - 1], text[position]
    if x < "\u0300" and y < "\u0300":
        return not (x == "\r" and y == "\n")
    if "\ud800" <= x <= "\udbff" and "\udc00" <= y <= "\udfff":
        return False
    if _is_control(x) or _is_control(y):
        return True
    if _extends(y) or x in _PREPENDED or _in_one_syllable(x, y):
        return False
    if x == _JOINER and _is_picture(y):
        return not _ends_in_picture(text, position - 1)
    if "\u0900" <= y <= "\u0d7f" and category(y) == "Lo":
        return not _ends_in_virama(text, position)
    if _is_flag_half(x) and _is_flag_half(y):
        return _flag_halves_before(text, position) % 2 == 0
    return True


def _is_control(character: str) -> bool:
    kind = category(character)
    if kind == "Cf":
        return not (_extends(character) or character in _PREPENDED)
    return kind in ("Cc", "Zl", "Zp", "Cs")


def _extends(character: str) -> bool:
    return (
        category(character)[0] == "M"
        or character in _EXTENDING
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= character <= "\U000e007f"  # tags, as in the flag of Scotland
    )


def _in_one_syllable(x: str, y: str) -> bool:
    """Say whether two parts of Hangul syllables belong together (GB6 to GB8)."""
    match _syllable_part(x), _syllable_part(y):
        case ("L", "L" | "V" | "LV" | "LVT") | ("LV" | "V", "V" | "T") | ("LVT" | "T", "T"):
            return True
        case _:
            return False


def _syllable_part(character: str) -> str:
    if "\uac00" <= character <= "\ud7a3":
        return "LVT" if (ord(character) - 0xAC00) % 28 else "LV"
    if "\u1100" <= character <= "\u115f" or "\ua960" <= character <= "\ua97c":
        return "L"
    if "\u1160" <= character <= "\u11a7" or "\ud7b0" <= character <= "\ud7c6":
        return "V"
    if "\u11a8" <= character <= "\u11ff" or "\ud7cb" <= character <= "\ud7fb":
        return "T"
    return ""


def _is_picture(character: str) -> bool:
    return (
        "\u2190" <= character <= "\u2bff"
        or "\U0001f000" <= character <= "\U0001f1e5"
        or "\U0001f200" <= character <= "\U0001faff"
        or "\U0001fc00" <= character <= "\U0001fffd"
        or character in _PICTURES
    )


def _ends_in_picture(text: str, end: int) -> bool:
    """Say whether `text[:end]` ends in an emoji and what extends it."""
    least = max(0, end - _LONGEST)
    while end > least and _extends(text[end - 1]) and text[end - 1] != _JOINER:
        end -= 1
    return end > 0 and _is_picture(text[end - 1])


def _ends_in_virama(text: str, end: int) -> bool:
    """Say whether a virama that binds the next letter stands at the end of `text[:end]` (GB9c)."""
    least = max(0, end - _LONGEST)
    while end > least and _extends(text[end - 1]):
        if text[end - 1] in _VIRAMAS:
            return True
        end -= 1
    return False


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_halves_before(text: str, end: int) -> int:
    start, least = end, max(0, end - _FLAG_LOOK)
    while start > least and _is_flag_half(text[start - 1]):
        start -= 1
    return end - start if start > least or not least else end
