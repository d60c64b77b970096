"""Put what was fitted together: messages, and texts joined into one, with their exact sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, frozen

from promptsections.counting import Counter
from promptsections.layout.resolved import ResolvedGroup, ResolvedNode, ResolvedSection
from promptsections.messages import Message
from promptsections.tokens import Segment, join


@define  # not frozen: made by the hundred, and attrs makes those faster
class Piece:
    """What one section sends, measured where it stands."""

    messages: tuple[Message, ...]
    tokens: int
    text: str = ""
    """In a text: the messages as they are written."""
    segment: Segment | None = None
    """In a text: what is needed to join it exactly."""


def measure_piece(messages: Sequence[Message], counter: Counter) -> Piece:
    """Measure messages where the counter's section stands."""
    found = tuple(messages)
    if counter.lines is None:
        return Piece(found, counter.cost(found))
    segment = counter.segment(found)
    return Piece(found, segment.tokens, counter.text(found), segment)


Pieces = Mapping[str, Piece]
"""Path of a section → what it sends; sections that send nothing are not in it."""


@frozen
class Composed:
    """What a prompt sends."""

    messages: tuple[Message, ...]
    """A text form is one message here, its content the text."""
    tokens: int
    """Exact, the base left aside."""


def compose(root: ResolvedGroup, pieces: Pieces, counter: Counter) -> Composed:
    """Join everything that is sent, in document order.

    In a text form the result is one system message that holds the text and is charged for it alone.
    """
    if counter.lines is None:
        messages: list[Message] = []
        tokens = _messages(root, pieces, counter, messages)
        return Composed(tuple(messages), tokens)
    written = _text(root, pieces, counter)
    if written is None:
        return Composed((), 0)
    text, segment = written
    return Composed((Message("system", text),), segment.tokens)


def size_of(node: ResolvedNode, pieces: Pieces, counter: Counter, *, in_text: bool) -> int:
    """Return what a part of a prompt takes by itself, in tokens; 0 if it sends nothing."""
    if not in_text:
        return _messages(node, pieces, counter, [])
    written = _text(node, pieces, counter)
    return 0 if written is None else written[1].tokens


def _messages(node: ResolvedNode, pieces: Pieces, counter: Counter, found: list[Message]) -> int:
    """Add the messages of a node to what was found; return their tokens."""
    if isinstance(node, ResolvedSection):
        piece = pieces.get(node.path)
        if piece is None:
            return 0
        found.extend(piece.messages)
        return piece.tokens
    if node.role is not None:
        written = _text(node, pieces, counter)
        if written is None:
            return 0
        text, segment = written
        found.append(Message(node.role, text))
        return counter.framing(Message(node.role, "")) + segment.tokens
    tokens = 0
    for child in node.children:
        tokens += _messages(child, pieces, counter, found)
    return tokens


def _text(node: ResolvedNode, pieces: Pieces, counter: Counter) -> tuple[str, Segment] | None:
    if isinstance(node, ResolvedSection):
        piece = pieces.get(node.path)
        if piece is None or piece.segment is None or not piece.messages:
            return None
        return piece.text, piece.segment
    texts: list[str] = []
    segments: list[Segment] = []
    for child in node.children:
        written = _text(child, pieces, counter)
        if written is None:
            continue
        if texts and node.separator:
            segments.append(Segment.of(node.separator, counter.tokenizer))
        texts.append(written[0])
        segments.append(written[1])
    if not texts:
        return None
    if node.prefix:
        segments.insert(0, Segment.of(node.prefix, counter.tokenizer))
    if node.suffix:
        segments.append(Segment.of(node.suffix, counter.tokenizer))
    text = f"{node.prefix}{node.separator.join(texts)}{node.suffix}"
    return text, join(counter.tokenizer, *segments)
