"""Messages that say all in keys of their own, as Mistral and Ollama have them.

It knows no provider's keys.
"""

from __future__ import annotations

from collections.abc import Collection

from promptsections.messages import Message
from promptsections.providers.kept import template, with_data
from promptsections.providers.plain import Block


def with_rest(
    message: Message, provider: str, original: Block, written: Block, documented: Collection[str]
) -> Message:
    """Return a message that was read, with what the format says beyond it.

    Args:
        message: what was understood, with what is kept of its content.
        provider: the key of `provider_data`.
        original: what was read.
        written: what would be sent for the message.
        documented: keys of the format; others stay in `extra` and are never sent.
    """
    known = {key: value for key, value in original.items() if key in documented}
    if not known.get("tool_calls"):  # an empty list is refused
        known.pop("tool_calls", None)
    if known == written:
        return message
    kept = {**message.provider_data.get(provider, {}), "message": template(known, written)}
    return with_data(message, provider, kept)


def beyond(original: Block, documented: Collection[str]) -> Block:
    """Return what is no key of the format."""
    return {key: value for key, value in original.items() if key not in documented}
