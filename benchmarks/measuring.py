"""How things are measured: CPU time, what the tokenizer reads, memory, and a fresh interpreter.

It knows no prompts.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from statistics import median
from time import process_time

SHORTEST = 0.02
"""Seconds that a measurement lasts at least; what is quicker runs several times in one."""
BATCH = 5
"""Cold runs in one measurement: their texts are new to each, but the code is not."""


def cold(prepare: Callable[[], Callable[[], object]], batch: int = BATCH) -> float:
    """Return the mean of some first runs, each prepared before, in seconds of CPU time.

    Garbage is collected as always, but what was prepared is no part of it: an application does not
    hold every text five times.
    """
    prepared = [prepare() for _ in range(batch)]
    gc.collect()
    gc.freeze()
    try:
        started = process_time()
        for run in prepared:
            run()
        return (process_time() - started) / batch
    finally:
        gc.unfreeze()


def cold_runs(prepare: Callable[[], Callable[[], object]], runs: int) -> list[float]:
    """Return several cold measurements, in seconds; what is slow is run once in each."""
    batch = 1 if cold(prepare, 1) > SHORTEST else BATCH
    return [cold(prepare, batch) for _ in range(runs)]


def warm(run: Callable[[], object], runs: int) -> float:
    """Return the median of several measurements, in seconds of CPU time, after the first run."""
    run()
    repeat = max(1, round(SHORTEST / max(_mean(run, 1), 1e-6)))
    return median(_mean(run, repeat) for _ in range(runs))


def _mean(run: Callable[[], object], repeat: int) -> float:
    started = process_time()
    for _ in range(repeat):
        run()
    return (process_time() - started) / repeat


def peak_bytes(run: Callable[[], object]) -> int:
    """Return how much memory a run takes at its peak, beside what was there before, in bytes."""
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def fresh_interpreter(code: str, *, runs: int) -> float:
    """Return the median CPU time, in seconds, of new interpreters that run the code.

    One that is not measured goes first, so that all modules are compiled.
    """
    script = f"{code}\nimport time as _time\nprint(_time.process_time())"
    _cpu_of(script)
    return median(_cpu_of(script) for _ in range(runs))


def _cpu_of(script: str) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    return float(done.stdout.split()[-1])
