"""The workload: a support chat of ordinary sentences, always the same.

`workload.txt.bz2` holds one text in each line: the system message, the question, ten documents, and
ten thousand messages of a history, newest first. It counts nothing and knows no library, so that
every subject can read it in an environment of its own.
"""

from __future__ import annotations

import bz2
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

HISTORY_SIZES = (10, 100, 1_000, 10_000)
BUDGETS = (4_096, 100_000)
SYSTEM_TOKENS = 200
CHUNKS = 10
CHUNK_TOKENS = (295, 300)
"""The fewest and the most tokens of a document, of o200k_base like all sizes here."""
QUESTION_TOKENS = 40
TURN_TOKENS = (27, 70)
"""The fewest and the most tokens of a message of the history; 50 in the mean."""

_FILE = Path(__file__).with_name("workload.txt.bz2")

Role = Literal["user", "assistant"]
_ROLES: tuple[Role, Role] = ("assistant", "user")


class Turn(NamedTuple):
    """A message of the history."""

    role: Role
    text: str


class Workload(NamedTuple):
    """Texts of a prompt; new string objects each time one is made."""

    system: str
    chunks: tuple[str, ...]
    history: tuple[Turn, ...]
    """Oldest first; user and assistant in turn, the assistant last."""
    question: str

    @property
    def context(self) -> str:
        """All documents in one text, as they are sent."""
        return "\n\n".join(self.chunks)


@cache
def _texts() -> tuple[str, ...]:
    return tuple(bz2.decompress(_FILE.read_bytes()).decode("utf-8").split("\n"))


def make_workload(history: int) -> Workload:
    """Return the texts with so many messages; a longer history only has older ones more."""
    system, question, *rest = _texts()
    newest_first = rest[CHUNKS : CHUNKS + history]
    if len(newest_first) < history:
        raise ValueError(f"the workload has {len(newest_first):,} messages, not {history:,}")
    turns = [Turn(_ROLES[age % 2], text) for age, text in enumerate(newest_first)]
    return fresh(Workload(system, tuple(rest[:CHUNKS]), tuple(reversed(turns)), question))


def fresh(workload: Workload) -> Workload:
    """Copy every text, so that nothing that a string remembers about itself is warm."""
    return Workload(
        _copied(workload.system),
        tuple(map(_copied, workload.chunks)),
        tuple(Turn(turn.role, _copied(turn.text)) for turn in workload.history),
        _copied(workload.question),
    )


def _copied(text: str) -> str:
    return "".join((text[:1], text[1:]))
