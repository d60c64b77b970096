"""What a block may ask when it is measured and fitted: how many tokens things cost where it stands.

A piece of a prompt stands either among messages, where each message is framed by its profile, or in
a text, where messages are lines and nothing is framed. Blocks need not know which.
It knows no sections and does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from attrs import frozen

from promptsections.messages import Message, Part, TextPart
from promptsections.profiles import ModelProfile
from promptsections.tokens import EMPTY, Segment, Tokenizer, count_up_to, join

NO_LABELS: Mapping[str, str] = MappingProxyType({})


@frozen
class Lines:
    """How a section's messages are written as text: a prefix, a separator between them, labels."""

    prefix: str = ""
    """Stands once in front of all lines, if there are any."""
    separator: str = "\n"
    labels: Mapping[str, str] = NO_LABELS
    """Role → what stands in front of such a line; `{name}` in it is the name of the tool."""


def lines_of(
    messages: Iterable[Message], labels: Mapping[str, str] = NO_LABELS, *, name_media: bool = True
) -> list[str]:
    """Write each message as one line: label, text, and calls as `name(arguments)`.

    Images, audio and files have no text form and are named in brackets, or left to stand beside it.
    """
    names: dict[str, str] = {}
    lines: list[str] = []
    for message in messages:
        words: list[str] = []
        if message.content is not None:
            words.append(_written(message, name_media=name_media))
        for call in message.tool_calls:
            names[call.id] = call.name
            words.append(f"{call.name}({call.arguments})")
        label = labels.get(message.role, "")
        if "{name}" in label:
            answered = message.tool_call_id
            name = message.name or (names.get(answered, "") if answered else "")
            label = label.replace("{name}", name) if name else label.replace(" {name}", "")
        lines.append(label + " ".join(word for word in words if word))
    return lines


def _written(message: Message, *, name_media: bool) -> str:
    content = message.content
    if content is None or isinstance(content, str):
        return content or ""
    parts: list[str] = []
    for part in content:
        if isinstance(part, TextPart):
            parts.append(part.text)
        elif name_media:
            parts.append(f"[{type(part).__name__[:-4].lower()}]")
    return "\n".join(parts)


@frozen
class Extent:
    """The size of some messages, so that extents that stand beside each other can be joined."""

    tokens: int
    segment: Segment | None = None
    """Only in a text: what is needed to join exactly."""
    beside: int = 0
    """Of these tokens, those of images and files beside the text."""


@frozen
class Counter:
    """Counts as one model profile does, at the place where a block stands."""

    profile: ModelProfile
    tokenizer: Tokenizer
    lines: Lines | None = None
    """How messages are written, if the block stands in a text; `None` among messages."""

    @property
    def keeps_media(self) -> bool:
        """Whether images and files stand beside the text: in a group that is one message."""
        return self.lines is not None and self.profile.form == "messages"

    def media(self, messages: Sequence[Message]) -> tuple[Part, ...]:
        """Return the images and files of messages that are sent beside the text here."""
        if not self.keeps_media:
            return ()
        contents = [message.content for message in messages]
        parts = [part for content in contents if isinstance(content, tuple) for part in content]
        return tuple(part for part in parts if not isinstance(part, TextPart))

    def media_tokens(self, media: tuple[Part, ...]) -> int:
        """Return what images and files add to a message, in tokens."""
        if not media:
            return 0
        framing = self.profile.framing_tokens
        alone = framing(Message("user", ""), self.tokenizer)
        return framing(Message("user", media), self.tokenizer) - alone

    def count(self, text: str) -> int:
        """Count the tokens of a text by itself, exactly."""
        return self.tokenizer.count(text)

    def count_up_to(self, text: str, at_most: int) -> int:
        """Count exactly up to `at_most` tokens; more reads `at_most + 1` and costs no more."""
        return count_up_to(text, at_most, self.tokenizer)

    def cost(self, messages: Sequence[Message]) -> int:
        """Return what these messages cost here, in tokens: framing, prefix, labels, separators."""
        if self.lines is None:
            return self.profile.messages_tokens(messages, self.tokenizer)
        return self.total(self.extent(messages))

    def remembered(self, message: Message) -> int | None:
        """Return what a message costs here, in tokens, if it was counted whole before."""
        if self.lines is not None:
            return None
        return self.profile.remembered_tokens(message, self.tokenizer)

    def remember(self, message: Message, tokens: int) -> None:
        """Let a message remember what it costs here, where that is known without counting it."""
        if self.lines is None:
            self.profile.remember_tokens(message, self.tokenizer, tokens)

    def framing(self, message: Message) -> int:
        """Return what the message costs here beside its text, in tokens: 0 in a text."""
        return 0 if self.lines else self.profile.framing_tokens(message, self.tokenizer)

    def text(self, messages: Sequence[Message]) -> str:
        """Write the messages as the text that is sent here; `""` if there are none."""
        lines = self.lines or Lines()
        name_media = not self.keeps_media
        written = lines.separator.join(lines_of(messages, lines.labels, name_media=name_media))
        return lines.prefix + written if messages else ""

    def extent(self, messages: Sequence[Message]) -> Extent:
        """Measure messages that may later be joined with others beside them."""
        if self.lines is None:
            return Extent(self.profile.messages_tokens(messages, self.tokenizer))
        if not messages:
            return Extent(0)
        segments: list[Segment] = []
        for line in lines_of(messages, self.lines.labels, name_media=not self.keeps_media):
            if segments:
                segments.append(self._of(self.lines.separator))
            segments.append(self._of(line))
        return self._extent(segments, self.media_tokens(self.media(messages)))

    def joined(self, before: Extent, after: Extent) -> Extent:
        """Join two extents in this order, with the separator between them if neither is empty."""
        if self.lines is None:
            return Extent(before.tokens + after.tokens)
        if before.segment is None:
            return after
        if after.segment is None:
            return before
        between = self._of(self.lines.separator)
        beside = before.beside + after.beside
        return self._extent([before.segment, between, after.segment], beside)

    def total(self, extent: Extent) -> int:
        """Return what an extent costs when nothing is joined to it any more, in tokens."""
        if extent.segment is None:
            return extent.tokens
        return self._closed(extent.segment).tokens + extent.beside

    def segment(self, messages: Sequence[Message]) -> Segment:
        """Measure the text of these messages, prefix included, to be joined with others."""
        segment = self.extent(messages).segment
        return EMPTY if segment is None else self._closed(segment)

    def _closed(self, segment: Segment) -> Segment:
        if self.lines is None or not self.lines.prefix:
            return segment
        return join(self.tokenizer, self._of(self.lines.prefix), segment)

    def _of(self, text: str) -> Segment:
        return Segment.of(text, self.tokenizer) if text else EMPTY

    def _extent(self, segments: Sequence[Segment], beside: int) -> Extent:
        whole = join(self.tokenizer, *segments)
        return Extent(whole.tokens + beside, whole, beside)
