"""What a render needs, out of the command line: the prompt, its memory, a renderer, a budget.

It prints nothing but a remark where something had to be assumed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from attrs import frozen

from promptsections import RenderedPrompt, Renderer
from promptsections.cli import streams
from promptsections.cli.failures import Failed
from promptsections.cli.places import placed
from promptsections.config import PromptFile, open_prompt, read_data
from promptsections.config.declared import undeclared
from promptsections.rendered import Resolved

PLENTY = 1_000_000
"""Tokens for a prompt that names neither a budget nor a model: nothing is cut."""


@frozen(kw_only=True)
class Job:
    """One prompt, and all that it is rendered with."""

    file: PromptFile
    renderer: Renderer
    memory: Mapping[str, Any]
    budget: int | None
    """Tokens; `None` is the model's window without the reserve for the answer."""

    def resolve(self, budget: int | None = None) -> Resolved:
        """Resolve the prompt, for another budget if one is given."""
        with placed(self.file.places):
            return self.renderer.resolve(
                self.file.prompt,
                self.memory,
                budget=budget or self.budget,
                reserve_output_tokens=self.file.reserve_output_tokens,
            )

    def render(self, budget: int | None = None) -> RenderedPrompt:
        """Render the prompt, at another budget if one is given."""
        with placed(self.file.places):
            return self.renderer.render(
                self.file.prompt,
                self.memory,
                budget=budget or self.budget,
                reserve_output_tokens=self.file.reserve_output_tokens,
            )


def read_job(
    prompt: str,
    *,
    memory: str | None = None,
    variables: Sequence[str] | None = None,
    functions: Sequence[str] | None = None,
    budget: int | None = None,
    model: str | None = None,
    output: Literal["messages", "text"] | None = None,
) -> Job:
    """Read what the options of a command name.

    Raises:
        Failed: if an input is missing or no such thing.
        DefinitionError: if the prompt is wrong, or no profile is known for the model.
    """
    file = open_prompt(prompt)
    write_notes(prompt, file)
    values = _memory(file, memory)
    for path, value in _pairs(variables, "--var"):
        values = _with(values, path.split("."), value, path)
        _remark_if_undeclared(file, path)
    stubs = {name: _returning(value) for name, value in _pairs(functions, "--function")}
    name = model or file.model
    if name is None:
        renderer = Renderer(tokenizer="o200k_base", functions=stubs, output=output)
        streams.write_error("promptsections: no model: counting text alone, as o200k_base does")
    else:
        renderer = Renderer(name, functions=stubs, output=output)
    tokens = budget or file.budget or (PLENTY if name is None else None)
    return Job(file=file, renderer=renderer, memory=values, budget=tokens)


def write_notes(prompt: str, file: PromptFile) -> None:
    """Say on standard error what of a file the prompt does not express."""
    for note in file.notes:
        streams.write_error(f"{prompt}: note {note.code} ({note.path}): {note.detail}")


def _remark_if_undeclared(file: PromptFile, path: str) -> None:
    """Say if a variable is set that the file does not declare: most likely it is misspelt."""
    outer = path.partition(".")[0]
    if file.variables is None or outer in ("input", "history"):
        return
    wrong = undeclared(file.variables, path)
    if wrong:
        streams.write_error(f"promptsections: --var {path}: the variable {wrong}")


def _memory(file: PromptFile, name: str | None) -> dict[str, Any]:
    """Return what is rendered with: a memory file takes the place of samples, not of defaults."""
    if name is None:
        return dict(file.memory)
    has_defaults = file.format in ("prompty", "semantic_kernel")
    return {**(file.memory if has_defaults else {}), **read_memory(name)}


def read_memory(name: str) -> Mapping[str, Any]:
    """Read memory from a file, by its ending, or from standard input."""
    suffix = Path(name).suffix.lower()
    shown = "standard input" if name == "-" else name
    data = read_data(streams.read_text(name), suffix or ".json", name=shown)
    if not isinstance(data, Mapping):
        raise Failed(f"{shown}: memory must be an object at the top, not {type(data).__name__}")
    return cast("Mapping[str, Any]", data)


def _pairs(words: Sequence[str] | None, option: str) -> list[tuple[str, Any]]:
    """Read `name=text` and `name:=json`."""
    return [_pair(_characters(word), option) for word in words or ()]


def _pair(word: str, option: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    is_json = name.endswith(":")
    name = name.removesuffix(":")
    if not equals or not name:
        raise Failed(f"promptsections: {option} {word!r}: write NAME=TEXT, or NAME:=JSON", 2)
    if not is_json:
        return name, text
    try:
        return name, json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Failed(f"promptsections: {option} {name}: no JSON: {error}", 2) from error


def _characters(word: str) -> str:
    """Return a word of the command line as it was typed, whatever the locale takes it for."""
    try:
        return os.fsencode(word).decode("utf-8")
    except UnicodeError:
        return word


def _returning(value: Any) -> Callable[..., Any]:
    """Make a template function that returns a value whatever it is asked."""

    def stub(*_: object, **__: object) -> Any:
        return value

    return stub


def _with(values: Mapping[str, Any], parts: Sequence[str], value: Any, path: str) -> dict[str, Any]:
    """Return a copy of a mapping with the value at a path; mappings on the way are made."""
    first, rest = parts[0], parts[1:]
    if not rest:
        return {**values, first: value}
    inner = values.get(first, {})
    if isinstance(inner, list):
        return {**values, first: _with_item(cast("list[Any]", inner), rest, value, path)}
    if not isinstance(inner, Mapping):
        raise _no_way(path, first, inner)
    return {**values, first: _with(cast("Mapping[str, Any]", inner), rest, value, path)}


def _with_item(items: list[Any], parts: Sequence[str], value: Any, path: str) -> list[Any]:
    first, rest = parts[0], parts[1:]
    if not (first.isascii() and first.isdigit() and int(first) < len(items)):
        raise Failed(
            f"promptsections: --var {path}: {first!r} is no index of a list of {len(items)}", 2
        )
    index = int(first)
    if not rest:
        return [*items[:index], value, *items[index + 1 :]]
    inner = items[index]
    if isinstance(inner, list):
        changed: Any = _with_item(cast("list[Any]", inner), rest, value, path)
    elif isinstance(inner, Mapping):
        changed = _with(cast("Mapping[str, Any]", inner), rest, value, path)
    else:
        raise _no_way(path, first, inner)
    return [*items[:index], changed, *items[index + 1 :]]


def _no_way(path: str, part: str, inner: object) -> Failed:
    kind = type(inner).__name__
    return Failed(f"promptsections: --var {path}: {part!r} is of type {kind} and has no parts", 2)
