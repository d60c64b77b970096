"""`RecallSection`: memories of one kind below their heading.

It knows traces and texts in memory; it knows no other kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, cast

from attrs import Attribute, field, frozen

from promptsections.blocks import Chunk, TextBlock
from promptsections.budgets import Budget, Share
from promptsections.errors import DefinitionError
from promptsections.messages import Message, Role
from promptsections.recall.block import RecallBlock
from promptsections.recall.traces import Bullets, Trace, TraceStyle, to_trace
from promptsections.scope import Scope
from promptsections.sections import Content, PromptSection
from promptsections.sections.base import check_budget, check_role, check_text, read_budget

_BULLETS: Final[TraceStyle] = Bullets()


def _check_style(section: PromptSection, _: Attribute[Any], value: object) -> None:
    if not callable(value):
        raise DefinitionError(
            f"section {section.name or section.kind!r}: style={value!r} must be Bullets(), Prose(),"
            " Valence() or a function of trace and time"
        )


@frozen
class RecallSection(PromptSection):
    """Memories of one kind: in their order all that fit, passing over what is too big."""

    variable: str = field(validator=check_text)
    """Path of a text, or of a list of texts, `Trace`s and mappings with their fields."""
    heading: str = field(default="", kw_only=True, validator=check_text)
    """Stands above them on a line of its own, if there is anything to say; it is counted."""
    style: TraceStyle = field(default=_BULLETS, kw_only=True, validator=_check_style)
    """How a trace is said; texts are said as they are."""
    now: str = field(default="now", kw_only=True, validator=check_text)
    """Path of the time that ages are measured to; read only if a trace is to be said."""
    whole: bool = field(default=True, kw_only=True)
    """Whether each memory is sent whole or not at all; otherwise they are one text, which is
    cut."""
    role: Role = field(default="system", kw_only=True, validator=check_role)
    tokens: Budget = field(
        default=Share(0.3), kw_only=True, converter=read_budget, validator=check_budget
    )
    required: bool = field(default=False, kw_only=True)

    def resolve(self, scope: Scope, /) -> Content:
        """Return the memories as one message."""
        who = self.name or self.kind
        memories = memories_of(scope.read(self.variable, None), owner=who)
        now = self._now(scope) if any(isinstance(one, Trace) for one in memories) else None
        chunks = [self._said(memory, now) for memory in memories]
        chunks = [chunk for chunk in chunks if chunk.text]
        if not chunks:
            return None
        before = f"{self.heading}\n" if self.heading else ""
        message = Message(self.role)
        if self.whole:
            return RecallBlock(tuple(chunks), message, before=before, separator=self.separator)
        text = self.separator.join(chunk.text for chunk in chunks)
        return TextBlock(text, message, before=before, cut=self.cut, limit=self.budget.ceiling)

    def _said(self, memory: Trace | str, now: datetime | None) -> Chunk:
        if isinstance(memory, str):
            return Chunk(memory)
        assert now is not None
        return Chunk(self.style(memory, now), id=memory.id)

    def _now(self, scope: Scope) -> datetime:
        value = scope.read(self.now)
        if not isinstance(value, datetime):
            raise DefinitionError(
                f"section {self.name or self.kind!r}: memory has {value!r} at {self.now!r}: pass "
                "the time of the call as a datetime"
            )
        return value


def memories_of(value: object, *, owner: str) -> list[Trace | str]:
    """Read a text, or a list of texts and traces; blank texts are passed over.

    Raises:
        DefinitionError: it is something else.
    """
    match value:
        case None:
            given: list[object] = []
        case str():
            given = [value]
        case Iterable() if not isinstance(value, Mapping | bytes):
            given = list(cast("Iterable[object]", value))
        case _:
            raise DefinitionError(
                f"section {owner!r}: memories must be a text or a list, not {type(value).__name__}"
            )
    try:
        read = [one if isinstance(one, str) else to_trace(one) for one in given]
    except DefinitionError as error:
        raise DefinitionError(f"section {owner!r}: {error}") from None
    return [one for one in read if not isinstance(one, str) or one.strip()]
