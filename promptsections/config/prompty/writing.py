"""`write_prompty`: a prompt as a `.prompty` file of version 2.

It writes what the format can say, and takes note of all else; it touches no file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml

from promptsections.config.prompt_file import PromptFile
from promptsections.config.prompty.messages import MessageWriter
from promptsections.config.remarks import Remarks
from promptsections.messages import Tool
from promptsections.notes import Note
from promptsections.prompt import Prompt


class WrittenPrompty(NamedTuple):
    """A `.prompty` file, and what it does not say."""

    text: str
    notes: tuple[Note, ...]
    """What of the prompt is lost, each with the path of its section."""


def write_prompty(file: PromptFile | Prompt) -> WrittenPrompty:
    """Write a prompt as a `.prompty` file, version 2, with a Jinja2 template.

    The format has messages with variables, conversations and tools. Budgets and everything about
    giving way are lost, as are sections of other kinds; each loss is a note.

    Args:
        file: A prompt, or one with its settings.

    Raises:
        ConfigError: if a text has a line that the format takes for a role marker.
    """
    whole = file if isinstance(file, PromptFile) else PromptFile(prompt=file, format="prompty")
    remarks = Remarks()
    writer = MessageWriter(whole.path or Path("prompt.prompty"), remarks)
    body = "\n\n".join(writer.messages(whole.prompt))
    if whole.budget is not None:
        remarks.say("budget_left_out", "", f"the budget of {whole.budget:,} tokens has no place")
    header = _to_yaml(_header(whole, writer))
    return WrittenPrompty(f"---\n{header}---\n{body}\n", tuple(remarks.notes))


def _to_yaml(header: Mapping[str, Any]) -> str:
    write = cast("Any", yaml).safe_dump  # its types leave something open
    text = str(write(dict(header), sort_keys=False, allow_unicode=True, width=10_000))
    if "---" not in text and "+++" not in text:
        return text
    # the format's own reader would end the front matter there
    return "".join(f"{key}: {_plain_json(value)}\n" for key, value in header.items())


def _plain_json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("---", "\\u002d\\u002d\\u002d").replace("+++", "\\u002b\\u002b\\u002b")


def _header(file: PromptFile, writer: MessageWriter) -> Mapping[str, Any]:
    header: dict[str, Any] = {
        "name": file.name,
        "description": file.description,
        "model": _model(file),
        "inputs": _inputs(file, writer),
        "tools": [_tool(tool) for tool in file.prompt.all_tools()],
        "template": {"format": {"kind": "jinja2"}, "parser": {"kind": "prompty"}},
    }
    return {
        key: _plain(value, key, writer.remarks)
        for key, value in header.items()
        if value not in (None, [], {})
    }


def _plain(value: Any, path: str, remarks: Remarks) -> Any:
    """Return a copy of what is plain data; what is none is left out with a note."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            pairs = cast("Mapping[object, Any]", value).items()
            items = {str(key): _plain(item, f"{path}.{key}", remarks) for key, item in pairs}
            return {key: item for key, item in items.items() if item is not _NOTHING}
        case list() | tuple():
            listed = [_plain(item, path, remarks) for item in cast("Sequence[Any]", value)]
            return [item for item in listed if item is not _NOTHING]
        case _:
            remarks.say("not_written", path, f"a {type(value).__name__} is no plain data")
            return _NOTHING


_NOTHING = object()


_OPTIONS = {
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
    "stop": "stopSequences",
    "stop_sequences": "stopSequences",
    "reasoning_effort": "reasoningEffort",
    "parallel_tool_calls": "allowMultipleToolCalls",
}
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")


def _model(file: PromptFile) -> Mapping[str, Any]:
    options: dict[str, Any] = {}
    more: dict[str, Any] = {}
    for key, value in file.options.items():
        name = _OPTIONS.get(key, key)
        if key in _LIMITS or key == "api":
            continue
        target = options if name in _OPTIONS.values() else more
        target[name] = value
    if file.reserve_output_tokens is not None:
        options["maxOutputTokens"] = file.reserve_output_tokens
    if more:
        options["additionalProperties"] = more
    model = {"id": file.model, "apiType": file.options.get("api"), "options": options}
    return {key: value for key, value in model.items() if value}


_KINDS = {"number": "float"}


def _inputs(file: PromptFile, writer: MessageWriter) -> Sequence[Mapping[str, Any]]:
    """Declare what is declared, and what the messages use, by its first name."""
    declared = dict(file.variables or {})
    names = dict.fromkeys(path.partition(".")[0] for path in (*declared, *writer.used))
    inputs: list[Mapping[str, Any]] = []
    for name in names:
        schema = declared.get(name, {})
        inside = any(path.startswith(f"{name}.") for path in writer.used)
        kind = schema.get("type", "object" if inside else "string")
        kind = "thread" if name in writer.threads else kind
        item: dict[str, Any] = {"name": name, **_property({**schema, "type": kind})}
        if name in file.memory and "default" not in item and kind != "thread":
            item["example"] = file.memory[name]
        inputs.append(item)
    return inputs


def _tool(tool: Tool) -> Mapping[str, Any]:
    """Write a function; the format has no JSON Schema, but a list of parameters."""
    required = tool.parameters.get("required", ())
    parameters = [
        {"name": name, **_property(schema), **({"required": True} if name in required else {})}
        for name, schema in tool.parameters.get("properties", {}).items()
    ]
    return {
        "name": tool.name,
        "kind": "function",
        "description": tool.description,
        "parameters": parameters,
    }


def _property(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = schema.get("type", "string")
    written: dict[str, Any] = {
        "kind": _KINDS.get(kind, kind) if isinstance(kind, str) else "string"
    }
    written |= {key: schema[key] for key in ("description", "default") if key in schema}
    if "enum" in schema:
        written["enumValues"] = schema["enum"]
    if kind == "array" and "items" in schema:
        written["items"] = _property(schema["items"])
    if kind == "object":
        required = schema.get("required", ())
        written["properties"] = [
            {"name": name, **_property(inner), **({"required": True} if name in required else {})}
            for name, inner in schema.get("properties", {}).items()
        ]
    return written
