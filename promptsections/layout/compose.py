"""Put what was fitted together: messages, and texts joined into one, with their exact sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, frozen

from promptsections.counting import Counter
from promptsections.layout.resolved import ResolvedGroup, ResolvedNode, ResolvedSection
from promptsections.messages import Message, Part, TextPart
from promptsections.tokens import EMPTY, Segment, join


@define  # not frozen: made by the hundred, and attrs makes those faster
class Piece:
    """What one section sends, measured where it stands."""

    messages: tuple[Message, ...]
    tokens: int
    text: str = ""
    """In a text: the messages as they are written."""
    segment: Segment | None = None
    """In a text: what is needed to join it exactly."""
    media: tuple[Part, ...] = ()
    """In the one message of a group: images and files beside its text."""


def measure_piece(messages: Sequence[Message], counter: Counter) -> Piece:
    """Measure messages where the counter's section stands."""
    found = tuple(messages)
    if counter.lines is None:
        return Piece(found, counter.cost(found))
    segment, media = counter.segment(found), counter.media(found)
    tokens = segment.tokens + counter.media_tokens(media)
    return Piece(found, tokens, counter.text(found), segment, media)


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
    return Composed((Message("system", written.text),), written.segment.tokens)


def size_of(node: ResolvedNode, pieces: Pieces, counter: Counter, *, in_text: bool) -> int:
    """Return what a part of a prompt takes by itself, in tokens; 0 if it sends nothing."""
    if not in_text:
        return _messages(node, pieces, counter, [])
    written = _text(node, pieces, counter)
    if written is None:
        return 0
    return written.segment.tokens + counter.media_tokens(written.media)


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
        media = written.media
        words = (TextPart(written.text),) if written.text else ()
        found.append(Message(node.role, (*words, *media) if media else written.text))
        return counter.framing(Message(node.role, media or "")) + written.segment.tokens
    tokens = 0
    for child in node.children:
        tokens += _messages(child, pieces, counter, found)
    return tokens


@define
class _Written:
    """The text of a part of a prompt, and what stands beside it in the message of a group."""

    text: str
    segment: Segment
    media: tuple[Part, ...] = ()


def _text(node: ResolvedNode, pieces: Pieces, counter: Counter) -> _Written | None:
    if isinstance(node, ResolvedSection):
        piece = pieces.get(node.path)
        if piece is None or piece.segment is None or not piece.messages:
            return None
        return _Written(piece.text, piece.segment, piece.media)
    texts: list[str] = []
    segments: list[Segment] = []
    media: list[Part] = []
    for child in node.children:
        written = _text(child, pieces, counter)
        if written is None:
            continue
        media += written.media
        if written.media and not written.text:
            continue
        if texts and node.separator:
            segments.append(Segment.of(node.separator, counter.tokenizer))
        texts.append(written.text)
        segments.append(written.segment)
    if not texts:
        return _Written("", EMPTY, tuple(media)) if media else None
    if node.prefix:
        segments.insert(0, Segment.of(node.prefix, counter.tokenizer))
    if node.suffix:
        segments.append(Segment.of(node.suffix, counter.tokenizer))
    text = f"{node.prefix}{node.separator.join(texts)}{node.suffix}"
    return _Written(text, join(counter.tokenizer, *segments), tuple(media))
