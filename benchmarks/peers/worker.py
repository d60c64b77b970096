"""`python -m benchmarks.peers.worker ADAPTER`: measures one peer on one prompt, writes JSON.

It runs in the peer's environment, so it imports nothing of ours but the workload and the clock.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
from typing import Any

import tiktoken

from benchmarks.measuring import cold_runs, peak_bytes, warm
from benchmarks.workload import fresh, make_workload

_READING = ("encode", "encode_ordinary", "encode_batch", "encode_ordinary_batch", "encode_to_numpy")


class Readings:
    """What tiktoken was asked to read, whoever asked."""

    def __init__(self) -> None:
        self.calls = 0
        self.characters = 0
        self._inside = False
        for name in _READING:
            setattr(tiktoken.Encoding, name, self._watched(getattr(tiktoken.Encoding, name)))

    def _watched(self, method: Any) -> Any:
        @functools.wraps(method)
        def read(encoding: Any, text: Any, *args: Any, **options: Any) -> Any:
            if self._inside:
                return method(encoding, text, *args, **options)
            texts = [text] if isinstance(text, str) else text
            self.calls += len(texts)
            self.characters += sum(map(len, texts))
            self._inside = True
            try:
                return method(encoding, text, *args, **options)
            finally:
                self._inside = False

        return read


def main() -> None:
    """Measure and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("adapter")
    parser.add_argument("--history", type=int, required=True)
    parser.add_argument("--budget", type=int, required=True)
    parser.add_argument("--runs", type=int, required=True)
    asked = parser.parse_args()
    prepare = importlib.import_module(f"benchmarks.peers.adapters.{asked.adapter}").prepare
    workload = make_workload(asked.history)
    peer = prepare(workload, asked.budget)
    messages = peer.read(peer.run())
    runs = cold_runs(lambda: prepare(fresh(workload), asked.budget).run, asked.runs)
    again = warm(peer.run, asked.runs)
    peak = peak_bytes(prepare(fresh(workload), asked.budget).run)
    readings = Readings()
    prepare(fresh(workload), asked.budget).run()
    found = {
        "cold": runs,
        "warm": again,
        "calls": readings.calls,
        "characters": readings.characters,
        "peak_bytes": peak,
        "messages": messages,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
