"""Runs one peer on one prompt, in a process of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from attrs import frozen

from benchmarks.measuring import BATCH, SHORTEST
from benchmarks.peers.environment import (
    HERE,
    Environment,
    Environments,
    Unavailable,
    last_line,
)
from benchmarks.peers.roster import Peer
from benchmarks.workload import Workload


@frozen
class Found:
    """What a worker wrote."""

    cold: Sequence[float]
    """Seconds of CPU time of each measurement."""
    warm: float
    calls: int
    characters: int
    peak_bytes: int | None
    messages: Sequence[tuple[str, str]]
    """Role and text."""


def run_peer(
    peer: Peer,
    environments: Environments,
    workload: Workload,
    budget: int,
    runs: int,
    limit: float,
) -> Found | Unavailable:
    """Measure a peer, or say why that did not go.

    Args:
        peer: Which.
        environments: Where peers run.
        workload: What they lay out.
        budget: In tokens.
        runs: Measurements of which the median is taken.
        limit: Seconds that all of this may take.
    """
    environment = environments.of(peer)
    if isinstance(environment, Unavailable):
        return environment
    command, told = _command(peer, environment, workload, budget, runs)
    try:
        done = subprocess.run(
            command,
            input=told,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=limit,
            check=False,
            cwd=environment.folder,
            env=environments.variables(),
        )
    except subprocess.TimeoutExpired:
        return Unavailable(f"not done in {limit:.0f} s")
    except OSError as error:
        return Unavailable(f"cannot be started: {error}")
    if done.returncode:
        return Unavailable(f"failed: {last_line(done.stderr)}")
    found = json.loads(done.stdout.splitlines()[-1])
    return Found(**{**found, "messages": [(role, text) for role, text in found["messages"]]})


def _command(
    peer: Peer, environment: Environment, workload: Workload, budget: int, runs: int
) -> tuple[list[str], str]:
    """Return the command, and what it reads from its standard input."""
    if peer.home != "node":
        asked = {"history": len(workload.history), "budget": budget, "runs": runs}
        options = [word for name, value in asked.items() for word in (f"--{name}", str(value))]
        return [environment.program, "-m", "benchmarks.peers.worker", peer.module, *options], ""
    told = {
        "workload": {**workload._asdict(), "context": workload.context},
        "budget": budget,
        "runs": runs,
        "shortest": SHORTEST,
        "batch": BATCH,
    }
    return [environment.program, str(HERE / "adapters" / peer.module)], json.dumps(told)
