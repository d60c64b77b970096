"""The streams of the command: any encoding of a console, and files as people have them.

What an output cannot show becomes an escape, never an error. It knows no prompts.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from promptsections.cli.failures import Failed

_PLAIN = str.maketrans({
    "─": "-", "█": "#", "░": ".", "→": "->", "≥": ">=", "≤": "<=", "×": "x", "…": "...",
    "“": '"', "”": '"', "·": "-",
})  # fmt: skip
"""What stands for the characters that the command draws with, where a console lacks them."""
_CHUNK = 1 << 20


class Closed(Exception):  # noqa: N818  it never leaves the command
    """Whoever reads the output has stopped."""


def prepare() -> None:
    """Make the outputs show what they can, and the rest as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(text: str) -> None:
    """Write to standard output."""
    _write(text, sys.stdout)


def write_error(line: str) -> None:
    """Write a line to standard error."""
    _write(drawn(line.rstrip("\n"), sys.stderr) + "\n", sys.stderr)


def write_json(value: Any) -> None:
    """Write data as JSON: in UTF-8 with the characters themselves, otherwise in ASCII."""
    text = json.dumps(value, indent=2, ensure_ascii=not is_utf8(sys.stdout))
    write(text + "\n")


def drawn(text: str, stream: TextIO | None = None) -> str:
    """Replace what the command draws with, if the output cannot show it; for tables, not data."""
    encoding = (sys.stdout if stream is None else stream).encoding
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):  # or an encoding that only the console knows
        return text.translate(_PLAIN)
    return text


def is_utf8(stream: TextIO) -> bool:
    """Say whether an output takes all characters."""
    try:
        return codecs.lookup(stream.encoding or "").name == "utf-8"
    except LookupError:
        return False


def flush() -> None:
    """Write out what is buffered; a reader that has gone is noticed here at the latest."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _closed(error) from None


def abandon() -> None:
    """Point standard output to nowhere, so that the interpreter does not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read_text(name: str) -> str:
    """Read a file, or standard input for `-`: UTF-8 with or without a mark, or marked UTF-16.

    Line ends become `\\n`.

    Raises:
        Failed: if there is no such file, or it is no text.
    """
    text = "".join(read_pieces(name))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_pieces(name: str) -> Iterator[str]:
    """Read a file, or standard input for `-`, piece by piece, line ends as they are."""
    with ExitStack() as opened:
        if name == "-":
            source: BinaryIO = sys.stdin.buffer
        else:
            try:
                source = opened.enter_context(Path(name).open("rb"))
            except (OSError, ValueError) as error:
                raise Failed(f"{name}: {_why(error)}") from error
        yield from _decoded(source, "standard input" if name == "-" else name)


def _decoded(source: BinaryIO, name: str) -> Iterator[str]:
    data = _read(source, name)
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if marked else "utf-8-sig"
    decoder = codecs.getincrementaldecoder(encoding)()
    before = 0
    while True:
        held = len(decoder.getstate()[0])
        try:
            yield decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            place = before - held + error.start
            raise Failed(
                f"{name}: no {'UTF-16' if marked else 'UTF-8'} text: byte at offset {place:,}; "
                "save it as UTF-8"
            ) from error
        if not data:
            return
        before += len(data)
        data = _read(source, name)


def _read(source: BinaryIO, name: str) -> bytes:
    try:
        return source.read(_CHUNK)
    except OSError as error:
        raise Failed(f"{name}: {_why(error)}") from error


def _why(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def _write(text: str, stream: TextIO) -> None:
    try:
        stream.write(text)
    except OSError as error:
        raise _closed(error) from None


def _closed(error: OSError) -> Exception:
    """Tell a reader that has gone from a disk that is full."""
    if error.errno == errno.EPIPE or (error.errno == errno.EINVAL and os.name == "nt"):
        return Closed()
    return Failed(f"promptsections: the output cannot be written: {_why(error)}")
