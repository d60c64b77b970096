"""Google's Gemini API: messages and tools as the plain data of a `generateContent` request.

Pure, without Google's SDK. Source: the `google-genai` package 3.6.1, and the rules of the API that
its errors tell: two roles that alternate, the user first and last, as many results as calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NotRequired, TypedDict, cast

from promptsections.errors import DefinitionError
from promptsections.messages import Message, MessageLike, Tool, ToolCall, to_message
from promptsections.notes import Note
from promptsections.providers.calls import check_names, schema_of
from promptsections.providers.conversation import Conversation, Format
from promptsections.providers.gemini_parts import (
    PROVIDER,
    camel,
    read_part,
    read_result,
    write_result,
    writer,
)
from promptsections.providers.ids import IdRule
from promptsections.providers.kept import read_blocks, with_data
from promptsections.providers.marks import plan_of, without_marks
from promptsections.providers.pairing import pair
from promptsections.providers.plain import Block, block_of, blocks_of, to_block, to_plain
from promptsections.providers.source import Source, read_source
from promptsections.unicode import well_formed

__all__ = ["Content", "GeminiRequest", "from_messages", "to_request"]

IDS = IdRule(r".+", optional=True)
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")


class Content(TypedDict):
    """One turn."""

    role: Literal["user", "model"]
    parts: list[Block]


class Instruction(TypedDict):
    """What the model is told before the conversation."""

    parts: list[Block]


class GeminiRequest(TypedDict):
    """Body of a `generateContent` request."""

    model: NotRequired[str]
    systemInstruction: NotRequired[Instruction]
    contents: list[Content]
    tools: NotRequired[list[Block]]


def to_request(
    source: Source,
    *,
    model: str | None = None,
    tools: Sequence[Tool] = (),
    mid_system: Literal["wrap", "raise"] = "wrap",
    notes: list[Note] | None = None,
) -> GeminiRequest:
    """Make a request of a rendered prompt, or of messages and tools.

    Signatures and thoughts (`provider_data["gemini"]`) are given back with their message: the API
    wants those of the turn under way, and none is bound to what precedes it.

    Args:
        source: a rendered prompt, or messages.
        model: put into the request, if given.
        tools: with bare messages, the tools that the model may call.
        mid_system: what becomes of a system message inside the conversation: `wrap` sends it as
            the user's, marked by `<system>`; `raise` makes it an error.
        notes: gets a note for whatever was converted.

    Raises:
        ProviderError: if the API would refuse it; the text names the message by its index from 0.
        UnsupportedContentError: if a message holds what has no place there.
    """
    notes = [] if notes is None else notes
    without_marks(plan_of(source, None), notes)
    messages, tools = read_source(source, tools)
    check_names(
        messages,
        tools,
        _NAME,
        "Gemini allows up to 128 letters a-z, digits, '_', '-', '.' and ':', a letter or '_' first",
    )
    system, turns = Conversation(
        format=_FORMAT, notes=notes, mid_system=mid_system, may_end_on_model=False
    ).write(pair(messages, IDS, notes))
    request = cast("GeminiRequest", {})
    if model is not None:
        request["model"] = model
    if system is not None:
        request["systemInstruction"] = {"parts": system.blocks}
    request["contents"] = [
        {"role": "model" if turn.role == "assistant" else "user", "parts": turn.blocks}
        for turn in turns
    ]
    if tools:
        request["tools"] = [{"functionDeclarations": [_tool(tool) for tool in tools]}]
    return request


_FORMAT = Format(
    provider=PROVIDER,
    name="Gemini",
    writer=writer,
    result=write_result,
    is_thinking=lambda _: False,
)


def _tool(tool: Tool) -> Block:
    sent: Block = {"name": tool.name}
    if tool.description:
        sent["description"] = well_formed(tool.description)
    sent["parametersJsonSchema"] = schema_of(tool)
    return sent


# --- reading ------------------------------------------------------------------------------------


def from_messages(
    messages: Iterable[MessageLike], *, system: object | None = None
) -> tuple[Message, ...]:
    """Read contents of this format, as sent or as the API answered them.

    Each `functionResponse` becomes a message of its own, before the rest of its turn; those without
    an id are put in the order of their calls. Parts that we do not know (thoughts among them) and
    signatures go into `provider_data["gemini"]`, so that `to_request` gives them back where they
    stood. Keys in snake case, as the SDK's dicts have them, are read as the API's own.

    Args:
        messages: dicts or objects of the SDK; of an answer, its `candidates[0].content`.
        system: the `systemInstruction` of the same request, or its text; becomes the first message.

    Raises:
        DefinitionError: if one is no message.
    """
    read: list[Message] = []
    if isinstance(system, str):
        read.append(Message("system", system))
    elif system is not None:
        read += _read({**camel(to_block(system)), "role": "system"}, ())
    for message in messages:
        if isinstance(message, Message):
            read.append(message)
        else:
            read += _read(camel(to_plain(message)), read[-1].tool_calls if read else ())
    return tuple(read)


_ROLES = {"model": "assistant", "function": "user"}


def _read(content: Any, asked: Sequence[ToolCall]) -> list[Message]:
    block = block_of(content)
    parts = blocks_of(block.get("parts"))
    if parts is None:
        if "parts" in block:
            raise DefinitionError("the parts of a message must be a list of dicts")
        return [to_message(content)]
    results = [read_result(part) for part in parts if "functionResponse" in part]
    others = [part for part in parts if "functionResponse" not in part]
    read = _in_order(results, asked)
    if others or not results:
        role = str(block.get("role") or "user")
        role = _ROLES.get(role, role)
        found = read_blocks(others, read_part, writer(role, 0))
        rest = {key: value for key, value in block.items() if key != "parts"}
        rest |= {"role": role, "content": found.parts, "tool_calls": found.calls}
        read.append(with_data(to_message(rest), PROVIDER, found.data()))
    return read


def _in_order(results: list[Message], asked: Sequence[ToolCall]) -> list[Message]:
    """Put results without an id behind each other as their functions were called."""
    if any(result.tool_call_id for result in results):
        return results
    waiting = list(results)
    ordered: list[Message] = []
    for call in asked:
        found = next((result for result in waiting if result.name == call.name), None)
        if found is not None:
            waiting.remove(found)
            ordered.append(found)
    return ordered + waiting
