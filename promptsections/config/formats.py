"""Open a prompt in any format that is known: ours, and those of others."""

from __future__ import annotations

from pathlib import Path

from promptsections.config.document import KindsLike, read_prompt_file
from promptsections.config.prompt_file import PromptFile


def open_prompt(path: str | Path, *, kinds: KindsLike | None = None) -> PromptFile:
    """Read a prompt file or folder, whatever its format."""
    return read_prompt_file(path, kinds=kinds)
