"""What must stay together in a conversation: calls with their results, turns with their answers.

A *step* is one assistant message with the results of its calls, right behind it. An *exchange* is a
user turn with the steps up to the next one. What cannot be sent (a call without a result, a result
without a call) is left out here, as whole messages: nothing is edited, nothing is moved.
It knows no tokens, no budgets and no providers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from promptsections.blocks.repair import DROP, Mender, Repair
from promptsections.messages import Message
from promptsections.notes import Note


@frozen
class Step:
    """Messages that are sent together or not at all, oldest first."""

    messages: tuple[Message, ...]
    """An assistant message with the results of its calls, or a system message by itself."""
    places: tuple[int, ...]
    """The place of each in the history; -1 for a result that was put in."""


@frozen
class Exchange:
    """A user turn with its steps: what a history keeps or leaves out as a whole."""

    messages: tuple[Message, ...] = ()
    """All that is left of it, oldest first."""
    notes: tuple[Note, ...] = ()
    """What was left out of it or put in, because it could not be sent, oldest first."""
    places: Sequence[int] = ()
    """The place of each message in the history; -1 for a result that was put in."""
    span: tuple[int, int] = (0, 0)
    """Where it begins in the history, and where the next one does."""
    stubs: int = 0
    """How many results were put in."""

    @property
    def user(self) -> Message | None:
        """The user's turn; `None` for what stands before the first one."""
        return self.messages[0] if self.messages and opens_exchange(self.messages[0]) else None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps behind the user's turn, oldest first."""
        steps: list[Step] = []
        start = end = 0 if self.user is None else 1
        for _, results in runs(self.messages[start:]):
            start, end = end, end + 1 + len(results)
            steps.append(Step(self.messages[start:end], tuple(self.places[start:end])))
        return tuple(steps)

    @property
    def under_way(self) -> bool:
        """Whether the model is to speak next: system messages aside, it ends without an answer."""
        for message in reversed(self.messages):
            if not is_system(message):
                return message.role in ("user", "tool")
        return False


def is_system(message: Message) -> bool:
    """Say whether the message instructs the model: role `system` or its newer word `developer`."""
    return message.role in ("system", "developer")


def opens_exchange(message: Message) -> bool:
    """Say whether an exchange begins with this message."""
    return message.role == "user"


def place_in_words(place: int) -> str:
    """Name a message by its place in the history, from 0."""
    return f"message {place} of the history"


def exchange_of(
    messages: Sequence[Message],
    notes: Sequence[Note] = (),
    places: Sequence[int] | None = None,
    span: tuple[int, int] = (0, 0),
    repair: Repair = DROP,
    where: Callable[[int], str] = place_in_words,
) -> Exchange:
    """Read the messages of one exchange, oldest first: a user turn, if any, and what follows it.

    Args:
        messages: as they stand in the history.
        notes: are added behind what is noted here.
        places: the place of each message in the history; counted from 0 if not given.
        span: where the exchange begins and ends there.
        repair: what is done about what cannot be sent.
        where: names a place in an error.

    Raises:
        InvalidHistoryError: with `repair.how == "raise"`, if something cannot be sent.
    """
    places = range(len(messages)) if places is None else places
    for message in messages:
        if message.tool_calls or message.role == "tool" or message.tool_call_id:
            mender = Mender(repair, where)
            placed = iter(places)
            for head, results in runs(messages):
                first = None if head is None else (head, next(placed))
                mender.mend(first, [(result, next(placed)) for result in results])
            found = (*mender.notes, *notes)
            stubs = mender.places.count(-1)
            return Exchange(tuple(mender.messages), found, tuple(mender.places), span, stubs)
    return Exchange(tuple(messages), tuple(notes), places, span)


def runs(messages: Sequence[Message]) -> Iterator[tuple[Message | None, list[Message]]]:
    """Part messages before each that is no result: such a head, with the results behind it."""
    head: Message | None = None
    results: list[Message] = []
    for message in messages:
        if message.role == "tool":
            results.append(message)
            continue
        if head is not None or results:
            yield head, results
        head, results = message, []
    if head is not None or results:
        yield head, results
