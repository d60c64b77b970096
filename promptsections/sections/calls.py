"""A tool call and its result as sections, for examples in a prompt; kept or dropped together."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

from attrs import field, frozen

from promptsections.errors import DefinitionError
from promptsections.messages import Message, ToolCall
from promptsections.scope import Scope
from promptsections.sections.base import Content, PromptSection, check_text
from promptsections.sections.stability import Declared, Stability
from promptsections.templates import to_text


def _call(value: ToolCall | Mapping[str, Any]) -> ToolCall:
    call = Message("assistant", tool_calls=(value,)).tool_calls[0]
    if not call.id:
        raise DefinitionError(f"the call of {call.name!r} needs an id, so that its result finds it")
    return call


@frozen
class FunctionCallMessage(PromptSection):
    """A call that the assistant made: an assistant message with that call and no text."""

    call: ToolCall = field(converter=_call)
    text_prefix: str = field(default="assistant: ", kw_only=True)

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the assistant's message."""
        return Message("assistant", tool_calls=(self.call,))

    def how_stable(self, declared: Declared, /) -> Stability:
        """Return that it never changes, unless the section says otherwise."""
        return self.stability or "static"


@frozen
class FunctionResponseMessage(PromptSection):
    """The result of a call, right after it; a text that is cut keeps its id."""

    call_id: str = field(validator=check_text)
    response: object
    """Any value; it is written as templates write values."""
    text_prefix: str = field(default="tool: ", kw_only=True)

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the tool's message; an empty result is sent too, since the call needs one."""
        text = to_text(self.response, name="response")
        return Message("tool", text, tool_call_id=self.call_id)

    def how_stable(self, declared: Declared, /) -> Stability:
        """Return that it never changes, unless the section says otherwise."""
        return self.stability or "static"
