"""Read prompts in our own format: YAML, JSON and TOML that say the same.

Nothing in a document is ever executed, and it reads no file outside its folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from pydantic import ValidationError

from promptsections.checking import walk
from promptsections.config.files import one_line_end, read_text
from promptsections.config.json_nodes import parse_json, read_json
from promptsections.config.models import all_kinds, document_adapter, document_model
from promptsections.config.nodes import Items, Mistake, Node, Table, settle, to_plain
from promptsections.config.problems import config_error, from_pydantic
from promptsections.config.prompt_file import Place, PromptFile
from promptsections.config.remarks import Remarks
from promptsections.config.samples import SampleSource
from promptsections.config.toml_nodes import parse_toml
from promptsections.config.values import Reading
from promptsections.config.yaml_nodes import parse_yaml
from promptsections.errors import ConfigError, DefinitionError, Problem
from promptsections.notes import Note
from promptsections.prompt import Prompt
from promptsections.sections import DataSourceSection, GroupSection, PromptSection

Syntax = Literal["yaml", "json", "toml"]
"""What a document may be written in."""

SUFFIXES: Mapping[str, Syntax] = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".toml": "toml",
}
_PARSERS: Mapping[Syntax, Callable[[str], Node]] = {
    "yaml": parse_yaml,
    "json": parse_json,
    "toml": parse_toml,
}

KindsLike = Mapping[str, type[PromptSection]]
Callables = Mapping[str, Callable[..., Any]]


class LoadOptions(TypedDict, total=False):
    """What a document is read with."""

    kinds: KindsLike | None
    """Your own sections: the name that a document uses → the class."""
    callables: Callables | None
    """Data sources and other functions that the document names."""
    missing_sources: Literal["error", "empty"]
    """`"empty"`: a data source that is not passed in finds nothing, and a note says so."""


def load(path: str | PathLike[str], **options: Unpack[LoadOptions]) -> Prompt:
    """Read a prompt from a YAML, JSON or TOML file.

    Args:
        path: The file; its ending says what it is written in.
        options: See `LoadOptions`.

    Raises:
        ConfigError: if the file is missing or anything in it is wrong; it names all of it.
    """
    return read_prompt_file(path, **options).prompt


def read_prompt_file(path: str | PathLike[str], **options: Unpack[LoadOptions]) -> PromptFile:
    """Read a prompt and all that its file says beside it: model, budget, sample memory, places.

    Args:
        path: The file; its ending says what it is written in.
        options: See `LoadOptions`.

    Raises:
        ConfigError: if the file is missing or anything in it is wrong; it names all of it.
    """
    file = Path(path).absolute()
    text = read_text(file)
    node = parse(text, syntax_of(file), str(file))
    return _read(node, file, file.parent, options)


def loads(
    text: str,
    *,
    format: Syntax = "yaml",  # noqa: A002  it is what people call it
    folder: str | PathLike[str] | None = None,
    **options: Unpack[LoadOptions],
) -> PromptFile:
    """Read a prompt from a text.

    Args:
        text: The document.
        format: What it is written in.
        folder: Where the files stand that it names; by default it may name none.
        options: See `LoadOptions`.

    Raises:
        ConfigError: if anything in it is wrong; it names all of it.
    """
    node = parse(one_line_end(text), format, TEXT)
    return _read(node, None, None if folder is None else Path(folder), options)


TEXT = "<text>"
"""Stands for the file in errors about a text."""


def syntax_of(path: Path) -> Syntax:
    """Return what a file is written in, by its ending.

    Raises:
        ConfigError: if the ending is none that is known.
    """
    syntax = SUFFIXES.get(path.suffix.lower())
    if syntax is None:
        raise ConfigError(
            f"{path}: prompts are read from files that end in {', '.join(SUFFIXES)}",
            path=str(path),
            kind="invalid",
        )
    return syntax


def check_syntax(syntax: str) -> None:
    """Refuse formats that nobody knows.

    Raises:
        DefinitionError: names those that there are.
    """
    if syntax not in _PARSERS:
        raise DefinitionError(f"format={syntax!r} must be one of {', '.join(_PARSERS)}")


def parse(text: str, syntax: Syntax, file: str) -> Node:
    """Read the nodes of a document.

    Raises:
        DefinitionError: if nobody knows that format.
        ConfigError: if it is not written in that.
    """
    check_syntax(syntax)
    try:
        return _PARSERS[syntax](text)
    except Mistake as mistake:
        raise config_error([Problem(mistake.message, mistake.line)], file) from None


def read_data(text: str, suffix: str, *, name: str = TEXT) -> Any:
    """Read plain data, such as memory, from a YAML, JSON or TOML text.

    YAML's unquoted values are numbers only if they print as they are written: `1.10`, `007` and
    `1_000` are texts, and so is `no`.

    Args:
        text: The data.
        suffix: The ending of its file: `.yaml`, `.yml`, `.json`, `.toml`.
        name: What errors call it.

    Raises:
        ConfigError: if it cannot be read.
    """
    syntax = syntax_of(Path(name if name.endswith(suffix) else name + suffix))
    text = one_line_end(text)
    if syntax == "json":
        with suppress(ValueError, RecursionError):
            return read_json(text)
    return settle(to_plain(parse(text, syntax, name)))


def _read(node: Node, path: Path | None, folder: Path | None, options: LoadOptions) -> PromptFile:
    kinds = all_kinds(options.get("kinds"))
    reading = Reading(
        folder=folder,
        callables=options.get("callables") or {},
        empty_sources=options.get("missing_sources", "error") == "empty",
    )
    file = str(path) if path else TEXT
    if not isinstance(node, Table):
        problem = Problem("a prompt is a table with the key 'sections'", node.line)
        raise config_error([problem], file)
    try:
        prompt, settings = document_adapter(kinds).validate_python(to_plain(node), context=reading)
    except ValidationError as error:
        raise from_pydantic(error, node, file, document_model(kinds)) from None
    return PromptFile(
        prompt=prompt,
        format="promptsections",
        path=path,
        name=prompt.name,
        description=settings.description,
        model=settings.model,
        budget=settings.budget,
        reserve_output_tokens=settings.reserve_output_tokens,
        memory=settings.memory,
        variables=settings.variables,
        functions=None if settings.functions is None else tuple(settings.functions),
        options=settings.options,
        places={} if path is None else dict(_places(prompt, node, path)),
        keys={}
        if path is None
        else {key: Place(path, line) for key, line in node.key_lines.items()},
        notes=_notes(prompt, reading),
    )


def _notes(prompt: Prompt, reading: Reading) -> tuple[Note, ...]:
    """Return a note for every data source that is empty because none was passed in."""
    remarks = Remarks()
    for path, section in walk(prompt):
        source = section.source if isinstance(section, DataSourceSection) else None
        if isinstance(source, SampleSource) and source.name in reading.absent:
            remarks.say("sources_missing", path, f"no data source {source.name!r} was given")
    return tuple(remarks.notes)


def _places(
    group: GroupSection, node: Table, file: Path, above: str = ""
) -> Iterator[tuple[str, Place]]:
    """Yield the path of every section, with the line where it is written."""
    written = node.items.get("sections")
    nodes = written.items if isinstance(written, Items) else []
    for name, section, inner in zip(group.names, group.sections, nodes, strict=True):
        path = f"{above}/{name}" if above else name
        yield path, Place(file, inner.line)
        if isinstance(section, GroupSection) and isinstance(inner, Table):
            yield from _places(section, inner, file, path)
