"""`recall_group`: all kinds of memory in one group, each with its share of the room.

It makes sections with budgets and leaves the arithmetic to the layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal, TypeVar, get_args

from attrs import field, frozen

from promptsections.budgets import Rest, Tokens, exact_fraction, whole_tokens
from promptsections.errors import DefinitionError
from promptsections.messages import Role
from promptsections.recall.section import RecallSection, memories_of
from promptsections.recall.traces import Bullets, TraceStyle
from promptsections.scope import Scope
from promptsections.sections import Content, GroupSection, PromptSection
from promptsections.templates.suggestions import did_you_mean, suggest

T = TypeVar("T")

MemoryKind = Literal[
    "persistent", "working", "semantic", "episodic", "reminders", "graph", "observations"
]
"""A kind of memory, in the order in which they stand."""

MEMORY_SHARES: Final[Mapping[MemoryKind, float]] = MappingProxyType(
    {
        "persistent": 0.05,
        "working": 0.15,
        "semantic": 0.40,
        "episodic": 0.25,
        "reminders": 0.05,
        "graph": 0.05,
        "observations": 0.05,
    }
)
"""Kind → its part of the room."""

HEADINGS: Final[Mapping[MemoryKind, str]] = MappingProxyType(
    {
        "persistent": "## Persistent Memory",
        "working": "## Active Context",
        "semantic": "## Relevant Memories",
        "episodic": "## Recent Experiences",
        "reminders": "## Reminders",
        "graph": "## Related Context",
        "observations": "## Observations",
    }
)

PREAMBLE: Final = (
    "## How To Use Your Memories\n"
    "Below is what you remember. Use it where it helps, without saying that you looked it up. What "
    "the user says now wins over what you remember, and what is newer over what is older. Say so "
    "if you are not sure, and do not make up what is not here."
)

_IN_ONE_TEXT: Final[frozenset[MemoryKind]] = frozenset({"persistent", "working"})
"""Kinds that are one text, which may be cut."""


@frozen
class RecallPreamble(PromptSection):
    """How memories are to be used: said whole, if there are any and there is room."""

    text: str = PREAMBLE
    variables: tuple[str, ...] = field(default=(), kw_only=True, converter=tuple[str, ...])
    """Paths of the memories."""
    required: bool = field(default=False, kw_only=True)

    def resolve(self, scope: Scope, /) -> Content:
        """Return the text, or nothing where there are no memories."""
        who = self.name or self.kind
        found = (memories_of(scope.read(path, None), owner=who) for path in self.variables)
        return self.text if any(found) else None


def recall_group(
    variable: str = "memories",
    *,
    shares: Mapping[MemoryKind, float] | None = None,
    receivers: Iterable[MemoryKind] = ("semantic",),
    style: TraceStyle | None = None,
    headings: Mapping[MemoryKind, str] | None = None,
    preamble: str = PREAMBLE,
    now: str = "now",
    name: str = "memories",
    tokens: int = 2_000,
    role: Role = "system",
) -> GroupSection:
    """Return a group of all kinds of memory; headings and preamble are inside its budget.

    Args:
        variable: Path in memory of a mapping: kind → a text, or texts and traces, the most
            important first.
        shares: Kind → part of the room, in place of that in `MEMORY_SHARES`; 0 leaves a kind out.
        receivers: Kinds that also get what the others leave, in proportion to their shares; with
            none it stays unused.
        style: How traces are said; by default `Bullets()`.
        headings: Kind → heading, in place of that in `HEADINGS`.
        preamble: How memories are to be used; `""` for none.
        now: Path in memory of the time that ages are measured to.
        name: Of the group.
        tokens: The most that the group may take, of which the shares are parts.
        role: Of its one message.

    Raises:
        DefinitionError: a kind is not known, or the shares are no parts of a whole.
        InvalidBudgetError: `tokens` is no whole number of tokens.
    """
    parts = _parts({**MEMORY_SHARES, **_known("shares", shares or {})})
    titles = {**HEADINGS, **_known("headings", headings or {})}
    flow = frozenset(_known("receivers", dict.fromkeys(receivers, True)))
    room = whole_tokens(tokens)
    parts = {kind: part for kind, part in parts.items() if part * room >= 1}
    sections: list[PromptSection] = [
        RecallSection(
            f"{variable}.{kind}",
            name=kind,
            heading=titles[kind],
            style=style or Bullets(),
            now=now,
            whole=kind not in _IN_ONE_TEXT,
            tokens=Rest(part) if kind in flow else Tokens(int(part * room)),
        )
        for kind, part in parts.items()
    ]
    if preamble:
        paths = [f"{variable}.{kind}" for kind in parts]
        sections.insert(0, RecallPreamble(preamble, name="preamble", variables=paths, priority=-1))
    return GroupSection(sections, role, name=name, tokens=Tokens(room), required=False)


def _known(what: str, given: Mapping[MemoryKind, T]) -> Mapping[MemoryKind, T]:
    kinds = get_args(MemoryKind)
    for kind in given:
        if kind not in kinds:
            hint = did_you_mean(kind, suggest(kind, kinds))
            raise DefinitionError(
                f"recall_group: {what} name {kind!r}, which is no kind of memory{hint}; kinds are "
                f"{', '.join(kinds)}"
            )
    return given


def _parts(shares: Mapping[MemoryKind, float]) -> dict[MemoryKind, Fraction]:
    parts: dict[MemoryKind, Fraction] = {}
    for kind, share in shares.items():
        part = exact_fraction(share)
        if part is None or not 0 <= part <= 1:
            raise DefinitionError(
                f"recall_group: the share of {kind} is {share!r}: it must be a number from 0 to 1"
            )
        parts[kind] = part
    total = sum(parts.values(), Fraction(0))
    if total > 1:
        listed = ", ".join(f"{kind} {share}" for kind, share in shares.items())
        raise DefinitionError(
            f"recall_group: the shares add up to {float(total):g}, more than 1 ({listed})"
        )
    return parts
