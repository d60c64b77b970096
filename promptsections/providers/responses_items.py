"""Items and content of OpenAI's Responses API, to and from parts, calls and results.

It knows no conversation. Source: the `openai` package 3.57.0, `openai.types.responses`.
"""

from __future__ import annotations

from typing import Any, assert_never

from promptsections.errors import DefinitionError, UnsupportedContentError
from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    TextPart,
    ToolCall,
)
from promptsections.notes import Note
from promptsections.providers.kept import Thing, Write, Writer, read_blocks, template, with_data
from promptsections.providers.media import read_file
from promptsections.providers.plain import Block, blocks_of
from promptsections.unicode import well_formed

PROVIDER = "openai_responses"
"""The key of `provider_data` that is given back."""


# --- writing ------------------------------------------------------------------------------------


def item_writer(index: int) -> Write:
    """Return what writes the items of an assistant message: one for each text and call."""

    def write(kind: str, thing: Thing) -> Block | None:
        if isinstance(thing, ToolCall):
            names = {"call_id": thing.id, "name": thing.name}
            return {"type": "function_call", **names, "arguments": thing.arguments}
        if not isinstance(thing, TextPart):
            raise UnsupportedContentError(
                f"message {index}: Responses take no {type(thing).__name__} in an assistant message"
            )
        if kind == "output":  # as the API itself writes an answer
            return {"role": "assistant", "content": [{"type": "output_text", "text": thing.text}]}
        return {"role": "assistant", "content": thing.text} if thing.text else None

    return write


def content_writer(role: str, index: int) -> Write:
    """Return what writes the content of a message with another role."""

    def write(_: str, thing: Thing) -> Block:
        if isinstance(thing, TextPart):
            return {"type": "input_text", "text": thing.text}
        if role in ("system", "developer") or isinstance(thing, AudioPart | ToolCall):
            raise UnsupportedContentError(
                f"message {index}: Responses take no {type(thing).__name__} in a {role} message"
            )
        match thing:
            case ImagePart():
                url, detail = well_formed(thing.url), thing.detail or "auto"
                return {"type": "input_image", "image_url": url, "detail": detail}
            case FilePart():
                return _file(thing, index)
            case _:
                assert_never(thing)

    return write


def _file(file: FilePart, index: int) -> Block:
    sent: Block = {"type": "input_file"}
    if file.file_id is not None:
        sent["file_id"] = file.file_id
    if file.data is not None:
        data = None if file.data.startswith("data:") else read_file(file, index)
        sent["file_data"] = file.data if data is None else data.url
    if len(sent) == 1:
        raise UnsupportedContentError(f"message {index}: a file needs a file_id or data")
    if file.filename is not None:
        sent["filename"] = well_formed(file.filename)
    return sent


def write_content(message: Message, index: int, data: Block, notes: list[Note]) -> Any:
    """Write the content of a message that is not the assistant's: a text, or a list."""
    if not message.content or isinstance(message.content, str):
        return message.content or ""
    write = content_writer(message.role, index)
    return Writer(PROVIDER, index, write, notes).blocks(message, data)


def write_result(message: Message, index: int, data: Block, notes: list[Note]) -> Block:
    """Write the result of a call."""
    output = write_content(message, index, data, notes)
    return {"type": "function_call_output", "call_id": message.tool_call_id, "output": output}


def write_message(message: Message, index: int, data: Block, notes: list[Note]) -> Block:
    """Write a message of the user or of an instructing role."""
    return {"role": message.role, "content": write_content(message, index, data, notes)}


# --- reading ------------------------------------------------------------------------------------


def is_message(item: Block) -> bool:
    """Say whether an item is a message; the type may be left out."""
    return item.get("type", "message") == "message" and "role" in item


def read_item(item: Block) -> tuple[str, Thing] | None:
    """Say what an item of the assistant's is; `None` if a message cannot hold it."""
    match item:
        case {"type": "function_call", "call_id": str(call_id), "name": str(name)}:
            return "call", ToolCall(call_id, name, item.get("arguments", ""))
        case {"role": "assistant", "content": str(text)}:
            return "text", TextPart(text)
        case {"role": "assistant", "content": [{"type": "output_text", "text": str(text)}]}:
            return "output", TextPart(text)
        case _:
            return None


def read_result(item: Block) -> Message:
    """Read a `function_call_output`."""
    content, data = _read_content(item.get("output"), "tool")
    message = Message("tool", content, tool_call_id=item.get("call_id"))
    return _with_template(message, data, item, write_result(message, 0, data, []))


def read_message(item: Block) -> Message:
    """Read a message of the user or of an instructing role."""
    role = item["role"]
    content, data = _read_content(item.get("content"), str(role))
    message = Message(role, content)
    return _with_template(message, data, item, write_message(message, 0, data, []))


def _read_content(content: object, role: str) -> tuple[Any, Block]:
    if content is None or isinstance(content, str):
        return content, {}
    blocks = blocks_of(content)
    if blocks is None:
        raise DefinitionError(f"content must be text or a list, not {type(content).__name__}")
    found = read_blocks(blocks, _read_block, content_writer(role, 0))
    return found.parts, found.data()


def _read_block(block: Block) -> tuple[str, Thing] | None:
    match block:
        case {"type": "input_text", "text": str(text)}:
            return "text", TextPart(text)
        case {"type": "input_image", "image_url": str(url)}:
            return "image", ImagePart(url, detail=block.get("detail"))
        case {"type": "input_file"} if "file_url" not in block:
            names = {key: block.get(key) for key in ("filename", "file_id")}
            return "file", FilePart(data=block.get("file_data"), **names)
        case _:
            return None


def _with_template(message: Message, data: Block, item: Block, written: Block) -> Message:
    if written != item:
        data["message"] = template(item, written)
    return with_data(message, PROVIDER, data)
