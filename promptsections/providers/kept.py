"""What only one provider understands: kept in `provider_data` when read, given back when sent.

A provider's message is a list of blocks. Those that a `Message` can hold become its parts and
calls. If anything else was there (a block of another kind, a key of a block, another order), a
*pattern* of the blocks is kept: for each block its kind, or the kind and a *template*, or the whole
block. A template is the block without the values that the message holds itself, so no text is kept,
and counted, twice. It knows no provider's format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from attrs import evolve, field, frozen

from promptsections.errors import ProviderError
from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    TextPart,
    ToolCall,
)
from promptsections.notes import Note
from promptsections.providers.plain import Block, copied

Thing = Part | ToolCall
"""What a message holds and a block says."""
Read = Callable[[Block], tuple[str, Thing] | None]
"""Says what a block is, its kind and what it holds; `None` if a message cannot hold it."""
Write = Callable[[str, Thing], Block | None]
"""Writes a block of a kind; `None` if there is nothing to send, as for a blank text."""

KINDS: Mapping[str, type[Thing]] = {
    "text": TextPart,
    "image": ImagePart,
    "file": FilePart,
    "audio": AudioPart,
    "call": ToolCall,
    "output": TextPart,
}
"""Kind of a block → what it holds. `output` is a second way to write a text."""


def kind_of(thing: Thing) -> str:
    """Return the usual kind of block for a part or a call."""
    return next(kind for kind, holds in KINDS.items() if isinstance(thing, holds))


def parts_of(message: Message) -> tuple[Part, ...]:
    """Return the content of a message as parts."""
    content = message.content
    if content is None:
        return ()
    return (TextPart(content),) if isinstance(content, str) else content


# --- reading ------------------------------------------------------------------------------------


@frozen
class Blocks:
    """Blocks as they were read."""

    parts: tuple[Part, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    pattern: list[Any] | None = field(default=None, eq=False)
    """`None` if parts and calls, in this order, say it all."""

    def data(self) -> dict[str, Any]:
        """Return what is to be kept in `provider_data`."""
        return {} if self.pattern is None else {"blocks": self.pattern}


def read_blocks(blocks: Sequence[Block], read: Read, write: Write) -> Blocks:
    """Read blocks into parts and calls, and keep what these do not say."""
    things: list[Thing] = []
    pattern: list[Any] = []
    for block in blocks:
        try:
            found = read(block)
            written = None if found is None else write(*found)
        except ProviderError:  # the provider took it, so this is its own business
            found = written = None
        if found is None:
            pattern.append(["own", block])
            continue
        kind, thing = found
        things.append(thing)
        same = written is None or written == block
        pattern.append(kind if same else [kind, template(block, written)])
    parts = tuple(thing for thing in things if not isinstance(thing, ToolCall))
    calls = tuple(thing for thing in things if isinstance(thing, ToolCall))
    usual = pattern == [kind_of(thing) for thing in (*parts, *calls)]
    return Blocks(parts, calls, None if usual else pattern)


def with_data(message: Message, provider: str, data: Mapping[str, Any]) -> Message:
    """Return the message with what is kept of it for a provider, if anything is."""
    if not data:
        return message
    return evolve(message, provider_data={**message.provider_data, provider: dict(data)})


# --- writing ------------------------------------------------------------------------------------


def kept_data(message: Message, provider: str, index: int) -> dict[str, Any]:
    """Copy what came from the provider, so that a request shares nothing with its messages.

    Raises:
        ProviderError: if it is no JSON, or no mapping.
    """
    data = message.provider_data.get(provider)
    if data is None:
        return {}
    try:
        copy = copied(data)
    except (TypeError, ValueError) as error:
        raise ProviderError(
            f"message {index}: provider_data[{provider!r}] is no JSON: {error}"
        ) from error
    if not isinstance(copy, dict):
        raise ProviderError(
            f"message {index}: provider_data[{provider!r}] must map keys of a message to values"
        )
    return cast("dict[str, Any]", copy)


@frozen
class Writer:
    """Writes the blocks of one message."""

    provider: str
    index: int
    """Of the message, from 0."""
    write: Write
    notes: list[Note]
    keep: Callable[[Block], bool] = lambda _: True
    """Whether a block that only the provider understands is sent."""

    def blocks(self, message: Message, data: Mapping[str, Any]) -> list[Block]:
        """Write parts and calls as blocks, with what was kept of them where it stood.

        A pattern that no longer fits the message, as after a part of it was cut, is not used.
        """
        things: list[Thing] = [*parts_of(message), *message.tool_calls]
        pattern = data.get("blocks")
        if pattern is not None and not _fits(pattern, things):
            detail = f"message {self.index}: it changed, so what {self.provider} said of it is gone"
            self.notes.append(Note("provider_data_left_out", "", detail))
            pattern = None
        if pattern is None:
            found = [self.write(kind_of(thing), thing) for thing in things]
        else:
            found = self._patterned(pattern, things)
        return [block for block in found if block is not None]

    def _patterned(self, pattern: list[Any], things: list[Thing]) -> list[Block | None]:
        parts = iter([thing for thing in things if not isinstance(thing, ToolCall)])
        calls = iter([thing for thing in things if isinstance(thing, ToolCall)])
        found: list[Block | None] = []
        for entry in pattern:
            kind, rest = _entry(entry)
            if kind == "own":
                found.append(rest if self.keep(rest) else None)
                continue
            written = self.write(kind, next(calls if kind == "call" else parts))
            found.append(written if written is None or rest is None else fill(rest, written))
        return found


def _entry(entry: Any) -> tuple[str, Any]:
    return (entry, None) if isinstance(entry, str) else (entry[0], entry[1])


def _fits(pattern: Any, things: list[Thing]) -> bool:
    """Say whether a pattern is well formed and speaks of exactly these parts and calls."""
    if not isinstance(pattern, list):
        return False
    kinds: list[str] = []
    for entry in cast("list[Any]", pattern):
        match entry:
            case str() if entry in KINDS:
                kinds.append(entry)
            case [str(kind), dict()] if kind == "own" or kind in KINDS:
                kinds.append(kind)
            case _:
                return False
    spoken_of = [KINDS[kind] for kind in kinds if kind not in ("own", "call")]
    calls = [ToolCall] * kinds.count("call")
    return [*spoken_of, *calls] == [type(thing) for thing in things]


# --- templates ----------------------------------------------------------------------------------

HOLE = "="
"""Stands in a template for a value that the message holds."""


def template(original: Any, written: Any) -> Any:
    """Return the original with a hole wherever the written form says the same.

    `fill(template(original, written), written) == original`, with the order of keys. Other texts
    that begin like a hole get one more `=`; other lists and dicts are wrapped, to be told apart.
    """
    if type(original) is type(written) and original == written:
        return HOLE
    if isinstance(original, str):
        return HOLE + original if original.startswith(HOLE) else original
    if isinstance(original, dict) and isinstance(written, dict) and HOLE not in original:
        known, inner = cast("Block", written), cast("Block", original)
        return {key: template(value, known.get(key, _NOTHING)) for key, value in inner.items()}
    if isinstance(original, list) and isinstance(written, list):
        items, others = cast("list[Any]", original), cast("list[Any]", written)
        if len(items) == len(others):
            return [template(one, other) for one, other in zip(items, others, strict=True)]
    if isinstance(original, dict | list):
        return {HOLE: cast("object", original)}
    return original


_NOTHING = object()


def fill(pattern: Any, written: Any) -> Any:
    """Put the written values into the holes of a template; a hole without a value is left out."""
    match pattern:
        case "=":
            return written
        case str():
            return pattern.removeprefix(HOLE)
        case {"=": original}:
            return original
        case dict():
            inner = cast("Block", pattern)
            known = cast("Block", written) if isinstance(written, dict) else {}
            filled = {key: fill(value, known.get(key, _NOTHING)) for key, value in inner.items()}
            return {key: value for key, value in filled.items() if value is not _NOTHING}
        case list():
            items = cast("list[Any]", pattern)
            others = cast("list[Any]", written) if isinstance(written, list) else []
            padded = [*others, *[_NOTHING] * (len(items) - len(others))]
            filled_items = [fill(item, other) for item, other in zip(items, padded, strict=False)]
            return [value for value in filled_items if value is not _NOTHING]
        case _:
            return pattern
