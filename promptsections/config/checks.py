"""Static checks of a prompt file: what can be known to go wrong before anything is rendered.

It runs nothing of the file and fetches nothing; the names are in `declared`, the numbers in
`arithmetic`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from promptsections import caching
from promptsections.config.arithmetic import check_budgets
from promptsections.config.declared import check_names
from promptsections.config.findings import Code, Finding, finding
from promptsections.config.formats import open_prompt
from promptsections.config.prompt_file import Place, PromptFile
from promptsections.errors import ConfigError
from promptsections.tokens import TiktokenTokenizer


def check_path(path: str | Path, **options: Any) -> tuple[Finding, ...]:
    """Check a prompt file or folder, missing and invalid ones included.

    Args:
        path: the file or folder.
        options: as for `check_file`.
    """
    try:
        file = open_prompt(path)
    except ConfigError as error:
        return unreadable(error, path)
    return check_file(file, **options)


def check_file(
    file: PromptFile,
    *,
    memory: Mapping[str, Any] | None = None,
    functions: Iterable[str] = (),
    model: str | None = None,
    budget: int | None = None,
) -> tuple[Finding, ...]:
    """Look for mistakes of a prompt file, in the order of its sections.

    Args:
        file: what `open_prompt` returned.
        memory: what renders will have; by default what the file declares, or else its sample.
        functions: names of template functions that renders will have beside those declared.
        model: in place of the file's model.
        budget: in place of the file's budget, in tokens.

    Returns:
        What was found: nothing for a sound file.
    """
    found = (
        *check_names(file, memory, frozenset(functions)),
        *check_budgets(file, model or file.model, budget or file.budget),
        *_volatile(file),
    )
    order = {path: number for number, path in enumerate(file.places)}
    return tuple(sorted(found, key=lambda one: order.get(one.path, -1)))


def _volatile(file: PromptFile) -> Iterator[Finding]:
    for note in caching.findings(file.prompt, tokenizer=TiktokenTokenizer()):
        yield finding(file, Code.VOLATILE_BEFORE_STABLE, note.path, note.detail)


def unreadable(error: ConfigError, path: str | Path) -> tuple[Finding, ...]:
    """Return what is wrong with a file that could not be read as a prompt."""
    return tuple(_problems(error, Path(path)))


def _problems(error: ConfigError, path: Path) -> Iterator[Finding]:
    code = Code.MISSING_FILE if error.kind == "missing" else Code.INVALID_FILE
    if not error.problems:
        yield Finding(code, "", str(error), Place(Path(error.path or path)))
    for problem in error.problems:
        what = f"{problem.where}: {problem.message}" if problem.where else problem.message
        yield Finding(code, "", what, Place(Path(error.path or path), problem.line))
