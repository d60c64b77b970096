"""Sections that say something fixed or fill a template."""

from __future__ import annotations

from collections.abc import Awaitable

from attrs import field, frozen

from promptsections.blocks import PartedTextBlock
from promptsections.errors import DefinitionError
from promptsections.messages import Message, Role
from promptsections.scope import Scope
from promptsections.sections.base import Content, PromptSection, check_role
from promptsections.sections.stability import Declared, Stability
from promptsections.templates import Deferred, Template, evaluate_parted


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise DefinitionError(f"TextSection needs a text, not {type(value).__name__}")
    return value


def to_template(value: str | Template) -> Template:
    """Parse a template, or take one that is parsed.

    Raises:
        TemplateSyntaxError: shows the place.
        DefinitionError: if it is neither.
    """
    if isinstance(value, Template):
        return value
    if isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        return Template(value)
    raise DefinitionError(f"a template is a text or a Template, not {type(value).__name__}")


@frozen
class TextSection(PromptSection):
    """A text that is sent as it is, never parsed."""

    text: str = field(converter=_text)
    role: Role = field(default="system", validator=check_role)

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return one message."""
        return Message(self.role, self.text) if self.text else None

    def how_stable(self, declared: Declared, /) -> Stability:
        """Return that it never changes, unless the section says otherwise."""
        return self.stability or "static"


@frozen
class TemplateSection(PromptSection):
    """A template, filled from memory and functions."""

    template: Template = field(converter=to_template)
    """A text with placeholders, or a `Template`; parsed here, once."""
    role: Role = field(default="system", validator=check_role)

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return one message, or nothing if the filled template is empty."""

        async def filled() -> Content:
            if scope.caching and self.template.breakpoint is not None:
                return await self._parted(scope)
            text = await scope.evaluate(self.template)
            return Message(self.role, text) if text else None

        return Deferred(filled)

    async def _parted(self, scope: Scope) -> Content:
        stable, volatile = await evaluate_parted(self.template, scope)
        if not stable.strip() or not volatile.strip():
            scope.note("cache_mark_dropped", "only one side of its cache breakpoint has a text")
            return Message(self.role, stable + volatile) if stable or volatile else None
        return PartedTextBlock(
            stable,
            volatile,
            Message(self.role),
            cut=self.cut,
            limit=self.budget.ceiling,
            parts=scope.cache_marks > 0,
        )

    def how_stable(self, declared: Declared, /) -> Stability:
        """Return the stability of the least stable thing that the template reads."""
        return self.stability or declared.template(self.template)

    def lead_stability(self, declared: Declared, /) -> Stability | None:
        """Return how long the text before `<<cache_breakpoint>>` stays the same."""
        end = self.template.breakpoint
        return None if end is None else declared.nodes(self.template.nodes[:end])


@frozen
class SystemMessage(TemplateSection):
    """A template that speaks as the system."""

    role: Role = field(default="system", init=False)


@frozen
class UserMessage(TemplateSection):
    """A template that speaks as the user."""

    role: Role = field(default="user", init=False)
    text_prefix: str = field(default="user: ", kw_only=True)


@frozen
class AssistantMessage(TemplateSection):
    """A template that speaks as the assistant: an example of an answer."""

    role: Role = field(default="assistant", init=False)
    text_prefix: str = field(default="assistant: ", kw_only=True)
