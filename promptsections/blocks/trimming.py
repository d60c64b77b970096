"""Where a conversation that is too long begins, so that it begins there for many turns to come.

Plain trimming leaves out a little more with every turn, so no prompt begins like the one before and
a provider's cache is of no use. Here a conversation is parted in cells, and what is sent begins
where a cell does. Cells depend on nothing but messages and their places: not on what was sent
before, not on the process, not on what is appended.

To find them, messages are weighed in bytes; nothing here counts tokens or does I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from promptsections.errors import DefinitionError
from promptsections.messages import Message

BLOCK = 256
"""Cells are counted anew from every message whose place is a multiple of this, so that no more than
so many messages are weighed to find one. A conversation is trimmed once more for each."""
BYTES_PER_TOKEN = Fraction(9, 2)
"""What a step of so many tokens is in UTF-8, about: 5 in English prose, 3 in code, 4 in Chinese."""
_BYTES_PER_ATTACHMENT = 3_000


def step_of(trim_to: Fraction | None, step: int | None, available: int) -> int | None:
    """Return how many tokens are left out at once, or `None` for no more than needed.

    Args:
        trim_to: the part that is kept when something is left out.
        step: the tokens instead.
        available: what may be used, in tokens: the same in every turn, unlike what is given.
    """
    if trim_to is None:
        return step
    return max(1, available - available * trim_to.numerator // trim_to.denominator)


def read_trim(trim_to: object, step: object) -> tuple[Fraction | None, int | None]:
    """Read what somebody wrote for `trim_to` and `trim_step`.

    Raises:
        DefinitionError: a number that makes no sense, or both at once.
    """
    if step is not None and (not isinstance(step, int) or isinstance(step, bool) or step < 1):
        raise DefinitionError(f"trim_step={step!r} must be a whole number of tokens, 1 or more")
    if trim_to is None:
        return None, step
    number: Any = trim_to
    try:
        part = None if isinstance(number, bool | str) else Fraction(str(number))
    except ValueError:
        part = None
    if part is None or not 0 < part < 1:
        raise DefinitionError(
            f"trim_to={trim_to!r} must be a number between 0 and 1: the part that is kept when "
            "something is left out"
        )
    if step is not None:
        raise DefinitionError(f"trim_to={trim_to!r} and trim_step={step!r}: give one of them")
    return part, None


def weight(message: Message) -> int:
    """Return about how much of a prompt a message is, its framing left aside, in bytes."""
    content = message.content
    total = sum(_bytes(call.name) + _bytes(call.arguments) for call in message.tool_calls)
    if content is None or isinstance(content, str):
        return total + _bytes(content or "")
    texts = [getattr(part, "text", None) for part in content]
    return total + sum(_BYTES_PER_ATTACHMENT if text is None else _bytes(text) for text in texts)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


@frozen
class Beginning:
    """A place where what is sent may begin."""

    units: int
    """How many units of the history are sent then."""
    cost: int
    """What they take, in tokens."""
    place: int
    """The place of the first message in the conversation."""
    before: int | None
    """The next older such place; `None` if this is the first."""

    def behind(self, earlier: int) -> Beginning:
        """Return the same where so many messages stand before those that were counted."""
        before = None if self.before is None else self.before + earlier
        return evolve(self, place=self.place + earlier, before=before)


def choose(
    beginnings: Sequence[Beginning], room: int, step: int, weigh: Callable[[int], int]
) -> Beginning | None:
    """Choose where to begin: where a cell begins, of cells as large as leaves enough.

    Of the places where a cell begins, the one that sends most is taken. That one stays the same,
    whatever is appended, until it does not fit any more. Bytes say little about tokens, so larger
    cells (each two of the others) are taken where they leave no more free than most of a step, and
    smaller ones (halves) where the others leave too much. So a larger room never sends less, and
    what is appended never sends older messages.

    Args:
        beginnings: the places that fit, newest first.
        room: what may be sent, in tokens.
        step: the size of a cell, in tokens.
        weigh: returns the bytes of the message at a place.

    Returns:
        One of them, or `None` if none sends enough.
    """
    least = room - 3 * min(step, room // 2) // 2
    enough = [one for one in beginnings if one.cost >= least]
    if not enough:
        return None
    offsets = dict(_offsets(min(_oldest(one) for one in enough), enough[0].place, weigh))
    size = int(step * BYTES_PER_TOKEN)
    largest = (max(offsets.values()) // size).bit_length()
    for level in range(largest, -size.bit_length() - 1, -1):
        wanted = room - 3 * step // 4 if level > 0 else least
        found = [
            one for one in enough if one.cost >= wanted and _begins_cell(one, offsets, size, level)
        ]
        if found:
            return max(found, key=lambda one: (one.cost, one.units))
    return None


def _oldest(one: Beginning) -> int:
    return one.place if one.before is None else one.before


def _offsets(first: int, last: int, weigh: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """Yield each place from the block of the first on, and the bytes in its block before it."""
    offset = 0
    for place in range(first - first % BLOCK, last + 1):
        if place % BLOCK == 0:
            offset = 0
        yield place, offset
        offset += weigh(place)


def _begins_cell(one: Beginning, offsets: Mapping[int, int], size: int, level: int) -> bool:
    """Say whether a cell begins there, of `size * 2**level` bytes."""
    if one.before is None:
        return True

    def cell(place: int) -> tuple[int, int]:
        bytes_before = offsets[place]
        number = bytes_before // (size << level) if level > 0 else (bytes_before << -level) // size
        return place // BLOCK, number

    return cell(one.place) != cell(one.before)
