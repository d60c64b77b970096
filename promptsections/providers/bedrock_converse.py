"""Amazon Bedrock's Converse: messages and tools as the plain data that `converse(**request)` takes.

Pure, without boto3; images and files are bytes, as boto3 wants them. Source: botocore 1.44.8, and
the rules of the API that its errors tell: roles alternate, the user first, no blank text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, cast

from promptsections.caching import CachePlan
from promptsections.errors import ProviderError
from promptsections.messages import Message, MessageLike, Tool, to_message
from promptsections.notes import Note
from promptsections.providers.bedrock_blocks import (
    PROVIDER,
    from_bytes,
    read_block,
    read_result,
    to_bytes,
    write_result,
    writer,
)
from promptsections.providers.bedrock_marks import mark_turns
from promptsections.providers.calls import check_names, schema_of
from promptsections.providers.conversation import Conversation, Format, MidSystem, cut_prefill
from promptsections.providers.ids import IdRule
from promptsections.providers.kept import read_blocks, with_data
from promptsections.providers.marks import plan_of
from promptsections.providers.pairing import pair
from promptsections.providers.plain import Block, blocks_of, to_block
from promptsections.providers.source import Source, is_whole, read_source
from promptsections.providers.turns import Turn
from promptsections.unicode import well_formed

__all__ = ["ConverseMessage", "ConverseRequest", "from_messages", "to_request"]

IDS = IdRule(r"[a-zA-Z0-9_.:-]{1,64}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class ConverseMessage(TypedDict):
    """One turn."""

    role: Literal["user", "assistant", "system"]
    content: list[Block]


class ToolConfig(TypedDict):
    """What the model may call."""

    tools: list[Block]


class ConverseRequest(TypedDict):
    """Arguments of `client.converse`, which also wants `modelId`."""

    modelId: NotRequired[str]
    system: NotRequired[list[Block]]
    messages: list[ConverseMessage]
    toolConfig: NotRequired[ToolConfig]


def to_request(
    source: Source,
    *,
    model: str | None = None,
    tools: Sequence[Tool] = (),
    prefill: bool = True,
    mid_system: MidSystem = "wrap",
    keep_thinking: bool | None = None,
    cache_plan: CachePlan | None = None,
    notes: list[Note] | None = None,
) -> ConverseRequest:
    """Make a request of a rendered prompt, or of messages and tools.

    Args:
        source: a rendered prompt, or messages.
        model: put into the request as `modelId`, if given.
        tools: with bare messages, the tools that the model may call. The API refuses calls in
            messages if there are none; that is reported as `tools_missing`.
        prefill: whether the model continues a last message of the assistant; some models refuse
            one, so False makes it an error here. White space at its end is cut.
        mid_system: what becomes of a system message inside the conversation: `wrap` sends it as
            the user's, marked by `<system>`; `keep` sends it with its role where it follows a user
            turn, for models that take one; `raise` makes it an error.
        keep_thinking: whether reasoning is given back. Newer Claude models refuse it if anything
            before it changed. By default it is given back, unless the source is a rendered prompt
            of which something was left out, cut or failed.
        cache_plan: with bare messages, where a `cachePoint` stands. A rendered prompt has a plan of
            its own. With a plan, points that messages brought along are left out.
        notes: gets a note for whatever was converted.

    Raises:
        ProviderError: if the API would refuse it; the text names the message by its index from 0.
        UnsupportedContentError: if a message holds what has no place there.
    """
    notes = [] if notes is None else notes
    plan = plan_of(source, cache_plan)
    messages, tools = read_source(source, tools)
    check_names(messages, tools, _NAME, "Bedrock allows up to 64 letters a-z, digits, _ and -")
    system, turns = Conversation(
        format=_FORMAT,
        notes=notes,
        mid_system=mid_system,
        may_end_on_model=prefill,
        keep_thinking=is_whole(source) if keep_thinking is None else keep_thinking,
    ).write(pair(messages, IDS, notes))
    _check_documents(turns)
    if turns[-1].role == "assistant":
        cut_prefill(turns[-1].blocks[-1], notes)
    on_tools = mark_turns(plan, system, turns, has_tools=bool(tools), notes=notes)
    request = cast("ConverseRequest", {})
    if model is not None:
        request["modelId"] = model
    if system is not None:
        request["system"] = to_bytes(system.blocks)
    request["messages"] = [
        {"role": cast("Any", turn.role), "content": to_bytes(turn.blocks)} for turn in turns
    ]
    if tools:
        definitions = [_tool(tool) for tool in tools]
        request["toolConfig"] = {"tools": [*definitions, *([on_tools] if on_tools else ())]}
    elif any(message.tool_calls for message in messages):
        detail = "Bedrock refuses calls in messages without a toolConfig: pass tools"
        notes.append(Note("tools_missing", "", detail))
    return request


_FORMAT = Format(
    provider=PROVIDER,
    name="Bedrock",
    writer=writer,
    result=write_result,
    is_thinking=lambda block: "reasoningContent" in block,
)


def _check_documents(turns: Sequence[Turn]) -> None:
    for turn in turns:
        blocks = turn.blocks
        if any("document" in block for block in blocks) and not any("text" in b for b in blocks):
            raise ProviderError(
                f"message {turn.pieces[0].index}: Bedrock wants a text beside a document"
            )


def _tool(tool: Tool) -> Block:
    sent: Block = {"name": tool.name}
    if tool.description:
        sent["description"] = well_formed(tool.description)
    sent["inputSchema"] = {"json": schema_of(tool)}
    return {"toolSpec": sent}


# --- reading ------------------------------------------------------------------------------------


def from_messages(
    messages: Iterable[MessageLike], *, system: Iterable[Mapping[str, Any]] | None = None
) -> tuple[Message, ...]:
    """Read messages of this format, as sent or as the API answered them.

    Each `toolResult` becomes a message of its own, before the rest of its turn. Blocks that we do
    not know (reasoning and cache points among them) go into `provider_data["bedrock"]`, so that
    `to_request` gives them back where they stood.

    Args:
        messages: dicts; of an answer, its `output["message"]`.
        system: the `system` of the same request; becomes the first message.

    Raises:
        DefinitionError: if one is no message.
    """
    read: list[Message] = []
    if system is not None:
        read += _read({"role": "system", "content": list(system)})
    for message in messages:
        read += [message] if isinstance(message, Message) else _read(message)
    return tuple(read)


def _read(message: object) -> list[Message]:
    block = to_block(message, from_bytes)
    blocks = blocks_of(block.get("content"))
    if blocks is None:
        return [to_message(block)]
    results = [one for one in blocks if "type" not in one.get("toolResult", {"type": None})]
    others = [one for one in blocks if one not in results]
    read = [read_result(result) for result in results]
    if others or not results:
        found = read_blocks(others, read_block, writer(str(block.get("role")), 0))
        rest = {**block, "content": found.parts, "tool_calls": found.calls}
        read.append(with_data(to_message(rest), PROVIDER, found.data()))
    return read
