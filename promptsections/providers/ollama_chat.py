"""Ollama's chat: messages and tools as the plain data that `client.chat(**request)` takes.

Pure, without Ollama's SDK. Source: the `ollama` package 0.6.3 and Ollama's API reference: content
is one text, images are base64 beside it, and calls have no ids, so results follow their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal, NotRequired, TypedDict, cast

from promptsections.blocks.turns import is_system
from promptsections.errors import UnsupportedContentError
from promptsections.messages import (
    ImagePart,
    Message,
    MessageLike,
    TextPart,
    Tool,
    ToolCall,
    to_message,
)
from promptsections.notes import Note
from promptsections.providers.calls import arguments_of, schema_of
from promptsections.providers.flat import beyond, with_rest
from promptsections.providers.ids import IdRule
from promptsections.providers.kept import fill, kept_data, parts_of
from promptsections.providers.marks import plan_of, without_marks
from promptsections.providers.media import read_data_url
from promptsections.providers.pairing import pair
from promptsections.providers.plain import Block, blocks_of, to_block
from promptsections.providers.source import Source, read_source
from promptsections.providers.turns import note_name
from promptsections.unicode import well_formed

__all__ = ["OllamaRequest", "from_messages", "to_request"]

PROVIDER = "ollama"
"""The key of `provider_data` that is given back."""
_UNIQUE = IdRule(r".+")
_KEYS = ("role", "content", "thinking", "images", "tool_name", "tool_calls")


class OllamaTool(TypedDict):
    """A tool that the model may call."""

    type: Literal["function"]
    function: Block


class OllamaRequest(TypedDict):
    """Body of a chat request."""

    model: NotRequired[str]
    messages: list[Block]
    tools: NotRequired[list[OllamaTool]]


def to_request(
    source: Source,
    *,
    model: str | None = None,
    tools: Sequence[Tool] = (),
    notes: list[Note] | None = None,
) -> OllamaRequest:
    """Make a request of a rendered prompt, or of messages and tools.

    Several texts of a message are joined by line breaks. Results are put in the order of their
    calls, since nothing else says which is which.

    Args:
        source: a rendered prompt, or messages.
        model: put into the request, if given.
        tools: with bare messages, the tools that the model may call.
        notes: gets a note for whatever was converted.

    Raises:
        ProviderError: if a call has no result or a result no call, or arguments are no object; the
            text names the message by its index from 0.
        UnsupportedContentError: if a message holds audio, a file, or an image by its address.
    """
    notes = [] if notes is None else notes
    without_marks(plan_of(source, None), notes)
    messages, tools = read_source(source, tools)
    request = cast("OllamaRequest", {})
    if model is not None:
        request["model"] = model
    request["messages"] = [
        _written(message, index, notes) for index, message in _in_order(pair(messages, _UNIQUE))
    ]
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
    return request


def _in_order(messages: Sequence[Message]) -> list[tuple[int, Message]]:
    """Put the results of each message in the order of its calls."""
    ordered: list[tuple[int, Message]] = []
    asked: dict[str, int] = {}
    for is_result, group in groupby(enumerate(messages), lambda pair: pair[1].role == "tool"):
        found = list(group)
        if is_result:
            found.sort(key=lambda pair: asked[pair[1].tool_call_id or ""])
        else:
            asked = {call.id: place for place, call in enumerate(found[-1][1].tool_calls)}
        ordered += found
    return ordered


def _written(message: Message, index: int, notes: list[Note]) -> Block:
    note_name(message, index, notes)
    data = kept_data(message, PROVIDER, index)
    return cast("Block", fill(data.get("message", "="), _write(message, index)))


def _write(message: Message, index: int) -> Block:
    role = "system" if is_system(message) else message.role
    sent: Block = {"role": role, "content": message.text}
    images = [_image(part, index) for part in parts_of(message) if not isinstance(part, TextPart)]
    if images:
        sent["images"] = images
    if role == "tool" and message.name:
        sent["tool_name"] = message.name
    if message.tool_calls:
        sent["tool_calls"] = [_call(call, index) for call in message.tool_calls]
    return sent


def _image(part: object, index: int) -> str:
    data = read_data_url(part.url, index) if isinstance(part, ImagePart) else None
    if data is None:
        raise UnsupportedContentError(
            f"message {index}: Ollama takes texts and images sent along as data URLs, "
            f"no other {type(part).__name__}"
        )
    return data.base64


def _call(call: ToolCall, index: int) -> Block:
    return {"function": {"name": call.name, "arguments": arguments_of(call, index)}}


def _tool(tool: Tool) -> OllamaTool:
    function: Block = {"name": tool.name}
    if tool.description:
        function["description"] = well_formed(tool.description)
    function["parameters"] = schema_of(tool)
    return {"type": "function", "function": function}


# --- reading ------------------------------------------------------------------------------------


def from_messages(messages: Iterable[MessageLike]) -> tuple[Message, ...]:
    """Read messages of this format, as sent or as the API answered them.

    Calls have no ids; results belong to them by their order. Thinking goes into
    `provider_data["ollama"]`, so that `to_request` gives it back. Keys that the format does not
    have stay in `extra`.

    Raises:
        DefinitionError: if one is no message.
    """
    return tuple(m if isinstance(m, Message) else _read(to_block(m)) for m in messages)


def _read(block: Block) -> Message:
    text = block.get("content")
    images = [ImagePart(_url(str(image))) for image in block.get("images") or ()]
    texts = [TextPart(text)] if isinstance(text, str) and text else []
    calls = [_read_call(call) for call in blocks_of(block.get("tool_calls")) or ()]
    fields = {
        "role": block.get("role"),
        "content": [*texts, *images] if images else text,
        "tool_calls": calls,
        "name": block.get("tool_name"),
    }
    message = to_message({**beyond(block, _KEYS), **fields})
    return with_rest(message, PROVIDER, block, _write(message, 0), _KEYS)


def _read_call(call: Block) -> ToolCall | Block:
    match call:
        case {"function": {"name": str(name), "arguments": dict()}}:
            return ToolCall("", name, call["function"]["arguments"])
        case _:
            return call


def _url(image: str) -> str:
    """Return a `data:` URL for base64; the first characters tell what kind of image it is."""
    kind = next((kind for start, kind in _STARTS.items() if image.startswith(start)), "png")
    return f"data:image/{kind};base64,{image}"


_STARTS = {"iVBOR": "png", "/9j/": "jpeg", "R0lGOD": "gif", "UklGR": "webp"}
"""Base64 of the first bytes of each kind of image file."""
