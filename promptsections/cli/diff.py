"""`promptsections diff`: what changed between two renders, and from which byte on."""

from __future__ import annotations

import json as json_module
from itertools import accumulate
from typing import Annotated

import typer
from attrs import asdict, frozen

from promptsections import RenderedPrompt
from promptsections.cli import streams
from promptsections.cli.failures import FINDINGS
from promptsections.cli.inputs import Job, read_job
from promptsections.cli.options import (
    BudgetOption,
    FunctionOption,
    JsonOption,
    MemoryOption,
    ModelOption,
    VarOption,
)
from promptsections.explain import compare
from promptsections.providers import openai_chat

_AROUND = 30
"""Bytes shown on either side of the place where two prompts part."""


def run(
    *,
    before: Annotated[str, typer.Argument(metavar="A", help="A prompt, or a memory.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", "-p", metavar="PROMPT", help="A and B are memories of this."),
    ] = None,
    memory: MemoryOption = None,
    var: VarOption = None,
    function: FunctionOption = None,
    budget: BudgetOption = None,
    model: ModelOption = None,
    json: JsonOption = False,
) -> None:
    """Render both and compare: exit code 0 if they are the same, 1 if not."""

    def job(which: str) -> Job:
        return read_job(
            prompt or which,
            memory=which if prompt else memory,
            variables=var,
            functions=function,
            budget=budget,
            model=model,
        )

    old, new = job(before).render(), job(after).render()
    differs = first_difference(old, new)
    changes = compare(old.layout, new.layout)
    if json:
        facts = None if differs is None else asdict(differs)
        lines = changes.splitlines()
        streams.write_json({"same": not (changes or differs), "layout": lines, "first": facts})
    else:
        streams.write(streams.drawn(f"{changes}\n") if changes else "")
        streams.write(streams.drawn(f"{differs}\n") if differs else "")
    if changes or differs:
        raise typer.Exit(FINDINGS)


@frozen
class Difference:
    """The first byte that differs between two requests."""

    byte: int
    """Offset in what is sent: tools, then messages, as compact JSON one after the other."""
    of: int
    """Bytes of the longer one."""
    message: int
    """Index of the message, from 0; -1 for the definitions of tools."""
    role: str
    section: str
    """Path of the section that the message comes from; `""` for tools."""
    before: str
    after: str

    def __str__(self) -> str:
        place = "the definitions of tools"
        if self.message >= 0:
            place = f"message {self.message} ({self.role}, {self.section!r})"
        return (
            f"the first {self.byte} of {self.of} bytes are the same; then, in {place}:\n"
            f"- {self.before}\n+ {self.after}"
        )


def first_difference(old: RenderedPrompt, new: RenderedPrompt) -> Difference | None:
    """Find the first byte that differs in what is sent; `None` if nothing does."""
    one, other = _sent(old), _sent(new)
    first, second = b"".join(one), b"".join(other)
    if first == second:
        return None
    shorter = min(len(first), len(second))
    byte = next((n for n in range(shorter) if first[n] != second[n]), shorter)
    longer, pieces = (old, one) if len(first) > len(second) else (new, other)
    ends = accumulate(len(piece) for piece in pieces)
    index = sum(end <= byte for end in ends) - 1  # how many messages end before it
    return Difference(
        byte=byte,
        of=max(len(first), len(second)),
        message=index,
        role=longer.messages[index].role if index >= 0 else "",
        section=_section_of(longer, index),
        before=_excerpt(first, byte),
        after=_excerpt(second, byte),
    )


def _sent(rendered: RenderedPrompt) -> list[bytes]:
    """Return the bytes of the tools, and of each message, in the order that a cache compares."""
    request = openai_chat.to_request(rendered)
    return [_bytes(request.get("tools")), *map(_bytes, request["messages"])]


def _bytes(data: object) -> bytes:
    if data is None:
        return b""
    text = json_module.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _section_of(rendered: RenderedPrompt, message: int) -> str:
    paths = [origin.path for origin in rendered.origins for _ in range(origin.messages)]
    return paths[message] if 0 <= message < len(paths) else ""


def _excerpt(data: bytes, byte: int) -> str:
    part = data[max(0, byte - _AROUND) : byte + _AROUND].decode("utf-8", "ignore")
    before = "…" if byte > _AROUND else ""
    after = "…" if byte + _AROUND < len(data) else ""
    return f"{before}{part}{after}"
