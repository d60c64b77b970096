"""Where a chunk comes from, written in front of it: `"[{source}] "`.

The words of the form are the author's; what is filled in comes from outside and is never parsed.
"""

from __future__ import annotations

from collections.abc import Callable
from string import Formatter
from typing import Final

from promptsections.blocks import Chunk
from promptsections.errors import DefinitionError
from promptsections.templates import to_text

SOURCE_AND_CONTENT: Final = "Source: {source}\nContent: "
"""The form of AgentOS: a line for the source, and the text behind a label."""

Attribution = str | Callable[[Chunk], str]
"""Text with fields in braces, or a function of the chunk.

| field | is |
|---|---|
| `{source}` | the chunk's source, else its id, else its place |
| `{id}` | the chunk's id, else its source, else its place |
| `{score}` | its score; `{score:.2f}` with two digits |
| `{number}` | its place among the chunks that the source gave, from 1 |
| any other | what its `metadata` has under that name |

What a chunk does not have is written as `unknown`.
"""


def check_attribution(form: Attribution | None) -> None:
    """Raise a `DefinitionError` if this is no form that can be filled."""
    if form is None or callable(form):
        return
    if not isinstance(form, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"attribution={form!r} must be a text, a function or None")
    try:
        parsed = [piece for piece in Formatter().parse(form) if piece[1] is not None]
    except ValueError as error:
        raise DefinitionError(f"attribution={form!r}: {error}") from None
    for _, name, style, conversion in parsed:
        if not (name or "").isidentifier() or conversion or "{" in (style or ""):
            raise DefinitionError(
                f"attribution={form!r}: {name!r} is no plain field: write a name in braces, such "
                "as {source} or {score:.2f}, and {{ for a brace"
            )


def attribute(form: Attribution, chunk: Chunk, place: int, *, encode: Callable[[str], str]) -> str:
    """Write where a chunk comes from.

    Args:
        form: How.
        chunk: Of what.
        place: Of the chunk among those that were given, from 0.
        encode: How what comes from outside is written where the chunk will stand.
    """
    if not isinstance(form, str):
        return encode(_text_of(form, chunk))
    written: list[str] = []
    for words, name, style, _ in Formatter().parse(form):
        written.append(words)
        if name is not None:
            value = _styled(name, _value(name, chunk, place), style or "")
            written.append(encode(_one_line(value)))
    return "".join(written)


def _text_of(form: Callable[[Chunk], str], chunk: Chunk) -> str:
    text = form(chunk)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"the attribution function returned {type(text).__name__}, no text")
    return text


def _value(name: str, chunk: Chunk, place: int) -> object:
    match name:
        case "source":
            return chunk.source or chunk.id or str(place)
        case "id":
            return chunk.name(place)
        case "score":
            return chunk.score
        case "number":
            return place + 1
        case _:
            return None if chunk.metadata is None else chunk.metadata.get(name)


def _styled(name: str, value: object, style: str) -> str:
    if value is None:
        return "unknown"
    if not isinstance(value, str | int | float):
        return to_text(value, name=name)
    try:
        return format(value, style)
    except ValueError as error:
        raise DefinitionError(f"attribution: {{{name}:{style}}}: {error}") from None


def _one_line(text: str) -> str:
    """Put a value on one line, so that it cannot write lines of its own."""
    return " ".join(text.split())
