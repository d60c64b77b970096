"""`promptsections diff`: what changed between two renders, and from which byte on."""

from __future__ import annotations

import json as json_module
from itertools import accumulate
from typing import Annotated, Any

import typer
from attrs import frozen

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
    parting = first_difference(old, new)
    changes = compare(old.layout, new.layout)
    if json:
        facts = None if parting is None else parting.facts()
        lines = changes.splitlines()
        streams.write_json({"same": not (changes or parting), "layout": lines, "parts": facts})
    else:
        streams.write(streams.drawn(f"{changes}\n") if changes else "")
        streams.write(streams.drawn(f"{parting}\n") if parting else "")
    if changes or parting:
        raise typer.Exit(FINDINGS)


@frozen
class Parting:
    """Where two prompts part."""

    byte: int
    """Offset in what is sent: the messages as compact JSON, one after the other."""
    message: int
    """Index of the message, from 0."""
    role: str
    of: int
    """Bytes of the longer prompt."""
    before: str
    after: str

    def __str__(self) -> str:
        return (
            f"the first {self.byte} of {self.of} bytes are the same; then, in message "
            f"{self.message} ({self.role}):\n- {self.before}\n+ {self.after}"
        )

    def facts(self) -> dict[str, Any]:
        """Return the same as plain data."""
        return {
            "byte": self.byte,
            "of": self.of,
            "message": self.message,
            "role": self.role,
            "before": self.before,
            "after": self.after,
        }


def first_difference(old: RenderedPrompt, new: RenderedPrompt) -> Parting | None:
    """Find the first byte that differs in what is sent; `None` if nothing does."""
    one, other = _sent(old), _sent(new)
    first, second = b"".join(one), b"".join(other)
    if first == second:
        return None
    shorter = min(len(first), len(second))
    byte = next((n for n in range(shorter) if first[n] != second[n]), shorter)
    longer, pieces = (old, one) if len(first) > len(second) else (new, other)
    ends = accumulate(len(piece) for piece in pieces)
    index = sum(end <= byte for end in ends)  # how many messages end before it
    return Parting(
        byte=byte,
        message=index,
        role=longer.messages[index].role,
        of=max(len(first), len(second)),
        before=_excerpt(first, byte),
        after=_excerpt(second, byte),
    )


def _sent(rendered: RenderedPrompt) -> list[bytes]:
    request = openai_chat.to_request(rendered)
    return [
        json_module.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "replace"
        )
        for message in request["messages"]
    ]


def _excerpt(data: bytes, byte: int) -> str:
    part = data[max(0, byte - _AROUND) : byte + _AROUND].decode("utf-8", "ignore")
    before = "…" if byte > _AROUND else ""
    after = "…" if byte + _AROUND < len(data) else ""
    return f"{before}{part}{after}"
