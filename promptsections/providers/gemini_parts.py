"""Parts of Google's Gemini API, to and from parts, calls and results.

It knows no conversation. Source: the `google-genai` package 3.6.1, `google.genai.types.Part`, in
the camel case of the API itself.
"""

from __future__ import annotations

import json
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
from promptsections.profiles.tools import json_text
from promptsections.providers.calls import arguments_of
from promptsections.providers.kept import Thing, Write, parts_of, template, with_data
from promptsections.providers.media import media_type_of, read_data_url, read_file
from promptsections.providers.plain import Block, block_of
from promptsections.providers.turns import is_blank
from promptsections.unicode import well_formed

PROVIDER = "gemini"
"""The key of `provider_data` that is given back."""

_FETCHED = ("https://", "gs://")


# --- writing ------------------------------------------------------------------------------------


def writer(role: str, index: int) -> Write:
    """Return what writes the parts of a message with this role."""

    def write(_: str, thing: Thing) -> Block | None:
        match thing:
            case TextPart():
                return None if is_blank(thing.text) else {"text": thing.text}
            case ToolCall():
                given = arguments_of(thing, index)
                call: Block = {"id": thing.id} if thing.id else {}
                return {"functionCall": {**call, "name": thing.name, "args": given}}
            case ImagePart() | FilePart() | AudioPart():
                if role not in ("user", "tool"):
                    raise UnsupportedContentError(
                        f"message {index}: Gemini takes no {type(thing).__name__} "
                        f"in a {role} message"
                    )
                return _media(thing, index)
            case _:
                assert_never(thing)

    return write


def _media(part: ImagePart | FilePart | AudioPart, index: int) -> Block:
    match part:
        case ImagePart():
            data = read_data_url(part.url, index)
            if data is None:
                return _file_data(part.url, media_type_of(part.url), index)
        case AudioPart():
            return {"inlineData": {"mimeType": f"audio/{part.format}", "data": part.data}}
        case FilePart():
            data = read_file(part, index)
            if data is None:
                if part.file_id is None:
                    raise UnsupportedContentError(
                        f"message {index}: a file needs a file_id or data"
                    )
                return _file_data(part.file_id, part.media_type, index)
        case _:
            assert_never(part)
    blob = {"mimeType": data.media_type, "data": data.base64}
    if isinstance(part, FilePart) and part.filename is not None:
        blob["displayName"] = well_formed(part.filename)
    return {"inlineData": blob}


def _file_data(uri: str, media_type: str | None, index: int) -> Block:
    if not uri.startswith(_FETCHED):
        raise UnsupportedContentError(
            f"message {index}: Gemini knows files by their URI, {' or '.join(_FETCHED)}, "
            f"not {uri[:40]!r}"
        )
    return {"fileData": ({"mimeType": media_type} if media_type else {}) | {"fileUri": uri}}


def write_result(message: Message, index: int, _: Block, __: list[Note]) -> Block:
    """Write the result of a call.

    A text that is a JSON object, compact as `json.dumps` without blanks writes it, is that object;
    any other is its `output`, several texts joined by line breaks. Images and files stand beside
    it.
    """
    response: Block = {"id": message.tool_call_id} if message.tool_call_id else {}
    response |= {"name": message.name, "response": _response(message.text)}
    write = writer("tool", index)
    shown = [part for part in parts_of(message) if not isinstance(part, TextPart)]
    parts = [write("", part) for part in shown]
    if parts:
        response["parts"] = parts
    return {"functionResponse": response}


def _response(text: str) -> Block:
    if text.startswith("{"):
        try:
            found: object = json.loads(text)
            if json_text(found) == text and isinstance(found, dict):
                return cast("Block", found)
        except (ValueError, RecursionError):
            pass
    return {"output": text}


# --- reading ------------------------------------------------------------------------------------

_FREE = frozenset({"args", "response", "partMetadata"})
"""Keys of what callers and functions say: nothing in them is a key of the API."""


def camel(value: Any) -> Any:
    """Copy plain data with the keys of the API: the SDK's dicts may write `function_call`."""
    if isinstance(value, list):
        return [camel(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    found: Block = {}
    for key, item in cast("Block", value).items():
        name = re.sub(r"_([a-z])", lambda match: match[1].upper(), key)
        found[name] = item if name in _FREE else camel(item)
    return found


def read_part(part: Block) -> tuple[str, Thing] | None:
    """Say what a part is; `None` if a message cannot hold it."""
    if part.get("thought"):
        return None
    match part:
        case {"text": str(text)}:
            return "text", TextPart(text)
        case {"functionCall": {"name": str(name)}}:
            call: Block = part["functionCall"]
            return "call", ToolCall(str(call.get("id", "")), name, call.get("args"))
        case {"inlineData": {"mimeType": str(media_type), "data": str(data)}}:
            return _read_blob(media_type, data, part["inlineData"].get("displayName"))
        case {"fileData": {"fileUri": str(uri)}}:
            return _read_file(uri, part["fileData"].get("mimeType"))
        case _:
            return None


def _read_blob(media_type: str, data: str, name: Any) -> tuple[str, Thing]:
    kind, _, form = media_type.partition("/")
    if kind == "image" and name is None:
        return "image", ImagePart(f"data:{media_type};base64,{data}")
    if kind == "audio" and name is None:
        return "audio", AudioPart(data, format=form)
    url = f"data:{media_type};base64,{data}"
    return "file", FilePart(filename=name, data=url, media_type=media_type)


def _read_file(uri: str, media_type: Any) -> tuple[str, Thing]:
    if media_type_of(uri) == media_type is not None and media_type.startswith("image/"):
        return "image", ImagePart(uri)
    return "file", FilePart(file_id=uri, media_type=media_type)


def read_result(part: Block) -> Message:
    """Read a `functionResponse` as a message of its own."""
    found: Block = part["functionResponse"]
    response = block_of(found.get("response"))
    output = response.get("output")
    text = output if isinstance(output, str) and len(response) == 1 else json_text(response)
    shown = [read_part(each) for each in found.get("parts") or ()]
    things = [cast("Part", each[1]) for each in shown if each is not None]
    message = Message(
        "tool",
        [TextPart(text), *things] if things else text,
        tool_call_id=found.get("id"),
        name=found.get("name"),
    )
    written = write_result(message, 0, {}, [])
    data = {} if written == part else {"message": template(part, written)}
    return with_data(message, PROVIDER, data)
