"""Arguments of calls as objects, and names of functions: what most providers check the same way.

It knows no provider's format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from promptsections.errors import ProviderError
from promptsections.messages import Message, Tool, ToolCall
from promptsections.providers.plain import Block, copied


def arguments_of(call: ToolCall, index: int) -> dict[str, Any]:
    """Return the arguments of a call as an object, for providers that take no text.

    No text at all (`""`) means no arguments. Anything else that is no object is an error rather
    than a guess: what the model asked for cannot be told.

    Raises:
        ProviderError: if the text is no JSON object; it names the call.
    """
    text = call.arguments
    if not text.strip():
        return {}
    try:
        found: object = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        if isinstance(found, dict):
            # An escaped lone surrogate has no UTF-8: copying replaces it as everywhere.
            return cast("dict[str, Any]", copied(found) if "\\u" in text else found)
        reason = f"it is a {type(found).__name__}"
    except (ValueError, RecursionError) as error:
        reason = str(error)
    raise ProviderError(
        f"message {index}: call {call.id!r} of {call.name!r}: arguments must be a JSON object here "
        f"({reason}): {text[:80]!r}; correct them or leave out the call with its results"
    )


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if number - number == 0 else cast("float", _refuse(digits))


def check_names(
    messages: Sequence[Message], tools: Sequence[Tool], pattern: re.Pattern[str], rule: str
) -> None:
    """Check the names of tools and of the functions that were called.

    Args:
        messages: in order.
        tools: what the model may call.
        pattern: what a whole name looks like.
        rule: the same in words.

    Raises:
        ProviderError: if the provider would refuse one.
    """
    for tool in tools:
        if not pattern.fullmatch(tool.name):
            raise ProviderError(f"tool {tool.name!r}: {rule}")
    for index, message in enumerate(messages):
        for call in message.tool_calls:
            if not pattern.fullmatch(call.name):
                raise ProviderError(f"message {index}: call of {call.name!r}: {rule}")


def schema_of(tool: Tool) -> Block:
    """Copy the JSON Schema of a tool's arguments, so that a request shares nothing with it."""
    return cast("Block", copied(tool.parameters))
