"""`Layout`: what happened to every section, and why; plain data."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal, cast

from attrs import asdict, frozen

from promptsections.budgets import Auto, Budget, Rest, Share, Tokens
from promptsections.notes import Note
from promptsections.sections import Stability

Outcome = Literal["whole", "cut", "dropped", "empty", "failed"]
"""What became of a section."""


class Reason(StrEnum):
    """Why a section came out as it did; the values are stable."""

    FITS = "fits"
    """All of it is sent."""
    OWN_LIMIT = "own_limit"
    """Cut to its own limit: `Tokens`, `at_most`, `max_messages`."""
    SHARE = "share"
    """Cut to its fraction of what the fixed sections leave."""
    REST = "rest"
    """Cut to what the others leave."""
    NO_ROOM = "no_room"
    """Its smallest useful size did not fit beside what is required or ranks before it."""
    EMPTY = "empty"
    """It has nothing to say."""
    MISSING = "missing"
    """Memory does not hold what it reads."""
    FAILED = "failed"
    """Its content could not be produced; `error` says why."""
    TIMEOUT = "timeout"
    """It took longer than it may."""
    GROUP_DROPPED = "group_dropped"
    """The group that it stands in is left out."""
    CALL_DROPPED = "call_dropped"
    """The call or the result that belongs to it is left out."""


@frozen(kw_only=True)
class Placement:
    """One section's or group's numbers and outcome; sizes are tokens."""

    path: str
    name: str
    kind: str
    required: bool
    priority: int
    budget: Budget
    floor: int
    """Smallest useful size, as far as it was asked for."""
    natural: int
    """Size of all of it; if not `natural_is_exact`, it is more than this."""
    natural_is_exact: bool
    given: int
    """What it was given before unused tokens were handed on; 0 if it is not sent."""
    used: int
    """What it takes, framing included; separators belong to the group around it."""
    outcome: Outcome
    reason: Reason
    message: str = ""
    """The reason in words."""
    error: str | None = None
    """Type and text of the error, if it failed."""
    items: tuple[str, ...] = ()
    """Names of the pieces that were sent, such as ids of chunks."""
    omitted: int = 0
    """Pieces (chunks, messages) that were left out."""
    omitted_is_exact: bool = True
    """Whether `omitted` is all, or more than that were left out."""
    stability: Stability = "turn"
    """How long the content stays the same; of a group, the least stable section in it."""
    children: tuple[Placement, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether anything of it is sent."""
        return self.outcome in ("whole", "cut")


@frozen(kw_only=True)
class Prefix:
    """The beginning of a prompt that holds nothing less stable than a class; sizes are tokens."""

    stability: Stability
    """The class."""
    tokens: int
    """Of all sections of this class, wherever they stand."""
    prefix_tokens: int
    """From the start of the prompt to the first section that is less stable, tools included; in a
    text without what stands between sections."""
    fingerprint: str
    """SHA-256 of tools and messages of the prefix, in hexadecimal digits."""
    ends_at: str | None
    """Path of the first section that is less stable and so ends the prefix; `None` if all is."""


@frozen(kw_only=True)
class Layout:
    """All placements of a render; equal inputs give equal layouts."""

    budget: int
    """Tokens that the render could use."""
    base: int
    """Tokens before the first message: reply priming and tool definitions."""
    reserved: int
    """Tokens of the context window that were kept for the answer; 0 if the budget was given, and no
    reserve."""
    token_count: int
    """Tokens in all, base included."""
    exact: bool
    """Whether the provider will count the same, as far as its rule is published."""
    space: int
    """What content-sized sections left for shares and rests, in tokens."""
    placements: tuple[Placement, ...]
    """In document order."""
    notes: tuple[Note, ...] = ()
    prefixes: tuple[Prefix, ...] = ()
    """For each stability, the beginning of the prompt that stays the same for as long, shortest
    first; empty unless prompt caching is on."""

    def __getitem__(self, path: str) -> Placement:
        """Find a placement by the names from the top, parted by `/`."""
        for placement in self.walk():
            if placement.path == path:
                return placement
        raise KeyError(path)

    def __contains__(self, path: object) -> bool:
        """Say whether there is a section with this path."""
        return any(placement.path == path for placement in self.walk())

    def walk(self) -> Iterator[Placement]:
        """Yield every placement, groups before what stands in them."""
        waiting = list(reversed(self.placements))
        while waiting:
            placement = waiting.pop()
            yield placement
            waiting.extend(reversed(placement.children))

    def to_dict(self) -> dict[str, Any]:
        """Return the layout as plain data that `json.dumps` accepts."""
        return asdict(self, value_serializer=lambda _, __, value: _plain(value))


def _plain(value: Any) -> Any:
    match value:
        case Auto() | Tokens() | Share() | Rest():
            return describe_budget(value)
        case _:
            return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def describe_budget(budget: Budget) -> str:
    """Write a budget in short: `auto`, `300`, `30%`, `rest`, with its limits."""
    match budget:
        case Auto():
            words = "auto"
        case Tokens(tokens=tokens):
            words = str(tokens)
        case Share(fraction=fraction):
            percent = fraction * 100
            exact = percent.denominator == 1
            words = f"{percent.numerator}%" if exact else f"{float(percent):g}%"
        case Rest(weight=weight):
            words = "rest" if weight == 1 else f"rest×{weight}"
    if budget.at_least is not None:
        words += f" ≥{budget.at_least}"
    if budget.at_most is not None:
        words += f" ≤{budget.at_most}"
    return words
