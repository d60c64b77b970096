"""What is done about a call and its results where a provider would refuse them as they are.

It looks at one step: an assistant message with the results right behind it. It knows no exchanges,
no tokens and no providers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

from attrs import define, field, frozen

from promptsections.errors import DefinitionError, InvalidHistoryError
from promptsections.messages import Message, ToolCall
from promptsections.notes import Note

RepairHow = Literal["drop", "stub", "raise"]
"""`drop`: leave out the step; `stub`: put a placeholder; `raise`: an `InvalidHistoryError`."""


_WAYS = get_args(RepairHow)


def _check_how(_: object, __: object, value: object) -> None:
    if value not in _WAYS:
        raise DefinitionError(f'repair={value!r} is neither "drop", "stub" nor "raise"')


def _check_stub(_: object, __: object, value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        raise DefinitionError(
            f"stub_text={value!r} must be a text: providers refuse results without one"
        )


@frozen
class Repair:
    """What is done about what cannot be sent.

    | found                                     | code               | what is left out       |
    |-------------------------------------------|--------------------|------------------------|
    | a call without a result                   | `unanswered_call`  | its step               |
    | the same, with `stub`                     | `result_stubbed`   | nothing: a placeholder |
    | a second result for a call                | `duplicate_result` | it                     |
    | a result without its call right before it | `orphan_result`    | it                     |
    | calls, or the id of one, in a wrong role  | `misplaced_call`   | the message            |

    With `raise` each of them is an `InvalidHistoryError`.
    """

    how: RepairHow = field(default="drop", validator=_check_how)
    stub_text: str = field(default="[no result]", validator=_check_stub)
    """With `stub`: the text of the results that are put in."""


DROP = Repair()


def is_misplaced(message: Message) -> bool:
    """Say whether a message has calls, or the id of one, that its role has no place for."""
    if message.role == "tool":
        return bool(message.tool_calls)
    return bool(message.tool_call_id or (message.tool_calls and message.role != "assistant"))


@define
class Mender:
    """Mends the steps of one exchange, one after the other, and keeps account of it."""

    repair: Repair
    where: Callable[[int], str]
    """Says in words which message of the history has this place."""
    messages: list[Message] = field(factory=list[Message])
    """What is left, oldest first, placeholders among it."""
    places: list[int] = field(factory=list[int])
    """The place of each in the history; -1 for a placeholder."""
    notes: list[Note] = field(factory=list[Note])

    def keep(self, message: Message, place: int) -> None:
        """Take a message as it is."""
        self.messages.append(message)
        self.places.append(place)

    def mend(
        self,
        head: tuple[Message, int] | None,
        results: Sequence[tuple[Message, int]],
    ) -> None:
        """Take a message and the results right behind it, each with its place, as far as they go.

        Raises:
            InvalidHistoryError: with `raise`, if anything is wrong with them.
        """
        if head is not None and is_misplaced(head[0]):
            self._note_misplaced(*head)
            head = None
        calls = () if head is None else head[0].tool_calls
        answering, unanswered = self._match(calls, results)
        stubs = self._stubs(unanswered, -1 if head is None else head[1])
        if head is None or (unanswered and not stubs):
            return
        self.keep(*head)
        for message, place in answering:
            self.keep(message, place)
        for stub in stubs:
            self.keep(stub, -1)

    def _match(
        self, calls: Sequence[ToolCall], results: Sequence[tuple[Message, int]]
    ) -> tuple[list[tuple[Message, int]], list[ToolCall]]:
        """Return the results that answer calls, one for each, and the calls that have none.

        A result belongs to the first unanswered call with its id; one without an id to the first
        call that is unanswered then. Ids mean something inside one step only: some servers use the
        same one over and over.
        """
        unanswered = list(calls)
        known = {call.id for call in calls}
        answering: set[int] = set()
        for result, place in sorted(results, key=lambda pair: not pair[0].tool_call_id):
            wanted = result.tool_call_id
            if is_misplaced(result):
                self._note_misplaced(result, place)
                continue
            matching = (n for n, call in enumerate(unanswered) if not wanted or call.id == wanted)
            index = next(matching, None)
            if index is not None:
                del unanswered[index]
                answering.add(place)
            elif wanted in known:
                self._note_result("duplicate_result", result, place, "its call has one before it")
            else:
                reason = "there is no such call right before it"
                self._note_result("orphan_result", result, place, reason)
        return [pair for pair in results if pair[1] in answering], unanswered

    def _stubs(self, unanswered: Sequence[ToolCall], place: int) -> list[Message]:
        """Say which calls have no result; return placeholders, if such are wanted."""
        stub = self.repair.stub_text
        wanted = self.repair.how == "stub"
        for call in unanswered:
            found = f"call {call.id!r} of {call.name!r} has no result"
            if wanted:
                self._note("result_stubbed", place, found, f"{stub!r} is sent in its place")
            else:
                self._note("unanswered_call", place, found, "its step was left out")
        if not wanted:
            return []
        return [Message("tool", stub, tool_call_id=call.id or None) for call in unanswered]

    def _note_misplaced(self, message: Message, place: int) -> None:
        found = f"a {message.role} message has tool_calls or a tool_call_id, which it cannot have"
        self._note("misplaced_call", place, found, "it was left out")

    def _note_result(self, code: str, result: Message, place: int, reason: str) -> None:
        name = f"for call {result.tool_call_id!r}" if result.tool_call_id else "without a call id"
        self._note(code, place, f"a result {name} cannot be sent, {reason}", "it was left out")

    def _note(self, code: str, place: int, found: str, done: str) -> None:
        if self.repair.how == "raise":
            raise InvalidHistoryError(
                f'{self.where(place)}: {found} ({code}); repair="drop" leaves out what cannot be '
                'sent, repair="stub" puts placeholders where results are missing'
            )
        self.notes.append(Note(code, "", f"{found}: {done}"))
