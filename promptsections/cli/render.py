"""`promptsections render`: a prompt as people read it, or as a provider takes it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from promptsections import Message, RenderedPrompt, TextPart
from promptsections.cli import streams, tables
from promptsections.cli.inputs import read_job
from promptsections.cli.options import (
    BudgetOption,
    Format,
    FunctionOption,
    JsonOption,
    MemoryOption,
    ModelOption,
    PromptArgument,
    VarOption,
)
from promptsections.cli.places import placed
from promptsections.providers import (
    anthropic_messages,
    bedrock_converse,
    gemini,
    openai_chat,
    openai_responses,
)

_REQUESTS: Mapping[Format, Callable[..., Mapping[str, Any]]] = {
    Format.OPENAI: openai_chat.to_request,
    Format.RESPONSES: openai_responses.to_request,
    Format.ANTHROPIC: anthropic_messages.to_request,
    Format.GEMINI: gemini.to_request,
    Format.BEDROCK: bedrock_converse.to_request,
}


def run(
    *,
    prompt: PromptArgument,
    memory: MemoryOption = None,
    var: VarOption = None,
    function: FunctionOption = None,
    budget: BudgetOption = None,
    model: ModelOption = None,
    format: Annotated[  # noqa: A002  the option's name
        Format | None,
        typer.Option("--format", help="Write a provider's request, or the prompt as one text."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what every section got, and why.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Render a prompt, and write it to standard output."""
    job = read_job(
        prompt,
        memory=memory,
        variables=var,
        functions=function,
        budget=budget,
        model=model,
        output="text" if format is Format.TEXT else None,
    )
    rendered = job.render()
    with placed(job.file.places):
        request = _request(rendered, format, model or job.file.model)
    if json:
        streams.write_json({**_facts(rendered), "request": request})
    elif format is None:
        streams.write(_reading(rendered))
    elif format is Format.TEXT:
        streams.write(_line(rendered.text))
    else:
        streams.write_json(request)
    if explain and not json:
        _explain(rendered, beside_data=format is not None)


def _request(rendered: RenderedPrompt, format: Format | None, model: str | None) -> Any:  # noqa: A002
    if format is Format.TEXT:
        return rendered.text
    return _REQUESTS[format or Format.OPENAI](rendered, model=model)


def _facts(rendered: RenderedPrompt) -> dict[str, Any]:
    return {
        "model": rendered.model,
        "token_count": rendered.token_count,
        "exact": rendered.exact,
        "layout": rendered.layout.to_dict(),
    }


def _explain(rendered: RenderedPrompt, *, beside_data: bool) -> None:
    """Write the table below the messages, or where it does not get between a pipe and its data."""
    if beside_data:
        streams.write_error(rendered.explain())
    else:
        streams.write(streams.drawn("\n" + _line(rendered.explain())))


# --- messages for people ------------------------------------------------------------------------


def _reading(rendered: RenderedPrompt) -> str:
    """Write messages under their roles; a prompt of one message is just its text."""
    if len(rendered.messages) == 1:
        return _line(_body(rendered.messages[0]))
    return "\n".join(f"{_head(message)}\n{_line(_body(message))}" for message in rendered.messages)


def _head(message: Message) -> str:
    name = f" {message.name}" if message.name else ""
    head = streams.drawn(f"── {message.role}{name} ──")
    return tables.styled(head, "bold cyan") if sys.stdout.isatty() else head


def _body(message: Message) -> str:
    lines: list[str] = []
    if isinstance(message.content, str):
        lines.append(message.content)
    for part in message.content if isinstance(message.content, tuple) else ():
        lines.append(part.text if isinstance(part, TextPart) else f"[{_kind(part)}]")
    lines += [f"[call {call.name} {call.arguments}]" for call in message.tool_calls]
    return "\n".join(lines)


def _kind(part: object) -> str:
    return type(part).__name__.removesuffix("Part").lower()


def _line(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
