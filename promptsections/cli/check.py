"""`promptsections check`: mistakes of prompt files, with file and line, for people and for CI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from promptsections.cli import streams
from promptsections.cli.failures import FINDINGS
from promptsections.cli.inputs import read_memory, write_notes
from promptsections.cli.options import BudgetOption, JsonOption, ModelOption
from promptsections.cli.places import shown
from promptsections.config import open_prompt
from promptsections.config.checks import check_file, unreadable
from promptsections.config.findings import Finding
from promptsections.errors import ConfigError


def run(
    *,
    prompts: Annotated[
        list[str], typer.Argument(metavar="PROMPT…", help="Prompt files or folders.")
    ],
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory", "-m", metavar="FILE", help="Compare variables with this memory instead."
        ),
    ] = None,
    function: Annotated[
        list[str] | None,
        typer.Option("--function", "-f", metavar="NAME", help="A function that there will be."),
    ] = None,
    budget: BudgetOption = None,
    model: ModelOption = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with code 1 for warnings too.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Check prompt files, and write a line for each mistake."""
    example = None if memory is None else read_memory(memory)
    found: list[Finding] = []
    for prompt in prompts:
        try:
            file = open_prompt(prompt)
        except ConfigError as error:
            found += unreadable(error, prompt)
            continue
        write_notes(prompt, file)
        found += check_file(
            file, memory=example, functions=function or (), model=model, budget=budget
        )
    if json:
        streams.write_json({"findings": [_facts(one) for one in found], "checked": len(prompts)})
    else:
        for one in found:
            streams.write(streams.drawn(f"{_line(one)}\n"))
        streams.write_error(_summary(found, len(prompts)))
    if any(strict or one.severity == "error" for one in found):
        raise typer.Exit(FINDINGS)


def _line(found: Finding) -> str:
    where = f"{shown(found.place)}: " if found.place else ""
    section = f"section {found.path!r}: " if found.path else ""
    return f"{where}{found.severity} {found.code}: {section}{found.message}"


def _facts(found: Finding) -> dict[str, Any]:
    place = found.place
    return {
        "code": found.code.value,
        "severity": found.severity,
        "file": None if place is None else Path(place.file).as_posix(),
        "line": None if place is None else place.line,
        "section": found.path,
        "message": found.message,
    }


def _summary(found: Sequence[Finding], checked: int) -> str:
    errors = sum(one.severity == "error" for one in found)
    files = f"{checked} prompt{'s' * (checked != 1)}"
    if not found:
        return f"{files} checked, nothing found"
    return f"{files} checked: {errors} error(s), {len(found) - errors} warning(s)"
