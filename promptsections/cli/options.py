"""Options that several commands have, declared once; it reads nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """What `render` writes."""

    OPENAI = "openai"
    RESPONSES = "responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    BEDROCK = "bedrock"
    TEXT = "text"


PromptArgument = Annotated[
    str, typer.Argument(metavar="PROMPT", help="A prompt file, or a prompt folder of Teams AI.")
]
MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        "-m",
        metavar="FILE",
        help="Memory as JSON, YAML or TOML in place of the prompt's sample; - is standard input.",
    ),
]
VarOption = Annotated[
    list[str] | None,
    typer.Option(
        "--var",
        "-v",
        metavar="PATH=TEXT",
        help="Set a value of memory to a text, or with PATH:=JSON to any value; repeatable.",
    ),
]
FunctionOption = Annotated[
    list[str] | None,
    typer.Option(
        "--function",
        "-f",
        metavar="NAME=TEXT",
        help="What a template function returns, as a text or with NAME:=JSON; repeatable.",
    ),
]
BudgetOption = Annotated[
    int | None,
    typer.Option("--budget", "-b", metavar="TOKENS", min=1, help="Tokens of the whole input."),
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="Count for this model, within its window."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON, for machines.")]
