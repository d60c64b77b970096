"""The shape of a Chat Completions request, as far as it is written by us.

The same keys and values as `openai.types.chat`, without what we never write. A type checker does
not take one `TypedDict` for another with more optional keys, so a strict caller writes a `cast`.
"""

from __future__ import annotations

from typing import Literal, NotRequired, Required, TypedDict

from promptsections.providers.openai_marks import CacheOptions

ImageDetail = Literal["auto", "low", "high", "original"]
AudioFormat = Literal["wav", "mp3"]


class CacheBreakpointParam(TypedDict):
    """Up to where a prefix is cached, and for how long."""

    mode: Literal["explicit"]
    ttl: NotRequired[Literal["30m", "12h"]]


class TextParam(TypedDict):
    """A text."""

    type: Literal["text"]
    text: str
    prompt_cache_breakpoint: NotRequired[CacheBreakpointParam]


class ImageUrl(TypedDict, total=False):
    """Where an image is, and how closely to look."""

    url: Required[str]
    detail: ImageDetail


class ImageParam(TypedDict):
    """An image."""

    type: Literal["image_url"]
    image_url: ImageUrl


class InputAudio(TypedDict):
    """Spoken input, base64."""

    data: str
    format: AudioFormat


class AudioParam(TypedDict):
    """Spoken input as a part."""

    type: Literal["input_audio"]
    input_audio: InputAudio


class FileData(TypedDict, total=False):
    """A file by id, or sent along."""

    file_id: str
    file_data: str
    filename: str


class FileParam(TypedDict):
    """A file."""

    type: Literal["file"]
    file: FileData


ContentParam = TextParam | ImageParam | AudioParam | FileParam


class CalledFunction(TypedDict):
    """A function's name and its arguments as JSON text."""

    name: str
    arguments: str


class ToolCallParam(TypedDict):
    """A call that the assistant asked for."""

    id: str
    type: Literal["function"]
    function: CalledFunction


class SystemParam(TypedDict):
    """Instructions."""

    role: Literal["system"]
    content: str | list[TextParam]
    name: NotRequired[str]


class DeveloperParam(TypedDict):
    """Instructions, in the newer word."""

    role: Literal["developer"]
    content: str | list[TextParam]
    name: NotRequired[str]


class UserParam(TypedDict):
    """What the user says and shows."""

    role: Literal["user"]
    content: str | list[ContentParam]
    name: NotRequired[str]


class AssistantParam(TypedDict):
    """What the assistant said, and the calls it asked for."""

    role: Literal["assistant"]
    content: str | list[TextParam] | None
    name: NotRequired[str]
    tool_calls: NotRequired[list[ToolCallParam]]


class ToolResultParam(TypedDict):
    """The result of a call."""

    role: Literal["tool"]
    content: str | list[TextParam]
    tool_call_id: str


ChatMessage = SystemParam | DeveloperParam | UserParam | AssistantParam | ToolResultParam


class FunctionDefinition(TypedDict, total=False):
    """A function that the model may call; its parameters are a JSON Schema."""

    name: Required[str]
    description: str
    parameters: dict[str, object]


class ToolParam(TypedDict):
    """A tool that the model may call."""

    type: Literal["function"]
    function: FunctionDefinition


class ChatRequest(TypedDict):
    """Arguments of `client.chat.completions.create`."""

    messages: list[ChatMessage]
    model: NotRequired[str]
    tools: NotRequired[list[ToolParam]]
    prompt_cache_key: NotRequired[str]
    prompt_cache_options: NotRequired[CacheOptions]
    extra_body: NotRequired[dict[str, str]]
    """What OpenAI itself does not know: vLLM's `cache_salt`."""
