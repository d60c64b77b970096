"""The workload: a support chat made of real words, always the same, every size known.

Sizes are exact for o200k_base by construction: words and oddities are listed with their tokens, and
they are joined where counts add. It counts nothing itself.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

SEED = 20240607
HISTORY_SIZES = (10, 100, 1_000, 10_000)
BUDGETS = (4_096, 100_000)
SYSTEM_TOKENS = 200
CHUNKS = 10
CHUNK_TOKENS = 300
QUESTION_TOKENS = 40
TURN_TOKENS = (30, 70)
"""The least and the most tokens of a message of the history; 50 in the mean."""

WORDS = tuple(Path(__file__).with_name("words.txt").read_text(encoding="utf-8").split())
"""Each is one token after a blank, and as the first word of a sentence."""
ODDITIES = {
    " 🙂": 1,
    " €49.90": 4,
    " https://example.org/a/b?c=1": 10,
    " ERR-4042": 4,
    " #98117": 3,
    " 12:45": 4,
    " naïve": 2,
    " Größe": 1,
    " 日本語": 2,
    " `retry_after`": 4,
    ' "as promised"': 4,
}
"""What real messages hold beside words, with its tokens; each begins with a blank."""


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


def make_workload(history: int) -> Workload:
    """Make the texts; a longer history only has older messages more."""
    random = Random(SEED)
    system = make_text(random, SYSTEM_TOKENS)
    chunks = tuple(make_text(random, CHUNK_TOKENS) for _ in range(CHUNKS))
    question = make_text(random, QUESTION_TOKENS)
    turns = [
        Turn(_ROLES[age % 2], make_text(random, random.randint(*TURN_TOKENS)))
        for age in range(history)
    ]
    return Workload(system, chunks, tuple(reversed(turns)), question)


def fresh(workload: Workload) -> Workload:
    """Copy every text, so that nothing that a string remembers about itself is warm."""
    return Workload(
        _copied(workload.system),
        tuple(map(_copied, workload.chunks)),
        tuple(Turn(turn.role, _copied(turn.text)) for turn in workload.history),
        _copied(workload.question),
    )


def make_text(random: Random, tokens: int) -> str:
    """Make sentences of exactly so many tokens of o200k_base."""
    pieces: list[str] = []
    left, sentence = tokens, 0
    while left:
        after_a_word = sentence and pieces[-1] not in ODDITIES
        if after_a_word and sentence > 6 and random.random() < 0.3:
            pieces.append(random.choice((".", ".", "!", "?")))
            left, sentence = left - 1, 0
            continue
        word = random.choice(WORDS)
        if not sentence:
            piece, cost = f" {word.capitalize()}", 1
        elif random.random() < 0.04:
            piece, cost = random.choice(tuple(ODDITIES.items()))
        else:
            piece, cost = f" {word}", 1
        if cost <= left:
            pieces.append(piece)
            left, sentence = left - cost, sentence + 1
    return "".join(pieces)[1:]


def _copied(text: str) -> str:
    return "".join((text[:1], text[1:]))
