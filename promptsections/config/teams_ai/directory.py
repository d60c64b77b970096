"""`PromptFolder`: a directory of prompt folders, found by name and read once.

It reads nothing outside of its directory, and again only what changed, if it is asked to.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Unpack

from promptsections.config.files import inside
from promptsections.config.prompt_file import PromptFile
from promptsections.config.teams_ai.folder import FILES, TEXT, ReadingOptions, read_folder
from promptsections.errors import ConfigError

_Stamp = tuple[tuple[int, int] | None, ...]
"""Of each file when it was changed, in nanoseconds, and its size in bytes; `None`: not there."""


class PromptFolder:
    """Prompts by name: `folder["chat"]` reads the folder `chat`, `folder["bots/chat"]` one below.

    Safe to share between threads.

    Args:
        directory: Where the folders are. A relative one is found once, when this is made.
        reload: Read a prompt again when one of its files has changed.
        options: As for `read_folder`.

    Raises:
        ConfigError: if there is no such directory.
    """

    def __init__(
        self,
        directory: str | PathLike[str],
        *,
        reload: bool = False,
        **options: Unpack[ReadingOptions],
    ) -> None:
        self.directory = Path(directory).absolute()
        """Its full path."""
        self._reload = reload
        self._options = options
        self._read: dict[str, tuple[_Stamp, PromptFile]] = {}
        self._lock = Lock()
        if not self.directory.is_dir():
            raise ConfigError(
                f"{self.directory}: there is no such folder of prompts",
                path=str(self.directory),
                kind="missing",
            )

    def __repr__(self) -> str:
        return f"PromptFolder({str(self.directory)!r})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all prompts, those of folders in folders with `/`, in order."""
        found = {file.parent.relative_to(self.directory) for file in self.directory.rglob(TEXT)}
        names = sorted(folder.as_posix() for folder in found if folder != Path())
        return tuple(name for name in names if self._is_inside(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: str) -> bool:
        """Say whether there is a prompt of that name, without reading it.

        Raises:
            ConfigError: if the name leads out of the directory.
        """
        return (inside(self.directory, name) / TEXT).is_file()

    def __getitem__(self, name: str) -> PromptFile:
        """Return a prompt.

        Raises:
            ConfigError: if there is none of that name (`kind="missing"`), if it cannot be read, or
                if the name leads out of the directory.
        """
        folder = inside(self.directory, name)
        with self._lock:
            known = self._read.get(name)
        stamp = _stamp(folder) if self._reload or known is None else known[0]
        if known is not None and known[0] == stamp:
            return known[1]
        prompt = read_folder(folder, **self._options)
        with self._lock:
            self._read[name] = (stamp, prompt)
        return prompt

    def get(self, name: str, default: PromptFile | None = None) -> PromptFile | None:
        """Return a prompt, or the default if there is none of that name.

        Raises:
            ConfigError: if it is there but cannot be read, or if the name leads out.
        """
        exists = name in self
        return self[name] if exists else default

    def _is_inside(self, name: str) -> bool:
        try:
            return name in self
        except ConfigError:  # a link that leads out
            return False


def _stamp(folder: Path) -> _Stamp:
    return tuple(_stamp_of(folder / name) for name in FILES)


def _stamp_of(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
