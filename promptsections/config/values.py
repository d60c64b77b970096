"""How single values are written in a file: texts, numbers, budgets, templates, callables.

Each is an annotation for pydantic: how it is read, and its JSON Schema. YAML's unquoted values come
as `Unquoted`, so that a text is read as it is written and only a number is read as a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Union, cast, get_args

from attrs import define, field
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic.functional_validators import AfterValidator

from promptsections.blocks import Chunk
from promptsections.config.files import inside, read_text
from promptsections.config.nodes import Unquoted, as_written, settle
from promptsections.config.samples import SampleSource
from promptsections.errors import DefinitionError
from promptsections.messages import Message, Role, to_message
from promptsections.templates import Template
from promptsections.templates.suggestions import did_you_mean, suggest


@define
class Reading:
    """What a document is read with."""

    folder: Path | None = None
    """Where the files stand that it names; `None` if it may name none."""
    callables: Mapping[str, Callable[..., Any]] = field(factory=dict[str, "Callable[..., Any]"])
    samples: dict[str, tuple[Chunk, ...]] = field(factory=dict[str, "tuple[Chunk, ...]"])
    """Chunks that the document gives for its data sources; read before the sections."""
    empty_sources: bool = False
    """Whether a data source that nobody gives finds nothing; otherwise it is an error."""
    absent: set[str] = field(factory=set[str])
    """The names of those that were met."""


CLOSED = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())


def tag(name: str) -> Tag:
    """Name an alternative; the mark in front tells it from a key in pydantic's locations."""
    return Tag(f"<{name}>")


# --- texts, numbers, truth values -----------------------------------------------------------------


def read_string(value: object) -> str:
    """Read a text; without quotes in YAML too, exactly as it is written."""
    if isinstance(value, str):
        return value
    if isinstance(value, Unquoted):
        if value.text:
            return value.text
        raise ValueError('has no value: write "" for an empty text')
    raise ValueError(f"must be a text, not {describe(value)}")


def describe(value: object) -> str:
    """Name a value for an error, without showing all of it."""
    value = settle(value) if isinstance(value, Unquoted) else value
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a table"
        case list():
            return "a list"
        case str():
            return repr(value if len(value) <= 40 else value[:39] + "…")
        case _:
            return f"{value!r}"


def _read_flag(value: object) -> bool:
    if isinstance(value, Unquoted):
        value = _FLAGS.get(value.text.lower(), value)
    if isinstance(value, bool):
        return value
    raise ValueError(f"must be true or false, not {describe(value)}")


_FLAGS = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
}


def read_fraction(value: object) -> Fraction | None:
    """Read a number exactly as it is written; `None` if it is none."""
    text = value.text if isinstance(value, Unquoted) else repr(value)
    if isinstance(value, Unquoted | int | float) and not isinstance(value, bool):
        return Fraction(text) if _NUMBER.fullmatch(text) else None
    return None


_NUMBER = re.compile(
    r"[-+]?(0|[1-9](_?[0-9]){0,1000})?(\.[0-9]{1,1000})?([eE][-+]?[0-9]{1,3})?(?<=[0-9])"
)


def plain_number(value: Fraction) -> int | float | Fraction:
    """Return a number as a whole one or as a float, where these are exact."""
    if value.denominator == 1:
        return value.numerator
    return float(value) if Fraction(repr(float(value))) == value else value


def _read_whole(value: object) -> int:
    number = read_fraction(value)
    if number is not None and number.denominator == 1:
        return number.numerator
    raise ValueError(f"must be a whole number, not {describe(value)}{unquote(value)}")


def _read_positive(value: object) -> int:
    number = _read_whole(value)
    if number < 1:
        raise ValueError(f"must be 1 or more, not {number}")
    return number


def _read_number(value: object) -> float:
    number = read_fraction(value)
    if number is None:
        raise ValueError(f"must be a number, not {describe(value)}{unquote(value)}")
    return number.numerator if number.denominator == 1 else float(number)


def unquote(value: object) -> str:
    """Say what to do about a number that is written as a text."""
    is_number = isinstance(value, str) and _NUMBER.fullmatch(value)
    return ": write it without quotes" if is_number else ""


def nothing(value: object) -> object:
    """Return `None` for YAML's ways to write nothing, and anything else as it is."""
    return None if isinstance(value, Unquoted) and value.is_null else value


Text = Annotated[str, PlainValidator(read_string), WithJsonSchema({"type": "string"})]
Flag = Annotated[bool, PlainValidator(_read_flag), WithJsonSchema({"type": "boolean"})]
Whole = Annotated[int, PlainValidator(_read_whole), WithJsonSchema({"type": "integer"})]
Positive = Annotated[
    int, PlainValidator(_read_positive), WithJsonSchema({"type": "integer", "minimum": 1})
]
Number = Annotated[float, PlainValidator(_read_number), WithJsonSchema({"type": "number"})]
Anything = Annotated[Any, PlainValidator(settle), WithJsonSchema({})]


def optional(inner: Any) -> Any:
    """Return the annotation of a value that may be null."""
    return Annotated[inner | None, BeforeValidator(nothing)]


def choice(options: Sequence[object]) -> Any:
    """Return the annotation of one of these texts or numbers."""

    def read(value: object) -> object:
        return choice_of(options, value)

    return Annotated[object, PlainValidator(read), WithJsonSchema({"enum": list(options)})]


def choice_of(options: Sequence[object], value: object) -> object:
    """Return the option that a value names.

    Raises:
        ValueError: names the nearest one.
    """
    text = value.text if isinstance(value, Unquoted) else value
    for option in options:
        if text == option or (isinstance(value, Unquoted) and text == str(option)):
            return option
    known = [str(option) for option in options]
    hint = did_you_mean(str(text), suggest(str(text), known))
    raise ValueError(f"must be one of {', '.join(known)}, not {describe(value)}{hint}")


# --- callables ------------------------------------------------------------------------------------


def _read_callable(value: object, info: ValidationInfo) -> object:
    name, reading = read_string(value), cast("Reading", info.context)
    if name in reading.callables:
        return reading.callables[name]
    hint = did_you_mean(name, suggest(name, reading.callables))
    raise ValueError(f"no callable {name!r} was passed in{hint}; pass callables={{{name!r}: …}}")


def _read_source(value: object, info: ValidationInfo) -> object:
    name, reading = read_string(value), cast("Reading", info.context)
    if name in reading.samples and name not in reading.callables:
        return SampleSource(name, reading.samples[name])
    if name not in reading.callables and reading.empty_sources:
        reading.absent.add(name)
        return SampleSource(name)
    try:
        return _read_callable(value, info)
    except ValueError as error:
        raise ValueError(f"{error}, or give sample chunks under sources.{name}") from None


Named = Annotated[
    object,
    PlainValidator(_read_callable),
    WithJsonSchema(
        {"type": "string", "description": "The name of a callable that is passed in when loading."}
    ),
]
Source = Annotated[
    object,
    PlainValidator(_read_source),
    WithJsonSchema(
        {
            "type": "string",
            "description": "The name of a data source that is passed in when loading, or that has "
            "sample chunks under `sources`.",
        }
    ),
]


# --- texts of their own files ---------------------------------------------------------------------


def _read_file(value: object, info: ValidationInfo) -> str:
    """Read a text file beside the prompt; the line end of its last line does not belong to it."""
    name, folder = read_string(value), cast("Reading", info.context).folder
    if folder is None:
        raise ValueError(f"the file {name!r} has no folder to be read from: pass folder=…")
    return read_text(inside(folder, name)).removesuffix("\n")


FileText = Annotated[
    str,
    PlainValidator(_read_file),
    WithJsonSchema(
        {
            "type": "string",
            "description": "A text file in the folder of this document, with `/` between folders.",
        }
    ),
]


class TextTable(BaseModel):
    """A text that stands in a file of its own."""

    model_config = CLOSED
    file: FileText


class TemplateTable(BaseModel):
    """A template in a file of its own, or with other delimiters."""

    model_config = CLOSED
    text: Text = Field("", description="The template itself.")
    file: FileText = ""
    delimiters: list[Text] = Field(
        ["<<", ">>"], description="What opens and what closes a placeholder."
    )


def _from_text_table(table: TextTable) -> str:
    return table.file


def _from_template_table(table: TemplateTable) -> Template:
    given = table.model_fields_set & {"text", "file"}
    if len(given) != 1:
        raise ValueError("takes either text or file")
    return _to_template(table.text if "text" in given else table.file, table.delimiters)


def _to_template(text: str, delimiters: Sequence[Any] = ("<<", ">>")) -> Template:
    if len(delimiters) != 2:
        raise DefinitionError("delimiters are two texts: what opens and what closes a placeholder")
    return Template(text, delimiters=(delimiters[0], delimiters[1]))


def _read_template(value: object) -> Template:
    return _to_template(read_string(value))


def short_or_table(short: Any, table: Any, **keyed: Any) -> Any:
    """Return the annotation of what may be written as a single value or as a table.

    Args:
        short: Of the single value.
        table: Of the table.
        keyed: Of other tables, by a key that tells them from that one.
    """

    def which(value: object) -> str:
        if not isinstance(value, dict | BaseModel):
            return "<short>"
        told = (key for key in keyed if isinstance(value, dict) and key in value)
        return f"<{next(told, 'table')}>"

    named = {"short": short, "table": table, **keyed}
    tagged = tuple(Annotated[one, tag(name)] for name, one in named.items())
    ways: Any = Union[tagged]  # noqa: UP007  made at run time
    return Annotated[ways, Discriminator(which)]


LongText: Any = short_or_table(Text, Annotated[TextTable, AfterValidator(_from_text_table)])
TemplateText: Any = short_or_table(
    Annotated[Template, PlainValidator(_read_template), WithJsonSchema({"type": "string"})],
    Annotated[TemplateTable, AfterValidator(_from_template_table)],
)


def _read_arguments(value: object) -> str:
    """Read a call's arguments: JSON text as it stands, or a table that is written as JSON."""
    if isinstance(value, dict):
        return json.dumps(settle(cast("object", value)), ensure_ascii=False, separators=(",", ":"))
    return read_string(value)


def _read_message(value: object) -> Message:
    """Read a message as chat formats have it; its words are read as they are written."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a message with role and content, not {describe(value)}")
    written = cast("dict[str, object]", value)
    texts = {key: as_written(item) for key, item in written.items() if key in _SPOKEN}
    words = {key: text for key, text in texts.items() if isinstance(text, str)}
    message = to_message(settle(written) | words)
    if message.extra:
        key = next(iter(message.extra))
        hint = did_you_mean(key, suggest(key, _SPOKEN))
        raise ValueError(f"unknown key {key!r} of a message{hint}")
    return message


_SPOKEN = ("role", "content", "name", "tool_calls", "tool_call_id", "provider_data")

MessageTable = Annotated[
    Message,
    PlainValidator(_read_message),
    WithJsonSchema(
        {
            "type": "object",
            "description": "A message as chat formats have it.",
            "properties": {"role": {"enum": list(get_args(Role))}, "content": {}},
            "required": ["role"],
        }
    ),
]


Arguments = Annotated[
    str, PlainValidator(_read_arguments), WithJsonSchema({"type": ["object", "string"]})
]
