"""`ElementsSection`: the chosen elements of one place in a prompt, and why the others are not said.

Each place of a prompt (system, examples, user, assistant) has a section of its own; given the same
elements and rules they choose alike, so that caps and conflicts hold across all of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from functools import partial
from typing import Any, Final, cast, get_args

from attrs import field, frozen

from promptsections.blocks import Block, Chunk, ItemsBlock, MessagesBlock
from promptsections.elements.element import PLACES, Element, Place
from promptsections.elements.selection import ElementRules, ElementSelection, select_elements
from promptsections.errors import DefinitionError
from promptsections.messages import Message, Role
from promptsections.scope import Scope
from promptsections.sections import Content, GroupSection, PromptSection, UserInput
from promptsections.templates import Deferred, Template

_ROLES: Final[Mapping[Place, Role]] = {
    "system": "system",
    "examples": "system",
    "user": "user",
    "assistant": "assistant",
}


def _elements(value: Iterable[Element]) -> tuple[Element, ...]:
    elements = tuple(value)
    for element in elements:
        if not isinstance(element, Element):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"elements must be Element values, not {type(element).__name__}")
    return elements


@frozen
class ElementsSection(PromptSection):
    """What of its elements applies and stands at its place, by priority, as many as fit."""

    elements: tuple[Element, ...] = field(default=(), converter=_elements)
    place: Place = "system"
    """Which of them it says: those whose type stands here. Texts of `"examples"` are system
    messages, lists of messages stand as they are."""
    rules: ElementRules = field(factory=ElementRules, kw_only=True)
    """Caps, order and conflicts; over the elements of all places."""
    circumstances: str = field(default="circumstances", kw_only=True)
    """Path in memory of what criteria ask for: a mapping with mood, language, …"""
    variable: str | None = field(default=None, kw_only=True)
    """Path in memory of more elements, such as those of the active persona."""
    places: Mapping[str, Place] = field(factory=dict[str, Place], kw_only=True, hash=False)
    """Type → place, for types of your own; they may move the twelve too."""
    required: bool = field(default=False, kw_only=True)
    separator: str = field(default="\n\n", kw_only=True)
    """Stands between elements."""

    def __attrs_post_init__(self) -> None:
        if self.place not in get_args(Place):
            listed = ", ".join(map(repr, get_args(Place)))
            raise DefinitionError(f"place={self.place!r} must be one of {listed}")
        for element in self.elements:
            self._place_of(element)

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the chosen elements of this place."""
        selection = self._select(scope)
        for refusal in selection.refused:
            if self._place_of(refusal.element) == self.place:
                scope.note(refusal.code, f"{refusal.element.id!r}: {refusal.detail}")
        said = [e for e in selection.chosen if self._place_of(e) == self.place]
        return Deferred(partial(self._written, scope, said))

    def _select(self, scope: Scope) -> ElementSelection:
        more: object = () if self.variable is None else scope.read(self.variable, ())
        if isinstance(more, str | Mapping) or not isinstance(more, Iterable):
            raise DefinitionError(f"{self.variable!r} must be a list of Element values")
        circumstances = scope.read(self.circumstances, {})
        if not isinstance(circumstances, Mapping):
            raise DefinitionError(f"{self.circumstances!r} must be a mapping of what is the case")
        return select_elements(
            (*self.elements, *_elements(cast("Iterable[Element]", more))),
            cast("Mapping[str, Any]", circumstances),
            memory=scope.memory,
            rules=self.rules,
        )

    def _place_of(self, element: Element) -> Place:
        place = self.places.get(element.type) or PLACES.get(element.type)
        if place is None:
            raise DefinitionError(
                f"element {element.id!r} is of type {element.type!r}, which has no place: give it "
                f"one with places={{{element.type!r}: 'system'}}"
            )
        return place

    async def _written(self, scope: Scope, said: list[Element]) -> Content:
        contents = [await _filled(element, scope) for element in said]
        if self.place == "examples" or any(not isinstance(c, str) for c in contents):
            return self._examples(contents)
        chunks = [
            Chunk(text, id=element.id)
            for element, text in zip(said, cast("list[str]", contents), strict=True)
        ]
        if not any(chunk.text for chunk in chunks):
            return None
        return ItemsBlock(
            chunks,
            Message(_ROLES[self.place]),
            separator=self.separator,
            cut=self.cut,
            limit=self.budget.ceiling,
        )

    def _examples(self, contents: list[str | tuple[Message, ...]]) -> Block | None:
        messages: list[Message] = []
        for content in contents:
            if isinstance(content, str):
                messages += [Message(_ROLES[self.place], content)] if content else []
            else:
                messages += content
        cut, limit = self.cut, self.budget.ceiling
        return MessagesBlock(messages, cut=cut, limit=limit) if messages else None


async def _filled(element: Element, scope: Scope) -> str | tuple[Message, ...]:
    content = element.content
    return await scope.evaluate(content) if isinstance(content, Template) else content


def element_sections(
    elements: Iterable[Element], *, user: PromptSection | None = None, **options: Any
) -> tuple[PromptSection, PromptSection, PromptSection, PromptSection]:
    """Return the sections for all four places: system, examples, the user's turn, the answer.

    Put history and data sources between the second and the third.

    Args:
        elements: All of them; each section says those of its place.
        user: The user's words, by default `UserInput(text_prefix="")`; elements of the place
            `"user"` stand below them in the same message.
        options: For all four: `rules`, `circumstances`, `variable`, `places`.
    """
    given = _elements(elements)
    system, examples, augmentation, answer = (
        ElementsSection(given, place, name=f"elements_{place}", **options)
        for place in get_args(Place)
    )
    words = UserInput(text_prefix="") if user is None else user
    turn = GroupSection([words, augmentation], role="user", separator="\n", name="user_turn")
    return system, examples, turn, answer
