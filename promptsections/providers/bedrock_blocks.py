"""Content blocks of Amazon Bedrock's Converse, to and from parts, calls and results.

It knows no conversation. Source: botocore 1.44.8, service model `bedrock-runtime`.
"""

from __future__ import annotations

import base64
import re
from typing import Any, assert_never, cast

from promptsections.errors import UnsupportedContentError
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
from promptsections.providers.media import (
    Data,
    ending,
    ending_of,
    media_type_of,
    read_data_url,
    read_file,
)
from promptsections.providers.plain import Block, blocks_of
from promptsections.providers.turns import is_blank

PROVIDER = "bedrock"
"""The key of `provider_data` that is given back."""

_IMAGES = ("png", "jpeg", "gif", "webp")
_DOCUMENTS = ("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md")
_AUDIO = (
    "mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv", "mka", "x-aac", "m4a", "mpeg", "mpga",
    "pcm", "webm",
)  # fmt: skip


# --- bytes --------------------------------------------------------------------------------------

_BYTES = "$bytes"
"""Marks base64 that stands for bytes: `provider_data` is JSON, a request for boto3 holds bytes."""


def from_bytes(value: bytes) -> Block:
    """Write bytes as plain data."""
    return {_BYTES: base64.b64encode(value).decode("ascii")}


_FREE = ("input", "json")
"""Keys of what callers and tools say, which may look like anything."""


def to_bytes(value: Any) -> Any:
    """Copy a block with plain data for bytes replaced by the bytes."""
    match value:
        case {"$bytes": str(data)} if len(cast("Block", value)) == 1:
            return base64.b64decode(data)
        case dict():
            items = cast("Block", value).items()
            return {key: item if key in _FREE else to_bytes(item) for key, item in items}
        case list():
            return [to_bytes(item) for item in cast("list[Any]", value)]
        case _:
            return value


# --- writing ------------------------------------------------------------------------------------


def writer(role: str, index: int) -> Write:
    """Return what writes the blocks of a message with this role; bytes as plain data."""

    def write(_: str, thing: Thing) -> Block | None:
        match thing:
            case TextPart():
                return None if is_blank(thing.text) else {"text": thing.text}
            case ToolCall():
                given = arguments_of(thing, index)
                return {"toolUse": {"toolUseId": thing.id, "name": thing.name, "input": given}}
            case ImagePart() | FilePart() | AudioPart():
                return _media(thing, role, index)
            case _:
                assert_never(thing)

    return write


def _media(part: Part, role: str, index: int) -> Block:
    in_result = role == "tool" and isinstance(part, AudioPart)
    if role not in ("user", "tool") or in_result or isinstance(part, TextPart):
        raise UnsupportedContentError(
            f"message {index}: Bedrock takes no {type(part).__name__} in a {role} message"
        )
    match part:
        case ImagePart():
            return {"image": _image(part, index)}
        case FilePart():
            return {"document": _document(part, index)}
        case AudioPart():
            form = _one_of(part.format, _AUDIO, "audio", index)
            data = Data(f"audio/{form}", part.data)
            return {"audio": {"format": form, "source": _bytes_source(data, index)}}
        case _:
            assert_never(part)


def _image(image: ImagePart, index: int) -> Block:
    data = read_data_url(image.url, index)
    if data is not None:
        form = data.media_type.removeprefix("image/")
        source = _bytes_source(data, index)
    elif image.url.startswith("s3://"):
        form = ending(image.url).replace("jpg", "jpeg")
        source = {"s3Location": {"uri": image.url}}
    else:
        raise UnsupportedContentError(
            f"message {index}: Bedrock fetches images from s3:// only, not {image.url[:40]!r}; "
            "send it along as a data URL"
        )
    return {"format": _one_of(form, _IMAGES, "images", index), "source": source}


def _document(file: FilePart, index: int) -> Block:
    data = read_file(file, index)
    if data is None:
        raise UnsupportedContentError(
            f"message {index}: Bedrock keeps no files by id: send the file's data along"
        )
    form = _one_of(ending_of(data.media_type) or data.media_type, _DOCUMENTS, "files", index)
    return {"format": form, "name": _name(file.filename), "source": _bytes_source(data, index)}


def _name(filename: str | None) -> str:
    """Return a name that Bedrock accepts: letters, digits, single blanks, `-`, `()`, `[]`."""
    stem = (filename or "").rsplit(".", 1)[0] if ending(filename) in _DOCUMENTS else filename
    cleaned = re.sub(r"[^a-zA-Z0-9\s()\[\]-]", "-", stem or "")
    return re.sub(r"\s+", " ", cleaned).strip()[:200] or "document"


def _bytes_source(data: Data, index: int) -> Block:
    return {"bytes": from_bytes(data.decoded(index))}


def _one_of(value: str, known: tuple[str, ...], what: str, index: int) -> str:
    if value not in known:
        raise UnsupportedContentError(
            f"message {index}: Bedrock takes {what} of type {', '.join(known)}, not {value!r}"
        )
    return value


def write_result(message: Message, index: int, data: Block, notes: list[Note]) -> Block:
    """Write the result of a call.

    One that says nothing is an empty JSON object: the format wants content, some models refuse an
    empty list and some an empty text. It is reported as `empty_result`.
    """
    content: list[Block] = Writer(PROVIDER, index, writer("tool", index), notes).blocks(
        message, data
    )
    if not content:
        content = [{"json": {}}]
        detail = f"message {index}: a result that says nothing is sent as an empty JSON object"
        notes.append(Note("empty_result", "", detail))
    return {"toolResult": {"toolUseId": message.tool_call_id, "content": content}}


# --- reading ------------------------------------------------------------------------------------


def read_block(block: Block) -> tuple[str, Thing] | None:
    """Say what a block is; `None` if a message cannot hold it."""
    if len(block) != 1:
        return None
    match block:
        case {"text": str(text)}:
            return "text", TextPart(text)
        case {"toolUse": {"toolUseId": str(call_id), "name": str(name), "input": dict()}}:
            use: Block = block["toolUse"]
            # What a server's own tool did needs no result, and goes back as it came.
            return None if "type" in use else ("call", ToolCall(call_id, name, use["input"]))
        case {"image": {"format": str(form), "source": {"bytes": {"$bytes": str(data)}}}}:
            return "image", ImagePart(f"data:image/{form};base64,{data}")
        case {"image": {"source": {"s3Location": {"uri": str(uri)}}}}:
            return "image", ImagePart(uri)
        case {"audio": {"format": str(form), "source": {"bytes": {"$bytes": str(data)}}}}:
            return "audio", AudioPart(data, format=form)
        case {"document": {"name": str(name), "source": {"bytes": {"$bytes": str(data)}}}}:
            return _read_document(block["document"].get("format"), name, data)
        case _:
            return None


def _read_document(form: object, name: str, data: str) -> tuple[str, Thing] | None:
    media_type = media_type_of(f".{form}")
    if media_type is None:
        return None
    url = Data(media_type, data).url
    return "file", FilePart(filename=name, data=url, media_type=media_type)


def read_result(block: Block) -> Message:
    """Read a `toolResult` as a message of its own."""
    result: Block = block["toolResult"]
    found = read_blocks(blocks_of(result.get("content")) or [], read_block, writer("tool", 0))
    data = found.data()
    message = Message("tool", found.parts, tool_call_id=result.get("toolUseId"))
    written = write_result(message, 0, data, [])
    if written != block:
        data["message"] = template(block, written)
    return with_data(message, PROVIDER, data)
