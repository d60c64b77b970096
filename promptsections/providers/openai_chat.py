"""OpenAI's Chat Completions: messages and tools as the plain data that `create(**request)` takes.

Pure, without OpenAI's SDK; it adds no text and drops none, so what was counted is what is sent.
Source: the `openai` package 3.57.0, `openai.types.chat`, and OpenAI's guide to function calling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never, cast, get_args

from attrs import evolve

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
from promptsections.providers.ids import ANY_ID
from promptsections.providers.kept import kept_data
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
from promptsections.providers.pairing import pair
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
        notes: gets an `id_rewritten` for each call whose id changed.

    Raises:
        ProviderError: if the API would refuse it; the text names the message by its index from 0.
        UnsupportedContentError: if a message holds what has no place there, as an image of a system
            message.
    """
    messages, tools = read_source(source, tools)
    messages = pair(messages, ANY_ID, notes)
    request: ChatRequest = {"messages": [_message(m, i) for i, m in enumerate(messages)]}
    if model is not None:
        request["model"] = model
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
    return request


def from_messages(messages: Iterable[MessageLike]) -> tuple[Message, ...]:
    """Read messages of this format, as sent or as the API answered them.

    What an answer says beside text and calls (`refusal`, `audio`) goes into
    `provider_data["openai"]`, so that `to_request` gives it back. Other keys stay in `extra`.

    Raises:
        DefinitionError: if one is no message.
    """
    return tuple(_read(to_message(message)) for message in messages)


# --- messages -----------------------------------------------------------------------------------


def _read(message: Message) -> Message:
    own = {key: message.extra[key] for key in _GIVEN_BACK if key in message.extra}
    if not own:
        return message
    if "audio" in own:  # an answer brings the sound as well, a request names it by its id
        if not (isinstance(own["audio"], Mapping) and "id" in own["audio"]):
            raise DefinitionError("audio of a message needs an id")
        own["audio"] = {"id": own["audio"]["id"]}
    provider_data = {**message.provider_data}
    provider_data[PROVIDER] = {**provider_data.get(PROVIDER, {}), **own}
    extra = {key: value for key, value in message.extra.items() if key not in own}
    return evolve(message, provider_data=provider_data, extra=extra)


_GIVEN_BACK = ("refusal", "audio")
"""Keys of an assistant's message that both an answer and a request have."""


def _message(message: Message, index: int) -> ChatMessage:
    sent: dict[str, Any] = {"role": message.role, "content": _content(message, index)}
    if message.name and message.role != "tool":
        sent["name"] = message.name
    if message.tool_calls:
        sent["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.tool_call_id:
        sent["tool_call_id"] = message.tool_call_id
    for key, value in kept_data(message, PROVIDER, index).items():
        if key in sent:
            raise ProviderError(
                f"message {index}: provider_data[{PROVIDER!r}] holds {key!r}, "
                "which the message itself says already"
            )
        sent[key] = value
    return cast("ChatMessage", sent)


def _content(message: Message, index: int) -> str | list[ContentParam] | None:
    content = message.content
    if not content:
        # No content, or a list of no parts, which the API refuses.
        return None if content is None and message.tool_calls else ""
    if isinstance(content, str):
        return content
    return [_part(part, message.role, index) for part in content]


def _call(call: ToolCall) -> ToolCallParam:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


# --- parts --------------------------------------------------------------------------------------


def _part(part: Part, role: str, index: int) -> ContentParam:
    if not isinstance(part, TextPart) and role != "user":
        raise UnsupportedContentError(
            f"message {index}: a {role} message holds text alone, no {type(part).__name__}; "
            "put it into a user message"
        )
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
