"""`PromptFile`: what a file that holds a prompt says, whatever its format.

Plain data; it reads no files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from attrs import field, frozen

from promptsections.notes import Note
from promptsections.prompt import Prompt

FileFormat = Literal["promptsections", "teams_ai", "prompty", "semantic_kernel"]
"""Who defined the format of a file."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@frozen
class Place:
    """Where something is written."""

    file: Path
    line: int | None = None
    """Counted from 1; `None` where the format has no lines of its own."""

    def __str__(self) -> str:
        return str(self.file) if self.line is None else f"{self.file}:{self.line}"


@frozen(kw_only=True)
class PromptFile:
    """A prompt, and what its file says beside it."""

    prompt: Prompt
    format: FileFormat
    path: Path | None = None
    """The file or folder that it was read from; `None` for a text."""
    name: str | None = None
    description: str | None = None
    model: str | None = None
    """Name of the model it is written for."""
    budget: int | None = None
    """Tokens of input."""
    reserve_output_tokens: int | None = None
    """Tokens of the window that are kept for the answer."""
    memory: Mapping[str, Any] = field(default=_NOTHING)
    """Sample memory, to render it with as it stands."""
    variables: Mapping[str, Mapping[str, Any]] | None = None
    """Declared memory: path → JSON Schema of the value; `None` if nothing is declared."""
    functions: tuple[str, ...] | None = None
    """Names of the template functions that will be passed in; `None` if nothing is declared."""
    options: Mapping[str, Any] = field(default=_NOTHING)
    """Settings of the model call (temperature and the like) under the names of the format."""
    places: Mapping[str, Place] = field(default=_NOTHING)
    """Path of a section → where it is written."""
    keys: Mapping[str, Place] = field(default=_NOTHING)
    """Key at the top of a document of ours, such as `model` → where it is written."""
    notes: tuple[Note, ...] = ()
    """What of the file is not expressed by the prompt, and what was changed."""
