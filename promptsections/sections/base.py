"""`PromptSection`: what every section has, and the contract of a subclass.

It knows blocks and scopes; it knows nothing of layouts, renderers and event loops.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, cast, get_args

from attrs import Attribute, field, frozen

from promptsections.blocks import (
    Block,
    HistoryBlock,
    ItemsBlock,
    MessagesBlock,
    PartedTextBlock,
    TextBlock,
)
from promptsections.budgets import Auto, Budget, BudgetLike, to_budget
from promptsections.counting import Lines
from promptsections.errors import DefinitionError, InvalidBudgetError
from promptsections.messages import Message, MessageLike, to_message, to_messages, to_role
from promptsections.scope import Scope
from promptsections.sections.stability import Declared, Stability
from promptsections.summaries.summarize import Summarize
from promptsections.tokens import Truncate

Content = None | str | Message | Sequence[MessageLike] | Block
"""What a section may resolve to: nothing, a system message's text, messages, or a block."""


_AT_WORDS = Truncate()


class _Rejected:
    """Holds a bad budget until the section's name is known."""

    def __init__(self, value: object) -> None:
        self.value = value


def read_budget(value: BudgetLike) -> Budget:
    """Read a budget; a bad one waits for `check_budget`, which knows the section."""
    try:
        return to_budget(value)
    except InvalidBudgetError:
        return cast("Budget", _Rejected(value))


def check_budget(section: PromptSection, _: Attribute[Any], value: object) -> None:
    """Raise the error of a bad budget, with the section's name."""
    if isinstance(value, _Rejected):
        to_budget(value.value, section=section.name or section.kind)


def check_role(section: PromptSection, _: Attribute[Any], value: object) -> None:
    """Raise if no message can have the role."""
    try:
        to_role(value)
    except DefinitionError as error:
        raise DefinitionError(f"section {section.name or section.kind!r}: {error}") from None


def _check_name(section: PromptSection, _: Attribute[str | None], value: object) -> None:
    if value is not None and (not isinstance(value, str) or not value or "/" in value):
        raise DefinitionError(
            f"{section.kind}: name={value!r} must be a text without '/', which parts the names of "
            "a path"
        )


def _check_common(section: PromptSection, attribute: Attribute[Any], value: object) -> None:
    who = section.name or section.kind
    rules: dict[str, tuple[bool, str]] = {
        "required": (isinstance(value, bool), "must be True or False"),
        "priority": (
            isinstance(value, int) and not isinstance(value, bool),
            "must be a whole number; higher is kept first",
        ),
        "when_over": (
            value is None or value == "by_budget" or isinstance(value, Truncate | Summarize),
            "must be None (whole or not at all), Truncate(…) or Summarize(…)",
        ),
        "timeout": (
            value is None or is_seconds(value),
            "must be seconds above 0, or None",
        ),
        "stability": (
            value is None or value in get_args(Stability),
            f"must be one of {', '.join(get_args(Stability))}, or None",
        ),
        "separator": (isinstance(value, str), "must be a text"),
        "text_prefix": (isinstance(value, str), "must be a text"),
    }
    good, rule = rules[attribute.name]
    if not good:
        raise DefinitionError(f"section {who!r}: {attribute.name}={value!r} {rule}")


def is_seconds(value: object) -> bool:
    """Say whether a value is a time limit."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def check_text(section: PromptSection, attribute: Attribute[Any], value: object) -> None:
    """Raise if a field is no text."""
    if not isinstance(value, str):
        raise DefinitionError(
            f"section {section.name or section.kind!r}: {attribute.name}={value!r} must be a text"
        )


@frozen(kw_only=True)
class PromptSection:
    """A named part of a prompt; subclass it with `@attrs.frozen` and one method, `resolve`.

    These fields belong to every section and are given by keyword.
    """

    name: str | None = field(default=None, validator=_check_name)
    """Unique among its siblings; `None` lets the prompt make one from the kind."""
    tokens: Budget = field(default=Auto(), converter=read_budget, validator=check_budget)
    """The budget, or its short form: -1, 300, 0.3, 1.0."""
    required: bool = field(default=True, validator=_check_common)
    """Whether the prompt is no use without this section."""
    priority: int = field(default=0, validator=_check_common)
    """Which optional sibling is kept first: the higher."""
    when_over: Truncate | Summarize | Literal["by_budget"] | None = field(
        default="by_budget", validator=_check_common
    )
    """How it gives way: `None` is whole or not at all, `Summarize(…)` in fewer words; by default as
    `cut` says."""
    timeout: float | None = field(default=None, validator=_check_common)
    """Seconds that it may take to resolve under `arender()`."""
    stability: Stability | None = field(default=None, validator=_check_common)
    """How long the content stays the same, for the prompt cache; `None` as `how_stable` says."""
    separator: str = field(default="\n", validator=_check_common)
    """In a text: what stands between the lines of its messages."""
    text_prefix: str = field(default="", validator=_check_common)
    """In a text: what stands in front, once."""

    kind: ClassVar[str] = "prompt_section"
    """The class's name in small letters; made for every subclass."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        _check_defaults(cls)
        if "kind" not in cls.__dict__:
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
            cls.kind = words.removesuffix("_section") or words

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Refuse a subclass that was not written as an attrs class."""
        _check_class(cls)
        return super().__new__(cls)

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the content; it runs once per render.

        A plain `def` works everywhere; an `async def` needs `arender()`. `None`, `""` and `[]` mean
        that there is nothing to say.

        Raises:
            PromptSectionsError: passes through. Anything else is wrapped in a `ResolutionError`.
        """
        raise DefinitionError(f"{type(self).__name__} must define resolve(self, scope)")

    @property
    def budget(self) -> Budget:
        """The budget, also where a subclass gives a short form as its default of `tokens`."""
        return to_budget(self.tokens, section=self.name or self.kind)

    @property
    def cut(self) -> Truncate | None:
        """How text gives way: for `Auto` not at all, otherwise the start is kept, at words."""
        if isinstance(self.when_over, Summarize):
            return self.when_over.otherwise
        if self.when_over != "by_budget":
            return self.when_over
        return None if isinstance(self.budget, Auto) else _AT_WORDS

    def how_stable(self, declared: Declared, /) -> Stability:
        """Return how long the content stays the same: as the section says, or by what it reads.

        Args:
            declared: what is known of memory and functions.
        """
        return self.stability or "turn"

    def lines(self) -> Lines:
        """Return how messages of this section are written where the prompt is a text."""
        return Lines(self.text_prefix, self.separator)


def _check_class(cls: type[PromptSection]) -> None:
    """Say what to write instead, if a subclass forgot the decorator or wrote `__init__`."""
    name = cls.__name__
    if cls.resolve is PromptSection.resolve:
        raise DefinitionError(
            f"{name} must define resolve(self, scope): return a text, messages, a block or None"
        )
    for owner in cls.__mro__[: cls.__mro__.index(PromptSection)]:
        if not issubclass(owner, PromptSection) or "__attrs_attrs__" in owner.__dict__:
            continue
        if dataclasses.is_dataclass(owner):
            raise DefinitionError(f"{owner.__name__} is a dataclass: write @attrs.frozen instead")
        if "__init__" in owner.__dict__:
            raise DefinitionError(
                f"{owner.__name__} has an __init__: sections are frozen attrs classes; write "
                f"`@attrs.frozen` above `class {owner.__name__}`, and each attribute that __init__ "
                "sets as a line `attribute: type` below it; defaults of tokens, required, … can be "
                "given there too"
            )
        fields = [f for f, kind in _own_annotations(owner).items() if "ClassVar" not in str(kind)]
        if fields:
            raise DefinitionError(
                f"{owner.__name__} declares {', '.join(fields)} but is no attrs class: "
                f"write `@attrs.frozen` above `class {owner.__name__}`"
            )


def _check_defaults(cls: type) -> None:
    """Refuse `tokens = 300` without a type, which attrs passes over in silence."""
    fields = {f.name for base in cls.__bases__ for f in getattr(base, "__attrs_attrs__", ())}
    for name in sorted(fields & cls.__dict__.keys() - _own_annotations(cls).keys()):
        value = cls.__dict__[name]
        if hasattr(value, "__get__") or type(value) is type(field()):
            continue  # made by attrs
        raise DefinitionError(
            f"{cls.__name__} sets {name} = {value!r} without a type, which has no effect: write "
            f"`@attrs.frozen` above `class {cls.__name__}`, and `{name}: … = {value!r}` below it"
        )


def _own_annotations(cls: type) -> Mapping[str, object]:
    try:
        return inspect.get_annotations(cls)
    except NameError:  # Python 3.14 evaluates them late; one that cannot be is still a field
        return {"…": None}


_BLOCKS = (TextBlock, ItemsBlock, HistoryBlock, PartedTextBlock)


def to_block(section: PromptSection, content: Content) -> Block | None:
    """Make a block of what a section resolved to; `None` if there is nothing.

    Raises:
        DefinitionError: if the content is of no kind that can be sent.
    """
    if isinstance(content, _BLOCKS):  # to ask the protocol takes much longer
        return content
    if isinstance(content, Mapping):  # not in the contract, but what people try
        content = to_message(content)
    match content:
        case Message():
            return _message_block(section, content)
        case None | "":
            return None
        case str():
            return TextBlock(content, cut=section.cut, limit=section.budget.ceiling)
        case Block():
            return content
        case Sequence() if not isinstance(content, bytes | bytearray):
            messages = to_messages(content)
            if not messages:
                return None
            return MessagesBlock(messages, cut=section.cut, limit=section.budget.ceiling)
        case _:
            raise DefinitionError(
                f"resolve() returned {type(content).__name__}: return None, a text, a Message, "
                "a list of messages or a block"
            )


def _message_block(section: PromptSection, message: Message) -> Block | None:
    cut, limit = section.cut, section.budget.ceiling
    if message.content is None and not message.tool_calls:
        return None
    if message.content and isinstance(message.content, str) and not message.tool_calls:
        return TextBlock(message.content, message, cut=cut, limit=limit)
    if message.content == "" and not message.tool_calls and message.role != "tool":
        return None
    return MessagesBlock((message,), cut=cut, limit=limit)
