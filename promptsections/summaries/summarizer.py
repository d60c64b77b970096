"""What a summarizer is asked, and what it answers.

It knows no particular summarizer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

from attrs import field, frozen

from promptsections.messages import Message

Quality = Literal["fast", "balanced", "high"]
"""How much effort a summary is worth."""


@frozen(kw_only=True)
class SummaryRequest:
    """What is to be said in fewer words."""

    text: str
    """All of it as text; messages as lines that begin with who speaks."""
    messages: tuple[Message, ...] = ()
    """The same as messages, where it is a conversation."""
    previous: str | None = None
    """The summary of all that was said before, which the new one takes the place of."""
    target: int
    """The most tokens that the summary may have."""
    quality: Quality = "balanced"
    attempt: int = 1
    """2 and more if an answer was too long or empty; `target` is lower then."""
    count: Callable[[str], int] = field(eq=False, repr=False)
    """Counts the tokens of a text as the summary will be counted."""


class Summarizer(Protocol):
    """Something that says a text in fewer words: any function of a request, plain or async."""

    def __call__(self, request: SummaryRequest, /) -> str | Awaitable[str]:
        """Return the summary; what it raises is noted, and the text is cut instead."""
        ...
