"""What a finished layout sends, in order, as stretches of one stability.

It knows layouts and messages; it places no marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import define, evolve, field, frozen

from promptsections.blocks import HistoryBlock, PartedTextBlock
from promptsections.counting import Counter
from promptsections.layout import ResolvedGroup, ResolvedNode, ResolvedSection
from promptsections.layout.compose import Piece, size_of
from promptsections.messages import Message, Part, TextPart
from promptsections.sections import CacheBreakpoint, Stability
from promptsections.sections.stability import GROWS, RANK


@frozen(kw_only=True)
class Stretch:
    """Part of a prompt that stays the same for as long."""

    path: str
    """Of the section."""
    kind: str
    stability: Stability
    rank: float
    """Higher is less stable."""
    tokens: int
    messages: tuple[Message, ...]
    """What it says; more than one stretch may stand in one message of what is sent."""
    ends: int | None = None
    """Index of the message that ends with it, so that it can carry a mark; `None` if none does."""
    part: int | None = None
    """With `ends`: which part of that message ends with it; `None` for the last."""
    leads: bool = False
    """Whether a template's cache breakpoint stands behind it."""
    was_end: bool = False
    """Whether the conversation ended here when the prompt was rendered the last time."""


@frozen
class Wish:
    """A `CacheBreakpoint` of the author."""

    path: str
    wish: CacheBreakpoint
    after: int
    """How many stretches stand before it."""


@define
class Outline:
    """A prompt as stretches, with the author's wishes between them."""

    stretches: list[Stretch] = field(factory=list[Stretch])
    wishes: list[Wish] = field(factory=list[Wish])
    lost: list[str] = field(factory=list[str])
    """Paths of templates that were cut where their cache breakpoint was."""


def outline(root: ResolvedGroup, pieces: Mapping[str, Piece], counter: Counter) -> Outline:
    """Read the stretches off a finished layout, in the order in which they are sent."""
    reader = _Reader(pieces, counter)
    reader.read(root, in_text=counter.lines is not None)
    return reader.found


@define
class _Reader:
    pieces: Mapping[str, Piece]
    counter: Counter
    found: Outline = field(factory=Outline)
    index: int = 0
    """Of the next message."""

    def read(self, node: ResolvedNode, *, in_text: bool) -> None:
        if isinstance(node, ResolvedSection):
            self._section(node, in_text=in_text)
        elif node.role is None or in_text:
            for child in node.children:
                self.read(child, in_text=in_text)
        else:
            self._message_of(node)

    def _message_of(self, group: ResolvedGroup) -> None:
        """Read a group that is one message: only its end can carry a mark."""
        start = len(self.found.stretches)
        for child in group.children:
            self.read(child, in_text=True)
        found = self.found.stretches[start:]
        if not found:
            return
        size = size_of(group, self.pieces, self.counter, in_text=False)
        beside = size - sum(stretch.tokens for stretch in found)  # framing, separators, joints
        found[0] = evolve(found[0], tokens=found[0].tokens + beside)
        found[-1] = evolve(found[-1], ends=self.index)
        self.found.stretches[start:] = found
        self.index += 1

    def _section(self, section: ResolvedSection, *, in_text: bool) -> None:
        if section.breakpoint is not None:
            before = len(self.found.stretches)
            self.found.wishes.append(Wish(section.path, section.breakpoint, before))
        piece = self.pieces.get(section.path)
        if piece is None or not piece.messages:
            return
        whole = Stretch(
            path=section.path,
            kind=section.kind,
            stability=section.stability,
            rank=_rank(section),
            tokens=piece.tokens,
            messages=piece.messages,
        )
        counter = self.counter if not in_text else evolve(self.counter, lines=section.lines)
        parted = list(_parted(section, whole, counter))
        if section.lead is not None and len(parted) == 1:
            self.found.lost.append(section.path)
        for stretch in parted:
            ends = None
            if stretch.leads:
                ends = None if stretch.part is None else self.index
            elif not in_text:
                self.index += len(stretch.messages)
                ends = self.index - 1
            self.found.stretches.append(evolve(stretch, ends=ends))


def _rank(section: ResolvedSection) -> float:
    if section.stability == "session" and isinstance(section.block, HistoryBlock):
        return GROWS
    return RANK[section.stability]


def _parted(section: ResolvedSection, whole: Stretch, counter: Counter) -> Iterator[Stretch]:
    """Part a stretch where its stability changes, or where a conversation has grown."""
    block = section.block
    if isinstance(block, PartedTextBlock) and section.lead is not None:
        yield from _lead_and_rest(block, section.lead, whole, counter)
    elif isinstance(block, HistoryBlock) and counter.lines is None:
        yield from _before_and_since(whole, counter)
    else:
        yield whole


def _lead_and_rest(
    block: PartedTextBlock, lead: Stability, whole: Stretch, counter: Counter
) -> Iterator[Stretch]:
    message = whole.messages[0]
    in_parts = isinstance(message.content, tuple)
    text = "".join(part.text for part in parts_of(message) if isinstance(part, TextPart))
    rest = text.removeprefix(block.stable)
    if len(rest) == len(text) or not rest:  # it was cut so far that nothing volatile is left
        yield whole
        return
    after = min(counter.count(rest), whole.tokens)
    yield evolve(
        whole,
        stability=lead,
        rank=RANK[lead],
        tokens=whole.tokens - after,
        messages=(message.saying(block.stable),),
        part=0 if in_parts else None,
        leads=True,
    )
    yield evolve(whole, tokens=after, messages=(message.saying(rest),))


def parts_of(message: Message) -> tuple[Part, ...]:
    """Return the content of a message as parts."""
    content = message.content
    if content is None:
        return ()
    return (TextPart(content),) if isinstance(content, str) else content


def _before_and_since(whole: Stretch, counter: Counter) -> Iterator[Stretch]:
    """Part a history where it ended when the last request was made."""
    messages = whole.messages
    start = _grown_from(messages)
    if not start:
        yield whole
        return
    since = counter.cost(messages[start:])
    yield evolve(whole, tokens=whole.tokens - since, messages=messages[:start], was_end=True)
    yield evolve(whole, tokens=since, messages=messages[start:])


def _grown_from(messages: Sequence[Message]) -> int:
    """Return how many messages the history had when the last request was made; 0 if none.

    If the assistant spoke last, its exchange is new; otherwise, as in an agent loop, its last step
    and what follows it.
    """
    opener = "user" if messages[-1].role == "assistant" else "assistant"
    return next((n for n in range(len(messages) - 1, 0, -1) if messages[n].role == opener), 0)
