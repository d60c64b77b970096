"""Names near a name that nobody knows; it knows names and paths only."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice
from unicodedata import normalize

from promptsections.memory import Miss

_MOST_NAMES = 1_000
_LONGEST = 100


def suggest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return at most three known names that are near a name, best first.

    Looks through the first 1,000 names of at most 100 characters, so that a typo in a prompt with
    a huge memory is still reported at once.
    """
    if len(name) > _LONGEST:
        return ()
    near = [other for other in islice(known, _MOST_NAMES) if len(other) <= _LONGEST]
    return tuple(difflib.get_close_matches(name, near, n=3, cutoff=0.6))


def suggest_path(path: str, miss: Miss) -> tuple[str, ...]:
    """Return at most three paths that memory has near a missing one, best first.

    Only the part where the path ends is compared: what it shares with every other path there says
    nothing about which of them is meant.
    """
    rest = path[len(miss.prefix) :]
    near = suggest(rest.partition(".")[0], miss.names) or suggest(rest, miss.names)
    return tuple(miss.prefix + key for key in near)


def did_you_mean(name: str, suggestions: Iterable[str]) -> str:
    """Return `"; did you mean …?"`, or nothing without suggestions.

    A name that only looks the same (composed and decomposed accents) is shown with escapes.
    """
    shown = [
        ascii(other) if normalize("NFC", other) == normalize("NFC", name) else repr(other)
        for other in suggestions
    ]
    return f"; did you mean {' or '.join(shown)}?" if shown else ""
