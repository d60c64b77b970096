"""Makes the environments that peers run in, once, and keeps them.

Each is a folder below one root: virtual environments, Node's modules, and our vocabularies under
the names by which tiktoken looks for them, so that nothing is fetched while measuring. A peer that
cannot be had is `Unavailable`, with the reason.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import define, field, frozen

from benchmarks.peers.roster import Home, Peer
from promptsections.tokens.tiktoken_encoding import read_ranks

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
"""The checkout, from which workers import."""
VOCABULARIES = {"o200k_base": 199_998, "cl100k_base": 100_256}
"""Encoding → tokens in its file."""
_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
"""Where tiktoken would fetch it; the name of the cached file is made of this."""
_FILES: Mapping[Home, Sequence[str]] = {
    "common": ("requirements-common.txt", "requirements-common-bare.txt"),
    "teams-ai": ("requirements-teams-ai.txt",),
    "node": ("package.json",),
}
_PATIENCE = 900
"""Seconds for one installation."""


@frozen
class Unavailable:
    """A peer that cannot be measured."""

    reason: str


@frozen
class Environment:
    """Where peers run."""

    folder: Path
    program: str
    """Python or Node."""
    failures: Mapping[str, str]
    """Distributions that could not be installed → why."""


def default_root() -> Path:
    """Return the user's folder for what can be made again."""
    return (
        Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "promptsections-bench"
    )


@define
class Environments:
    """All environments below one root, made when they are first asked for."""

    root: Path
    say: Callable[[str], None]
    """Told what is being installed, as it takes minutes."""
    _made: dict[Home, Environment | Unavailable] = field(factory=dict, init=False)

    def of(self, peer: Peer) -> Environment | Unavailable:
        """Return where a peer runs, or why it does not."""
        home = peer.home
        if home not in self._made:
            self._made[home] = self._node() if home == "node" else self._python(home)
        made = self._made[home]
        if isinstance(made, Environment) and peer.distribution in made.failures:
            return Unavailable(f"cannot be installed: {made.failures[peer.distribution]}")
        return made

    def variables(self) -> dict[str, str]:
        """Return the environment variables of a worker."""
        return {
            **os.environ,
            "TIKTOKEN_CACHE_DIR": str(self._vocabularies()),
            "HAYSTACK_TELEMETRY_ENABLED": "False",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(ROOT),
        }

    def _vocabularies(self) -> Path:
        folder = self.root / "vocabularies"
        folder.mkdir(parents=True, exist_ok=True)
        for name, size in VOCABULARIES.items():
            file = folder / hashlib.sha1(_URL.format(name).encode()).hexdigest()
            if not file.exists():
                ranks = read_ranks(name, size).items()
                lines = (b"%s %d\n" % (b64encode(token), rank) for token, rank in ranks)
                file.write_bytes(b"".join(lines))
        return folder

    def _python(self, home: Home) -> Environment | Unavailable:
        python = _python_311() if home == "teams-ai" else sys.executable
        if python is None:
            return Unavailable("needs Python 3.11, and there is no python3.11")
        folder = self._folder(home, python)
        program = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
        done = folder / "installed.json"
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            self.say(f"Installing peers into {folder}")
            failure = _failure_of([python, "-m", "venv", str(folder)])
            if failure:
                return Unavailable(f"no virtual environment: {failure}")
            pip = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            failures: dict[str, str] = {}
            for file in _FILES[home]:
                bare = ("--no-deps",) if "bare" in file else ()
                failures |= _installed([*pip, *bare], HERE / file)
            done.write_text(json.dumps(failures), encoding="utf-8")
        return Environment(folder, program, json.loads(done.read_text(encoding="utf-8")))

    def _node(self) -> Environment | Unavailable:
        node, npm = shutil.which("node"), shutil.which("npm")
        if node is None or npm is None:
            return Unavailable("needs Node, and there is no node or no npm")
        folder = self._folder("node", node)
        done = folder / "installed.json"
        if not done.exists():
            self.say(f"Installing peers into {folder}")
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / "package.json", folder)
            quiet = ("--no-audit", "--no-fund", "--silent")
            failure = _failure_of([npm, "install", *quiet, "--prefix", str(folder)])
            if failure:
                return Unavailable(f"cannot be installed: {failure}")
            done.write_text("{}", encoding="utf-8")
        return Environment(folder, node, {})

    def _folder(self, home: Home, program: str) -> Path:
        """Name a folder after all that its content depends on, so that new pins make a new one."""
        parts = [program, sys.version, *((HERE / file).read_text("utf-8") for file in _FILES[home])]
        return self.root / f"{home}-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:12]}"


def _python_311() -> str | None:
    return sys.executable if sys.version_info[:2] == (3, 11) else shutil.which("python3.11")


def _installed(pip: Sequence[str], file: Path) -> dict[str, str]:
    """Install a list; if that fails, one after the other, and return which failed and why."""
    if not _failure_of([*pip, "-r", str(file)]):
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    failures = {line.partition("==")[0]: _failure_of([*pip, line]) for line in wanted}
    return {name: failure for name, failure in failures.items() if failure}


def _failure_of(command: Sequence[str]) -> str:
    """Run a command; return the last line of its complaint, or nothing if it went well."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else last_line(done.stderr or done.stdout)


def last_line(output: str) -> str:
    """Return the last line that says something, errors first."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it said nothing"])[-1][:200]
