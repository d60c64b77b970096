"""`python -m benchmarks.estimates`: how far estimates are from exact counts, for each kind of text.

Nothing is random and nothing is timed; the same numbers on every machine. `--fit` finds the weights
of `promptsections.tokens.estimates` anew, from every other sample; what is printed is measured on
the others.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import get_args
from uuid import UUID

from benchmarks.workload import make_workload
from promptsections.tokens import BundledTokenizer, Tokenizer
from promptsections.tokens.estimates import (
    ESTIMATION_MODELS,
    EstimatedTokenizer,
    Feature,
    features,
)

SAMPLES = Path(__file__).with_name("samples")
WRITTEN = ("typography", "code", "Chinese", "Japanese", "Korean", "Russian", "Hindi", "emoji")
"""Kinds whose samples stand in files, a sample a line (of code: a paragraph)."""
EXACT: Mapping[str, tuple[str, Fraction]] = {
    "gpt-4o": ("o200k_base", Fraction(1)),
    "gpt-4": ("cl100k_base", Fraction(1)),
    "gpt-3.5-turbo": ("cl100k_base", Fraction(1)),
    "claude-3": ("o200k_base", Fraction("1.2")),
    "generic": ("cl100k_base", Fraction(1)),
}
"""What a model is compared with. There is no public tokenizer of Claude 3: the profile's margin."""


@cache
def samples() -> Mapping[str, Sequence[str]]:
    """Return kind of text → samples, always the same."""
    workload = make_workload(80)
    found: dict[str, Sequence[str]] = {
        "English": [turn.text for turn in workload.history] + list(workload.chunks)
    }
    for kind in WRITTEN:
        text = (SAMPLES / f"{kind.lower()}.txt").read_text(encoding="utf-8")
        found[kind] = text.strip().split("\n\n" if kind == "code" else "\n")
    found["JSON"] = [_json(n) for n in range(20)]
    found["numbers"] = [_numbers(n) for n in range(12)]
    found["UUIDs"] = ["\n".join(_uuid(8 * n + i) for i in range(8)) for n in range(12)]
    found["whitespace"] = [
        blanks * times for blanks in (" ", "\n", "\t", "\n    ", " \n") for times in (4, 40, 400)
    ]
    return found


def _uuid(number: int) -> str:
    return str(UUID(bytes=sha256(str(number).encode()).digest()[:16]))


def _numbers(number: int) -> str:
    seed = 1_000_003 * (number + 1)
    return ", ".join(str(seed**power)[: 3 * power] for power in range(1, 9)) + f" {seed / 997:.4f}"


def _json(number: int) -> str:
    return json.dumps(
        {
            "id": number * 7919,
            "order": _uuid(number),
            "customer": {"name": f"Customer {number}", "active": number % 3 == 0},
            "lines": [
                {"sku": f"AB-{number * 31 + i}", "price": (number * 37 + i) / 100, "count": i}
                for i in range(number % 5 + 1)
            ],
        },
        indent=None if number % 4 < 2 else 2,
    )


def exact(model: str, text: str) -> Fraction:
    """Return what a text is taken to have, in tokens."""
    encoding, factor = EXACT[model]
    return BundledTokenizer(encoding).count(text) * factor


def ratios(tokenizer: Tokenizer, model: str) -> Mapping[str, tuple[float, float, float]]:
    """Return kind of text → estimate by exact count, of all samples, the lowest, the highest.

    Measured on the samples that nothing was fitted to.
    """
    found: dict[str, tuple[float, float, float]] = {}
    for kind, texts in samples().items():
        pairs = [(tokenizer.count(text), float(exact(model, text))) for text in texts[1::2]]
        each = [estimate / count for estimate, count in pairs]
        whole = sum(pair[0] for pair in pairs) / sum(pair[1] for pair in pairs)
        found[kind] = (whole, min(each), max(each))
    return found


def fit(model: str, rounds: int = 400) -> dict[Feature, int]:
    """Find weights by least squares of relative errors, none below 0: coordinate descent."""
    names = get_args(Feature)
    rows: list[list[float]] = []
    for texts in samples().values():
        mine = texts[::2]
        for text in mine:  # every kind of text counts as much, however many samples it has
            scale = float(exact(model, text)) * len(mine) ** 0.5
            counted = features(text.encode())
            rows.append([counted[name] / scale for name in names] + [1 / len(mine) ** 0.5])
    weights = [0.0] * len(names)
    left = [row[-1] for row in rows]
    for _ in range(rounds):
        for at in range(len(names)):
            column = [row[at] for row in rows]
            square = sum(value * value for value in column)
            if not square:
                continue
            step = sum(value * rest for value, rest in zip(column, left, strict=True)) / square
            step = max(step, -weights[at])
            weights[at] += step
            left = [rest - step * value for value, rest in zip(column, left, strict=True)]
    return {name: round(weight * 1_000) for name, weight in zip(names, weights, strict=True)}


def table() -> list[str]:
    """Return the table of errors as lines of Markdown."""
    columns: dict[str, Mapping[str, tuple[float, float, float]]] = {}
    for name, model in ESTIMATION_MODELS.items():
        columns[f"`{name}`"] = ratios(EstimatedTokenizer(model), name)
    columns["`gpt-4o` by length"] = ratios(ESTIMATION_MODELS["gpt-4o"].by_length(), "gpt-4o")
    lines = ["| text | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for kind in samples():
        cells = ("{:.2f} ({:.2f} to {:.2f})".format(*column[kind]) for column in columns.values())
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Print the table, or weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="print weights that are found anew")
    if parser.parse_args().fit:
        for name in EXACT:
            print(name, fit(name))
    else:
        print("\n".join(table()))


if __name__ == "__main__":
    main()
