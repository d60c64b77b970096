"""Runs the command: in a process of its own, as people do, or in this one, which is faster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import frozen

ROOT = Path(__file__).parents[2]
BOT = ROOT / "examples" / "support_bot"
PROMPT, TURN = str(BOT / "prompt.yaml"), str(BOT / "turn.json")


@frozen
class Done:
    """How a process ended."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """Standard output, with `\\n` as the end of each line."""
        return self.out.decode("utf-8").replace("\r\n", "\n")

    @property
    def errors(self) -> str:
        """Standard error."""
        return self.err.decode("utf-8", "replace").replace("\r\n", "\n")

    @property
    def json(self) -> Any:
        """Standard output as data."""
        return json.loads(self.out)


Command = Callable[..., Done]
"""What the fixture `command` is: words of a command line → how it ended."""


def environment(**changes: str) -> dict[str, str]:
    """Return an environment in which nothing but the changes decides about encodings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "LC_", "LANG", "_PROMPTSECTIONS"))
        and name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM")
    }
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **changes}


def run(*words: str, stdin: bytes = b"", cwd: Path = ROOT, **changes: str) -> Done:
    """Run the command in a process of its own; in UTF-8 unless the environment is changed."""
    done = subprocess.run(
        [sys.executable, "-m", "promptsections", *words],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=environment(**(changes or {"PYTHONUTF8": "1"})),
    )
    return Done(done.returncode, done.stdout, done.stderr)
