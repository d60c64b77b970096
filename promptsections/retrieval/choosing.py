"""Which of the chunks that a source found are offered, in which rank, and where each stands.

It knows no sections, no tokens and does no I/O: what fits is decided later, in a layout.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Sequence
from typing import Literal, cast, get_args

from attrs import evolve, frozen

from promptsections.blocks import Chunk
from promptsections.errors import DefinitionError
from promptsections.selectors import Missing, best, distinct, similar

Order = Literal["source", "relevance", "given"]
"""How chunks are ranked and shown.

| written | which come first into the room | how they are shown |
|---|---|---|
| `"source"` | those that the source gives first | in that order |
| `"relevance"` | those of the highest score | the highest first |
| `"given"` | those of the highest score | as the source gives them |
"""
Sameness = Literal["text", "words", "id", "source"]
"""What makes a chunk the same as another: all of its text; its words, whatever their case, marks
and blanks; its id; where it comes from."""
Key = Sameness | Callable[[Chunk], Hashable]
ChunkRefusalCode = Literal[
    "chunk_unscored", "chunk_below_relevance", "chunk_duplicate", "chunk_over_top_k"
]
"""Code of the note in a layout that says why chunks are not offered."""


@frozen(kw_only=True)
class ChunkRules:
    """Which chunks are offered to a layout, and in which order.

    Raises:
        DefinitionError: a rule that nothing can follow.
    """

    top_k: int | None = None
    """At most so many, after all other rules."""
    min_relevance: float | None = None
    """The lowest score that is offered."""
    unscored: Missing = "drop"
    """With `min_relevance`: what becomes of a chunk without a score."""
    distinct: Key | None = None
    """Of chunks that are the same in this, only the first in rank is offered."""
    order: Order = "source"

    def __attrs_post_init__(self) -> None:
        if self.top_k is not None and not (type(self.top_k) is int and self.top_k >= 1):
            raise DefinitionError(f"top_k={self.top_k!r} must be 1 chunk or more, or None")
        score = self.min_relevance
        if score is not None and (
            not isinstance(cast("object", score), int | float)
            or isinstance(score, bool)
            or score != score
        ):
            raise DefinitionError(f"min_relevance={score!r} must be a number, or None")
        if not callable(self.distinct):
            _one_of("distinct", self.distinct, (*get_args(Sameness), None))
        _one_of("order", self.order, get_args(Order))
        _one_of("unscored", self.unscored, get_args(Missing))

    @property
    def choose_nothing(self) -> bool:
        """Whether all chunks are offered as they are given."""
        rules = self.top_k, self.min_relevance, self.distinct, self.order
        return rules == (None, None, None, "source")


@frozen
class Refusal:
    """Chunks that are not offered, for one reason."""

    code: ChunkRefusalCode
    names: tuple[str, ...]
    """In the order in which they were given."""
    why: str


@frozen(kw_only=True)
class ChosenChunks:
    """What is offered to a layout."""

    chunks: tuple[Chunk, ...]
    """Best first."""
    places: Sequence[int]
    """Of each its place among those that the source gave, from 0."""
    refused: tuple[Refusal, ...] = ()


def choose_chunks(given: Sequence[Chunk], rules: ChunkRules) -> ChosenChunks:
    """Choose by relevance, rank and sameness, in this order: score, rank, distinct, top_k.

    A chunk that has no name is called by its place among those given, from 0.

    Raises:
        DefinitionError: a chunk has no score, and `unscored` is `"error"`.
    """
    if rules.choose_nothing:
        return ChosenChunks(chunks=tuple(given), places=range(len(given)))
    left = list(enumerate(given))
    refused: list[Refusal] = []

    def keep(kept: list[_Placed], code: ChunkRefusalCode, why: str) -> None:
        gone = sorted({place for place, _ in left} - {place for place, _ in kept})
        names = {place: chunk.name(place) for place, chunk in left}
        if gone:
            refused.append(Refusal(code, tuple(names[place] for place in gone), why))
        left[:] = kept

    lowest = rules.min_relevance
    if lowest is not None:
        scored = similar(left, float("-inf"), score=_score, missing=rules.unscored)
        keep(scored, "chunk_unscored", "has no score to compare with min_relevance")
        above = similar(left, lowest, score=_score, missing="keep")
        keep(above, "chunk_below_relevance", f"scores below {lowest!r}")
    if rules.order != "source":
        left = best(left, len(left), score=_score)
    if rules.distinct is not None:
        keep(
            distinct(left, _sameness(rules.distinct)),
            "chunk_duplicate",
            "says the same as one that ranks before it",
        )
    if rules.top_k is not None:
        keep(left[: rules.top_k], "chunk_over_top_k", f"ranks behind the first {rules.top_k}")
    return ChosenChunks(
        chunks=tuple(_named(chunk, place) for place, chunk in left),
        places=tuple(place for place, _ in left),
        refused=tuple(refused),
    )


# --- helpers --------------------------------------------------------------------------------------

_Placed = tuple[int, Chunk]


def _named(chunk: Chunk, place: int) -> Chunk:
    return chunk if chunk.id or chunk.source else evolve(chunk, id=str(place))


def _score(one: _Placed) -> float | None:
    return one[1].score


def _sameness(how: Key) -> Callable[[_Placed], Hashable]:
    """Return what is equal for chunks that are the same; one without a key is like no other."""
    key = _key(how)

    def of(one: _Placed) -> Hashable:
        place, chunk = one
        found = key(chunk)
        return place if found is None else (found,)

    return of


def _key(how: Key) -> Callable[[Chunk], Hashable]:
    match how:
        case "text":
            return lambda chunk: chunk.text
        case "words":
            return lambda chunk: _words(chunk.text)
        case "id":
            return lambda chunk: chunk.id
        case "source":
            return lambda chunk: chunk.source
        case _:
            return how


def _words(text: str) -> str:
    """Return the letters and digits of a text, one blank between words, all in small letters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in plain).split()) or text


def _one_of(name: str, value: object, choices: Sequence[object]) -> None:
    if value not in choices:
        listed = ", ".join(map(repr, choices))
        raise DefinitionError(f"{name}={value!r} must be one of {listed}")
