"""How much of a prompt is, byte for byte, how the one before began, and where they part.

It knows messages and where they come from; it knows no provider and no prices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from attrs import frozen

from promptsections.caching.plan import CachePlan
from promptsections.layout import Layout, Origin
from promptsections.messages import Message, Tool
from promptsections.profiles import ModelProfile
from promptsections.tokens import Tokenizer


class Sent(Protocol):
    """What is read of a rendered prompt."""

    @property
    def messages(self) -> tuple[Message, ...]: ...
    @property
    def tools(self) -> tuple[Tool, ...]: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def origins(self) -> tuple[Origin, ...]: ...
    @property
    def cache_plan(self) -> CachePlan | None: ...


@frozen
class Parting:
    """Where a prompt goes another way than the one before."""

    path: str
    """Path of the section that stands there now; `""` for tools, a text, and the end."""
    message: int
    """Index of the message; -1 for the definitions of tools."""
    byte: int
    """How many bytes of its text are still the same, in UTF-8."""
    what: Literal["tools", "trimmed", "shorter", "changed"]
    """`trimmed`: a history begins later or earlier than it did. `shorter`: the prompt before went
    on. `changed`: anything else."""

    def __str__(self) -> str:
        match self.what:
            case "tools":
                return "the definitions of tools are others"
            case "trimmed":
                return f"{self.path!r} begins elsewhere: it was trimmed"
            case "shorter":
                return f"it ends at message {self.message}, where the one before went on"
            case "changed":
                return f"{self.path!r} is another from byte {self.byte} of message {self.message}"


@frozen
class Compared:
    """What two prompts have in common."""

    sizes: tuple[int, ...]
    """Tokens of tools, then of tools and the first message, and so on."""
    reused: int
    """Tokens that both begin with, tools included."""
    whole: int
    """How many messages both begin with."""
    parting: Parting | None
    """`None` if this prompt goes on where the other one ended, or there is no other one."""

    @property
    def tokens(self) -> int:
        """Tokens in all, without reply priming."""
        return self.sizes[-1]


def compare_prompts(
    now: Sent, before: Sent | None, profile: ModelProfile, tokenizer: Tokenizer
) -> Compared:
    """Compare a prompt with the one before, as a provider's cache does.

    Args:
        now: what was rendered.
        before: what was rendered before, or `None`.
        profile: what messages cost.
        tokenizer: the one of that profile.
    """
    sizes = [now.layout.base - profile.reply_priming]
    for message in now.messages:
        sizes.append(sizes[-1] + _cost(message, profile, tokenizer))
    if before is None:
        return Compared(tuple(sizes), 0, 0, None)
    if now.tools != before.tools:
        return Compared(tuple(sizes), 0, 0, Parting("", -1, 0, "tools"))
    whole = _whole(now.messages, before.messages)
    reused = sizes[whole]
    if whole == len(before.messages):
        return Compared(tuple(sizes), reused, whole, None)
    if whole == len(now.messages):
        return Compared(tuple(sizes), reused, whole, Parting("", whole, 0, "shorter"))
    same = _same_text(now.messages[whole], before.messages[whole])
    if same:
        reused = max(reused, min(sizes[whole + 1] - 1, reused + tokenizer.count(same)))
    path = _path(now.origins, whole)
    trimmed = _omitted(now, path) != _omitted(before, path)
    is_history = any(each.path == path and each.is_history for each in now.origins)
    what: Literal["trimmed", "changed"] = "trimmed" if trimmed and is_history else "changed"
    return Compared(
        tuple(sizes), reused, whole, Parting(path, whole, len(same.encode("utf-8")), what)
    )


def _cost(message: Message, profile: ModelProfile, tokenizer: Tokenizer) -> int:
    if profile.form == "text":
        return tokenizer.count(message.text)
    return profile.messages_tokens((message,), tokenizer)


def _whole(one: Sequence[Message], other: Sequence[Message]) -> int:
    number = 0
    for ours, theirs in zip(one, other, strict=False):
        if not _alike(ours, theirs):
            break
        number += 1
    return number


def _alike(one: Message, other: Message) -> bool:
    """Say whether two messages are sent alike; what is never sent does not count."""
    return one is other or (_head(one) == _head(other) and one.content == other.content)


def _head(message: Message) -> tuple[object, ...]:
    return (
        message.role,
        message.name,
        message.tool_calls,
        message.tool_call_id,
        dict(message.provider_data),
    )


def _same_text(one: Message, other: Message) -> str:
    """Return the text that both messages begin with, if nothing before it differs."""
    if _head(one) != _head(other):
        return ""
    text, least, most = one.text, 0, min(len(one.text), len(other.text))
    while least < most:
        middle = (least + most + 1) // 2
        if other.text.startswith(text[:middle]):
            least = middle
        else:
            most = middle - 1
    return text[:least]


def _path(origins: Sequence[Origin], message: int) -> str:
    at = 0
    for origin in origins:
        at += origin.messages
        if message < at:
            return origin.path
    return ""


def _omitted(sent: Sent, path: str) -> int | None:
    return sent.layout[path].omitted if path in sent.layout else None
