"""What was measured: plain values that go to tables, the page, and JSON. It measures nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from attrs import Factory, frozen

OURS = "promptsections"
FAST = "promptsections[fast]"
LOOP = "loop by hand"
REMEMBERING = "loop that remembers counts"


@frozen
class Reading:
    """One subject on one prompt; times are medians in milliseconds of CPU time."""

    subject: str
    framing: bool
    """Whether it counts what a chat format adds to each message."""
    cold: float
    """With texts never seen before; the code has run before."""
    warm: float
    """The same texts again."""
    times_loop: float
    """`cold` as a multiple of the loop's, of runs right after each other where that is possible."""
    calls: int
    """Of the tokenizer, cold."""
    characters: int
    """Read by the tokenizer, cold."""
    messages: int
    """Messages sent, of which the history is all but three."""
    characters_sent: int
    tokens: int
    """What it sends, counted by us with framing."""
    fits: bool
    """Whether that is at most the budget."""
    peak_kilobytes: float | None
    """The most memory of a cold run, what it returns included; `None` where that is unknown."""
    calls_again: int | None = None
    """Of the tokenizer, warm; measured of ours."""


@frozen
class Absent:
    """A subject without numbers, and why."""

    subject: str
    reason: str


@frozen
class Case:
    """One prompt, and how everybody did."""

    budget: int
    history: int
    readings: Sequence[Reading]
    absent: Sequence[Absent] = ()

    def of(self, subject: str) -> Reading | None:
        """Return the numbers of a subject, if it has any."""
        return next((found for found in self.readings if found.subject == subject), None)


@frozen
class Phase:
    """Where the time of one warm render goes, in milliseconds, and what counting adds."""

    budget: int
    history: int
    resolve: float
    lay_out: float
    counting: float
    """Cold minus warm."""


@frozen
class Measure:
    """One number beside the common workload."""

    key: str
    text: str
    value: float
    unit: str
    times: bool = True
    """Whether it depends on the machine."""


@frozen
class Goal:
    """What the project promises about one number."""

    key: str
    text: str
    value: float | None
    """`None` where it was not measured."""
    bound: float
    unit: str
    at_least: bool = False
    before: float | None = None
    """What the page says, from the last run that was written there."""

    @property
    def met(self) -> bool | None:
        """Say whether it holds, or `None` if nobody measured it."""
        if self.value is None:
            return None
        return self.value >= self.bound if self.at_least else self.value <= self.bound


@frozen
class Results:
    """Everything of one run."""

    machine: Mapping[str, str]
    runs: int
    cases: Sequence[Case]
    phases: Sequence[Phase] = ()
    measures: Sequence[Measure] = ()
    goals: Sequence[Goal] = Factory(tuple)

    def case(self, budget: int, history: int) -> Case | None:
        """Return one prompt's numbers, if it was measured."""
        found = (c for c in self.cases if (c.budget, c.history) == (budget, history))
        return next(found, None)

    def subjects(self) -> list[str]:
        """Return the names of all that have numbers, in the order in which they were measured."""
        return list(dict.fromkeys(found.subject for c in self.cases for found in c.readings))

    def missing(self) -> dict[str, str]:
        """Return who is absent from some prompt, and the first reason."""
        absent: dict[str, str] = {}
        for case in self.cases:
            for found in case.absent:
                absent.setdefault(found.subject, found.reason)
        return absent

    def measured(self, key: str) -> float | None:
        """Return one of the numbers beside the workload, if it was measured."""
        return next((found.value for found in self.measures if found.key == key), None)


def from_dict(data: Mapping[str, Any]) -> Results:
    """Read what was written as JSON."""
    cases = [
        Case(
            case["budget"],
            case["history"],
            [Reading(**found) for found in case["readings"]],
            [Absent(**found) for found in case["absent"]],
        )
        for case in data["cases"]
    ]
    return Results(
        data["machine"],
        data["runs"],
        cases,
        [Phase(**found) for found in data["phases"]],
        [Measure(**found) for found in data["measures"]],
        [Goal(**found) for found in data["goals"]],
    )


def each(cases: Sequence[Case], budget: int) -> Iterator[Case]:
    """Return the cases of one budget, shortest history first."""
    return iter(sorted((c for c in cases if c.budget == budget), key=lambda case: case.history))


def paired_ratio(mine: Sequence[float], others: Sequence[float]) -> float:
    """Return the median of ratios of measurements that were made right after each other."""
    return median(own / other for own, other in zip(mine, others, strict=True))
