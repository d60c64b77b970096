"""`read_semantic_kernel`: a prompt function of Semantic Kernel as a prompt.

It reads the one YAML file, or `skprompt.txt` and `config.json` of a folder. It calls no functions.
Source: semantic-kernel 1.45.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, cast

from attrs import frozen

from promptsections.config.dialects import (
    Piece,
    Untranslatable,
    read_braces,
    read_jinja,
    read_kernel,
    to_template,
)
from promptsections.config.files import inside, read_text
from promptsections.config.keys import Keys, invalid, read_json_keys, read_yaml_keys
from promptsections.config.prompt_file import Place, PromptFile
from promptsections.config.prompty.reading import message_of
from promptsections.config.remarks import Remarks
from promptsections.config.semantic_kernel.chat_markup import speeches
from promptsections.errors import ConfigError
from promptsections.prompt import Prompt
from promptsections.sections import ConversationHistory, PromptSection, TemplateSection

_LANGUAGES: Mapping[str, Callable[[str], list[Piece]]] = {
    "semantic-kernel": read_kernel,
    "handlebars": read_braces,
    "jinja2": read_jinja,
}
_KNOWN = (
    "name",
    "description",
    "template",
    "template_format",
    "input_variables",
    "execution_settings",
    "allow_dangerously_set_content",
    "schema",
    "type",
)
KERNEL_KEYS = ("input_variables", "execution_settings", "template_format")
"""Keys of a `config.json` by which a folder of Semantic Kernel is told from one of Teams AI."""
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_MODELS = ("ai_model_id", "model_id", "model")


def read_semantic_kernel(
    path: str | PathLike[str], *, histories: Collection[str] = ("chat_history",)
) -> PromptFile:
    """Read a prompt of Semantic Kernel: a YAML file, or a folder with `skprompt.txt`.

    `<message role="…">` tags that are written in the template part it into messages. Values are
    never parsed, even where the file asks for it.

    Args:
        path: The file or the folder.
        histories: Names of the variables that are conversations.

    Returns:
        Its prompt. `memory` holds the defaults of its variables, `options` the execution settings,
        `notes` what was not taken over.

    Raises:
        ConfigError: if it is missing or wrong, or if its template is more than a text with
            variables and functions; names the line.
    """
    found = _found(Path(path).absolute())
    keys, remarks = found.keys, Remarks()
    keys.check_names(_KNOWN, remarks)
    if keys.flag("allow_dangerously_set_content", default=False):
        remarks.say(
            "key_left_out", "allow_dangerously_set_content", "values are never read as tags"
        )
    variables, memory = _variables(keys)
    options, limit, model = _settings(keys, remarks)
    prompt = Prompt(_sections(found, histories))
    undeclared = dict.fromkeys(_used(prompt), cast("Mapping[str, Any]", {}))
    return PromptFile(
        prompt=prompt,
        format="semantic_kernel",
        path=found.path,
        name=keys.text("name") or found.name,
        description=keys.text("description"),
        model=model,
        reserve_output_tokens=limit,
        memory=memory,
        variables={**undeclared, **variables} if "input_variables" in keys else None,
        options=options,
        places=dict.fromkeys(prompt.names, Place(found.template_file, found.line)),
        notes=tuple(remarks.notes),
    )


@frozen
class _Found:
    """The settings, and the template with its place."""

    path: Path
    name: str | None
    keys: Keys
    template: str
    template_file: Path
    line: int
    """Where the first line of the template stands."""

    def error(self, problem: Untranslatable) -> ConfigError:
        line = self.line + self.template.count("\n", 0, problem.position)
        return invalid(self.template_file, problem.message, line)


def _found(path: Path) -> _Found:
    if path.is_dir():
        for name in ("skprompt.txt", "config.json"):
            inside(path, name)  # a file may be a link, but not to somewhere else
        file = path / "skprompt.txt"
        keys = read_json_keys(path / "config.json")
        return _Found(path, path.name, keys, read_text(file), file, 1)
    keys = read_yaml_keys(path, read_text(path))
    template = keys.text("template")
    if template is None:
        raise keys.error("the key 'template' is missing")
    return _Found(path, None, keys, template, path, keys.text_line("template") or 1)


def _sections(found: _Found, histories: Collection[str]) -> list[PromptSection]:
    name = found.keys.text("template_format") or "semantic-kernel"
    if name not in _LANGUAGES:
        known = ", ".join(_LANGUAGES)
        raise found.keys.error(f"{name!r} is not read: {known} are", "template_format")
    try:
        parts = speeches(_LANGUAGES[name](found.template), histories, found.template)
    except Untranslatable as problem:
        raise found.error(problem) from None
    return [
        ConversationHistory(part.history)
        if part.history is not None
        else message_of(part.role, to_template(part.pieces))
        for part in parts
    ]


def _used(prompt: Prompt) -> Iterator[str]:
    """Yield the variables of the template: who uses one declares it, in this format."""
    for section in prompt.sections:
        if isinstance(section, ConversationHistory):
            yield section.variable
        elif isinstance(section, TemplateSection):
            yield from section.template.variables


def _variables(keys: Keys) -> tuple[Mapping[str, Mapping[str, Any]], Mapping[str, Any]]:
    """Return the declared variables as JSON Schemas, and what they are if nobody says."""
    variables: dict[str, Mapping[str, Any]] = {}
    memory: dict[str, Any] = {}
    for item in keys.tables("input_variables"):
        name = item.text("name")
        if not name:
            raise item.error("a variable needs a name")
        schema = _schema(item)
        description = item.text("description")
        schema |= {"description": description} if description else {}
        if default := item.plain("default"):
            schema["default"] = memory[name] = default
        elif not item.flag("is_required", default=True):
            memory[name] = ""  # as Semantic Kernel renders what is missing
        variables[name] = schema
    return variables, memory


def _schema(item: Keys) -> dict[str, Any]:
    """Read a JSON Schema, which may stand there as a text of JSON."""
    written = item.plain("json_schema")
    if isinstance(written, str):
        try:
            written = json.loads(written) if written.strip() else None
        except (ValueError, RecursionError):
            raise item.error("must be a JSON Schema", "json_schema") from None
    if written is None:
        return {}
    if not isinstance(written, dict):
        raise item.error("must be a JSON Schema", "json_schema")
    return dict(cast("Mapping[str, Any]", written))


def _settings(keys: Keys, remarks: Remarks) -> tuple[Mapping[str, Any], int | None, str | None]:
    """Return the settings of the default service: options, limit of the answer, model."""
    services = keys.inner("execution_settings")
    names = list(services)
    if not names:
        return {}, None, None
    chosen = "default" if "default" in names else names[0]
    for name in names:
        if name != chosen:
            remarks.say("service_left_out", services.path(name), f"{chosen!r} is read instead")
    settings = services.inner(chosen)
    options = {key: settings.plain(key) for key in settings if key not in (*_MODELS, "service_id")}
    limits = (settings.whole(key, at_least=1) for key in _LIMITS)
    models = (settings.text(key) for key in _MODELS)
    return options, next(filter(None, limits), None), next(filter(None, models), None)
