"""Teams AI's own test cases: read from a file, and written with our sections.

`cases.jsonl` holds what the tests of Teams AI (Python, TypeScript, C#) and of Promptrix assert.
A row's sections are Teams AI's; `to_section` is the translation that a user would make by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from promptsections import (
    AssistantMessage,
    Auto,
    Budget,
    Content,
    ConversationHistory,
    DataSourceSection,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    ImagePart,
    Message,
    Prompt,
    PromptSection,
    RenderedPrompt,
    Renderer,
    Rest,
    Scope,
    ScopedMemory,
    Share,
    SystemMessage,
    Template,
    TemplateSection,
    TextSection,
    Tokens,
    ToolCall,
    UserInput,
    UserMessage,
)
from promptsections.messages import ROLES

Row = Mapping[str, Any]

ROWS: Mapping[str, Row] = {
    row["id"]: row
    for row in map(
        json.loads,
        (Path(__file__).parent / "cases.jsonl").read_text("utf-8").splitlines(),
    )
}
"""Number of a case → the case."""

ENCODING = "cl100k_base"
"""What Teams AI counts with. Promptrix's rows used GPT-3's vocabulary, which we do not ship."""


@frozen
class TestMessages(PromptSection):
    """The section that Teams AI's tests derive: it says the messages that it is given."""

    __test__ = False
    messages: tuple[Message, ...] = field(converter=tuple)

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the messages; a single one is a text that can be cut."""
        return self.messages[0] if len(self.messages) == 1 else self.messages


def to_role(role: str) -> str:
    """Put a real role in place of those that the tests made up."""
    return role if role in ROLES else "user"


def to_section(spec: Mapping[str, Any]) -> PromptSection:
    """Write a section of Teams AI with ours, names and defaults included."""
    kind = spec["type"]
    given = {
        name: spec[name]
        for name in ("required", "separator", "text_prefix", "user_prefix", "assistant_prefix")
        if name in spec
    }
    if "tokens" in spec:
        # Teams AI takes 1 for 100 %; we ask for 1.0 or Tokens(1), so that nobody mixes them up.
        given["tokens"] = 1.0 if spec["tokens"] == 1 else spec["tokens"]
    if "role" in spec:
        given["role"] = to_role(spec["role"])
    return _WRITERS[kind](spec, given)


def _template(spec: Mapping[str, Any]) -> Template:
    return Template(spec["template"], delimiters=("{{", "}}"))


def _sections(spec: Mapping[str, Any]) -> list[PromptSection]:
    return [to_section(inner) for inner in spec["sections"]]


def _messages(spec: Mapping[str, Any], given: dict[str, Any]) -> PromptSection:
    return TestMessages(
        [Message(to_role(m["role"]), m["content"]) for m in spec["messages"]], **given
    )


def text_source(spec: Mapping[str, Any]) -> Callable[[str, Scope], list[str]]:
    """Write Teams AI's `TextDataSource(name, text)`: a function does."""

    def source(query: str, scope: Scope) -> list[str]:
        return [spec["text"]]

    source.__name__ = spec["name"]
    return source


def _user_input(spec: Mapping[str, Any], given: dict[str, Any]) -> PromptSection:
    return UserInput(
        spec.get("input_variable", "input"), spec.get("files_variable", "input_files"), **given
    )


def _function_call(spec: Mapping[str, Any], given: dict[str, Any]) -> PromptSection:
    call = spec["function_call"]
    return FunctionCallMessage(ToolCall("call_1", call["name"], call["arguments"]), **given)


_WRITERS: Mapping[str, Callable[[Mapping[str, Any], dict[str, Any]], PromptSection]] = {
    "Prompt": lambda spec, given: Prompt(_sections(spec), **given),
    "LayoutEngineSection": lambda spec, given: Prompt(_sections(spec), **given),
    "GroupSection": lambda spec, given: GroupSection(_sections(spec), **given),
    "TextSection": lambda spec, given: TextSection(spec["text"], **given),
    "TemplateSection": lambda spec, given: TemplateSection(_template(spec), **given),
    "SystemMessage": lambda spec, given: SystemMessage(_template(spec), **given),
    "UserMessage": lambda spec, given: UserMessage(_template(spec), **given),
    "AssistantMessage": lambda spec, given: AssistantMessage(_template(spec), **given),
    "ConversationHistory": lambda spec, given: ConversationHistory(spec["variable"], **given),
    "DataSourceSection": lambda spec, given: DataSourceSection(
        text_source(spec["data_source"]), **given
    ),
    "FunctionCallMessage": _function_call,
    "FunctionResponseMessage": lambda spec, given: FunctionResponseMessage(
        "call_1", spec["response"], **given
    ),
    "UserInputMessage": _user_input,
    "StaticMessages": _messages,
    "RawMessages": _messages,
}


def to_prompt(row: Row) -> Prompt:
    """Write the prompt of a case; a section alone stands in a prompt by itself."""
    section = to_section(row["input"]["section"])
    return section if isinstance(section, Prompt) else Prompt([section])


def to_memory(row: Row) -> ScopedMemory:
    """Put `scope.name` into scopes; a bare name is in `temp`."""
    scopes: dict[str, dict[str, Any]] = {"conversation": {}, "user": {}, "temp": {}}
    for path, value in row["input"].get("memory", {}).items():
        scope, dot, name = path.rpartition(".")
        scopes[scope if dot else "temp"][name] = _files(value)
    return ScopedMemory(scopes)


def _files(value: Any) -> Any:
    """Write Teams AI's input files as parts of a message; other values are as they are."""
    if not (isinstance(value, list) and value and "content_type" in value[0]):
        return value
    return [
        ImagePart(f"data:{file['content_type']};base64,{file['content_base64']}") for file in value
    ]


Calls = list[tuple[str, list[object]]]


def to_functions(row: Row, calls: Calls) -> dict[str, Callable[..., str]]:
    """Write the functions that a row describes; each call is noted in `calls`."""
    template = row["input"]["section"].get("template", "")
    described: Mapping[str, str] = row["input"].get("functions", {})
    if "*" in described:
        described = dict.fromkeys(re.findall(r"\{\{\s*([A-Za-z_]\w*)", template), described["*"])
    return {name: _function(name, what, calls) for name, what in described.items()}


def _function(name: str, what: str, calls: Calls) -> Callable[..., str]:
    def function(*arguments: object) -> str:
        calls.append((name, list(arguments)))
        words = [str(argument) for argument in arguments]
        match what:
            case "returns args[0]":
                return words[0]
            case "returns args joined by a space":
                return " ".join(words)
            case "returns 'your param is: ' + args[0]":
                return f"your param is: {words[0]}"
            case _:
                return what.removeprefix("returns ").strip("'")

    return function


def render(
    row: Row,
    prompt: Prompt | None = None,
    *,
    budget: int | None = None,
    calls: Calls | None = None,
    **options: Any,
) -> RenderedPrompt:
    """Render a case in its own form; only text is charged, as in Teams AI."""
    renderer = Renderer(
        tokenizer=ENCODING,
        output=row["input"]["render"],
        functions=to_functions(row, [] if calls is None else calls),
        **options,
    )
    budget = budget or row["input"]["max_tokens"]
    return renderer.render(prompt or to_prompt(row), to_memory(row), budget=budget)


def output_of(rendered: RenderedPrompt) -> str | list[dict[str, Any]]:
    """Return what came out, in the form of a row's `output`."""
    if rendered.form == "text":
        return rendered.text
    return [{"role": message.role, "content": message.content} for message in rendered.messages]


def expected_output(row: Row) -> str | list[dict[str, Any]]:
    """Return what a row expects, with real roles; a single text part is its text."""
    output = row["expected"]["output"]
    if isinstance(output, str):
        return output
    return [
        {"role": to_role(message["role"]), "content": _joined(message["content"])}
        for message in output
    ]


def _joined(content: Any) -> str:
    if isinstance(content, list):
        (part,) = content
        return part["text"]
    return content or ""


def as_number(budget: Budget) -> float:
    """Write a budget as Teams AI's number."""
    match budget:
        case Tokens(tokens=tokens):
            return tokens
        case Share(fraction=fraction):
            return float(fraction)
        case Rest():
            return 1.0
        case Auto():
            return -1


def attribute(section: PromptSection, name: str) -> object:
    """Return an attribute under the name that Teams AI gives it."""
    match name:
        case "tokens":
            return as_number(section.budget)
        case "sections_count":
            return len(section.sections) if isinstance(section, GroupSection) else 0
        case "template":
            return section.template.source if isinstance(section, TemplateSection) else None
        case _:
            return getattr(section, name)
