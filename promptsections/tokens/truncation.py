"""Cutting a text to a number of tokens.

It knows no sections and no messages.
"""

from __future__ import annotations

from typing import Literal, assert_never, get_args

from attrs import field, frozen

from promptsections.errors import DefinitionError
from promptsections.tokens.limits import count_up_to, longest_of
from promptsections.tokens.search import Search, Side
from promptsections.tokens.tokenizer import Tokenizer
from promptsections.tokens.units import ENDS, STARTS, Boundary

Keep = Literal["start", "end", "middle"]

SMALLEST_USEFUL = 16
"""Tokens of a text that are worth sending, if its first sentence is not shorter."""

_FALLBACKS: dict[Boundary, tuple[Boundary, ...]] = {
    "sentence": ("sentence", "word", "grapheme"),
    "line": ("line", "word", "grapheme"),
    "word": ("word", "grapheme"),
    "grapheme": ("grapheme",),
}
"""Where to cut if not even the first unit fits: inside it, at smaller ones."""

_GAPS: dict[Boundary, str] = {"sentence": " ", "line": "\n", "word": " ", "grapheme": ""}
"""What stands in the middle if no marker does, so that two words do not become one."""


def _check_keep(_: object, __: object, value: object) -> None:
    _check_option("keep", value, get_args(Keep))


def _check_boundary(_: object, __: object, value: object) -> None:
    _check_option("boundary", value, get_args(Boundary))


def _check_option(name: str, value: object, options: tuple[str, ...]) -> None:
    if value not in options:
        shown = ", ".join(map(repr, options))
        raise DefinitionError(f"{name} must be one of {shown}, but is {value!r}")


def _check_marker(_: object, __: object, value: object) -> None:
    if not isinstance(value, str):
        raise DefinitionError(f'marker must be a string, "" for none, but is {value!r}')


@frozen
class Truncate:
    """How a text gives way when it is larger than its room.

    `keep="start"` cuts the end off, `"end"` the start, `"middle"` cuts the middle out and keeps
    both ends, with a blank or a line break between them if no marker stands there. The cut is made
    between whole units of `boundary`; if not even one fits, inside it at words, then at graphemes.
    White space beside the cut goes, except at graphemes.
    """

    keep: Keep = field(default="start", validator=_check_keep)
    """What is kept: `start`, `end`, or both ends (`middle`, which puts the marker there)."""
    boundary: Boundary = field(default="word", validator=_check_boundary)
    """What is not parted: `grapheme`, `word`, `line` or `sentence`."""
    marker: str = field(default="", validator=_check_marker)
    """Stands where something was cut, inside the limit; left out where it would take over half."""


def truncate(
    text: str,
    tokens: int,
    *,
    tokenizer: Tokenizer,
    keep: Keep = "start",
    boundary: Boundary = "word",
    marker: str = "",
) -> str:
    """Cut `text` so that it counts at most `tokens` tokens, marker included.

    A text that fits comes back as the same object. Kept text is never less for a larger limit (with
    `keep="middle"`: its start), and one unit more would not fit. Graphemes stay whole. Of a long
    text little more is read than what is kept. Wrong options are a `DefinitionError`.
    """
    return cut(text, tokens, tokenizer, Truncate(keep, boundary, marker))


def cut(text: str, tokens: int, tokenizer: Tokenizer, how: Truncate) -> str:
    """Cut `text` as `how` says; see `truncate`."""
    if tokens <= 0 or not text:
        return ""
    if count_up_to(text, tokens, tokenizer) <= tokens:
        return text
    match how.keep:
        case "start" | "end":
            return _cut_side(text, tokens, tokenizer, how.keep, how)
        case "middle":
            return _cut_middle(text, tokens, tokenizer, how)
        case _ as never:
            assert_never(never)


def _cut_side(text: str, tokens: int, tokenizer: Tokenizer, side: Side, how: Truncate) -> str:
    """Keep one side. The marker stands if it lets as many tokens of text stand as it has itself.

    So a limit at which the marker appears never keeps less text than a smaller one without it.
    """
    boundaries, most = _FALLBACKS[how.boundary], len(text) - 1
    plain = Search(text, side, tokenizer)
    if not how.marker:
        return _side(text, side, plain.longest(tokens, boundaries, most))
    marked = Search(text, side, tokenizer, how.marker)
    size = count_up_to(how.marker, tokens, tokenizer)
    kept = marked.longest(tokens, boundaries, most) if size < tokens else 0
    if not kept or not marked.surpasses(kept, size):
        least = plain.longest(min(size, tokens), boundaries, most)
        least = least or plain.longest(tokens, ("grapheme",), plain.first("grapheme", most, tokens))
        if kept < least and not marked.fits(least, tokens):
            return _side(text, side, least)
        kept = max(kept, least)
        if not kept:
            return ""
    part = _side(text, side, kept)
    return part + how.marker if side == "start" else how.marker + part


def _side(text: str, side: Side, kept: int) -> str:
    return text[:kept] if side == "start" else text[len(text) - kept :]


def _cut_middle(text: str, tokens: int, tokenizer: Tokenizer, how: Truncate) -> str:
    """Keep a start of half the room, then the longest end, then what more of the start fits."""
    boundaries = _FALLBACKS[how.boundary]
    marker = how.marker
    if not marker or 2 * count_up_to(marker, tokens, tokenizer) > tokens:
        marker = _GAPS[how.boundary]
    half = (tokens - count_up_to(marker, tokens, tokenizer) + 1) // 2
    head = Search(text, "start", tokenizer).longest(half, boundaries, len(text) - 2)
    rest = text[head:]
    tail = Search(rest, "end", tokenizer, text[:head] + marker).longest(
        tokens, boundaries, len(rest) - 1
    )
    if not head or not tail:
        return _cut_side(text, tokens, tokenizer, "start", how)
    end = _side(text, "end", tail)
    wider = Search(text, "start", tokenizer, marker + end)
    head = wider.extend(head, how.boundary, tokens, len(text) - tail - 1)
    return text[:head] + marker + end


def smallest_cut(text: str, tokenizer: Tokenizer, how: Truncate) -> str:
    """Cut `text` to the smallest size at which it is worth sending.

    | the text                                   | what is kept                                  |
    |--------------------------------------------|-----------------------------------------------|
    | longer than 16 tokens, or several sentences | its first sentence (`keep="end"`: its last) or |
    |                                            | 16 tokens, whichever is less, with the marker |
    | one sentence of at most 16 tokens          | its first word (`keep="end"`: its last)       |
    | with a first grapheme of over 16 tokens    | that grapheme, or somewhat more               |
    | with a cut that is no smaller than the whole | the whole                                   |

    `keep="middle"` keeps both ends under the same limit.
    """
    whole = count_up_to(text, SMALLEST_USEFUL, tokenizer)
    sentence = _sentence_of(text, longest_of(SMALLEST_USEFUL, tokenizer), how)
    if sentence == text and whole <= SMALLEST_USEFUL:
        return _word_of(text, whole, tokenizer, how)
    limit = min(SMALLEST_USEFUL, count_up_to(sentence, SMALLEST_USEFUL, tokenizer))
    if limit >= whole:
        return text
    while not (smallest := _settled_cut(text, limit, tokenizer, how)):
        limit = limit + 1 if limit < SMALLEST_USEFUL else 2 * limit
    return smallest


def _word_of(text: str, whole: int, tokenizer: Tokenizer, how: Truncate) -> str:
    """Cut to the fewest tokens that hold the first word (the last for `keep="end"`), all of it."""
    if how.keep == "end":
        start = STARTS["word"].last(text, 0, len(text))
        holds, word = str.endswith, "" if start is None else text[start:]
    else:
        holds, word = str.startswith, text[: ENDS["word"].first(text, 0, len(text)) or 0]
    if not word:
        return text
    for limit in range(tokenizer.count(word), whole):
        result = _settled_cut(text, limit, tokenizer, how)
        if holds(result, word):
            return result
    return text


def _settled_cut(text: str, limit: int, tokenizer: Tokenizer, how: Truncate) -> str:
    """Cut to at most `limit` tokens, so that cutting to the size of the result gives it again."""
    result = cut(text, limit, tokenizer, how)
    while result:
        again = cut(text, max(1, tokenizer.count(result)), tokenizer, how)
        if again == result:
            break
        result = again
    return result


def _sentence_of(text: str, longest: int, how: Truncate) -> str:
    """The first sentence and the marker (the last for `keep="end"`); the text if it is the only.

    No more than `longest` characters are looked at: a longer one is no smallest cut.
    """
    longest = min(longest, len(text))
    if how.keep == "end":
        start = STARTS["sentence"].last(text, len(text) - longest, len(text))
        if start is None and longest < len(text):
            start = len(text) - longest
        return text if start is None else how.marker + text[start:]
    end = ENDS["sentence"].first(text, 0, longest)
    if end is None and longest < len(text):
        end = longest
    return text if end is None else text[:end] + how.marker
