"""How things are measured: CPU time, what the tokenizer reads, memory, and a fresh interpreter.

It knows no prompts.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from statistics import median
from time import process_time

SHORTEST = 0.002
"""Seconds that a measurement lasts at least; what is quicker runs several times in one."""


def cpu_seconds(run: Callable[[], object], *, repeat: int = 1) -> float:
    """Measure one run in seconds of CPU time, garbage of others collected before."""
    gc.collect()
    started = process_time()
    for _ in range(repeat):
        run()
    return (process_time() - started) / repeat


def often(run: Callable[[], object], runs: int) -> float:
    """Return the median of several measurements, in seconds of CPU time, after one run."""
    run()
    repeat = max(1, round(SHORTEST / max(cpu_seconds(run), 1e-6)))
    return median(cpu_seconds(run, repeat=repeat) for _ in range(runs))


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
    """Return the median CPU time, in seconds, of new interpreters that run the code."""
    script = f"{code}\nimport time as _time\nprint(_time.process_time())"
    return median(_cpu_of(script) for _ in range(runs))


def _cpu_of(script: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=120
    )
    return float(done.stdout.split()[-1])
