"""The definition of a tool out of what people have: a typed function, a pydantic model, a schema.

A definition is a name, a description and a JSON Schema in a stable order. It imports no pydantic
and knows no messages and no provider.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, NewType, Union, cast, get_args, get_origin

from promptsections.errors import DefinitionError

Schema = dict[str, Any]
"""A JSON Schema, or a part of one."""


class Definition(NamedTuple):
    """What a model is told about a tool."""

    name: str
    description: str
    parameters: Schema


def of_model(
    model: object, *, name: str | None = None, description: str | None = None
) -> Definition:
    """Read a class with `model_json_schema()`, as pydantic's are.

    Its docstring is the description.

    Raises:
        DefinitionError: if it is no such class.
    """
    build = getattr(model, "model_json_schema", None)
    if not isinstance(model, type) or not callable(build):
        raise DefinitionError(
            f"{model!r} is no class with model_json_schema(): pass a pydantic model, "
            "or use Tool.from_function for a function"
        )
    schema = dict(cast("Mapping[str, Any]", build()))
    schema.pop("title", None)  # the name says it
    own = str(schema.pop("description", ""))
    return Definition(name or model.__name__, own if description is None else description, schema)


def of_function(
    function: Callable[..., object], *, name: str | None = None, description: str | None = None
) -> Definition:
    """Read the name, docstring and typed parameters of a function.

    The docstring's text is the description, its Google-style `Args:` describe the parameters, as
    does a text in `Annotated`. A default makes a parameter optional, and is shown where it is JSON.

    Raises:
        DefinitionError: if a parameter cannot be given by name or its type has no JSON form.
    """
    name = name or getattr(function, "__name__", None)
    if not name or name == "<lambda>":
        raise DefinitionError(f"{function!r} has no name that a model could call: pass name=…")
    own, about = _docstring(inspect.getdoc(function) or "")
    properties: Schema = {}
    required: list[str] = []
    writer = _Writer(f"Tool {name!r}")
    for parameter, hint in _parameters(function, name):
        schema = writer.schema(hint, f"parameter {parameter.name!r}")
        if parameter.name in about:
            schema["description"] = about.pop(parameter.name)
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
        else:
            schema |= _default(parameter.default)
        properties[parameter.name] = schema
    if about:
        raise DefinitionError(
            f"Tool {name!r}: the docstring describes {', '.join(map(repr, about))}, "
            f"but the parameters are {', '.join(map(repr, properties)) or 'none'}"
        )
    schema = _object(properties, required) | writer.definitions
    return Definition(name, own if description is None else description, schema)


def _parameters(
    function: Callable[..., object], name: str
) -> Iterator[tuple[inspect.Parameter, object]]:
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        signature = inspect.signature(function)
    except (NameError, TypeError, ValueError) as error:
        raise DefinitionError(f"Tool {name!r}: its types cannot be read: {error}") from error
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for parameter in signature.parameters.values():
        if parameter.kind not in by_name:
            bare = parameter.replace(annotation=inspect.Parameter.empty)
            raise DefinitionError(
                f"Tool {name!r}: parameter '{bare}' cannot be given by name; a model gives "
                "each argument by its name, so write them out"
            )
        if parameter.name not in hints:
            raise DefinitionError(
                f"Tool {name!r}: parameter {parameter.name!r} has no type: annotate it"
            )
        yield parameter, hints[parameter.name]


def _default(value: object) -> Schema:
    value = value.value if isinstance(value, Enum) else value
    try:
        return {"default": json.loads(json.dumps(value, allow_nan=False))}
    except (TypeError, ValueError):
        return {}  # the function fills it in; a model need not see it


# --- types --------------------------------------------------------------------------------------

_PLAIN: Mapping[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    None: "null",
    types.NoneType: "null",
}
_LISTS = (list, Sequence, tuple)
_MAPPINGS = (dict, Mapping)


def _object(properties: Schema, required: Sequence[str]) -> Schema:
    """Write an object with these properties and no others."""
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema | {"additionalProperties": False}


class _Writer:
    """Writes types as schemas; what it is in is named in errors."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._open: list[object] = []
        self._shared: Schema = {}

    @property
    def definitions(self) -> Schema:
        """The `$defs` that pydantic models among the types refer to."""
        return {"$defs": self._shared} if self._shared else {}

    def schema(self, hint: Any, place: str) -> Schema:
        """Write a type; `place` says whose it is."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            texts = [text for text in arguments[1:] if isinstance(text, str)]
            described = {"description": texts[0]} if texts else {}
            return self.schema(arguments[0], place) | described
        if isinstance(hint, NewType):
            return self.schema(hint.__supertype__, place)
        if hint is Any or hint is object:
            return {}
        if hint in _PLAIN:
            return {"type": _PLAIN[hint]}
        if origin is Literal:
            return self._choice(arguments, place)
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.schema(argument, place) for argument in arguments]}
        if hint in _LISTS or origin in _LISTS:
            return self._list(hint, arguments, place)
        if hint in _MAPPINGS or origin in _MAPPINGS:
            return self._mapping(hint, arguments, place)
        return self._class(hint, place)

    def _choice(self, values: Sequence[object], place: str) -> Schema:
        kinds = {_PLAIN.get(type(value)) for value in values}
        if None in kinds:
            raise self._error(place, f"one of {list(values)!r}", "choose between texts or numbers")
        kind = {"type": kinds.pop()} if len(kinds) == 1 else {}
        return kind | {"enum": list(values)}

    def _list(self, hint: Any, arguments: Sequence[Any], place: str) -> Schema:
        if not arguments:
            return {"type": "array", "items": {}}
        is_tuple = get_origin(hint) is _LISTS[-1]
        if is_tuple and (len(arguments) != 2 or arguments[1] is not Ellipsis):
            raise self._error(place, hint, "write tuple[T, ...], a list or a dataclass")
        return {"type": "array", "items": self.schema(arguments[0], place)}

    def _mapping(self, hint: object, arguments: Sequence[Any], place: str) -> Schema:
        if not arguments:
            return {"type": "object"}
        if arguments[0] is not str:
            raise self._error(place, hint, "the keys of a JSON object are texts: dict[str, …]")
        return {"type": "object", "additionalProperties": self.schema(arguments[1], place)}

    def _class(self, hint: Any, place: str) -> Schema:
        if hint in self._open:
            raise self._error(place, hint, "it holds itself; pass a JSON schema instead")
        self._open.append(hint)
        try:
            if typing.is_typeddict(hint):
                return self._typed_dict(hint, place)
            if isinstance(hint, type) and issubclass(hint, Enum):
                return self._choice([member.value for member in hint], place)
            if isinstance(hint, type) and dataclasses.is_dataclass(cast("object", hint)):
                return self._dataclass(hint, place)
            if hasattr(hint, "model_json_schema"):
                return self._model(hint, place)
        finally:
            self._open.pop()
        raise self._error(
            place,
            hint,
            "use str, int, float, bool, list, dict, Literal, Enum, TypedDict, a dataclass",
        )

    def _typed_dict(self, hint: Any, place: str) -> Schema:
        hints = typing.get_type_hints(hint, include_extras=True)
        # Under `from __future__ import annotations` the class itself does not see NotRequired.
        required = [
            name
            for name, of in hints.items()
            if get_origin(of) is typing.Required
            or (name in hint.__required_keys__ and get_origin(of) is not typing.NotRequired)
        ]
        return self._fields(hints, required, place)

    def _model(self, hint: Any, place: str) -> Schema:
        schema = of_model(hint).parameters
        for name, shared in schema.pop("$defs", {}).items():
            if self._shared.setdefault(name, shared) != shared:
                raise self._error(place, hint, f"two models in it are named {name!r}")
        return schema

    def _dataclass(self, hint: Any, place: str) -> Schema:
        hints = typing.get_type_hints(hint, include_extras=True)
        taken = [field for field in dataclasses.fields(hint) if field.init]
        missing = dataclasses.MISSING
        required = [
            field.name
            for field in taken
            if field.default is missing and field.default_factory is missing
        ]
        return self._fields({field.name: hints[field.name] for field in taken}, required, place)

    def _fields(self, hints: Mapping[str, Any], required: list[str], place: str) -> Schema:
        properties: Schema = {}
        for name, hint in hints.items():
            while get_origin(hint) in (typing.Required, typing.NotRequired):
                hint = get_args(hint)[0]
            properties[name] = self.schema(hint, f"{place}, field {name!r}")
        return _object(properties, required)

    def _error(self, place: str, hint: object, advice: str) -> DefinitionError:
        written = getattr(hint, "__qualname__", None) if isinstance(hint, type) else None
        return DefinitionError(
            f"{self._owner}: {place}: {written or hint} has no JSON form: {advice}"
        )


# --- docstrings ---------------------------------------------------------------------------------

_SECTION = re.compile(
    r"(args|arguments|parameters|returns?|raises|yields?|examples?|notes?|see also|warnings?):",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"(?P<indent>\s+)\*{0,2}(?P<name>\w+)\s*(?:\([^)]*\))?:\s*(?P<text>.*)")


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """Part a docstring into its description and what `Args:` says of each parameter."""
    description: list[str] = []
    about: dict[str, str] = {}
    section = name = ""
    indent = -1
    for line in text.splitlines():
        if header := _SECTION.fullmatch(line.rstrip()):
            section, name, indent = header[1].lower(), "", -1
        elif not section:
            description.append(line)
        elif section in ("args", "arguments", "parameters"):
            entry = _ENTRY.fullmatch(line)
            if entry and (indent < 0 or len(entry["indent"]) <= indent):
                indent, name = len(entry["indent"]), entry["name"]
                about[name] = entry["text"].strip()
            elif name and line.strip():
                about[name] = f"{about[name]} {line.strip()}".strip()
    return "\n".join(description).strip(), about


# --- order --------------------------------------------------------------------------------------

_FIRST = {key: place for place, key in enumerate(("type", "description", "enum", "properties"))}


def in_order(schema: Mapping[str, Any]) -> Schema:
    """Return a copy of plain data whose keys stand in one order, however they were written.

    Equal tools then are equal bytes, which prompt caches ask for. Properties stand in the order of
    `required`, since models answer in that order, then by name; lists stay as they are.

    Raises:
        TypeError, ValueError: if it is no JSON.
    """
    text = json.dumps(schema, ensure_ascii=False, allow_nan=False)
    return cast("Schema", json.loads(text, object_pairs_hook=_sorted))


def _sorted(pairs: list[tuple[str, Any]]) -> Schema:
    found = dict(sorted(pairs, key=lambda pair: (_FIRST.get(pair[0], len(_FIRST)), pair[0])))
    properties, required = found.get("properties"), cast("object", found.get("required"))
    if isinstance(properties, dict):
        named = cast("Schema", properties)
        first = cast("list[object]", required) if isinstance(required, list) else ()
        names = [name for name in first if isinstance(name, str) and name in named]
        found["properties"] = {n: named[n] for n in dict.fromkeys([*names, *sorted(named)])}
    return found
