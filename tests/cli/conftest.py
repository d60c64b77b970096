"""What the tests of the command share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command, Done

from promptsections.cli import main


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command in this process."""

    def run_here(*words: str) -> Done:
        code = main(words)
        printed = capsys.readouterr()
        return Done(code, printed.out.encode(), printed.err.encode())

    return run_here


@pytest.fixture
def prompt(tmp_path: Path) -> Callable[[str], str]:
    """Write a prompt file."""

    def write(text: str, name: str = "prompt.yaml") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="\n")
        return str(path)

    return write
