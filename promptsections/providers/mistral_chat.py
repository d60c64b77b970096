"""Mistral's chat completions: messages and tools as the plain data of a request.

Pure, without Mistral's SDK. Source: `mistral-common` 1.13.1, which checks requests as the server
does, and Mistral's API reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NotRequired, TypedDict, assert_never, cast

from attrs import evolve

from promptsections.blocks.turns import is_system
from promptsections.errors import ProviderError, UnsupportedContentError
from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    MessageLike,
    TextPart,
    Tool,
    ToolCall,
    to_message,
)
from promptsections.notes import Note
from promptsections.providers.calls import check_names, schema_of
from promptsections.providers.flat import beyond, with_rest
from promptsections.providers.ids import IdRule
from promptsections.providers.kept import (
    Blocks,
    Thing,
    Write,
    Writer,
    fill,
    kept_data,
    read_blocks,
    with_data,
)
from promptsections.providers.marks import plan_of, without_marks
from promptsections.providers.media import read_data_url, read_file
from promptsections.providers.pairing import pair
from promptsections.providers.plain import Block, blocks_of, to_block
from promptsections.providers.source import Source, read_source
from promptsections.providers.turns import note_name, system_as_user
from promptsections.unicode import well_formed

__all__ = ["MistralRequest", "from_messages", "to_request"]

PROVIDER = "mistral"
"""The key of `provider_data` that is given back."""
IDS = IdRule(r"[a-zA-Z0-9]{9}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_KEYS = ("role", "content", "tool_calls", "tool_call_id", "name")


class MistralTool(TypedDict):
    """A tool that the model may call."""

    type: Literal["function"]
    function: Block


class MistralRequest(TypedDict):
    """Body of a chat completion request."""

    model: NotRequired[str]
    messages: list[Block]
    tools: NotRequired[list[MistralTool]]
    prompt_cache_key: NotRequired[str]


def to_request(
    source: Source,
    *,
    model: str | None = None,
    tools: Sequence[Tool] = (),
    prefix: bool = False,
    notes: list[Note] | None = None,
) -> MistralRequest:
    """Make a request of a rendered prompt, or of messages and tools.

    A system message after an answer or a result, where the API refuses it, is sent as the user's,
    marked by `<system>`. Ids are rewritten to nine letters and digits.

    Args:
        source: a rendered prompt, or messages.
        model: put into the request, if given.
        tools: with bare messages, the tools that the model may call.
        prefix: whether the model continues a last message of the assistant, which is marked so;
            by default one is an error.
        notes: gets a note for whatever was converted.

    Raises:
        ProviderError: if the API would refuse it; the text names the message by its index from 0.
        UnsupportedContentError: if a message holds what has no place there.
    """
    notes = [] if notes is None else notes
    plan = plan_of(source, None)
    without_marks(plan, notes)
    messages, tools = read_source(source, tools)
    check_names(messages, tools, _NAME, "Mistral allows up to 64 letters a-z, digits, _ and -")
    request = cast("MistralRequest", {})
    if model is not None:
        request["model"] = model
    request["messages"] = _messages(pair(messages, IDS, notes), prefix, notes)
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
    if plan is not None and plan.key is not None and plan.field == "prompt_cache_key":
        request["prompt_cache_key"] = plan.key
    return request


def _messages(messages: Sequence[Message], prefix: bool, notes: list[Note]) -> list[Block]:
    sent: list[Block] = []
    last = 0
    for index, message in enumerate(messages):
        if is_system(message) and sent and sent[-1]["role"] in ("assistant", "tool"):
            message = system_as_user(message, index, notes)
        written = _written(message, index, notes)
        if message.role == "assistant" and not (written["content"] or message.tool_calls):
            detail = f"message {index}: it says nothing, so it is not sent"
            notes.append(Note("empty_left_out", "", detail))
            continue
        sent.append(written)
        last = index
    if all(message["role"] in ("assistant", "tool") for message in sent):
        raise ProviderError("Mistral needs a user message, and there is none")
    if "tool_calls" in sent[0]:
        raise ProviderError(
            "message 0: calls of the first message are not known to Mistral's server"
        )
    if sent[-1]["role"] == "assistant":
        if not prefix:
            raise ProviderError(
                f"message {last}: the model is to speak next, but it is also the last to speak; "
                "pass prefix=True if it shall go on"
            )
        sent[-1]["prefix"] = True
    return sent


def _written(message: Message, index: int, notes: list[Note]) -> Block:
    note_name(message, index, notes)
    data = kept_data(message, PROVIDER, index)
    return cast("Block", fill(data.get("message", "="), _write(message, index, data, notes)))


def _write(message: Message, index: int, data: Block, notes: list[Note]) -> Block:
    role = "system" if is_system(message) else message.role
    content: Any = message.content
    if content is None:
        content = None if message.tool_calls else ""
    elif not isinstance(content, str) or "blocks" in data:
        writer = Writer(PROVIDER, index, _writer(role, index), notes)
        content = writer.blocks(evolve(message, tool_calls=()), data) or ""
    sent: Block = {"role": role, "content": content}
    if message.tool_calls:
        sent["tool_calls"] = [_call(call) for call in message.tool_calls]
    if role == "tool":
        sent["tool_call_id"] = message.tool_call_id
        sent["name"] = message.name
    return sent


def _call(call: ToolCall) -> Block:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _writer(role: str, index: int) -> Write:
    def write(_: str, thing: Thing) -> Block:
        if isinstance(thing, ToolCall) or (role != "user" and not isinstance(thing, TextPart)):
            raise UnsupportedContentError(
                f"message {index}: Mistral takes no {type(thing).__name__} in a {role} message"
            )
        match thing:
            case TextPart():
                return {"type": "text", "text": thing.text}
            case ImagePart():
                data = read_data_url(thing.url, index)
                url: Block = {"url": well_formed(thing.url) if data is None else data.url}
                detail: Block = {"detail": thing.detail} if thing.detail else {}
                return {"type": "image_url", "image_url": url | detail}
            case AudioPart():
                return {"type": "input_audio", "input_audio": thing.data}
            case FilePart():
                return _file(thing, index)
            case _:
                assert_never(thing)

    return write


def _file(file: FilePart, index: int) -> Block:
    data = read_file(file, index)
    if data is None:
        if file.file_id is None:
            raise UnsupportedContentError(f"message {index}: a file needs a file_id or data")
        return {"type": "file", "file_id": file.file_id}
    sent: Block = {"type": "document_url", "document_url": data.url}
    if file.filename is not None:
        sent["document_name"] = well_formed(file.filename)
    return sent


def _tool(tool: Tool) -> MistralTool:
    function: Block = {"name": tool.name}
    if tool.description:
        function["description"] = well_formed(tool.description)
    function["parameters"] = schema_of(tool)
    return {"type": "function", "function": function}


# --- reading ------------------------------------------------------------------------------------


def from_messages(messages: Iterable[MessageLike]) -> tuple[Message, ...]:
    """Read messages of this format, as sent or as the API answered them.

    Chunks that we do not know (thinking and references among them) go into
    `provider_data["mistral"]`, so that `to_request` gives them back where they stood. Keys that the
    format does not have stay in `extra`; so does `prefix`, which depends on the request.

    Raises:
        DefinitionError: if one is no message.
    """
    return tuple(m if isinstance(m, Message) else _read(to_block(m)) for m in messages)


def _read(block: Block) -> Message:
    chunks = blocks_of(block.get("content"))
    role = str(block.get("role"))
    found = Blocks() if chunks is None else read_blocks(chunks, _read_chunk, _writer(role, 0))
    content = block.get("content") if chunks is None else found.parts
    known = {key: value for key, value in block.items() if key in _KEYS}
    message = to_message({**beyond(block, _KEYS), **known, "content": content})
    message = with_data(message, PROVIDER, found.data())
    return with_rest(message, PROVIDER, block, _write(message, 0, found.data(), []), _KEYS)


def _read_chunk(chunk: Block) -> tuple[str, Thing] | None:
    match chunk:
        case {"type": "text", "text": str(text)}:
            return "text", TextPart(text)
        case {"type": "image_url", "image_url": str(url)}:
            return "image", ImagePart(url)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return "image", ImagePart(url, detail=chunk["image_url"].get("detail"))
        case {"type": "input_audio", "input_audio": str(data)}:
            return "audio", AudioPart(data)
        case {"type": "document_url", "document_url": str(url)} if url.startswith("data:"):
            return "file", FilePart(data=url, filename=chunk.get("document_name"))
        case {"type": "file", "file_id": str(file_id)}:
            return "file", FilePart(file_id=file_id)
        case _:
            return None
