"""`read_prompty`: a `.prompty` file as a prompt.

It reads the file, and a JSON sample beside it; no environment, no connection, no program.
Source: prompty 0.1.50 (version 1) and 2.1.0 (version 2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from attrs import frozen

from promptsections.config.dialects import (
    Piece,
    Untranslatable,
    read_braces,
    read_jinja,
    to_template,
    trimmed,
)
from promptsections.config.files import read_text
from promptsections.config.keys import Keys, invalid, read_yaml_keys
from promptsections.config.prompt_file import Place, PromptFile
from promptsections.config.prompty.inputs import Inputs, object_schema, read_inputs
from promptsections.config.prompty.roles import Speech, speeches
from promptsections.config.remarks import Remarks
from promptsections.messages import Role, Tool
from promptsections.prompt import Prompt
from promptsections.sections import (
    AssistantMessage,
    ConversationHistory,
    PromptSection,
    SystemMessage,
    TemplateSection,
    UserMessage,
)
from promptsections.templates import Template
from promptsections.templates.nodes import Variable

_LANGUAGES: Mapping[str, Callable[[str], list[Piece]]] = {
    "jinja2": read_jinja,
    "mustache": read_braces,
}
_READ = ("name", "description", "model", "inputs", "sample", "tools", "template")
_LEFT_OUT = ("displayName", "authors", "tags", "version", "metadata", "outputs", "base")
_LIMITS = ("maxOutputTokens", "max_output_tokens", "max_completion_tokens", "max_tokens")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)\s]+[^)]*\)")


def read_prompty(path: str | PathLike[str]) -> PromptFile:
    """Read a `.prompty` file of version 1 or 2.

    The messages are parted at the role markers of the file, before any value is filled in. An input
    of the kind `thread` becomes a conversation history.

    Args:
        path: The file. A sample that it names must stand in its folder.

    Returns:
        Its prompt. `memory` holds defaults and samples, `options` the settings of the model under
        the names of the file, `notes` what was not taken over.

    Raises:
        ConfigError: if it is missing or wrong, or if its template is more than a text with
            variables; names the line.
    """
    file = Path(path).absolute()
    header, body = _parted(file, read_text(file))
    remarks = Remarks()
    header.check_names((*_READ, *_LEFT_OUT), remarks)
    for key in _LEFT_OUT:
        if key in header:
            remarks.say("key_left_out", key, f"{key!r} says nothing about the prompt; not read")
    inputs = read_inputs(header)
    model = _read_model(header, remarks)
    sections, places = _Body(file, body, inputs, remarks).read(_language(header))
    return PromptFile(
        prompt=Prompt(sections, tools=_read_tools(header, remarks)),
        format="prompty",
        path=file,
        name=header.text("name"),
        description=header.text("description"),
        model=model.name,
        reserve_output_tokens=model.limit,
        memory=inputs.samples,
        variables=inputs.variables if "inputs" in header else None,
        options=model.options,
        places=places,
        notes=tuple(remarks.notes),
    )


@frozen
class _Text:
    """The body, and where it stands in the file."""

    text: str
    line: int


def _parted(file: Path, text: str) -> tuple[Keys, _Text]:
    """Part a file into its front matter and its body; a file may have no front matter."""
    lines = text.split("\n")
    top = next((n for n, line in enumerate(lines) if line.strip()), len(lines))
    if top == len(lines) or lines[top].rstrip() != "---":
        return read_yaml_keys(file, ""), _body(lines, 0)
    for number in range(top + 1, len(lines)):
        if lines[number].rstrip() in ("---", "+++"):
            header = "\n".join(lines[top + 1 : number])
            return read_yaml_keys(file, header, top + 2), _body(lines, number + 1)
    raise invalid(file, "the front matter is not closed: a line `---` is missing", top + 1)


def _body(lines: Sequence[str], first: int) -> _Text:
    text = "\n".join(lines[first:])
    body = text.lstrip()
    return _Text(body, first + 1 + text[: len(text) - len(body)].count("\n"))


def _language(header: Keys) -> Callable[[str], list[Piece]]:
    """Find out the template language: a name in version 1, a table of tables in version 2."""
    written = header.plain("template")
    kind: object = written
    if isinstance(written, dict):
        table = header.inner("template")
        kind = _kind(table, "format") or table.text("type")
        parser = _kind(table, "parser")
        if parser not in (None, "", "*", "prompty"):
            raise table.error(f"{parser!r} is not read: 'prompty' is", "parser")
    name = str(kind or "jinja2")
    if name not in _LANGUAGES and name != "*":
        raise header.error(f"{name!r} is not read: jinja2 and mustache are", "template")
    return _LANGUAGES.get(name, read_jinja)


def _kind(table: Keys, key: str) -> str | None:
    return table.inner(key).text("kind") if isinstance(table.plain(key), dict) else table.text(key)


# --- the model ------------------------------------------------------------------------------------


@frozen
class _Model:
    name: str | None
    limit: int | None
    """Tokens of the answer."""
    options: Mapping[str, Any]


def _read_model(header: Keys, remarks: Remarks) -> _Model:
    """Read `model`: its name, and how it is called; never where, nor with which key."""
    written = header.plain("model")
    if not isinstance(written, dict):
        return _Model(_told(header.text("model"), remarks), None, {})
    model = header.inner("model")
    connection = model.inner("configuration")
    for key in ("configuration", "connection", "provider", "response"):
        if key in model:
            remarks.say("key_left_out", model.path(key), "how to reach the model; not read")
    name = (
        model.text("id")
        or connection.text("name")
        or connection.text("model")
        or connection.text("azure_deployment")
    )
    options: dict[str, Any] = {}
    limit: int | None = None
    for key in ("parameters", "options"):
        settings = model.inner(key)
        options |= {name: settings.plain(name) for name in settings if name != "tools"}
        for found in (settings.whole(each, at_least=1) for each in _LIMITS):
            limit = limit or found
    more = options.pop("additionalProperties", None)
    api = model.text("apiType") or model.text("api")
    if api is not None:
        options["api"] = api
    return _Model(_told(name, remarks), limit, {**options, **(more or {})})


def _told(name: str | None, remarks: Remarks) -> str | None:
    """Return the name of a model, unless the environment is to say it, which is never asked."""
    if name is None or not name.startswith("${"):
        return name
    remarks.say("key_left_out", "model", f"the model's name is {name}; the environment is not read")
    return None


def _read_tools(header: Keys, remarks: Remarks) -> list[Tool]:
    """Read functions: `tools` of version 2, `model.parameters.tools` of version 1."""
    tools: list[Tool] = []
    owners = [(header, "tools")]
    if isinstance(header.plain("model"), dict):
        owners.append((header.inner("model").inner("parameters"), "tools"))
    for owner, key in owners:
        if isinstance(owner.plain(key), str):
            remarks.say("tools_left_out", owner.path(key), "tools in another file are not read")
            continue
        for item in _listed(owner, key):
            kind = item.text("kind") or item.text("type") or "function"
            if kind == "function":
                tool = _read_tool(item)
                if tool.name in (other.name for other in tools):
                    raise item.error(f"two tools are named {tool.name!r}")
                tools.append(tool)
            else:
                remarks.say("tools_left_out", item.path(), f"a tool of kind {kind!r} is not read")
    return tools


def _listed(owner: Keys, key: str) -> list[Keys]:
    if isinstance(owner.plain(key), dict):
        table = owner.inner(key)
        return [table.inner(name) for name in table]
    return owner.tables(key)


def _read_tool(item: Keys) -> Tool:
    function = item.inner("function") if "function" in item else item
    name = function.text("name") or item.location[-1]  # in a table of tools, the key is the name
    if isinstance(name, int):
        raise item.error("a tool needs a name")
    schema: Mapping[str, Any] = object_schema(function, "parameters")
    if isinstance(function.plain("parameters"), dict):
        written = function.inner("parameters").to_dict()
        schema = written if isinstance(written.get("properties"), dict) else schema
    return Tool(name, function.text("description") or "", schema)


# --- the body -------------------------------------------------------------------------------------


@frozen
class _Body:
    """Makes sections of the body."""

    file: Path
    body: _Text
    inputs: Inputs
    remarks: Remarks

    def read(
        self, language: Callable[[str], list[Piece]]
    ) -> tuple[list[PromptSection], Mapping[str, Place]]:
        try:
            pieces = language(self.body.text)
        except Untranslatable as problem:
            raise self._error(problem.message, problem.position) from None
        sections: list[PromptSection] = []
        for speech in speeches(pieces):
            sections += self._sections(speech)
        self._remark_images()
        placed = {s.variable for s in sections if isinstance(s, ConversationHistory)}
        if not placed:  # a conversation that the body does not name comes last
            sections += [ConversationHistory(name) for name in self.inputs.threads]
        prompt = Prompt(sections)
        return sections, dict.fromkeys(prompt.names, Place(self.file, self.body.line))

    def _sections(self, speech: Speech) -> list[PromptSection]:
        """Make a section of what a role says, or several around the conversations in it."""
        if speech.attributes:
            self.remarks.say(
                "role_left_out", speech.role, f"{speech.attributes} behind a role is not read"
            )
        sections: list[PromptSection] = []
        said: list[Piece] = []
        has_thread = any(self._is_thread(piece) for piece in speech.pieces)
        for piece in speech.pieces:
            if isinstance(piece, Variable) and self._is_thread(piece):
                sections += self._message(speech.role, said, has_thread)
                sections.append(ConversationHistory(piece.path))
                said = []
            else:
                self._check_media(piece)
                said.append(piece)
        return sections + self._message(speech.role, said, has_thread)

    def _is_thread(self, piece: Piece) -> bool:
        return isinstance(piece, Variable) and piece.path in self.inputs.threads

    def _check_media(self, piece: Piece) -> None:
        if isinstance(piece, Variable) and piece.path in self.inputs.media:
            raise self._error(
                f"the input {piece.path!r} is an image, a file or sound inside of a text: use a "
                f"section UserInput(…, files={piece.path!r}) instead",
                piece.position,
            )

    def _message(
        self, role: Role, pieces: Sequence[Piece], has_thread: bool
    ) -> list[PromptSection]:
        kept = trimmed(pieces) if has_thread else tuple(pieces)
        return [message_of(role, to_template(kept))] if kept else []

    def _remark_images(self) -> None:
        if _IMAGE.search(self.body.text):
            self.remarks.say(
                "image_as_text", "", "a Markdown image stays text, as version 2 has it"
            )

    def _error(self, message: str, position: int) -> Exception:
        line = self.body.line + self.body.text.count("\n", 0, position)
        return invalid(self.file, message, line)


def message_of(role: Role, template: Template) -> PromptSection:
    """Return the section that says a template in a role."""
    match role:
        case "system":
            return SystemMessage(template)
        case "user":
            return UserMessage(template)
        case "assistant":
            return AssistantMessage(template)
        case _:
            return TemplateSection(template, role)
