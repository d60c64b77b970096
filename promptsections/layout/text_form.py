"""What a text loses that messages keep: pictures, and who really spoke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promptsections.counting import Counter
from promptsections.messages import Message, TextPart
from promptsections.notes import Note


def remarks(path: str, messages: Sequence[Message], counter: Counter) -> Iterator[Note]:
    """Say what of a section's messages has no safe form in the text that it stands in.

    A text form is not safe against injection: whoever writes a line that begins as a label does
    looks like that speaker to the model.
    """
    lines = counter.lines
    if lines is None:
        return
    if not counter.keeps_media and any(_has_media(message) for message in messages):
        detail = "images, audio or files are only named in a text: send messages to show them"
        yield Note("media_as_text", path, detail)
    labels = sorted({label.split("{")[0] for label in lines.labels.values()} - {""})
    for label in labels:
        if any(f"\n{label}" in f"\n{message.text}" for message in messages):
            detail = (
                f"a message has a line that begins with {label!r}, as another speaker's would: "
                "send messages where that matters"
            )
            yield Note("role_marker_in_text", path, detail)


def _has_media(message: Message) -> bool:
    content = message.content
    return isinstance(content, tuple) and any(not isinstance(part, TextPart) for part in content)
