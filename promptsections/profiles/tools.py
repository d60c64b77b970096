"""What tool definitions and tool calls cost, in tokens.

It knows no messages and no model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never, cast

from attrs import frozen

from promptsections.errors import DefinitionError
from promptsections.messages import Tool, ToolCall
from promptsections.tokens import Tokenizer
from promptsections.unicode import well_formed


@frozen
class ToolRule:
    """Numbers of OpenAI's cookbook formula `num_tokens_for_tools`, and of a call.

    OpenAI does not document how tools are written into a prompt, so these are estimates.
    Source: openai-cookbook, How_to_count_tokens_with_tiktoken.ipynb, section 7.
    """

    function: int = 7
    """For each tool: 7 for the gpt-4o family and later, 10 for gpt-4 and gpt-3.5."""
    properties: int = 3
    """For each object that has properties."""
    property: int = 3
    """For each property."""
    enum: int = -3
    """For each property with a list of values."""
    enum_item: int = 3
    """For each of these values."""
    end: int = 12
    """Once, if there are tools."""
    call: int = 3
    """For each call of an assistant, beside its name and arguments.

    Source: hmarr/openai-chat-tokens, which compared it with the API.
    """
    result: int = 0
    """For each result, beside the message and the id of its call."""


@frozen
class JsonToolRule:
    """Definitions as their JSON text with a frame: for providers that publish no formula.

    How tools are written into the prompt is not documented, so these are estimates, and dear ones.
    """

    request: int = 0
    """Once, if there are tools: what the provider says about tool use."""
    tool: int = 12
    """For each tool: keys and brackets around what is counted."""
    call: int = 12
    """For each call of an assistant, beside its id, name and arguments."""
    result: int = 12
    """For each result, beside the message and the id of its call."""


ToolRules = ToolRule | JsonToolRule


def tool_tokens(rule: ToolRules | None, tools: Sequence[Tool], tokenizer: Tokenizer) -> int:
    """Return what the definitions of tools cost, in tokens; 0 if there are none, or no rule.

    The cookbook counts top-level properties with a type and a description. Nested objects and
    lists count by the same numbers, and whatever else a schema holds costs its JSON text.
    """
    if rule is None or not tools:
        return 0
    match rule:
        case ToolRule():
            return rule.end + sum(_definition(rule, tool, tokenizer) for tool in tools)
        case JsonToolRule():
            return rule.request + sum(rule.tool + _as_json(tool, tokenizer) for tool in tools)
        case _:
            assert_never(rule)


def _as_json(tool: Tool, tokenizer: Tokenizer) -> int:
    texts = (tool.name, tool.description, json_text(tool.parameters))
    return sum(tokenizer.count(well_formed(text)) for text in texts)


_MADE_UP_ID = 9
"""Characters of an id that `providers.ids` makes up; no token is shorter."""


def call_tokens(rule: ToolRules | None, call: ToolCall, tokenizer: Tokenizer) -> int:
    """Return what a call costs, in tokens: name and arguments; by a rule also its id and frame."""
    tokens = tokenizer.count(call.name) + tokenizer.count(call.arguments)
    return tokens if rule is None else tokens + rule.call + id_tokens(call.id, tokenizer)


def id_tokens(identifier: str | None, tokenizer: Tokenizer) -> int:
    """Return what the id of a call costs, in tokens; one that has to be made up at most its length.

    Providers want an id on each call and result, and get nine letters and digits where there is
    none.
    """
    return tokenizer.count(identifier) if identifier else _MADE_UP_ID


def json_text(value: object) -> str:
    """Write plain data as compact JSON with the characters themselves.

    Raises:
        TypeError, ValueError: if it is no JSON.
    """
    return well_formed(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def provider_text(data: object, provider: str) -> str:
    """Write what is given back to a provider as the JSON that it is charged for.

    Raises:
        DefinitionError: if it is no JSON.
    """
    try:
        return json_text(data)
    except (TypeError, ValueError) as error:
        raise DefinitionError(f"provider_data[{provider!r}] is no JSON: {error}") from error


_COUNTED = frozenset({"type", "description", "enum", "properties", "items"})
"""Keys that the formula counts by numbers of its own."""
_FREE = frozenset({"required", "additionalProperties", "title"})
"""Keys that are not written out: punctuation, or a title that repeats the key."""


def _definition(rule: ToolRule, tool: Tool, tokenizer: Tokenizer) -> int:
    line = f"{tool.name}:{tool.description.removesuffix('.')}"
    tokens = rule.function + tokenizer.count(well_formed(line))
    tokens += _schema(rule, tool.parameters, tokenizer)
    tokens += tokenizer.count(well_formed(_description(tool.parameters)))
    for key, schema in _nested(tool.parameters):
        kind = schema.get("type", "")
        kind = kind if isinstance(kind, str) else json_text(kind)
        line = f"{key}:{kind}:{_description(schema)}"
        tokens += rule.property + tokenizer.count(well_formed(line))
        tokens += _schema(rule, schema, tokenizer)
    return tokens


def _description(schema: Mapping[str, Any]) -> str:
    text = schema.get("description")
    return text.removesuffix(".") if isinstance(text, str) else ""


def _schema(rule: ToolRule, schema: Mapping[str, Any], tokenizer: Tokenizer) -> int:
    """Count a schema itself, without its own line and without what is nested in it."""
    tokens = rule.properties if _mapping(schema.get("properties")) else 0
    values = schema.get("enum")
    if isinstance(values, list) and values:
        tokens += rule.enum
        for value in cast("list[object]", values):
            text = value if isinstance(value, str) else json_text(value)
            tokens += rule.enum_item + tokenizer.count(well_formed(text))
    rest = {key: schema[key] for key in schema if key not in _COUNTED and key not in _FREE}
    return tokens + tokenizer.count(json_text(rest)) if rest else tokens


def _nested(root: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every property and list item of a schema, outer ones before what they hold."""
    waiting = [root]  # a list of our own: a deep schema must not exhaust Python's stack
    while waiting:
        schema = waiting.pop()
        inner = [
            (key, _mapping(value)) for key, value in _mapping(schema.get("properties")).items()
        ]
        items = _mapping(schema.get("items"))
        if items.keys() - {"type"}:  # a list of plain values is its own line: `tags:array:`
            inner.append(("items", items))
        yield from inner
        waiting.extend(child for _, child in inner)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
