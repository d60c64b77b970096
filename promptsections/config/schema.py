"""The JSON Schema of a document, for editors and for other programs.

Made from the models; what fields mean is read from the source of the classes.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, cast

import attrs
from pydantic.json_schema import GenerateJsonSchema

from promptsections.blocks import Chunk
from promptsections.config.hints import fields_of
from promptsections.config.models import all_kinds, document_model
from promptsections.elements import Element, ElementRules
from promptsections.fences import Fence
from promptsections.messages import Tool, ToolCall
from promptsections.prompt import Prompt
from promptsections.sections import PromptSection
from promptsections.summaries import Summarize
from promptsections.tokens import Truncate

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

_DESCRIBED = {
    "AnySection": "A section of the prompt; its kind says which.",
    "SectionBudget": "Tokens: auto, rest, a number, a share such as 30%, or a table with limits.",
    "SummarizeTable": "Says in fewer words what does not fit.",
}
_PLAIN = {
    "assistant_prefix": "In a text: what stands in front of the assistant's line.",
    "call": "The call that the assistant made.",
    "call_id": "Of the call that this is the result of.",
    "content": "What is said: a text, a template, or messages.",
    "description": "What it does, for the model.",
    "elements": "What may be said.",
    "id": "Names the call for its result.",
    "name": "How it is called.",
    "role": "Who says it.",
    "sections": "The sections in it, in order.",
    "text": "What it says.",
    "total": "The most elements in all.",
    "variable": "Path of the value in memory.",
}
"""What the names of these fields say already, and their classes do not repeat."""

_EXAMPLE: Schema = {
    "name": "support",
    "model": "gpt-4o",
    "budget": 4000,
    "sections": [
        {"kind": "system_message", "template": "You help <<$user.name>>."},
        {"kind": "conversation_history", "tokens": "rest"},
        {"kind": "user_input", "tokens": {"tokens": 500, "at_least": 50}},
    ],
    "memory": {"user": {"name": "Ada"}, "input": "Where is my order?"},
}


def json_schema(kinds: Mapping[str, type[PromptSection]] | None = None) -> Schema:
    """Return the JSON Schema (draft 2020-12) of prompt files, with the caller's kinds of section.

    Args:
        kinds: Your own sections: the name that a document uses → the class.

    Raises:
        DefinitionError: if a class among the kinds is no section, or no file can express it.
    """
    known = all_kinds(kinds)
    made = document_model(known).model_json_schema(schema_generator=_Terse)
    definitions: dict[str, Schema] = made["$defs"]
    values = (Tool, ToolCall, Truncate, Summarize, Chunk, Element, ElementRules, Fence)
    for cls in (*known.values(), *values):
        _describe(definitions.get(cls.__name__, {}), cls)
    for name, description in _DESCRIBED.items():
        definitions[name]["description"] = description
    _describe(made, Prompt)
    return {
        "$schema": DIALECT,
        "title": "A prompt of promptsections",
        **made,
        "description": "Sections of a prompt with their budgets, and what to render them with.",
        "examples": [_EXAMPLE],
    }


class _Terse(GenerateJsonSchema):
    """Leaves out titles, which would only repeat the keys, and defaults that are only ours."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> Schema:
        return self.generate_inner(schema["schema"])


def _describe(schema: Schema, cls: type) -> None:
    """Add what a class and its fields say of themselves, and the defaults that JSON can write."""
    schema.pop("title", None)
    schema["description"] = (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ")
    documented = dict(_documented(cls))
    properties = cast("dict[str, Schema]", schema.get("properties", {}))
    for field, _ in fields_of(cls):
        found = properties.get(field.alias or field.name)
        if found is None:
            continue
        description = documented.get(field.name) or _PLAIN.get(field.name)
        if description:
            found["description"] = description
        if isinstance(field.default, str | bool | int | float):
            found["default"] = field.default


def _documented(cls: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of a class with the texts below them, those of base classes first."""
    for owner in reversed(cls.__mro__):
        if not attrs.has(owner):
            continue
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
        except (OSError, TypeError, SyntaxError):  # made at run time, or without its source
            continue
        body = cast("ast.ClassDef", tree.body[0]).body
        for node, below in pairwise(body):
            match node, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    yield name, " ".join(text.split())
                case _:
                    pass
