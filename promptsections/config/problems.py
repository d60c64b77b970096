"""From what pydantic found to errors that say file, line, place, what is wrong and what to do.

None of pydantic's own words reach the reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never, cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import TypeAliasType

from promptsections.config.nodes import Items, Location, Node, Scalar, Table, find, line_of, shown
from promptsections.config.values import describe, read_string
from promptsections.errors import ConfigError, Problem, TemplateSyntaxError
from promptsections.templates.suggestions import did_you_mean, suggest

_NAMES = {"dict_type": "a table", "model_type": "a table", "list_type": "a list"}


def config_error(problems: Sequence[Problem], file: str, path: str = "") -> ConfigError:
    """Return the error of a file that was read but is wrong."""
    lines = [_line(problem, file) for problem in problems]
    message = lines[0] if len(lines) == 1 else "\n".join([f"{file}: {len(lines)} problems", *lines])
    return ConfigError(message, path=path or file, kind="invalid", problems=problems)


def _line(problem: Problem, file: str) -> str:
    place = f"{file}:{problem.line}" if problem.line else file
    return ": ".join(part for part in (place, problem.where, problem.message) if part)


def from_pydantic(
    error: ValidationError, document: Node, file: str, model: type[BaseModel] | None
) -> ConfigError:
    """Return one error for all that is wrong with a document, in the order of its lines."""
    details = _deepest(error.errors(include_url=False, include_input=False))
    problems = [_problem(detail, document, model) for detail in details]
    problems = _joined(problems)
    problems.sort(key=lambda problem: problem.line or 0)
    causes = [detail.get("ctx", {}).get("error") for detail in details]
    missing = [c for c in causes if isinstance(c, ConfigError) and c.kind == "missing"]
    made = config_error(problems, file)
    if len(missing) == len(causes):
        made.kind, made.path = "missing", missing[0].path
    return made


def _problem(detail: ErrorDetails, document: Node, model: type[BaseModel] | None) -> Problem:
    steps = detail["loc"]
    location = [step for step in steps if not _is_tag(step)]
    cause = detail.get("ctx", {}).get("error")
    line = line_of(document, location)
    message = str(cause) if cause else ""
    match detail["type"]:
        case "missing":
            message = f"{location.pop()!r} is missing here"
        case "extra_forbidden":
            key = str(location.pop())
            message = f"unknown key {key!r}{_hint(key, steps[:-1], model)}"
        case "union_tag_invalid" | "union_tag_not_found":
            message = _kind_problem(find(document, location) or document, detail)
        case kind if kind in _NAMES:
            message = (
                f"must be {_NAMES[kind]}, not {_describe(find(document, location) or document)}"
            )
        case _ if isinstance(cause, TemplateSyntaxError):
            template = find(document, location)
            line = _template_line(template, cause) or line
            message = f"{_file_of(template)}{message}"
        case _:
            pass
    return Problem(message or detail["msg"], line, shown(location))


def _deepest(details: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out alternatives that do not fit at all where another one fits but for its parts."""
    places = [_split(detail["loc"]) for detail in details]
    return [
        detail
        for detail, (start, tags) in zip(details, places, strict=True)
        if not any(tag[1:-1].isdigit() for tag in tags)
        or not any(len(other) > len(start) and other[: len(start)] == start for other, _ in places)
    ]


def _split(steps: Sequence[str | int]) -> tuple[tuple[str | int, ...], list[str]]:
    """Part a location of pydantic into where it leads and the alternatives that end it."""
    start = list(steps)
    tags: list[str] = []
    while start and _is_tag(start[-1]):
        tags.append(str(start.pop()))
    return tuple(start), tags


def _joined(problems: Sequence[Problem]) -> list[Problem]:
    """Make one of what several alternatives say of one value."""
    found: dict[tuple[str, int | None], dict[str, None]] = {}
    for message, line, where in problems:
        found.setdefault((where, line), {})[message] = None
    return [Problem("; ".join(messages), line, where) for (where, line), messages in found.items()]


def _is_tag(step: str | int) -> bool:
    """Say whether a step of pydantic's location is an alternative, which no document knows."""
    return isinstance(step, str) and step.startswith("<") and step.endswith(">")


def _describe(node: Node) -> str:
    match node:
        case Table():
            return "a table"
        case Items():
            return "a list"
        case Scalar():
            return describe(node.value)
        case _:
            assert_never(node)


def _kind_problem(node: Node, detail: ErrorDetails) -> str:
    """Say what is wrong with a section that is of no known kind."""
    if not isinstance(node, Table):
        return f"a section must be a table with a kind, not {_describe(node)}"
    if "kind" not in node.items:
        return "'kind' is missing here: it says what the section is, such as text or system_message"
    written = node.items["kind"]
    try:
        name = read_string(written.value if isinstance(written, Scalar) else None)
    except ValueError:
        return f"'kind' must be a name, not {_describe(written)}"
    expected = str(detail.get("ctx", {}).get("expected_tags", ""))
    kinds = sorted(kind.strip("'<> ") for kind in expected.split(", "))
    return f"unknown kind {name!r}{_near(name, kinds)}"


def _template_line(node: Node | None, error: TemplateSyntaxError) -> int | None:
    """Return the line of the file where a template is wrong, if its lines are lines of the file."""
    if isinstance(node, Table):
        node = node.items.get("text")
    if isinstance(node, Scalar) and node.text_line is not None:
        return node.text_line + error.line - 1
    return None


def _file_of(node: Node | None) -> str:
    """Begin a message about a template that stands in a file of its own."""
    written = node.items.get("file") if isinstance(node, Table) else None
    return f"in {read_string(written.value)!r}, " if isinstance(written, Scalar) else ""


# --- which keys there are -------------------------------------------------------------------------


def _hint(key: str, steps: Location, model: type[BaseModel] | None) -> str:
    every = [name for found in _models_at(model, steps) for name in _keys(found)]
    known = [name for name in every if name != key]  # which another table may have there
    return _near(key, known)


def _near(name: str, known: Sequence[str]) -> str:
    """Name what is near, or else all there is."""
    listed = f"; known are {', '.join(known)}" if known else ""
    meant = [other for other in _OTHER_WORDS.get(name, ()) if other in known]
    parts = (other for other in known if name in other.split("_"))
    near = meant or suggest(name, known) or parts
    return did_you_mean(name, near) or listed


_OTHER_WORDS: Mapping[str, Sequence[str]] = {
    "budget": ("tokens",),
    "content": ("text", "template"),
    "file": ("text", "template"),
    "prompt": ("template",),
    "template": ("text",),
    "text": ("template",),
    "type": ("kind",),
}
"""What other formats call a key → what it may be here."""


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _models_at(model: type[BaseModel] | None, steps: Location) -> list[type[BaseModel]]:
    """Return the models that a table at some place may be of."""
    found = [model] if model is not None else []
    for step in steps:
        if isinstance(step, int):
            continue
        if _is_tag(step):
            found = [other for other in found if _kind_of(other) in (None, step[1:-1])]
        else:
            found = [inner for other in found for inner in _models_of(other, step)]
    return found


def _kind_of(model: type[BaseModel]) -> str | None:
    return cast("str | None", getattr(model, "kind_of_section", None))


def _models_of(model: type[BaseModel], key: str) -> Iterator[type[BaseModel]]:
    for name, field in model.model_fields.items():
        if (field.alias or name) == key:
            yield from _models_in(field.annotation)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif isinstance(annotation, TypeAliasType):
        yield from _models_in(annotation.__value__)
    else:
        for inner in get_args(annotation):
            yield from _models_in(inner)
