"""A conversation whose older exchanges are told in a summary, written seldom and kept.

A summary covers the oldest exchanges, whole. It stays as it is while what came since fits; then it
is written anew, so that it tells most of that too, and there is room for many turns to come. The
newest exchange and what is pinned are never summarized. It knows no sections.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, field, frozen

from promptsections.blocks import Fitted, HistoryBlock, HistoryOptions
from promptsections.blocks.transcript import Gap, read_message
from promptsections.blocks.turns import is_system, opens_exchange, place_in_words
from promptsections.counting import Counter, lines_of
from promptsections.measurement import Measurement
from promptsections.messages import Message
from promptsections.notes import Note
from promptsections.scope import Scope
from promptsections.summaries.asking import Within, ask
from promptsections.summaries.summarize import Summarize
from promptsections.summaries.summarizer import SummaryRequest
from promptsections.summaries.summary import MARKED, Summary, digest_of, said_by

TRIGGER = 0.85
"""The ratio of what a conversation may have above which it is summarized."""
TARGET = 0.1
"""The ratio that its summary may have."""
LABELS = {
    "user": "user: ",
    "assistant": "assistant: ",
    "system": "system: ",
    "developer": "system: ",
    "tool": "tool {name}: ",
}
"""Role → how a summarizer is told who speaks."""


@frozen
class SummarizedHistory(HistoryBlock):
    """A conversation that begins with a summary of what is not in it any more.

    Where there is no room for the summary, the newest exchange is sent without it.
    """

    bare: HistoryBlock = field(kw_only=True)
    """The same without the summary."""
    covered: int = field(kw_only=True)
    """How many messages are told in the summary alone."""

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        """Return the floor without the summary, and the size of all with it."""
        told = super().measure(counter, at_most)
        bare = self.bare.measure(counter, at_most)
        return Measurement(min(told.floor, bare.floor or told.floor), told.natural)

    def place(self, counter: Counter, tokens: int, /) -> Fitted:
        """Send the summary and the newest exchanges, or these alone if there is no room for it."""
        if super().measure(counter, tokens).floor > tokens:
            fitted = self.bare.place(counter, tokens)
            detail = f"no room for the summary, nor for {self.covered} messages that it tells"
            note = Note("summary_left_out", "", detail)
            return evolve(
                fitted, omitted=fitted.omitted + self.covered, notes=(*fitted.notes, note)
            )
        fitted = super().place(counter, tokens)
        notes = fitted.notes
        if fitted.omitted:
            detail = (
                f"{fitted.omitted} messages are neither sent nor in the summary yet: a budget of "
                "its own for the section, or a lower trigger, has them summarized in time"
            )
            notes = (*notes, Note("summary_gap", "", detail))
        return evolve(fitted, omitted=fitted.omitted + self.covered, notes=notes)


async def summarized_history(
    block: HistoryBlock,
    how: Summarize,
    scope: Scope,
    kept: Summary | None,
    within: Within,
) -> tuple[HistoryBlock, Summary | None]:
    """Return a history that fits, and the summary that it needs or may need again.

    Args:
        block: all of the history.
        how: when it is summarized, and by what.
        scope: the section's.
        kept: the summary of the render before.
        within: limits how long the summarizer may take.
    """
    if block.unread:
        scope.note("summary_failed", "it is cut instead: only the newest messages were read")
        return block, None
    talk = Talk(block, scope.counter)
    if kept is not None and not talk.is_told_by(kept):
        scope.note("summary_outdated", "messages that it tells have changed: it is written anew")
        kept = None
    limit = int(scope.available * (how.trigger or TRIGGER))
    if kept is not None and talk.is_whole_within(limit, kept):
        return block, kept  # there is more room than when it was written
    end = talk.start if kept is None else kept.end
    new_end = talk.where_to_end(end, kept, limit, int(scope.available * how.keep))
    verb = "kept"
    if new_end > end:
        written = await _write(talk, kept, new_end, how, scope, within)
        if written is not None:
            verb, kept = "written" if kept is None else "written anew", written
    if kept is None:
        return block, None
    pinned = len(talk.pinned(kept.end))
    but = f" ({pinned} pinned ones are sent as they are)" if pinned else ""
    scope.note(
        "summarized",
        f"{verb}: messages {kept.first} to {kept.end - 1}{but}, {kept.source_tokens} tokens, are "
        f"told in {kept.tokens} tokens",
    )
    return talk.told(kept, how.heading), kept


async def _write(
    talk: Talk, kept: Summary | None, end: int, how: Summarize, scope: Scope, within: Within
) -> Summary | None:
    """Write a summary of all that an earlier one tells, and of the messages up to a place."""
    start = talk.start if kept is None else kept.end
    pinned = {id(message) for message in talk.pinned(end)}
    told = [message for message in talk.between(start, end) if id(message) not in pinned]
    digest = talk.digest(end)
    if not told:
        return None if kept is None else evolve(kept, end=end, digest=digest)
    new_tokens = talk.counter.cost(told)
    tokens = new_tokens + (0 if kept is None else kept.tokens)
    ratio = int(scope.available * (how.target or TARGET))
    target = min(max(how.at_least, min(ratio, tokens // 2)), max(1, scope.available // 2))
    labels = talk.counter.lines.labels if talk.counter.lines else LABELS
    request = SummaryRequest(
        text="\n".join(lines_of(told, labels)),
        messages=tuple(told),
        previous=None if kept is None else kept.text,
        target=target,
        quality=how.quality,
        count=scope.counter.count,
    )
    answer = await ask(how, request, tokens, scope, within)
    if answer is None:
        return None
    return Summary(
        text=answer.text,
        tokens=answer.tokens,
        source_tokens=new_tokens + (0 if kept is None else kept.source_tokens),
        digest=digest,
        first=talk.start,
        end=end,
        writes=1 if kept is None else kept.writes + 1,
    )


class Talk:
    """The messages of a history, as they would be sent, by their places."""

    def __init__(self, block: HistoryBlock, counter: Counter) -> None:
        self.counter = counter
        self._block = block
        self._pinned: dict[int, tuple[Message, ...]] = {}
        leading: list[Message] = []
        self.start = 0
        """Where the system messages that it begins with end."""
        for place in range(len(block.messages)):
            message = self._read(place)
            if message is not None and not is_system(message):
                break
            self.start = place + 1
            if message is not None and block.keep_system:
                leading.append(message)
        self.leading = tuple(leading)
        """These system messages, as far as they are kept."""

    def between(self, first: int, end: int) -> Iterator[Message]:
        """Yield the messages between two places, oldest first."""
        keeps_system = self._block.keep_system
        for place in range(first, end):
            message = self._read(place)
            if message is not None and (keeps_system or not is_system(message)):
                yield message

    def exchanges(self, first: int, end: int) -> Iterator[list[Message]]:
        """Yield the exchanges between two places, oldest first."""
        found: list[Message] = []
        for message in self.between(first, end):
            if opens_exchange(message) and found:
                yield found
                found = []
            found.append(message)
        if found:
            yield found

    def pinned(self, end: int) -> tuple[Message, ...]:
        """Return the messages before a place that are sent as they are, with their exchanges."""
        is_pinned = self._block.pinned
        if is_pinned is None:
            return ()
        if end not in self._pinned:
            exchanges = self.exchanges(self.start, end)
            found = (m for each in exchanges if any(map(is_pinned, each)) for m in each)
            self._pinned[end] = tuple(found)
        return self._pinned[end]

    def is_told_by(self, summary: Summary) -> bool:
        """Say whether a summary was made of these messages."""
        fits = summary.first == self.start < summary.end <= len(self._block.messages)
        return fits and summary.digest == self.digest(summary.end)

    def digest(self, end: int) -> str:
        """Return what stands for the newest messages before a place, and for how many there are."""
        marked = self.between(max(self.start, end - MARKED), end)
        return digest_of([f"{self.start}-{end}", *map(said_by, marked)])

    def is_whole_within(self, limit: int, summary: Summary) -> bool:
        """Say whether all of it, with what a summary tells, has at most so many tokens."""
        total = summary.source_tokens + self._fixed(summary.end)
        for _, tokens, _ in self._newest(summary.end):
            if total + tokens > limit:
                return False
        return total <= limit

    def where_to_end(self, end: int, kept: Summary | None, limit: int, keep: int) -> int:
        """Return up to where a summary should tell; `end`, up to where one does, if that will do.

        Args:
            end: up to where there is a summary.
            kept: that summary.
            limit: tokens that all may have: leading and pinned messages, summary and newest.
            keep: tokens of newest exchanges that are left when a summary is written.
        """
        fixed = self._fixed(end) + (0 if kept is None else kept.tokens)
        room = max(limit - fixed, keep)
        left = min(keep, room // 2)
        most = self._block.max_messages
        newest = end
        for begin, tokens, messages in self._newest(end):
            fits = tokens <= left and (most is None or messages <= most // 2)
            if newest == end or fits:
                newest = begin
            if tokens > room or (most is not None and messages > most):
                return newest
        return end

    def told(self, summary: Summary, heading: str) -> SummarizedHistory:
        """Return the history with a summary in place of what it tells."""
        block, pinned = self._block, self.pinned(summary.end)
        said = f"{heading}\n{summary.text}" if heading else summary.text
        newest = (*pinned, *self.between(summary.end, len(block.messages)))
        options: HistoryOptions = {
            "start_on": block.start_on,
            "max_messages": block.max_messages,
            "max_result_tokens": block.max_result_tokens,
            "omission_marker": block.omission_marker,
            "repair": block.repair,
            "stub_text": block.stub_text,
            "pinned": block.pinned,
        }
        return SummarizedHistory(
            (*self.leading, Message("system", said), *newest),
            bare=HistoryBlock((*self.leading, *newest), **options),
            covered=summary.end - summary.first - len(pinned),
            **options,
        )

    def _fixed(self, end: int) -> int:
        """Return the tokens of what is sent as it is although it stands before a place."""
        return self.counter.cost([*self.leading, *self.pinned(end)])

    def _newest(self, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield where each exchange behind a place begins, newest first.

        With it come the tokens and the number of all messages from there on.
        """
        tokens = messages = 0
        for place in range(len(self._block.messages) - 1, end - 1, -1):
            message = self._read(place)
            if message is None or (is_system(message) and not self._block.keep_system):
                continue
            tokens += self.counter.cost((message,))
            messages += 1
            if opens_exchange(message):
                yield place, tokens, messages
        if messages:
            yield end, tokens, messages

    def _read(self, place: int) -> Message | None:
        message, transform = self._block.messages[place], self._block.transform
        if transform is None and isinstance(message, Message):
            return message
        if message is Gap.LEFT_OUT:
            return None
        return read_message(message, place_in_words(place), transform)
