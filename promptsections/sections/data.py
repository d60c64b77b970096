"""Sections whose content stands in memory: values, the user's words, the conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from sys import maxsize
from typing import Any, Literal, cast

from attrs import evolve, field, frozen, validators

from promptsections.blocks import (
    Attachment,
    AttachmentsBlock,
    Block,
    HistoryBlock,
    HistoryOptions,
    TextBlock,
    history_block,
)
from promptsections.budgets import Budget, Rest
from promptsections.counting import Lines
from promptsections.errors import DefinitionError, ResolutionError
from promptsections.markup import Escape, XmlElement
from promptsections.messages import Message, Role
from promptsections.scope import Scope
from promptsections.sections.base import (
    Content,
    PromptSection,
    check_budget,
    check_role,
    check_text,
    read_budget,
)
from promptsections.sections.stability import Declared, Stability
from promptsections.sections.trims import TrimTo, check_trims, trim_step_in
from promptsections.sections.wrapping import element_of, wrapped
from promptsections.summaries.summarize import Summarize
from promptsections.templates import Deferred, takes_long, to_text

_NO_VALUE = object()


@frozen
class MemorySection(PromptSection):
    """A value from memory as text; left out if memory does not hold it."""

    variable: str = field(validator=check_text)
    """Path of the value."""
    role: Role = field(default="system", validator=check_role)
    tag: str | None = None
    """Name of an XML element to put the text in; the element is whole even where text is cut."""
    format: Literal["json", "yaml", "bullets"] = "json"
    """How mappings and lists are written; a text is a text in all of them."""
    escape: Escape = field(default="closing_tag", kw_only=True)
    """What is done about markup in the text: `"closing_tag"` takes away what could end the element,
    `"xml"` and `"cdata"` make it parse, `"none"` does nothing."""
    required: bool = field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.format not in _FORMATS:
            raise DefinitionError(f"format={self.format!r} is none of {', '.join(_FORMATS)}")
        self._element()  # says what is wrong with it

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the value as one message."""
        value = scope.read(self.variable, None)
        if value is None:
            scope.missing(self.variable)
            return None
        write = partial(_FORMATS[self.format], value, self.variable)
        if not (scope.may_await and takes_long(value)):
            return self._block(write(), scope)

        async def written() -> Content:
            return self._block(await scope.in_thread(write), scope)

        return Deferred(written)

    def _block(self, text: str, scope: Scope) -> Block | None:
        if not text.strip():
            return None
        return TextBlock(
            text,
            Message(self.role),
            cut=self.cut,
            limit=self.budget.ceiling,
            **wrapped(self._element(), [text], scope),
        )

    def _element(self) -> XmlElement | None:
        return element_of(self.tag, self.escape, owner=self.name or self.kind)

    def how_stable(self, declared: Declared, /) -> Stability:
        """Return how long the value stays the same."""
        return self.stability or declared.variable(self.variable)


def _outline(value: object, name: str, depth: int = 0) -> list[str]:
    """Write nested mappings and lists as indented lines, two blanks a level."""
    indent = "  " * depth
    lines: list[str] = []
    if depth > 50:
        raise ResolutionError(f"{name!r} is nested more than 50 levels deep")
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[object, object]", value).items():
            label = f"{indent}{to_text(key, name=name)}:"
            if _is_container(item) and item:
                lines += [label, *_outline(item, name, depth + 1)]
            else:
                lines.append(f"{label} {_scalar(item, name)}".rstrip())
        return lines
    for item in cast("Iterable[object]", value):
        if _is_container(item) and item:
            first, *others = _outline(item, name, depth + 1)
            lines += [f"{indent}- {first.strip()}", *others]
        else:
            lines.append(f"{indent}- {_scalar(item, name)}".rstrip())
    return lines


def _is_container(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _scalar(value: object, name: str) -> str:
    return to_text(value, name=name).replace("\n", " ")


def _yaml(value: object, name: str) -> str:
    return "\n".join(_outline(value, name)) if _is_container(value) else to_text(value, name=name)


def _bullets(value: object, name: str) -> str:
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return "\n".join(f"- {to_text(k, name=name)}: {_scalar(v, name)}" for k, v in pairs)
    if isinstance(value, list | tuple):
        return "\n".join(f"- {_scalar(item, name)}" for item in cast("Iterable[object]", value))
    return to_text(value, name=name)


def _json(value: object, name: str) -> str:
    return to_text(value, name=name)


_FORMATS: Mapping[str, Callable[[object, str], str]] = {
    "json": _json,
    "yaml": _yaml,
    "bullets": _bullets,
}


@frozen
class UserInput(PromptSection):
    """The user's words as data, with images and files if there are any.

    A file with a `priority` is left out if there is no room for it, those of lower priority first,
    and so is every other one where `files_required` is false or the words may be cut. Nothing of a
    file is ever sent without the rest.
    """

    variable: str = field(default="input", validator=check_text)
    files: str | None = field(default=None, validator=validators.optional(check_text))
    """Path of a list of parts that go with the words: images and files, dicts of them (with or
    without a `priority`), `Attachment(part, priority=…)`."""
    files_required: bool | None = field(default=None, kw_only=True)
    """Whether files without a priority must be sent; by default unless the words may be cut."""
    text_prefix: str = field(default="user: ", kw_only=True)

    def __attrs_post_init__(self) -> None:
        if not isinstance(cast("object", self.files_required), bool | None):
            raise DefinitionError(
                f"files_required={self.files_required!r} must be True, False or None"
            )

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return one user message; nothing if there are no words and no files."""
        if not self.required and scope.read(self.variable, _NO_VALUE) is _NO_VALUE:
            scope.missing(self.variable)
            return None
        text = to_text(scope.read(self.variable), name=self.variable)
        files = self._attachments(scope)
        if not files:
            return Message("user", text) if text else None
        return AttachmentsBlock(text, files, cut=self.cut, limit=self.budget.ceiling)

    def _attachments(self, scope: Scope) -> tuple[Attachment, ...]:
        value = None if self.files is None else scope.read(self.files, None)
        if value is None:
            return ()
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise DefinitionError(f"{self.files!r} must be a list of parts: images, files")
        required = self.cut is None if self.files_required is None else self.files_required
        otherwise = None if required else 0
        return tuple(_attachment(item, otherwise) for item in cast("Iterable[Any]", value))


def _attachment(value: object, priority: int | None) -> Attachment:
    """Read a file; `priority` is for one that has none of its own."""
    if isinstance(value, Attachment):
        return evolve(value, priority=priority) if value.priority is None else value
    if isinstance(value, Mapping):
        own = cast("Mapping[str, Any]", value).get("priority")
        priority = priority if own is None else own
    return Attachment(cast("Any", value), priority=priority)


@frozen
class ConversationHistory(PromptSection):
    """Past turns of the conversation: whole exchanges, the newest kept."""

    variable: str = field(default="history", validator=check_text)
    """Path of the messages, oldest first, or of a `NewestFirst`; missing is empty."""
    tokens: Budget = field(
        default=Rest(), kw_only=True, converter=read_budget, validator=check_budget
    )
    required: bool = field(default=False, kw_only=True)
    user_prefix: str = field(default="user: ", kw_only=True)
    """In a text: what stands in front of a user's line."""
    assistant_prefix: str = field(default="assistant: ", kw_only=True)
    start_on: Literal["user", "any"] = field(default="user", kw_only=True)
    """`"user"`: messages before the first user turn are left out."""
    keep_system: bool = field(default=True, kw_only=True)
    """Whether leading system and developer messages are kept, whatever else is cut."""
    max_messages: int | None = field(default=None, kw_only=True)
    """The most messages to send, whatever their size, beside leading system and pinned ones."""
    max_result_tokens: int | None = field(default=None, kw_only=True)
    """In an agent loop that does not fit: the tokens to which the text of long tool results is cut,
    the oldest first and no more than needed, before steps are left out."""
    omission_marker: str | None = field(default=None, kw_only=True)
    """Text of a system message that says what was left out, such as
    `"{n} earlier messages omitted"`; `{n}` is how many."""
    repair: Literal["drop", "stub", "raise"] = field(default="drop", kw_only=True)
    """What is done about a call without a result: its step is left out, a placeholder put in its
    place, or an `InvalidHistoryError` raised. Results without a call are left out, or an error."""
    stub_text: str = field(default="[no result]", kw_only=True)
    """The text of such a placeholder."""
    pinned: Callable[[Message], bool] | None = field(default=None, kw_only=True)
    """Says which messages are always sent, with their exchange (in an agent loop: their step). It
    is asked about every message, so all of a history is read then."""
    transform: Callable[[Message], Message | None] | None = field(default=None, kw_only=True)
    """Maps a message before it is used, or leaves it out with `None`."""
    trim_to: TrimTo = field(default="by_caching", kw_only=True)
    """The part of what the history may have that is left when something is left out, so that it
    begins at the same message for many turns and the provider's cache knows it: by default 0.7
    where the renderer's caching is on. `None` leaves out no more than needed, in every turn."""
    trim_step: int | None = field(default=None, kw_only=True)
    """About so many tokens are left out at once, instead of `trim_to`."""

    def __attrs_post_init__(self) -> None:
        check_trims(self.trim_to, self.trim_step)
        HistoryBlock((), **self._options(None))  # says what is wrong with them

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the turns as a block that keeps whole exchanges."""
        value = scope.read(self.variable, None)
        stability = self.stability or "session"
        trim_step = trim_step_in(scope, self.trim_to, self.trim_step, stability)

        async def read() -> Content:
            return await history_block(
                value,
                counter=scope.counter_for(self.lines()),
                available=maxsize if isinstance(self.when_over, Summarize) else scope.available,
                may_wait=scope.may_await,
                **self._options(trim_step),
            )

        return Deferred(read)

    def _options(self, trim_step: int | None) -> HistoryOptions:
        return {
            "start_on": self.start_on,
            "keep_system": self.keep_system,
            "max_messages": self.max_messages,
            "max_result_tokens": self.max_result_tokens,
            "omission_marker": self.omission_marker,
            "repair": self.repair,
            "stub_text": self.stub_text,
            "pinned": self.pinned,
            "transform": self.transform,
            "trim_step": trim_step,
        }

    def how_stable(self, declared: Declared, /) -> Stability:
        """Return that it belongs to a session: it only grows."""
        return self.stability or "session"

    def lines(self) -> Lines:
        """Label each line with who speaks."""
        labels = {
            "user": self.user_prefix,
            "assistant": self.assistant_prefix,
            "system": "system: ",
            "developer": "system: ",
            "tool": "tool {name}: ",
        }
        return Lines(self.text_prefix, self.separator, labels)
