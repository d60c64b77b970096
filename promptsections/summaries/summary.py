"""A summary as it is kept: its text, and what it tells.

It knows no summarizer and does no I/O.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, cast

from attrs import asdict, fields, frozen

from promptsections.messages import Message

MARKED = 8
"""How many of the newest messages that a summary covers are compared when it is used again."""


@frozen(kw_only=True)
class Summary:
    """A summary, to be stored by the caller and read from memory by the next render."""

    text: str
    tokens: int
    """Of the text, when it was written."""
    source_tokens: int
    """Tokens of all that it tells."""
    digest: str
    """Says what it was made of: of a text all, of a conversation the newest messages."""
    first: int = 0
    """In a conversation: the place of the oldest message that it covers."""
    end: int = 0
    """The place behind the newest one; 0 for a text."""
    writes: int = 1
    """How many times it was written; each tells what came since, too."""

    def to_dict(self) -> dict[str, str | int]:
        """Return it as data that JSON has."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], /) -> Summary | None:
        """Read what `to_dict` wrote; `None` if it is anything else."""
        kinds: dict[str, type] = {f.name: str if f.name in _TEXTS else int for f in fields(cls)}
        names = data.keys() & kinds.keys()
        if not names.issuperset(_NEEDED) or not all(type(data[n]) is kinds[n] for n in names):
            return None
        return cls(**{name: data[name] for name in names})


_TEXTS = ("text", "digest")
_NEEDED = ("text", "tokens", "source_tokens", "digest")


def kept_summary(memory: object, path: str) -> Summary | None:
    """Read the summary of a section out of what memory holds of summaries, by its path.

    What is no summary is as good as none: it is written anew.
    """
    found = cast("Mapping[str, object]", memory).get(path) if isinstance(memory, Mapping) else None
    if isinstance(found, Mapping):
        return Summary.from_dict(cast("Mapping[str, Any]", found))
    return found if isinstance(found, Summary) else None


def digest_of(texts: Iterable[str]) -> str:
    """Return 16 hexadecimal digits that stand for these texts in this order."""
    found = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.hexdigest()[:16]


def said_by(message: Message) -> str:
    """Return all that a message says, so that two that say something else differ."""
    calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    return repr((message.role, message.name, message.content, calls, message.tool_call_id))
