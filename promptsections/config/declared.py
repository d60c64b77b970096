"""Names that a prompt file uses, against what it declares: variables and functions.

It reads schemas as far as names go; it validates no values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard, cast

from promptsections.checking import walk
from promptsections.config.findings import Code, Finding, finding
from promptsections.config.prompt_file import PromptFile
from promptsections.fences import Fence
from promptsections.memory import MISSING, explain_miss, lookup
from promptsections.sections import (
    ConversationHistory,
    DataSourceSection,
    MemorySection,
    PromptSection,
    TemplateSection,
    UserInput,
)
from promptsections.templates.suggestions import did_you_mean, suggest, suggest_path

_USUAL = {"input", "history"}
"""What a user's input, a history and a data source read unless told otherwise; every bot has it, so
nobody need declare it."""
_UNREADABLE = {"$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "patternProperties", "if"}
"""Keywords of JSON Schema behind which anything may be allowed."""
_PLAIN_TYPES = {"string", "number", "integer", "boolean", "null"}


def check_names(
    file: PromptFile, memory: Mapping[str, Any] | None, functions: frozenset[str]
) -> Iterator[Finding]:
    """Yield a finding for each name that is used and that nobody provides.

    Variables are compared with the memory that is given, else with what the file declares, else
    with its sample; functions only if the file declares some, or some are given.
    """
    known = functions.union(file.functions or ())
    for path, section in walk(file.prompt):
        if isinstance(section, TemplateSection) and (file.functions is not None or functions):
            for name in section.template.functions:
                if name not in known:
                    hint = did_you_mean(name, suggest(name, known))
                    message = f"function {name!r} is not declared{hint}"
                    yield finding(file, Code.UNKNOWN_FUNCTION, path, message)
        for variable in _read_by(section):
            wrong = _wrong(file, memory, variable, needed=isinstance(section, TemplateSection))
            if wrong:
                yield finding(file, Code.UNDEFINED_VARIABLE, path, f"variable {variable!r} {wrong}")


def _read_by(section: PromptSection) -> Sequence[str]:
    """Return the paths in memory that a section reads; of sections of users nothing is known."""
    match section:
        case TemplateSection():
            return section.template.variables
        case MemorySection() | ConversationHistory():
            return (section.variable,)
        case UserInput():
            return (section.variable, section.files) if section.files else (section.variable,)
        case DataSourceSection(fence=Fence(variable=str(key))):
            return (section.query, key)
        case DataSourceSection():
            return (section.query,)
        case _:
            return ()


def _wrong(
    file: PromptFile, memory: Mapping[str, Any] | None, variable: str, *, needed: bool
) -> str | None:
    """Say what is wrong with a path, or `None`; what is not needed may be missing in an example."""
    if memory is None and file.variables is not None:
        return undeclared(file.variables, variable)
    example = memory if memory is not None else file.memory or None
    if example is None or not needed or lookup(example, variable) is not MISSING:
        return None
    miss = explain_miss(example, variable)
    hint = did_you_mean(variable, suggest_path(variable, miss))
    return f"{miss.reason}{hint}"


def undeclared(variables: Mapping[str, Mapping[str, Any]], path: str) -> str | None:
    """Say that a path in memory is not declared, and what may be meant; `None` if it is."""
    if path in _USUAL or declares(variables, path):
        return None
    return f"is not declared{did_you_mean(path, suggest(path, _paths(variables)))}"


def _paths(schemas: Mapping[str, Any], above: str = "", depth: int = 5) -> Iterator[str]:
    """Yield all paths that are declared by name, of properties in schemas too."""
    for name, schema in schemas.items():
        yield f"{above}{name}"
        inner = schema.get("properties") if _is_table(schema) else None
        if _is_table(inner) and depth:
            yield from _paths(inner, f"{above}{name}.", depth - 1)


def declares(variables: Mapping[str, Mapping[str, Any]], path: str) -> bool:
    """Say whether a path leads to something declared, to a part of it, or to what holds it."""
    if any(name == path or name.startswith(f"{path}.") for name in variables):
        return True
    parts = path.split(".")
    for end in range(len(parts) - 1, 0, -1):
        schema = variables.get(".".join(parts[:end]))
        if schema is not None:
            return _allows(schema, parts[end:])
    return False


def _allows(schema: Any, parts: Sequence[str]) -> bool:
    """Say whether a value of a schema may have such parts.

    Where properties are listed, others are taken for misspelt, unless `additionalProperties` allows
    them in so many words.
    """
    for part in parts:
        if not _is_table(schema) or _UNREADABLE & schema.keys():
            return schema is not False
        kinds = schema.get("type")
        kinds = {kinds} if isinstance(kinds, str) else set(cast("list[str]", kinds or ()))
        named = schema.get("properties")
        if _is_table(named) and part in named:
            schema = named[part]
        elif schema.get("additionalProperties"):
            schema = schema["additionalProperties"]
        elif "items" in schema or "array" in kinds:
            if not (part.isascii() and part.isdigit()):
                return False
            schema = schema.get("items", True)
        else:
            return not (named or (kinds and kinds <= _PLAIN_TYPES))
    return schema is not False


def _is_table(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)
