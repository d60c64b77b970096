"""`promptsections count`: the tokens of files of any size."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import define
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from promptsections import Tokenizer, find_profile
from promptsections.cli import streams
from promptsections.cli.failures import Failed
from promptsections.cli.options import JsonOption
from promptsections.tokens import as_tokenizer, count_stream

_LONG = 4_000_000
"""Bytes from which counting takes long enough to show how far it is."""


def run(
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]…", help="Text files; - or nothing is standard input."),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Count as this model does.")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", metavar="NAME", help="o200k_base (the default), cl100k_base."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write the number of tokens, of several files one line each and the sum."""
    if model and encoding:
        raise Failed("promptsections: --model and --encoding: give one of them", 2)
    tokenizer = find_profile(model).tokenizer() if model else as_tokenizer(encoding or "o200k_base")
    names = files or ["-"]
    counts = [_count(name, tokenizer) for name in names]
    if json:
        streams.write_json(
            {
                "tokens": sum(count.tokens for count in counts),
                "tokenizer": tokenizer.name,
                "exact": tokenizer.exact,
                "files": [_facts(name, count) for name, count in zip(names, counts, strict=True)],
            }
        )
        return
    if not tokenizer.exact:
        streams.write_error(f"promptsections: about, as {tokenizer.name} estimates")
    if len(counts) == 1:
        streams.write(f"{counts[0].tokens}\n")
        return
    total = sum(count.tokens for count in counts)
    width = len(str(total))
    for name, count in zip(names, counts, strict=True):
        streams.write(f"{count.tokens:>{width}} {name}\n")
    streams.write(f"{total:>{width}} in all\n")


@define
class _Count:
    """What was counted of a file."""

    tokens: int = 0
    characters: int = 0


def _facts(name: str, count: _Count) -> dict[str, Any]:
    return {"file": name, "tokens": count.tokens, "characters": count.characters}


def _count(name: str, tokenizer: Tokenizer) -> _Count:
    count = _Count()

    def watched(progress: Progress | None) -> Iterator[str]:
        task = progress.add_task(name, total=size) if progress else None
        for piece in streams.read_pieces(name):
            count.characters += len(piece)
            yield piece
            if progress and task is not None:
                progress.advance(task, len(piece.encode("utf-8", "replace")))

    size = _size(name)
    if (size is not None and size < _LONG) or not sys.stderr.isatty():
        count.tokens = count_stream(watched(None), tokenizer)
        return count
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        count.tokens = count_stream(watched(progress), tokenizer)
    return count


def _size(name: str) -> int | None:
    """Return the bytes of a file; `None` if nobody knows, as of a pipe."""
    if name == "-":
        return 0 if sys.stdin.isatty() else None
    try:
        return Path(name).stat().st_size
    except (OSError, ValueError):
        return 0  # reading it says why
