"""Look at a prompt before anything runs: names that its templates use and nobody provides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from promptsections.memory import MISSING, explain_miss, lookup
from promptsections.notes import Note
from promptsections.prompt import Prompt
from promptsections.sections import GroupSection, PromptSection, TemplateSection
from promptsections.templates import Function
from promptsections.templates.suggestions import did_you_mean, suggest, suggest_path


def check(
    prompt: Prompt, functions: Mapping[str, Function], memory: object = None
) -> tuple[Note, ...]:
    """Return a note for each name of a template that is not known, in document order."""
    return tuple(
        note
        for path, section in walk(prompt)
        if isinstance(section, TemplateSection)
        for note in _names(path, section, functions, memory)
    )


def walk(group: GroupSection, path: str = "") -> Iterator[tuple[str, PromptSection]]:
    """Yield all sections with their paths, groups before what stands in them."""
    for name, section in zip(group.names, group.sections, strict=True):
        place = f"{path}/{name}" if path else name
        yield place, section
        if isinstance(section, GroupSection):
            yield from walk(section, place)


def _names(
    path: str, section: TemplateSection, functions: Mapping[str, Function], memory: object
) -> Iterator[Note]:
    for name in section.template.functions:
        if name not in functions:
            hint = did_you_mean(name, suggest(name, functions))
            yield Note("unknown_function", path, f"function {name!r} is not known{hint}")
    if memory is None:
        return
    for variable in section.template.variables:
        if lookup(memory, variable) is MISSING:
            miss = explain_miss(memory, variable)
            hint = did_you_mean(variable, suggest_path(variable, miss))
            yield Note("undefined_variable", path, f"variable {variable!r} {miss.reason}{hint}")
