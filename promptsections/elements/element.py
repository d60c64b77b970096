"""`Element`: a piece of a prompt that is said only where it applies.

It knows criteria; it knows no selection, no sections and no layout.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, cast

from attrs import field, frozen

from promptsections.elements.criteria import (
    FIELDS,
    Condition,
    Predicate,
    Values,
    read_criteria,
)
from promptsections.errors import DefinitionError
from promptsections.messages import Message, MessageLike, to_messages
from promptsections.templates import Template

Place = Literal["system", "examples", "user", "assistant"]
"""Where elements stand: in a system message, as example messages before the conversation, with the
user's words, or as the beginning of the answer."""

PLACES: Final[Mapping[str, Place]] = {
    "system_instruction_addon": "system",
    "behavioral_guidance": "system",
    "task_specific_instruction": "system",
    "error_handling_guidance": "system",
    "ethical_guideline": "system",
    "output_format_spec": "system",
    "reasoning_protocol": "system",
    "interaction_style_modifier": "system",
    "domain_context": "system",
    "few_shot_example": "examples",
    "user_prompt_augmentation": "user",
    "assistant_prompt_augmentation": "system",
}
"""The twelve types of AgentOS, and where each stands. No type begins the answer by itself, since
many models refuse to go on with one; `places=` moves a type there."""

ElementContent = str | Template | tuple[Message, ...]
"""A text that is sent as it is, a template, or messages (for examples)."""


def _content(value: str | Template | Iterable[MessageLike]) -> ElementContent:
    if isinstance(value, str | Template):
        return value
    if isinstance(value, Mapping) or not isinstance(value, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(
            f"an element's content is a text, a Template or a list of messages, not "
            f"{type(cast('object', value)).__name__}"
        )
    return to_messages(value)


def _words(value: Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@frozen
class Element:
    """Something to say where its criteria hold.

    Raises:
        DefinitionError: if a criterion is not known or a field is of the wrong type.
    """

    type: str
    """One of `PLACES`, or a type of your own that the section has a place for."""
    content: ElementContent = field(converter=_content)
    priority: int = field(default=0, kw_only=True)
    """Higher is chosen first; where it stands is another matter."""
    criteria: Mapping[str, Any] | Predicate | None = field(default=None, kw_only=True, hash=False)
    """When it applies (see `promptsections.elements.criteria`); `None`: always."""
    conflicts: tuple[str, ...] = field(default=(), kw_only=True, converter=_words)
    """Two elements are never said together if they share a word here, or one names the other's
    `id`."""
    id: str = field(default="", kw_only=True)
    """Names it in layouts; by default its type."""
    fields: tuple[str, ...] = field(default=(), kw_only=True, converter=_words)
    """Names of circumstances that its criteria may ask for, beside `FIELDS`."""
    _condition: Condition | None = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.type, str) or not self.type:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"an element's type must be a name, not {self.type!r}")
        object.__setattr__(self, "id", self.id or self.type)
        if isinstance(self.priority, bool) or not isinstance(self.priority, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"element {self.id!r}: priority must be a whole number")
        object.__setattr__(self, "_condition", self._read())

    def _read(self) -> Condition | None:
        criteria = cast("object", self.criteria)
        if isinstance(criteria, Mapping):
            try:
                return read_criteria(cast("Mapping[str, Any]", criteria), (*FIELDS, *self.fields))
            except DefinitionError as error:
                raise DefinitionError(f"element {self.id!r}: {error}") from None
        if criteria is not None and not callable(criteria):
            raise DefinitionError(
                f"element {self.id!r}: criteria are a mapping or a function, not "
                f"{type(criteria).__name__}"
            )
        if inspect.iscoroutinefunction(criteria):
            raise DefinitionError(
                f"element {self.id!r}: criteria cannot be async: put what they ask for into the "
                "circumstances"
            )
        return None

    def applies(self, circumstances: Mapping[str, Any], values: Values) -> bool:
        """Say whether its criteria hold.

        Args:
            circumstances: What a predicate is given.
            values: Where criteria that are data read.

        Raises:
            DefinitionError: a predicate failed, or returned something that is not true or false.
        """
        if self._condition is not None:
            return self._condition.holds(values)
        return self.criteria is None or self._holds(cast("Predicate", self.criteria), circumstances)

    def _holds(self, predicate: Predicate, circumstances: Mapping[str, Any]) -> bool:
        try:
            found = predicate(circumstances)
        except Exception as error:
            raise DefinitionError(
                f"element {self.id!r}: its criteria failed: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(found, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            if inspect.iscoroutine(found):
                found.close()
            raise DefinitionError(
                f"element {self.id!r}: its criteria returned {type(found).__name__}, not true or "
                "false"
            )
        return found

    def contradicts(self, other: Element) -> bool:
        """Say whether the two are never said together."""
        shared = set(self.conflicts) & set(other.conflicts)
        return bool(shared) or self.id in other.conflicts or other.id in self.conflicts


def texts(elements: Sequence[Element]) -> bool:
    """Say whether the content of all of them is plain text."""
    return all(isinstance(element.content, str) for element in elements)
