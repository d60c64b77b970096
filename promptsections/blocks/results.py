"""Cutting the result of a tool to a number of tokens, with a mark that says how much is missing.

It knows no steps and no histories.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from promptsections.messages import Message, Part, TextPart
from promptsections.notes import Note
from promptsections.tokens import Tokenizer, count_up_to, truncate

_READ = 16
"""How many times the limit a result is read, to say how much of it is missing."""


@frozen
class CutResult:
    """A result whose text was cut."""

    message: Message
    note: Note


def cut_result(message: Message, limit: int, tokenizer: Tokenizer) -> CutResult | None:
    """Cut the text of a result to at most `limit` tokens; `None` if it has no more.

    The cut is made at a word and ends with a mark such as `… [812 tokens left out]`, inside the
    limit; it stands only where at least as much text is left. Beyond sixteen times the limit the
    text is not read, and the mark says `more than`. Images and files stay, and every other field.
    """
    texts = _texts(message)
    most = limit * _READ
    total = _count(texts, most, tokenizer)
    if total <= limit:
        return None
    more = total > most
    cut, left_out = _cut(texts, limit, min(total, most), more, tokenizer)
    amount = _amount(left_out, more)
    answered = f"for call {message.tool_call_id!r}" if message.tool_call_id else "without a call id"
    detail = f"a result {answered} was cut to max_result_tokens={limit}: {amount} left out"
    return CutResult(_with_texts(message, cut), Note("result_cut", "", detail))


def _cut(
    texts: Sequence[str], limit: int, total: int, more: bool, tokenizer: Tokenizer
) -> tuple[list[str], int]:
    """Cut the texts, as one after the other; return how many tokens are missing, too."""
    room = limit - tokenizer.count(_mark(total, more))
    while 2 * room >= limit:
        kept = _fill(texts, room, tokenizer)
        left_out = max(0, total - sum(map(tokenizer.count, kept)))
        last = max((at for at, text in enumerate(kept) if text), default=0)
        kept[last] += _mark(left_out, more)
        excess = sum(map(tokenizer.count, kept)) - limit
        if excess <= 0:
            return kept, left_out
        room -= excess
    kept = _fill(texts, limit, tokenizer)
    return kept, max(0, total - sum(map(tokenizer.count, kept)))


def _fill(texts: Sequence[str], room: int, tokenizer: Tokenizer) -> list[str]:
    """Keep as much of the texts, from the first on, as so many tokens hold."""
    kept: list[str] = []
    for text in texts:
        kept.append(truncate(text, room, tokenizer=tokenizer) if room > 0 else "")
        room = room - tokenizer.count(kept[-1]) if kept[-1] == text else 0
    return kept


def _mark(left_out: int, more: bool) -> str:
    return f"… [{_amount(left_out, more)} left out]"


def _amount(left_out: int, more: bool) -> str:
    return f"{'more than ' if more else ''}{left_out} token{'' if left_out == 1 else 's'}"


def _count(texts: Sequence[str], at_most: int, tokenizer: Tokenizer) -> int:
    """Count texts exactly up to `at_most` tokens; more reads `at_most + 1`."""
    total = 0
    for text in texts:
        total += count_up_to(text, at_most - total, tokenizer)
        if total > at_most:
            return at_most + 1
    return total


def _texts(message: Message) -> list[str]:
    content = message.content
    if content is None or isinstance(content, str):
        return [content or ""]
    return [part.text for part in content if isinstance(part, TextPart)]


def _with_texts(message: Message, texts: Sequence[str]) -> Message:
    if isinstance(message.content, str):
        return evolve(message, content=texts[0])
    # Text parts stay where they are, if need be without a text: what else a provider said about
    # each of them is kept by their number.
    rest = iter(texts)
    parts: tuple[Part, ...] = tuple(
        TextPart(next(rest)) if isinstance(part, TextPart) else part
        for part in message.content or ()
    )
    return evolve(message, content=parts)
