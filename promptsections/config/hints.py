"""From the fields of an attrs class to a pydantic model, and from a type to how a file writes it.

It knows types; a new field of a section needs no line here as long as its type is one of these.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from enum import Enum
from fractions import Fraction
from typing import Annotated, Any, ForwardRef, NewType, Union, cast, get_args, get_origin

import attrs
from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    create_model,
)
from pydantic.errors import PydanticSchemaGenerationError

from promptsections.budgets import Auto, Rest, Share, Tokens
from promptsections.config import values
from promptsections.config.budget_values import Part, SectionBudget
from promptsections.config.nodes import as_written, settle
from promptsections.errors import DefinitionError
from promptsections.messages import Message, ToolCall
from promptsections.sections import DataSource, PromptSection, TextSection
from promptsections.summaries import Summarize
from promptsections.templates import Template
from promptsections.tokens import Truncate

SECTION = "AnySection"
"""Stands for the type of a section until all kinds are known."""

FIELD = "field_"
"""Stands before the names of fields in models, since pydantic keeps some names for itself."""

_SPECIAL: Mapping[tuple[type, str], Any] = {
    (TextSection, "text"): values.LongText,
    (ToolCall, "arguments"): values.Arguments,
}
"""Fields that a file may write in more ways than their type says."""


def model_of(cls: type, **more: Any) -> type[BaseModel]:
    """Make the model of an attrs class; fields that no file can express are not in it.

    Raises:
        DefinitionError: if such a field has no default either.
    """
    fields: dict[str, Any] = dict(more)
    for field, hint in fields_of(cls):
        annotation = _SPECIAL.get((cls, field.name)) or annotation_of(hint)
        if annotation is not None:
            default = ... if field.default is attrs.NOTHING else None
            fields[FIELD + field.name] = (annotation, Field(default, alias=field.alias))
        elif field.default is attrs.NOTHING:
            raise DefinitionError(
                f"no file can express {cls.__name__}.{field.name}, a {_name(hint)}: give it a "
                "default, or a type such as str, int, bool, Literal, list, dict"
            )
    return create_model(cls.__name__, __config__=values.CLOSED, **fields)


def fields_of(cls: type) -> Iterator[tuple[attrs.Attribute[Any], Any]]:
    """Yield the fields that can be given when an instance is made, with their types.

    Raises:
        DefinitionError: if the types cannot be read.
    """
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise DefinitionError(
            f"the types of {cls.__name__} cannot be read: {error}; define them in its module"
        ) from error
    for field in attrs.fields(cls):
        if field.init:
            yield field, hints.get(field.name, Any)


def given(model: BaseModel) -> dict[str, Any]:
    """Return what a document says of the fields of an attrs class."""
    fields = type(model).model_fields
    return {
        cast("str", fields[name].alias): getattr(model, name)
        for name in fields
        if name in model.model_fields_set and name.startswith(FIELD)
    }


def construct(cls: type, arguments: Mapping[str, Any]) -> Any:
    """Make an instance; whatever is wrong with the arguments is a `ValueError`."""
    try:
        return cls(**arguments)
    except ValueError:
        raise
    except Exception as error:  # a user's class may raise anything
        raise ValueError(f"{cls.__name__}: {error}") from error


# --- types ----------------------------------------------------------------------------------------

_PLAIN: Mapping[Any, Any] = {
    str: values.Text,
    bool: values.Flag,
    int: values.Whole,
    float: values.Number,
    Fraction: Part,
    Template: values.TemplateText,
    DataSource: values.Source,
    Message: values.MessageTable,
    Any: values.Anything,
    object: values.Anything,
}
_LISTS: Mapping[Any, Callable[[list[Any]], object]] = {
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    Set: frozenset,
    list: list,
    Sequence: tuple,
    Iterable: tuple,
}


def annotation_of(hint: Any) -> Any:
    """Return the annotation that reads values of a type, or `None` if no file can express them."""
    if isinstance(hint, typing.Hashable) and hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    match origin:
        case typing.Annotated:
            return annotation_of(arguments[0])
        case typing.Union | types.UnionType:
            return _union(arguments)
        case typing.Literal:
            return values.choice(arguments)
        case _ if hint is Callable or origin is Callable:
            return values.Named
        case _ if (origin or hint) in _LISTS:
            return _list(origin or hint, arguments)
        case _ if (origin or hint) in (dict, Mapping):
            inner = annotation_of(arguments[1]) if arguments else values.Anything
            return None if inner is None else types.GenericAlias(dict, (str, inner))
        case _:
            return _class(hint)


def _union(arguments: Sequence[Any]) -> Any:
    if any(budget in arguments for budget in (Auto, Tokens, Share, Rest)):
        return SectionBudget
    others = [argument for argument in arguments if argument is not types.NoneType]
    if Truncate in others:
        return _when_over()
    inner = annotation_of(others[0]) if len(others) == 1 else _first_that_fits(others)
    if inner is None or len(others) == len(arguments):
        return inner
    return values.optional(inner)


def _first_that_fits(arguments: Sequence[Any]) -> Any:
    """Return the annotation of one of several types, tried in order.

    A text is tried last, since YAML may write anything without quotes; but a bare text is no
    template where it may be either.
    """
    in_order = sorted(arguments, key=lambda hint: (hint is str) + 2 * (hint is Template))
    made = [annotation_of(hint) for hint in in_order]
    if None in made:
        return None
    tagged = tuple(Annotated[one, values.tag(str(n))] for n, one in enumerate(made))
    tried: Any = Union[tagged]  # noqa: UP007  made at run time
    return Annotated[tried, Field(union_mode="left_to_right")]


def _when_over() -> Any:
    def read(value: object) -> object:
        word = values.read_string("whole" if values.nothing(value) is None else value)
        found = values.choice_of(_GIVES_WAY, word)
        return None if found == "whole" else Summarize() if found == "summarize" else found

    short = Annotated[object, PlainValidator(read), WithJsonSchema({"enum": [*_GIVES_WAY, None]})]
    fields: dict[str, Any] = {
        "summarize": (_instance(Summarize), Field(..., description="How, if not by default."))
    }
    table: Any = create_model("SummarizeTable", __config__=values.CLOSED, **fields)
    summarize = Annotated[table, AfterValidator(lambda found: found.summarize)]
    return values.short_or_table(short, _instance(Truncate), summarize=summarize)


_GIVES_WAY = ("by_budget", "whole", "summarize")


def _list(kind: Any, arguments: Sequence[Any]) -> Any:
    items = [argument for argument in arguments if argument is not Ellipsis]
    if not items:
        inner: Any = values.Anything
    elif all(item == items[0] for item in items):
        inner = annotation_of(items[0])
    else:
        return _other(kind[tuple(arguments)])
    return None if inner is None else Annotated[list[inner], AfterValidator(_LISTS[kind])]


def _class(hint: Any) -> Any:
    if isinstance(hint, NewType):
        return annotation_of(hint.__supertype__)
    if not isinstance(hint, type):
        return _other(hint)
    cls = cast("type[Any]", hint)
    if issubclass(cls, PromptSection):
        return ForwardRef(SECTION)
    if issubclass(cls, Enum):
        return Annotated[values.choice([member.value for member in cls]), AfterValidator(cls)]
    if attrs.has(cls):
        return _instance(cls)
    if getattr(cls, "_is_protocol", False) and "__call__" in dir(cls):
        return values.Named
    return _other(cls)


def _instance(cls: type) -> Any:
    """Return the annotation of a table that makes an instance of an attrs class."""
    model: Any = model_of(cls)
    return Annotated[model, AfterValidator(lambda found: construct(cls, given(found)))]


def _other(hint: Any) -> Any:
    """Leave a type to pydantic: dates, dataclasses, unions and whatever else it knows."""
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        schema = adapter.json_schema()
    except (PydanticSchemaGenerationError, ValueError, TypeError):
        return None

    def read(value: object) -> object:
        try:
            return adapter.validate_python(settle(value))
        except ValidationError as error:
            try:
                return adapter.validate_python(as_written(value))
            except ValidationError:
                raise ValueError(_told(error, hint)) from None

    return Annotated[object, PlainValidator(read), WithJsonSchema(schema)]


def _told(error: ValidationError, hint: object) -> str:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    what = first["msg"].replace("Input should be", "must be")
    return f"is no {_name(hint)}: {where + ': ' if where else ''}{what}"


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
