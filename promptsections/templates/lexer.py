"""Cuts a template into lexemes; it knows the delimiters and nothing of what placeholders mean.

Everything is done by `str.find` and possessive patterns, so the time is linear in the length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple, cast

from attrs import field, frozen

from promptsections.errors import DefinitionError


class Kind(Enum):
    """What a lexeme inside a placeholder is."""

    SPACE = auto()
    CLOSE = auto()
    QUOTED = auto()
    WORD = auto()
    OPEN = auto()
    UNCLOSED_QUOTE = auto()
    END = auto()


class Lexeme(NamedTuple):
    """A piece of a placeholder."""

    kind: Kind
    text: str
    """As written; of a quoted string, what it means."""
    end: int
    """Offset of the character after it."""


class Opening(NamedTuple):
    """The text up to the next opening delimiter."""

    text: str
    """Escapes resolved."""
    position: int
    """Offset of the delimiter, or -1 if there is no further one."""


_QUOTED = r"'(?:[^'\\]++|\\.)*+'|\"(?:[^\"\\]++|\\.)*+\"|`(?:[^`\\]++|\\.)*+`"
_KINDS = {
    "space": Kind.SPACE,
    "close": Kind.CLOSE,
    "quoted": Kind.QUOTED,
    "word": Kind.WORD,
    "open": Kind.OPEN,
    "quote": Kind.UNCLOSED_QUOTE,
}


def check_delimiters(value: object) -> tuple[str, str]:
    """Read a pair of delimiters.

    Raises:
        DefinitionError: if placeholders written with them could not be told from their content.
    """
    pair = tuple(cast("Sequence[object]", value)) if isinstance(value, tuple | list) else ()
    if len(pair) != 2 or not all(isinstance(one, str) and one for one in pair):
        raise DefinitionError(f"delimiters must be two non-empty strings, not {value!r}")
    opening, closing = str(pair[0]), str(pair[1])
    if opening == closing:
        raise DefinitionError(f"delimiters must differ, and both are {opening!r}")
    if re.search(r"[\s'\"`\\]", opening + closing):
        raise DefinitionError(
            f"delimiters must hold no white space, quotes or backslashes, not {pair!r}"
        )
    if any(is_name(c) or c in "$.=" for c in closing):
        raise DefinitionError(
            f"a closing delimiter must hold no letters, digits or any of '_-$.=', not {closing!r}"
        )
    return opening, closing


@frozen
class Lexer:
    """Reads one source with one pair of delimiters."""

    source: str
    opening: str
    closing: str
    _scan: re.Pattern[str] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        opening, closing = re.escape(self.opening), re.escape(self.closing)
        pattern = (
            rf"(?P<space>\s++)|(?P<close>{closing})|(?P<open>{opening})|(?P<quoted>{_QUOTED})"
            rf"|(?P<word>(?:(?!{opening}|{closing})[^\s'\"`])++)|(?P<quote>['\"`])"
        )
        object.__setattr__(self, "_scan", re.compile(pattern, re.DOTALL))

    def opening_after(self, start: int) -> Opening:
        """Return the text from an offset up to the next placeholder.

        Of the backslashes right before an opening delimiter each pair means one; one that is left
        over makes the delimiter text.
        """
        texts: list[str] = []
        while (position := self.source.find(self.opening, start)) >= 0:
            before = self.source[start:position]
            bare = before.rstrip("\\")
            pairs, escaped = divmod(len(before) - len(bare), 2)
            texts.append(bare + "\\" * pairs)
            if not escaped:
                break
            texts.append(self.opening)
            start = position + len(self.opening)
        else:
            texts.append(self.source[start:])
        return Opening("".join(texts), position)

    def lexeme_at(self, start: int) -> Lexeme:
        """Return the lexeme that begins at an offset inside a placeholder."""
        match = self._scan.match(self.source, start)
        if match is None:  # every character begins some lexeme, so this is the end
            return Lexeme(Kind.END, "", start)
        text = match[0]
        kind = _KINDS[match.lastgroup or ""]
        if kind is Kind.QUOTED:
            text = _unquote(text)
        return Lexeme(kind, text, match.end())


def _unquote(text: str) -> str:
    """Resolve a quoted string: a backslash escapes the quote and itself, all else is literal."""
    quote, inner = text[0], text[1:-1]
    return re.sub(rf"\\([\\{quote}])", r"\1", inner) if "\\" in inner else inner


_NAME = re.compile(r"[\w-]++(?:\.[\w-]++)*+")


def is_name(text: str) -> bool:
    """Whether a text is a name: parts of letters, marks, digits, `_` and `-`, joined by dots."""
    if _NAME.fullmatch(text):
        return True
    if text.isascii():
        return False
    # `\w` knows letters and digits of every script, but no combining marks
    plain = "".join("_" if unicodedata.category(c)[0] == "M" else c for c in text)
    return _NAME.fullmatch(plain) is not None


def escape(text: str, *, delimiters: tuple[str, str] = ("<<", ">>")) -> str:
    """Write a text so that a template renders it as it is: `a << b` becomes `a \\<< b`.

    Args:
        text: Any text.
        delimiters: The delimiters of the template that it will stand in.
    """
    opening = check_delimiters(delimiters)[0]
    # only from the start of a run of backslashes, or a long run would be read again and again
    pattern = rf"(?<!\\)(\\*+){re.escape(opening)}"
    return re.sub(pattern, lambda found: f"{found[1] * 2}\\{opening}", text)
