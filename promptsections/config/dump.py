"""From a prompt to the document that describes it: plain data, which `writing` puts into a file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, assert_never, cast

import attrs
from attrs import define, field
from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError
from pydantic_core import PydanticSerializationError

from promptsections.blocks import Chunk
from promptsections.budgets import Auto, Budget, Rest, Share, Tokens
from promptsections.config.document import Callables, KindsLike
from promptsections.config.hints import fields_of
from promptsections.config.models import all_kinds
from promptsections.config.prompt_file import PromptFile
from promptsections.config.samples import SampleSource
from promptsections.config.values import plain_number
from promptsections.errors import ConfigError
from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    TextPart,
    ToolCall,
    to_message,
)
from promptsections.prompt import Prompt
from promptsections.sections import GroupSection, PromptSection
from promptsections.summaries import Summarize
from promptsections.templates import Template
from promptsections.unicode import well_formed

Document = dict[str, Any]
"""Plain data: tables, lists, texts, numbers, truth values, nothing."""


def dump(
    prompt: Prompt | PromptFile,
    *,
    kinds: KindsLike | None = None,
    callables: Callables | None = None,
) -> Document:
    """Return the document that describes a prompt; `loads` of it, written, gives an equal prompt.

    Args:
        prompt: A prompt, or one with all that stands beside it in its file.
        kinds: Your own sections: the name that the document will use → the class.
        callables: Data sources and other functions: the name that the document will use → each.

    Raises:
        ConfigError: if something has no form in a file; names the section and says what to do.
    """
    classes = {cls: kind for kind, cls in all_kinds(kinds).items()}
    writer = _Writer(classes, callables or {})
    file = prompt if isinstance(prompt, PromptFile) else None
    layout = prompt.prompt if isinstance(prompt, PromptFile) else prompt
    written = writer.fields(layout, "")
    if file is None:
        return written | writer.sources()
    settings: Document = {
        "name": layout.name or file.name,
        "description": file.description,
        "model": file.model,
        "budget": file.budget,
        "reserve_output_tokens": file.reserve_output_tokens,
    }
    more: Document = {
        "variables": file.variables,
        "functions": file.functions,
        "memory": file.memory or None,
        "options": file.options or None,
    }
    plain = {key: writer.value(value, key) for key, value in (settings | more).items()}
    return _present({**settings, **written, **plain, **writer.sources()})


@define
class _Writer:
    """Writes values as plain data."""

    kinds: Mapping[type[PromptSection], str]
    callables: Mapping[str, Callable[..., Any]]
    samples: dict[str, SampleSource] = field(factory=dict[str, SampleSource])
    """What was met on the way."""

    def section(self, section: PromptSection, where: str) -> Document:
        kind = self.kinds.get(type(section))
        if kind is None:
            name = type(section).__name__
            raise _no_form(
                where, f"{name} is no kind that files know: pass kinds={{{section.kind!r}: {name}}}"
            )
        return {"kind": kind} | self.fields(section, where)

    def fields(self, owner: Any, where: str) -> Document:
        """Write the fields that are not what they are by default."""
        found: Document = {}
        for attribute, hint in fields_of(cast("type[Any]", type(owner))):
            value = getattr(owner, attribute.name)
            if _is_default(attribute, value, owner):
                continue
            key = attribute.alias or attribute.name
            if isinstance(value, Template) and hint is not Template:
                found[key] = {"text": well_formed(value.source)} | _delimiters(value)
            elif attribute.name == "sections" and isinstance(owner, GroupSection):
                found[key] = self._sections(owner, where)
            elif attribute.name == "when_over" and value is None:
                found[key] = "whole"
            else:
                found[key] = self.value(value, f"{where}.{key}" if where else key)
        return found

    def _sections(self, group: GroupSection, where: str) -> list[Document]:
        pairs = zip(group.names, group.sections, strict=True)
        return [self.section(s, f"{where}/{name}" if where else name) for name, s in pairs]

    def value(self, value: object, where: str) -> Any:  # noqa: C901  one line for each type
        match value:
            case Enum():
                return self.value(value.value, where)
            case None | bool() | int():
                return value
            case str():
                return well_formed(str(value))
            case float() if math.isfinite(value):
                return value
            case Auto() | Tokens() | Share() | Rest():
                return _budget(value)
            case Template():
                return _template(value)
            case PromptSection():
                return self.section(value, where)
            case ToolCall():
                return {"id": value.id, "name": value.name} | _arguments(value.arguments)
            case Message():
                return _message(value, where)
            case SampleSource():
                return self._sample(value, where)
            case Summarize():
                how = self.fields(value, f"{where}.summarize")
                return {"summarize": how} if how else "summarize"
            case Fraction():
                return _fraction(value)
            case Decimal():
                return str(value)
            case date() | time():
                return value.isoformat()
            case Mapping():
                return self._table(cast("Mapping[object, object]", value), where)
            case list() | tuple() | set() | frozenset():
                items = cast("Iterable[Any]", value)
                in_order = sorted(items) if isinstance(value, set | frozenset) else items
                return [self.value(item, f"{where}[{n}]") for n, item in enumerate(in_order)]
            case _ if callable(value):
                return self._name_of(value, where)
            case _ if attrs.has(type(value)):
                return self.fields(value, where)
            case _:
                return _as_json(value, where)

    def _table(self, table: Mapping[object, object], where: str) -> Document:
        found: Document = {}
        for key, item in table.items():
            if not isinstance(key, str):
                raise _no_form(where, f"the key {key!r} is no text")
            found[well_formed(key)] = self.value(item, f"{where}.{key}")
        return found

    def _sample(self, source: SampleSource, where: str) -> str:
        if self.samples.setdefault(source.name, source) != source:
            raise _no_form(where, f"two sample sources are named {source.name!r}: rename one")
        return source.name

    def _name_of(self, value: Callable[..., Any], where: str) -> str:
        for name, known in self.callables.items():
            if known is value or known == value:
                return name
        called = getattr(value, "__name__", type(value).__name__)
        raise _no_form(
            where,
            f"the callable {called} has no form in a file: pass callables={{{called!r}: …}} when "
            "writing and when loading",
        )

    def sources(self) -> Document:
        """Write the chunks of sample sources."""
        found = {
            name: [self._chunk(chunk, f"sources.{name}") for chunk in source.chunks]
            for name, source in self.samples.items()
        }
        return {"sources": found} if found else {}

    def _chunk(self, chunk: Chunk, where: str) -> object:
        written = self.fields(chunk, where)
        return written["text"] if len(written) == 1 else written


def _is_default(attribute: attrs.Attribute[Any], value: object, owner: object) -> bool:
    default: Any = attribute.default
    if hasattr(default, "factory"):
        made = default.factory(owner) if default.takes_self else default.factory()
    else:
        made = default
    return type(made) is type(value) and bool(made == value)


def _budget(budget: Budget) -> object:
    limits = {
        key: limit
        for key, limit in (("at_least", budget.at_least), ("at_most", budget.at_most))
        if limit is not None
    }
    match budget:
        case Auto():
            return limits or "auto"
        case Tokens():
            is_short = budget.tokens > 1 and not limits  # a bare 1 is all of the rest
            return budget.tokens if is_short else {"tokens": budget.tokens} | limits
        case Share():
            number = _fraction(budget.fraction)
            return number if budget.fraction < 1 and not limits else {"share": number} | limits
        case Rest() if budget.weight != 1:
            return {"rest": _fraction(budget.weight)} | limits
        case Rest():
            return {"rest": True} | limits if limits else "rest"
        case _:
            assert_never(budget)


def _fraction(value: Fraction) -> int | float | str:
    number = plain_number(value)
    return str(value) if isinstance(number, Fraction) else number


def _template(template: Template) -> object:
    source, more = well_formed(template.source), _delimiters(template)
    return {"text": source} | more if more else source


def _delimiters(template: Template) -> Document:
    usual = template.delimiters == ("<<", ">>")
    return {} if usual else {"delimiters": list(template.delimiters)}


def _message(message: Message, where: str) -> Document:
    """Write a message as chat formats have it."""
    calls = [
        {"id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.tool_calls
    ]
    content: object = message.content
    if isinstance(content, tuple):
        content = [_part(part) for part in content]
    written: Document = {
        "role": message.role,
        "content": content,
        "name": message.name,
        "tool_calls": calls or None,
        "tool_call_id": message.tool_call_id,
        "provider_data": dict(message.provider_data) or None,
    }
    found = _present(written)
    if to_message(found) != message:
        raise _no_form(where, "this message holds something that has no form in a file")
    return found


def _part(part: Part) -> Document:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            fields = {"url": part.url, "detail": part.detail}
            sizes = {"width": part.width, "height": part.height}
            return {"type": "image_url", "image_url": _present(fields | sizes)}
        case FilePart():
            names = {"filename": part.filename, "file_id": part.file_id, "file_data": part.data}
            return {"type": "file", "file": _present(names)}
        case AudioPart():
            return {
                "type": "input_audio",
                "input_audio": {"data": part.data, "format": part.format},
            }
        case _:
            assert_never(part)


def _present(fields: Document) -> Document:
    return {key: value for key, value in fields.items() if value is not None}


def _arguments(text: str) -> Document:
    """Write a call's arguments as a table, if that gives the same text again."""
    if text == "{}":
        return {}
    try:
        table = json.loads(text)
        same = json.dumps(table, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        return {"arguments": text}
    return {"arguments": table if isinstance(table, dict) and same == text else text}


def _as_json(value: object, where: str) -> object:
    """Leave a value to pydantic: dataclasses, models and whatever else it knows."""
    kind: type[Any] = type(value)
    if not isinstance(value, bytes | float):  # NaN and infinities are no JSON
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(kind)
            return cast("object", adapter.dump_python(value, mode="json"))
        except (PydanticSchemaGenerationError, PydanticSerializationError):
            pass
    raise _no_form(where, f"{value!r:.40} has no form in a file: use texts, numbers, lists")


def _no_form(where: str, what: str) -> ConfigError:
    return ConfigError(f"{where or 'the prompt'}: {what}", path="", kind="invalid")
