"""pydantic models of a document and of the sections in it.

It knows no files and no syntax.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import GenericAlias, MappingProxyType
from typing import Annotated, Any, TypeGuard, Union, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetPydanticSchema,
    PlainValidator,
    TypeAdapter,
    ValidationInfo,
    create_model,
)
from pydantic.json_schema import WithJsonSchema
from pydantic_core import CoreSchema
from typing_extensions import TypeAliasType

from promptsections import sections
from promptsections.blocks import Chunk
from promptsections.config import values
from promptsections.config.hints import SECTION, annotation_of, construct, given, model_of
from promptsections.config.nodes import Unquoted, as_written, settle
from promptsections.elements import ElementsSection
from promptsections.errors import DefinitionError
from promptsections.memory import MISSING
from promptsections.prompt import Prompt
from promptsections.sections import PromptSection

Kinds = Mapping[str, type[PromptSection]]
"""`kind` of a document → the class of the section."""


# --- sections -------------------------------------------------------------------------------------


def is_section_class(value: object) -> TypeGuard[type[PromptSection]]:
    """Say whether a value is a class of sections."""
    return isinstance(value, type) and issubclass(value, PromptSection)


def _built_in() -> Iterator[type[PromptSection]]:
    for name in sections.__all__:
        found = getattr(sections, name)
        if is_section_class(found) and found.kind != PromptSection.kind:
            yield found
    yield from (Prompt, ElementsSection)


BUILT_IN: Kinds = MappingProxyType({cls.kind: cls for cls in _built_in()})
"""The kinds of section that every document may use."""


def all_kinds(kinds: Mapping[str, object] | None) -> Kinds:
    """Return the built-in kinds and those of the caller.

    Raises:
        DefinitionError: if a name is taken or a class is no section.
    """
    found = dict(BUILT_IN)
    for name, cls in (kinds or {}).items():
        if name in BUILT_IN and cls != BUILT_IN[name]:
            raise DefinitionError(f"kinds[{name!r}]: this kind is built in; choose another name")
        if not is_section_class(cls) or "__attrs_attrs__" not in cls.__dict__:
            raise DefinitionError(
                f"kinds[{name!r}] must be a class derived from PromptSection with @attrs.frozen, "
                f"not {cls!r}"
            )
        found[name] = cls
    return found


def _section_type(kinds: Kinds) -> Any:
    """Return the annotation of a section of one of these kinds."""
    models = {kind: _section_model(kind, cls) for kind, cls in kinds.items()}
    made = tuple(_alternative(kind, cls, models[kind]) for kind, cls in kinds.items())
    union: Any = Union[made]  # noqa: UP007  made at run time
    make_alias: Any = TypeAliasType  # type checkers want it at the top of a module
    alias = make_alias(SECTION, Annotated[union, Discriminator(_kind_tag)])
    for model in models.values():
        model.model_rebuild(_types_namespace={SECTION: alias})
    return alias


def _alternative(kind: str, cls: type[PromptSection], model: Any) -> Any:
    def build(found: BaseModel) -> object:
        return construct(cls, given(found))

    return Annotated[Annotated[model, AfterValidator(build)], values.tag(kind)]


def _section_model(kind: str, cls: type[PromptSection]) -> type[BaseModel]:
    word = Annotated[object, PlainValidator(_as_it_is), WithJsonSchema({"const": kind})]
    model = model_of(cls, kind=(word, Field(description="What kind of section this is.")))
    model.kind_of_section = kind  # type: ignore[attr-defined]
    return model


def _as_it_is(value: object) -> object:
    return value  # the alternative was chosen by it


def _kind_tag(value: object) -> str | None:
    kind = cast("dict[str, object]", value).get("kind") if isinstance(value, dict) else None
    kind = kind.text if isinstance(kind, Unquoted) else kind
    return f"<{kind}>" if isinstance(kind, str) else None


# --- the document ---------------------------------------------------------------------------------

_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_Variables = dict[str, dict[str, Any]]
_Samples = dict[str, tuple[Chunk, ...]]


def _read_variables(value: object) -> _Variables:
    """Read declared variables: a list of names, or name → type or JSON Schema."""
    if isinstance(value, list):
        names = [values.read_string(name) for name in cast("list[object]", value)]
        return {name: {} for name in names}
    if not isinstance(value, dict):
        raise ValueError("must be a list of names, or a table of names with their types")
    found: _Variables = {}
    for name, written in cast("dict[str, object]", value).items():
        schema: Any = settle(written)
        if isinstance(schema, str):
            schema = {"type": values.choice_of(_TYPES, schema)}
        if schema is not None and not isinstance(schema, dict):
            raise ValueError(f"{name}: must be a type such as string, or a JSON Schema")
        found[name] = schema or {}
    return found


def _read_memory(value: object, info: ValidationInfo) -> dict[str, Any]:
    """Read sample memory; what is declared as a text is one, whatever it looks like."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a table, not {values.describe(value)}")
    memory = cast("dict[str, Any]", value)
    declared: _Variables = info.data.get("variables") or {}
    for path, schema in declared.items():
        if schema.get("type") == "string":
            memory = _with_text(memory, path.split("."))
    return cast("dict[str, Any]", settle(memory))


def _with_text(memory: dict[str, Any], path: list[str]) -> dict[str, Any]:
    first, *others = path
    inner = memory.get(first, MISSING)
    if isinstance(inner, Unquoted) and not others and not inner.is_null:
        return memory | {first: as_written(inner)}
    if isinstance(inner, dict) and others:
        return memory | {first: _with_text(cast("dict[str, Any]", inner), others)}
    return memory


def _read_source(chunks: list[Chunk | str]) -> tuple[Chunk, ...]:
    return tuple(Chunk(chunk) if isinstance(chunk, str) else chunk for chunk in chunks)


def _keep_samples(sources: _Samples, info: ValidationInfo) -> _Samples:
    cast("values.Reading", info.context).samples.update(sources)
    return sources


def _samples_schema(_: object, handler: GetCoreSchemaHandler) -> CoreSchema:
    chunk = values.short_or_table(values.Text, annotation_of(Chunk))
    chunks: Any = GenericAlias(list, (chunk,))
    return handler(dict[str, Annotated[chunks, AfterValidator(_read_source)]])


_MEMORY_SCHEMA: dict[str, Any] = {"type": "object"}
_VARIABLES_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "array", "items": {"type": "string"}},
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [{"enum": [*_TYPES, None]}, {"type": "object"}],
            },
        },
    ]
}


class Settings(BaseModel):
    """What a document says beside its prompt. `sources` are read before the sections."""

    model_config = values.CLOSED

    schema_: values.Text = Field("", alias="$schema", description="Where editors find the schema.")
    description: values.Text | None = Field(None, description="What the prompt is for.")
    model: values.Text | None = Field(None, description="The model that it is written for.")
    budget: values.Positive | None = Field(None, description="Tokens of input.")
    reserve_output_tokens: values.Positive | None = Field(
        None, description="Tokens of the model's window that are kept for the answer."
    )
    options: dict[str, values.Anything] = Field(
        {}, description="Settings of the model call, such as temperature; kept, not used."
    )
    variables: Annotated[
        _Variables | None,
        PlainValidator(_read_variables),
        WithJsonSchema(_VARIABLES_SCHEMA),
    ] = Field(None, description="Declared memory: path → type, or JSON Schema, of the value.")
    functions: list[values.Text] | None = Field(
        None, description="Names of the template functions that will be passed in."
    )
    memory: Annotated[
        dict[str, Any], PlainValidator(_read_memory), WithJsonSchema(_MEMORY_SCHEMA)
    ] = Field({}, description="Sample memory, to render the prompt with as it stands.")
    sources: Annotated[
        _Samples, GetPydanticSchema(_samples_schema), AfterValidator(_keep_samples)
    ] = Field({}, description="Sample chunks of data sources that are not passed in.")


def _document(found: Settings) -> tuple[Prompt, Settings]:
    return cast("Prompt", construct(Prompt, given(found))), found


_Named = tuple[tuple[str, type[PromptSection]], ...]


@lru_cache(maxsize=8)
def _document_model(kinds: _Named) -> type[Settings]:
    section = _section_type(dict(kinds))
    fields = {name: (info.annotation, info) for name, info in model_of(Prompt).model_fields.items()}
    model = create_model("Document", __base__=Settings, **cast("dict[str, Any]", fields))
    model.model_rebuild(_types_namespace={SECTION: section})
    return model


@lru_cache(maxsize=8)
def _document_adapter(kinds: _Named) -> TypeAdapter[tuple[Prompt, Settings]]:
    made: Any = Annotated[cast("Any", _document_model(kinds)), AfterValidator(_document)]
    return TypeAdapter(made)


def document_model(kinds: Kinds) -> type[Settings]:
    """Return the model of a document with sections of these kinds."""
    return _document_model(tuple(sorted(kinds.items())))


def document_adapter(kinds: Kinds) -> TypeAdapter[tuple[Prompt, Settings]]:
    """Return what reads a document with sections of these kinds."""
    return _document_adapter(tuple(sorted(kinds.items())))
