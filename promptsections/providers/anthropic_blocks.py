"""Content blocks of Anthropic's Messages API, to and from parts, calls and results.

It knows no conversation. Source: the `anthropic` package 2.14.0, `anthropic.types`.
"""

from __future__ import annotations

import base64
from typing import Any, assert_never, cast

from promptsections.errors import DefinitionError, UnsupportedContentError
from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    TextPart,
    ToolCall,
)
from promptsections.notes import Note
from promptsections.providers.calls import arguments_of
from promptsections.providers.kept import Thing, Write, Writer, read_blocks, template, with_data
from promptsections.providers.media import read_data_url, read_file
from promptsections.providers.plain import Block, block_of, blocks_of
from promptsections.providers.turns import is_blank
from promptsections.unicode import well_formed

PROVIDER = "anthropic"
"""The key of `provider_data` that is given back."""

_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")


# --- writing ------------------------------------------------------------------------------------


def writer(role: str, index: int) -> Write:
    """Return what writes the blocks of a message with this role."""

    def write(_: str, thing: Thing) -> Block | None:
        match thing:
            case TextPart():
                return None if is_blank(thing.text) else {"type": "text", "text": thing.text}
            case ToolCall():
                given = arguments_of(thing, index)
                return {"type": "tool_use", "id": thing.id, "name": thing.name, "input": given}
            case ImagePart() | FilePart() | AudioPart():
                return _media(thing, role, index)
            case _:
                assert_never(thing)

    return write


def _media(part: Part, role: str, index: int) -> Block:
    if role not in ("user", "tool") or isinstance(part, AudioPart | TextPart):
        raise UnsupportedContentError(
            f"message {index}: Anthropic takes no {type(part).__name__} in a {role} message"
        )
    if isinstance(part, ImagePart):
        return {"type": "image", "source": _image_source(part, index)}
    document: Block = {"type": "document", "source": _file_source(part, index)}
    if part.filename is not None:
        document["title"] = well_formed(part.filename)
    return document


def _image_source(image: ImagePart, index: int) -> Block:
    data = read_data_url(image.url, index)
    if data is None:
        if not image.url.startswith("https://"):
            raise UnsupportedContentError(
                f"message {index}: Anthropic fetches images from https:// addresses only, "
                f"not {image.url[:40]!r}"
            )
        return {"type": "url", "url": well_formed(image.url)}
    if data.media_type not in _IMAGE_TYPES:
        raise UnsupportedContentError(
            f"message {index}: Anthropic takes images of type {', '.join(_IMAGE_TYPES)}, "
            f"not {data.media_type}"
        )
    return {"type": "base64", "media_type": data.media_type, "data": data.base64}


def _file_source(file: FilePart, index: int) -> Block:
    data = read_file(file, index)
    if data is None:
        if file.file_id is None:
            raise UnsupportedContentError(f"message {index}: a file needs a file_id or data")
        return {"type": "file", "file_id": file.file_id}
    if data.media_type == "application/pdf":
        return {"type": "base64", "media_type": data.media_type, "data": data.base64}
    if data.media_type.startswith("text/"):
        text = data.decoded(index).decode("utf-8", "replace")
        return {"type": "text", "media_type": "text/plain", "data": text}
    raise UnsupportedContentError(
        f"message {index}: Anthropic takes PDF and text files, not {data.media_type}"
    )


def write_result(message: Message, index: int, data: Block, notes: list[Note]) -> Block:
    """Write the result of a call; one that says nothing has no content."""
    result: Block = {"type": "tool_result", "tool_use_id": message.tool_call_id}
    if isinstance(message.content, str):
        if not is_blank(message.content):
            result["content"] = message.content
    else:
        write = writer("tool", index)
        blocks = Writer(PROVIDER, index, write, notes).blocks(message, data)
        if blocks:
            result["content"] = blocks
    return result


# --- reading ------------------------------------------------------------------------------------


def read_block(block: Block) -> tuple[str, Thing] | None:
    """Say what a block is; `None` if a message cannot hold it."""
    match block:
        case {"type": "text", "text": str(text)}:
            return "text", TextPart(text)
        case {"type": "tool_use", "id": str(call_id), "name": str(name), "input": dict()}:
            return "call", ToolCall(call_id, name, block["input"])
        case {"type": "image"}:
            return _read_image(block_of(block.get("source")))
        case {"type": "document"}:
            return _read_document(block_of(block.get("source")), block.get("title"))
        case _:
            return None


def _read_image(source: Block) -> tuple[str, Thing] | None:
    match source:
        case {"type": "base64", "media_type": str(media_type), "data": str(data)}:
            return "image", ImagePart(f"data:{media_type};base64,{data}")
        case {"type": "url", "url": str(url)}:
            return "image", ImagePart(url)
        case _:
            return None


def _read_document(source: Block, title: object) -> tuple[str, Thing] | None:
    name = title if isinstance(title, str) else None
    match source:
        case {"type": "base64", "media_type": str(media_type), "data": str(data)}:
            url = f"data:{media_type};base64,{data}"
            return "file", FilePart(data=url, filename=name, media_type=media_type)
        case {"type": "text", "data": str(text)}:
            data = base64.b64encode(well_formed(text).encode()).decode("ascii")
            url = f"data:text/plain;base64,{data}"
            return "file", FilePart(data=url, filename=name, media_type="text/plain")
        case {"type": "file", "file_id": str(file_id)}:
            return "file", FilePart(file_id=file_id, filename=name)
        case _:
            return None


def read_result(block: Block) -> Message:
    """Read the result of a call as a message of its own."""
    found = block.get("content")
    blocks = blocks_of(found)
    data: dict[str, Any] = {}
    content: Any = found if isinstance(found, str) else None
    if blocks is not None:
        read = read_blocks(blocks, read_block, writer("tool", 0))
        content, data = read.parts, read.data()
    elif found is not None and content is None:
        raise DefinitionError(f"a tool_result holds text or blocks, not {type(found).__name__}")
    message = Message("tool", content, tool_call_id=cast("str", block.get("tool_use_id")))
    written = write_result(message, 0, data, [])
    if written != block:
        data["message"] = template(block, written)
    return with_data(message, PROVIDER, data)
