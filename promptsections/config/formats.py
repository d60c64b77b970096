"""Open a prompt in any format that is known: ours, and those of others."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from promptsections.config.document import KindsLike, read_prompt_file
from promptsections.config.files import read_text
from promptsections.config.keys import read_json_keys
from promptsections.config.nodes import Mistake, Table
from promptsections.config.prompt_file import PromptFile
from promptsections.config.prompty import read_prompty
from promptsections.config.semantic_kernel import KERNEL_KEYS, read_semantic_kernel
from promptsections.config.teams_ai import read_folder
from promptsections.config.yaml_nodes import parse_yaml
from promptsections.errors import ConfigError

_OUR_FILES = ("prompt.yaml", "prompt.yml", "prompt.json", "prompt.toml")


def open_prompt(path: str | PathLike[str], *, kinds: KindsLike | None = None) -> PromptFile:
    """Read a prompt file or folder, whatever its format.

    A `.prompty` file, a YAML file or folder of Semantic Kernel, a prompt folder of Teams AI, or a
    file of ours; of another folder, the file `prompt.yaml` (`.yml`, `.json`, `.toml`) in it. Data
    sources that a Teams AI folder asks for are empty; a note says so.

    Args:
        path: The file or folder.
        kinds: Your own sections in a file of ours: the name that it uses → the class.

    Raises:
        ConfigError: if it is missing, of no known format, or wrong.
    """
    found = Path(path)
    if found.is_dir():
        return _open_folder(found, kinds)
    if found.suffix.lower() == ".prompty":
        return read_prompty(found)
    if _is_of_kernel(found):
        return read_semantic_kernel(found)
    return read_prompt_file(found, kinds=kinds, missing_sources="empty")


def _open_folder(folder: Path, kinds: KindsLike | None) -> PromptFile:
    for name in _OUR_FILES:
        if (folder / name).is_file():
            return read_prompt_file(folder / name, kinds=kinds, missing_sources="empty")
    settings = folder / "config.json"
    if not any((folder / name).exists() for name in ("config.json", "skprompt.txt")):
        raise ConfigError(
            f"{folder.absolute()} holds no prompt: it needs {', '.join(_OUR_FILES)}, or the "
            "config.json and skprompt.txt of Teams AI or Semantic Kernel",
            path=str(folder.absolute()),
            kind="missing",
        )
    if settings.is_file() and any(key in read_json_keys(settings) for key in KERNEL_KEYS):
        return read_semantic_kernel(folder)
    return read_folder(folder, missing_sources="empty")


def _is_of_kernel(file: Path) -> bool:
    """Say whether a YAML file is a prompt of Semantic Kernel: it has a template and no sections."""
    if file.suffix.lower() not in (".yaml", ".yml") or not file.is_file():
        return False
    try:
        document = parse_yaml(read_text(file))
    except Mistake:
        return False  # who reads it says what is wrong
    return (
        isinstance(document, Table)
        and "template" in document.items
        and ("sections" not in document.items)
    )
