"""OpenAI's Chat Completions: messages and tools as the plain data that `create(**request)` takes.

Pure, without OpenAI's SDK; it adds no text and drops none, so what was counted is what is sent.
Source: the `openai` package 3.57.0, `openai.types.chat`, and OpenAI's guide to function calling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import assert_never, cast, get_args

from attrs import evolve

from promptsections.caching import CachePlan
from promptsections.errors import DefinitionError, ProviderError, UnsupportedContentError
from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    MessageLike,
    Part,
    TextPart,
    Tool,
    ToolCall,
    to_message,
)
from promptsections.notes import Note
from promptsections.providers.calls import schema_of
from promptsections.providers.flat import with_rest
from promptsections.providers.ids import ANY_ID
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
from promptsections.providers.marks import plan_of
from promptsections.providers.openai_chat_types import (
    AudioFormat,
    AudioParam,
    ChatMessage,
    ChatRequest,
    ContentParam,
    FileData,
    FileParam,
    FunctionDefinition,
    ImageParam,
    ImageUrl,
    TextParam,
    ToolCallParam,
    ToolParam,
)
from promptsections.providers.openai_marks import mark_messages
from promptsections.providers.pairing import pair
from promptsections.providers.plain import Block, block_of, blocks_of, to_block
from promptsections.providers.source import Source, read_source
from promptsections.unicode import well_formed

__all__ = ["ChatMessage", "ChatRequest", "from_messages", "to_request"]

PROVIDER = "openai"
"""The key of `provider_data` that is given back."""


def to_request(
    source: Source,
    *,
    model: str | None = None,
    tools: Sequence[Tool] = (),
    cache_plan: CachePlan | None = None,
    notes: list[Note] | None = None,
) -> ChatRequest:
    """Make a request of a rendered prompt, or of messages and tools.

    Keys that a message brought along (`extra`) are never sent, what came from OpenAI
    (`provider_data["openai"]`) is given back. A tool result has no name in this format. A call
    without an id, or with one that another call of its message has, gets one, and its result too;
    so does an id of more than 40 characters.

    Args:
        source: a rendered prompt, or messages.
        model: put into the request, if given.
        tools: with bare messages, the tools that the model may call.
        cache_plan: with bare messages, where a `prompt_cache_breakpoint` stands, and the key. A
            rendered prompt has its own. With one, marks that messages brought along are left out.
        notes: gets a note for whatever was converted.

    Raises:
        ProviderError: if the API would refuse it; the text names the message by its index from 0.
        UnsupportedContentError: if a message holds what has no place there, as an image of a system
            message.
    """
    notes = [] if notes is None else notes
    plan = plan_of(source, cache_plan)
    messages, tools = read_source(source, tools)
    messages = pair(messages, ANY_ID, notes)
    request: ChatRequest = {"messages": [_message(m, i, notes) for i, m in enumerate(messages)]}
    if model is not None:
        request["model"] = model
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
    found = [(i, cast("Block", sent), "content") for i, sent in enumerate(request["messages"])]
    fields = mark_messages(plan, found, _text, carriers=_CARRIERS, notes=notes)
    return cast("ChatRequest", {**request, **fields})


_CARRIERS = frozenset({"text", "image_url", "input_audio"})


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


# --- messages -----------------------------------------------------------------------------------


def _message(message: Message, index: int, notes: list[Note]) -> ChatMessage:
    data = kept_data(message, PROVIDER, index)
    blocks = {"blocks": data.pop("blocks")} if "blocks" in data else {}
    rest = data.pop("message", "=")
    sent = cast("Block", fill(rest, _written(message, index, blocks, notes)))
    for key, value in data.items():
        if key in sent:
            raise ProviderError(
                f"message {index}: provider_data[{PROVIDER!r}] holds {key!r}, "
                "which the message itself says already"
            )
        sent[key] = value
    return cast("ChatMessage", sent)


def _written(message: Message, index: int, blocks: Block, notes: list[Note]) -> Block:
    sent: Block = {"role": message.role, "content": _content(message, index, blocks, notes)}
    if message.name and message.role != "tool":
        sent["name"] = message.name
    if message.tool_calls:
        sent["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.tool_call_id:
        sent["tool_call_id"] = message.tool_call_id
    return sent


def _content(
    message: Message, index: int, blocks: Block, notes: list[Note]
) -> str | list[Block] | None:
    content = message.content
    if isinstance(content, str) and not blocks:
        return content
    if not content and not blocks:
        # No content, or a list of no parts, which the API refuses.
        return None if content is None and message.tool_calls else ""
    without_calls = evolve(message, tool_calls=())
    writer = Writer(PROVIDER, index, _writer(message.role, index), notes)
    return writer.blocks(without_calls, blocks) or ""


def _call(call: ToolCall) -> ToolCallParam:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


# --- parts --------------------------------------------------------------------------------------


def _writer(role: str, index: int) -> Write:
    def write(_: str, thing: Thing) -> Block:
        if isinstance(thing, ToolCall) or (role != "user" and not isinstance(thing, TextPart)):
            raise UnsupportedContentError(
                f"message {index}: a {role} message holds text alone, no {type(thing).__name__}; "
                "put it into a user message"
            )
        return cast("Block", _part(thing, index))

    return write


def _part(part: Part, index: int) -> ContentParam:
    match part:
        case TextPart():
            text: TextParam = {"type": "text", "text": part.text}
            return text
        case ImagePart():
            return _image(part)
        case AudioPart():
            return _audio(part, index)
        case FilePart():
            return _file(part, index)
        case _:
            assert_never(part)


def _image(image: ImagePart) -> ImageParam:
    url: ImageUrl = {"url": well_formed(image.url)}
    if image.detail is not None:
        url["detail"] = image.detail
    return {"type": "image_url", "image_url": url}


def _audio(audio: AudioPart, index: int) -> AudioParam:
    _check_one_of(audio.format, get_args(AudioFormat), "format of audio", index)
    return {
        "type": "input_audio",
        "input_audio": {"data": audio.data, "format": cast("AudioFormat", audio.format)},
    }


def _file(file: FilePart, index: int) -> FileParam:
    sent: FileData = {}
    if file.file_id is not None:
        sent["file_id"] = file.file_id
    if file.data is not None:
        sent["file_data"] = file.data
    if not sent:
        raise UnsupportedContentError(f"message {index}: a file needs a file_id or data")
    if file.filename is not None:
        sent["filename"] = well_formed(file.filename)
    return {"type": "file", "file": sent}


def _check_one_of(value: object, known: Sequence[str], what: str, index: int) -> None:
    if value not in known:
        raise UnsupportedContentError(
            f"message {index}: {value!r} is no {what} here: use {' or '.join(map(repr, known))}"
        )


# --- tools --------------------------------------------------------------------------------------

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def _tool(tool: Tool) -> ToolParam:
    if not _TOOL_NAME.fullmatch(tool.name):
        raise ProviderError(
            f"tool {tool.name!r}: OpenAI allows up to 64 letters a-z, digits, '_' and '-' in a name"
        )
    function: FunctionDefinition = {"name": tool.name}
    if tool.description:
        function["description"] = well_formed(tool.description)
    function["parameters"] = schema_of(tool)
    return {"type": "function", "function": function}


# --- reading ------------------------------------------------------------------------------------

_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id")
_GIVEN_BACK = ("refusal", "audio")
"""Keys of an assistant's message that both an answer and a request have."""


def from_messages(messages: Iterable[MessageLike]) -> tuple[Message, ...]:
    """Read messages of this format, as sent or as the API answered them.

    What a message says beside text, parts and calls (`refusal`, `audio`, marks on parts, calls of
    custom tools) goes into `provider_data["openai"]`, so that `to_request` gives it back. Keys that
    the format does not have stay in `extra`. The old `function_call` becomes a call.

    Raises:
        DefinitionError: if one is no message.
    """
    return tuple(m if isinstance(m, Message) else _read(to_block(m)) for m in messages)


def _read(block: Block) -> Message:
    if block.get("function_call") is not None or block.get("role") == "function":
        return to_message(block)
    # Objects of the SDK have no content where the API says null.
    block = {"content": None if block.get("tool_calls") else "", **block}
    parts = blocks_of(block["content"])
    role = str(block.get("role"))
    found = Blocks() if parts is None else read_blocks(parts, _read_part, _writer(role, 0))
    calls = blocks_of(block.get("tool_calls"))
    fields = {
        "content": block["content"] if parts is None else found.parts,
        "tool_calls": block.get("tool_calls") if calls is None else list(map(_read_call, calls)),
    }
    rest = {key: value for key, value in block.items() if key not in _GIVEN_BACK}
    message = with_data(to_message({**rest, **fields}), PROVIDER, found.data())
    written = _written(message, 0, found.data(), [])
    keys = [key for key in _KEYS if key != "name" or role != "tool"]
    message = with_rest(message, PROVIDER, block, written, keys)
    own = {key: block[key] for key in _GIVEN_BACK if block.get(key) is not None}
    if "audio" in own:  # an answer brings the sound as well, a request names it by its id
        if "id" not in block_of(own["audio"]):
            raise DefinitionError("audio of a message needs an id")
        own["audio"] = {"id": own["audio"]["id"]}
    return with_data(message, PROVIDER, {**message.provider_data.get(PROVIDER, {}), **own})


def _read_call(call: Block) -> Block | ToolCall:
    match call:
        case {"type": "custom", "id": str(call_id), "custom": {"name": str(name)}}:
            return ToolCall(call_id, name, call["custom"].get("input", ""))
        case _:
            return call


def _read_part(part: Block) -> tuple[str, Thing] | None:
    match part:
        case {"type": "text", "text": str(text)}:
            return "text", TextPart(text)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return "image", ImagePart(url, detail=part["image_url"].get("detail"))
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form)}}:
            return "audio", AudioPart(data, format=form)
        case {"type": "file", "file": dict()}:
            file: Block = part["file"]
            names = {key: file.get(key) for key in ("filename", "file_id")}
            return "file", FilePart(data=file.get("file_data"), **names)
        case _:
            return None
