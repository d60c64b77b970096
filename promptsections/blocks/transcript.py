"""The messages of a history as exchanges, read from the newest on and only as far as needed.

It knows no tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSequence, Sequence
from enum import Enum
from typing import Any, cast, overload

from promptsections.blocks.repair import DROP, Repair, is_misplaced
from promptsections.blocks.trimming import weight
from promptsections.blocks.turns import Exchange, exchange_of, is_system, place_in_words
from promptsections.errors import DefinitionError, InvalidHistoryError
from promptsections.messages import Message, MessageLike, to_message
from promptsections.notes import Note

Transform = Callable[[Message], MessageLike | None]
"""Maps a message of a history, or leaves it out by returning `None`."""


class Gap(Enum):
    """Stands in a history where the transform left a message out, so that places stay right."""

    LEFT_OUT = "left out"


class Snapshot(Sequence[MessageLike]):
    """A list of messages as it is now: its newest ones are copied, older ones read on demand.

    So a long list costs what is sent of it. Who appends to the list changes nothing here.
    """

    __slots__ = ("_list", "newest", "start")

    def __init__(self, messages: MutableSequence[MessageLike], newest: int) -> None:
        self._list = messages
        self.start = max(0, len(messages) - newest)
        """Where the copied ones begin."""
        self.newest = tuple(messages[self.start :])
        """Those that are copied."""

    def __len__(self) -> int:
        return self.start + len(self.newest)

    @overload
    def __getitem__(self, place: int) -> MessageLike: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[MessageLike]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if place < 0:
            place += len(self)
        if place >= self.start:
            return self.newest[place - self.start]
        if place < 0:
            raise IndexError(place)
        return self._list[place]


def as_history(value: object, newest: int | None = None) -> Sequence[MessageLike]:
    """Take a shallow copy of a list of messages, oldest first; what cannot change is not copied.

    Args:
        value: the messages.
        newest: how many of them may be needed; of a longer list no more is copied at once.

    Raises:
        InvalidHistoryError: if it is no sequence of messages.
    """
    if isinstance(value, (tuple, Snapshot)):
        return cast("Sequence[MessageLike]", value)
    if isinstance(value, MutableSequence):
        messages = cast("MutableSequence[MessageLike]", value)
        return tuple(messages) if newest is None else Snapshot(messages, newest)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return cast("Sequence[MessageLike]", value)
    raise InvalidHistoryError(
        f"a history is a list of messages, oldest first, or NewestFirst(open), "
        f"not {type(value).__name__}"
    )


def read_message(value: MessageLike, where: str, transform: Transform | None) -> Message | None:
    """Read one message of a history, and transform it; `None` leaves it out.

    Raises:
        InvalidHistoryError: if it is no message, or the transform returns none; says where.
    """
    try:
        message = to_message(value)
        if transform is None:
            return message
        changed = transform(message)
        return None if changed is None else to_message(changed)
    except DefinitionError as error:
        raise InvalidHistoryError(f"{where}: {error}") from error


class Transcript:
    """The messages as exchanges, newest first, each read when it is first asked for.

    To read twice gives the same, so threads may share it without a lock.
    """

    __slots__ = (
        "_keep_system", "_known", "_messages", "_repair", "_transform", "_where", "end",
        "leading", "notes", "start",
    )  # fmt: skip

    def __init__(
        self,
        messages: Sequence[MessageLike],
        *,
        complete: bool,
        keep_system: bool,
        transform: Transform | None,
        repair: Repair = DROP,
    ) -> None:
        self._messages = messages
        self._repair = repair
        self._where = place_in_words if complete else self._from_newest
        self._keep_system = keep_system
        self._transform = transform
        self._known: dict[int, Exchange] = {}
        found: list[Message] = []
        self.start = self._read_leading(found) if complete else 0
        """Where the system messages that the history begins with end."""
        self.end = len(messages)
        self.leading = tuple(found) if keep_system else ()
        """The system messages that the history begins with, as far as they are kept."""
        self.notes = () if keep_system else tuple(map(_left_out, found))

    @property
    def is_answered(self) -> bool:
        """Whether it plainly ends with an answer, so that nothing is under way."""
        if self._transform is not None or self.end <= self.start:
            return False
        last = self._at(self.end - 1)
        return (
            last is not None
            and last.role == "assistant"
            and not last.tool_calls
            and not last.tool_call_id
        )

    def exchanges(self) -> Iterator[Exchange]:
        """Yield the exchanges, newest first; what stands before the first user turn comes last."""
        known = self._known
        end = len(self._messages)
        while end > self.start:
            exchange = known.get(end)
            if exchange is None:
                exchange = known[end] = self._exchange_before(end)
            end = exchange.span[0]
            yield exchange

    def sendable_to_user(self) -> Iterator[tuple[tuple[Message, ...], tuple[Note, ...]]]:
        """Yield messages and notes of the exchanges that begin with the user, newest first.

        One in which nothing can be wrong, since it has no calls, is only parted from the others.
        """
        end = len(self._messages)
        while end > self.start:
            plain = self._plain_before(end) if end not in self._known else None
            if plain is not None:
                end, messages = plain
                yield messages, ()
                continue
            exchange = self._known.get(end)
            if exchange is None:
                exchange = self._known[end] = self._exchange_before(end)
            end = exchange.span[0]
            if exchange.messages and exchange.messages[0].role == "user":
                yield exchange.messages, exchange.notes

    def _plain_before(self, end: int) -> tuple[int, tuple[Message, ...]] | None:
        """Return a whole exchange without calls and where it begins, if there is one before.

        Nothing is said where it lies deeper than what was copied of the history.
        """
        if self._transform is not None or not self._keep_system:
            return None
        messages, place = self._messages, end
        if isinstance(messages, Snapshot):  # to ask it for each message takes much longer
            place = end - messages.start
            messages = messages.newest
        lowest = self.start + place - end
        found: list[Message] = []
        while place > lowest and place > 0:
            place -= 1
            message = messages[place]
            if not isinstance(message, Message):
                message = self._at(end - len(found) - 1)
            if message is None or message.tool_calls or message.tool_call_id:
                return None
            found.append(message)
            role = message.role
            if role == "user":
                found.reverse()
                return end - len(found), tuple(found)
            if role == "tool":
                return None
        return None

    def _read_leading(self, found: list[Message]) -> int:
        end = 0
        for position in range(len(self._messages)):
            message = self._at(position)
            if message is None:
                continue
            if not is_system(message) or is_misplaced(message):
                break
            found.append(message)
            end = position + 1
        return end

    def _exchange_before(self, end: int) -> Exchange:
        pending: list[Message] = []
        skipped: set[int] = set()
        notes: list[Note] = []
        position = end
        while position > self.start:
            position -= 1
            message = self._at(position)
            if message is None:
                skipped.add(position)
                continue
            if not self._keep_system and is_system(message):
                skipped.add(position)
                notes.append(_left_out(message))
                continue
            pending.append(message)
            if message.role == "user":
                break
        pending.reverse()
        places: Sequence[int] = range(position, end)
        if skipped:
            places = [place for place in places if place not in skipped]
        return exchange_of(pending, notes, places, (position, end), self._repair, self._where)

    def weight(self, position: int) -> int:
        """Return about how much of a prompt a message is, in bytes; 0 if it was not read."""
        message = self._at(position) if position >= 0 else None
        return 0 if message is None else weight(message)

    def _at(self, position: int) -> Message | None:
        value = self._messages[position]
        if self._transform is None and isinstance(value, Message):
            return value
        if value is Gap.LEFT_OUT:
            return None
        return read_message(value, self._where(position), self._transform)

    def _from_newest(self, position: int) -> str:
        return f"message {len(self._messages) - 1 - position} of the history, from the newest"


def _left_out(message: Message) -> Note:
    detail = f"a {message.role} message was left out of the history (keep_system=False)"
    return Note("system_left_out", "", detail)
