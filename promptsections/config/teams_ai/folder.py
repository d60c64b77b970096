"""`read_folder`: a folder with `skprompt.txt`, `config.json` and maybe `actions.json` as a prompt.

The sections stand as Teams AI puts them, or with what changes in every turn at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from attrs import frozen

from promptsections.budgets import Auto, Budget, BudgetLike, Rest, to_budget
from promptsections.config.files import inside, read_text
from promptsections.config.keys import Keys, invalid, read_json
from promptsections.config.nodes import Items
from promptsections.config.prompt_file import Place, PromptFile
from promptsections.config.remarks import Remarks
from promptsections.config.samples import SampleSource
from promptsections.config.teams_ai.augmentation import AUGMENTATIONS, Augmentation
from promptsections.config.teams_ai.sections import TurnHistory, TurnInput, TurnSource
from promptsections.config.teams_ai.settings import Settings, read_settings
from promptsections.errors import ConfigError, DefinitionError, TemplateSyntaxError
from promptsections.messages import Role, Tool
from promptsections.prompt import Prompt
from promptsections.sections import DataSource, GroupSection, PromptSection, TemplateSection
from promptsections.templates import Template
from promptsections.templates.suggestions import did_you_mean, suggest

TEXT, SETTINGS, ACTIONS = "skprompt.txt", "config.json", "actions.json"
FILES = (TEXT, SETTINGS, ACTIONS)
"""The files of a prompt; only the last one may be missing."""


class ReadingOptions(TypedDict, total=False):
    """How `read_folder` reads; Teams AI has these in its prompt manager and planner."""

    order: Literal["teams_ai", "cache"]
    """`"cache"` puts data sources behind the history, so that what stands before them is the same
    in every turn."""
    data_sources: Mapping[str, DataSource]
    """Name → function, for the sources that prompts ask for."""
    missing_sources: Literal["error", "empty"]
    """`"empty"`: a source that is not given finds nothing, and a note says so."""
    augmentations: Mapping[str, Augmentation]
    """`augmentation_type` → what it adds, beside Teams AI's own or instead of one."""
    role: Role
    """Who says the instructions; "system" by default."""
    history_tokens: BudgetLike
    """What the history may have; by default what all else leaves (1.0)."""
    input_tokens: BudgetLike
    """What the user's words may have; by default all they need (-1)."""
    delimiters: tuple[str, str]
    """What opens and closes a placeholder in the template; `("{{", "}}")` by default."""


def read_folder(path: str | PathLike[str], **options: Unpack[ReadingOptions]) -> PromptFile:
    """Read a prompt folder of Teams AI.

    The prompt is a group with the template, its data sources and what its augmentation adds; then
    the history `conversation.<name>_history`, then the input `temp.input`. Give it memory with
    Teams AI's scopes: `ScopedMemory`.

    Args:
        path: The folder; its name is the name of the prompt.
        options: See `ReadingOptions`.

    Returns:
        Its prompt. `budget` is `max_input_tokens`, `reserve_output_tokens` is `max_tokens`, and
        `options` holds the other settings of the model under Teams AI's names.

    Raises:
        ConfigError: if the folder or a file in it is missing (`kind="missing"`), or wrong.
    """
    folder = Path(path).absolute()
    if not folder.is_dir():
        there = "is no folder" if folder.exists() else "there is no such folder"
        raise ConfigError(f"{folder}: {there}", path=str(folder), kind="missing")
    remarks = Remarks()
    for name in FILES:
        inside(folder, name)  # a file may be a link, but not to somewhere else
    settings = read_settings(folder / SETTINGS, remarks)
    template = _template(folder / TEXT, options.get("delimiters", ("{{", "}}")))
    actions = _actions(folder / ACTIONS)
    sections = _Sections(folder, settings, options, remarks)
    tools = actions if settings.augmentation == "tools" else []
    return PromptFile(
        prompt=Prompt(sections.all(template, actions), tools=tools),
        format="teams_ai",
        path=folder,
        name=folder.name,
        description=settings.description,
        model=settings.model,
        budget=settings.budget,
        reserve_output_tokens=settings.answer,
        options=settings.options,
        places=sections.places(),
        notes=tuple(remarks.notes),
    )


def _template(file: Path, delimiters: tuple[str, str]) -> Template:
    text = read_text(file)
    try:
        return Template(text, delimiters=delimiters)
    except TemplateSyntaxError as error:
        raise invalid(file, error.message, error.line) from error


def _actions(file: Path) -> list[Tool]:
    """Read the actions; a prompt need not have any."""
    if not file.exists():
        return []
    node = read_json(file)
    if not isinstance(node, Items):
        raise invalid(file, "must hold a list of actions", node.line)
    actions: dict[str, Tool] = {}
    for index in range(len(node.items)):
        keys = Keys.of_item(file, node, index)
        action = _action(keys)
        if action.name in actions:
            raise keys.error(f"two actions are named {action.name!r}")
        actions[action.name] = action
    return list(actions.values())


def _action(keys: Keys) -> Tool:
    name = keys.text("name")
    if not name:
        raise keys.error("an action needs a name")
    schema = keys.inner("parameters").to_dict() or {"type": "object", "properties": {}}
    return Tool(name, keys.text("description") or "", schema)


@frozen
class _Sections:
    """Makes the sections of a prompt."""

    folder: Path
    settings: Settings
    options: ReadingOptions
    remarks: Remarks

    def all(self, template: Template, actions: Sequence[Tool]) -> Iterator[PromptSection]:
        """Yield the sections in their order."""
        role: Role = self.options.get("role", "system")
        instructions = TemplateSection(template, role, name="template")
        augmented = self._augmentation(actions)
        sources = list(self._sources(role))
        if self.options.get("order", "teams_ai") == "cache":
            yield GroupSection([instructions, *augmented], role, name="instructions")
            yield from self._history()
            yield from sources
        else:
            yield GroupSection([instructions, *sources, *augmented], role, name="instructions")
            yield from self._history()
        yield from self._input()

    def _augmentation(self, actions: Sequence[Tool]) -> list[PromptSection]:
        name = self.settings.augmentation
        known = {**AUGMENTATIONS, **self.options.get("augmentations", {})}
        if name not in known:
            hint = did_you_mean(name, suggest(name, known))
            raise self.settings.keys.error(
                f"the augmentation {name!r} is not known{hint}", "augmentation", "augmentation_type"
            )
        if name == "none" and actions:
            self.remarks.say(
                "tools_left_out", ACTIONS, 'actions are sent with another augmentation than "none"'
            )
        section = known[name](actions)
        return [] if section is None else [section]

    def _sources(self, role: Role) -> Iterator[PromptSection]:
        for name, budget in self.settings.sources.items():
            source = self._source(name)
            try:
                yield TurnSource(source, role=role, name=_section_name(name), tokens=budget)
            except DefinitionError as error:
                raise self._source_error(name, error.message) from error

    def _source(self, name: str) -> DataSource:
        given = self.options.get("data_sources", {})
        if name in given:
            return given[name]
        if self.options.get("missing_sources", "error") == "empty":
            self.remarks.say("sources_missing", name, "no such data source was given; it is empty")
            return SampleSource(name)
        known = f", given are {', '.join(map(repr, given))}" if given else ", and none was given"
        raise self._source_error(
            name,
            f"data source {name!r} not found for prompt {self.folder.name!r}{known}: "
            f"pass data_sources={{{name!r}: …}}",
        )

    def _source_error(self, name: str, message: str) -> ConfigError:
        return self.settings.keys.error(message, "augmentation", "data_sources", name)

    def _history(self) -> Iterator[PromptSection]:
        """Yield the history; with tools there is one in any case, for the calls of this turn."""
        has_tools = self.settings.augmentation == "tools"
        scope = "conversation" if self.settings.history else "temp"
        if self.settings.history or has_tools:
            yield TurnHistory(
                f"{scope}.{self.folder.name}_history",
                name="history",
                tokens=_budget(self.options.get("history_tokens", Rest())),
                outputs="temp.action_outputs" if has_tools else None,
            )

    def _input(self) -> Iterator[PromptSection]:
        if self.settings.input or self.settings.images:
            yield TurnInput(
                files="temp.input_files" if self.settings.images else None,
                name="input",
                tokens=_budget(self.options.get("input_tokens", Auto())),
            )

    def places(self) -> Mapping[str, Place]:
        """Return where sections are written: the template in its file, sources in the settings."""
        keys = self.settings.keys
        text = Place(self.folder / TEXT, 1)
        places = {"instructions": text, "instructions/template": text}
        in_group = self.options.get("order", "teams_ai") != "cache"
        for name in self.settings.sources:
            if _section_name(name) is not None:
                place = Place(keys.file, keys.line("augmentation", "data_sources", name))
                places[f"instructions/{name}" if in_group else name] = place
        return places


_TAKEN = ("instructions", "template", "actions", "history", "input")


def _section_name(source: str) -> str | None:
    """Return the name of the section of a data source; `None` if it cannot have the same."""
    return None if source in _TAKEN or not source or "/" in source else source


def _budget(value: BudgetLike) -> Budget:
    """Read an option; Teams AI writes 1 for all that is left."""
    return Rest() if value == 1 else to_budget(value)
