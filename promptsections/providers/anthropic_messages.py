"""Anthropic's Messages API: messages and tools as the plain data that `create(**request)` takes.

Pure, without Anthropic's SDK. Source: the `anthropic` package 2.14.0 and the rules of its API that
its errors tell: results right after their calls in one user turn, no blank text, the user first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NotRequired, TypedDict, cast

from promptsections.caching import CachePlan
from promptsections.messages import Message, MessageLike, Tool, to_message
from promptsections.notes import Note
from promptsections.providers.anthropic_blocks import (
    PROVIDER,
    read_block,
    read_result,
    write_result,
    writer,
)
from promptsections.providers.anthropic_marks import mark_turns
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

__all__ = ["MessageParam", "MessagesRequest", "from_messages", "to_request"]

IDS = IdRule(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


class MessageParam(TypedDict):
    """One turn."""

    role: Literal["user", "assistant", "system"]
    content: str | list[Block]


class ToolParam(TypedDict):
    """A tool that the model may call; its schema is a JSON Schema."""

    name: str
    description: NotRequired[str]
    input_schema: Block
    cache_control: NotRequired[Block]


class MessagesRequest(TypedDict):
    """Arguments of `client.messages.create`; the API also wants `model` and `max_tokens`."""

    model: NotRequired[str]
    max_tokens: NotRequired[int]
    system: NotRequired[str | list[Block]]
    messages: list[MessageParam]
    tools: NotRequired[list[ToolParam]]


def to_request(
    source: Source,
    *,
    model: str | None = None,
    max_tokens: int | None = None,
    tools: Sequence[Tool] = (),
    prefill: bool = True,
    mid_system: MidSystem = "wrap",
    keep_thinking: bool | None = None,
    cache_plan: CachePlan | None = None,
    notes: list[Note] | None = None,
) -> MessagesRequest:
    """Make a request of a rendered prompt, or of messages and tools.

    Args:
        source: a rendered prompt, or messages.
        model: put into the request, if given.
        max_tokens: put into the request, if given.
        tools: with bare messages, the tools that the model may call.
        prefill: whether the model continues a last message of the assistant; newer models refuse
            one, so False makes it an error here. White space at its end is cut.
        mid_system: what becomes of a system message inside the conversation: `wrap` sends it as
            the user's, marked by `<system>`; `keep` sends it as `role: "system"` where it follows a
            user turn, for models that take one; `raise` makes it an error.
        keep_thinking: whether thinking is given back. Newer models refuse it if anything before it
            changed. By default it is given back, unless the source is a rendered prompt of which
            something was left out, cut or failed.
        cache_plan: with bare messages, where `cache_control` marks stand. A rendered prompt has a
            plan of its own. With a plan, marks that messages brought along are left out.
        notes: gets a note for whatever was converted.

    Raises:
        ProviderError: if the API would refuse it; the text names the message by its index from 0.
        UnsupportedContentError: if a message holds what has no place there.
    """
    notes = [] if notes is None else notes
    plan = plan_of(source, cache_plan)
    messages, tools = read_source(source, tools)
    check_names(messages, tools, _NAME, "Anthropic allows up to 128 letters a-z, digits, _ and -")
    system, turns = Conversation(
        format=_FORMAT,
        notes=notes,
        mid_system=mid_system,
        may_end_on_model=prefill,
        keep_thinking=is_whole(source) if keep_thinking is None else keep_thinking,
    ).write(pair(messages, IDS, notes))
    if turns[-1].role == "assistant":
        cut_prefill(turns[-1].blocks[-1], notes)
    on_tools = mark_turns(plan, system, turns, has_tools=bool(tools), notes=notes)
    request = cast("MessagesRequest", {})
    if model is not None:
        request["model"] = model
    if max_tokens is not None:
        request["max_tokens"] = max_tokens
    if system is not None:
        request["system"] = _content(system)
    request["messages"] = [
        {"role": cast("Any", turn.role), "content": _content(turn)} for turn in turns
    ]
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
        if on_tools is not None:
            request["tools"][-1]["cache_control"] = on_tools
    return request


_FORMAT = Format(
    provider=PROVIDER,
    name="Anthropic",
    writer=writer,
    result=write_result,
    is_thinking=lambda block: block.get("type") in ("thinking", "redacted_thinking"),
)


def _content(turn: Turn) -> str | list[Block]:
    """Return a bare text as such if it is all, and blocks otherwise."""
    bare = len(turn.pieces) == 1 and turn.pieces[0].is_bare
    bare = bare and "cache_control" not in turn.blocks[0]
    return cast("str", turn.blocks[0]["text"]) if bare else turn.blocks


def _tool(tool: Tool) -> ToolParam:
    sent = cast("ToolParam", {"name": tool.name})
    if tool.description:
        sent["description"] = well_formed(tool.description)
    sent["input_schema"] = schema_of(tool)
    return sent


# --- reading ------------------------------------------------------------------------------------


def from_messages(
    messages: Iterable[MessageLike], *, system: str | Iterable[Any] | None = None
) -> tuple[Message, ...]:
    """Read messages of this format, as sent or as the API answered them.

    Each `tool_result` becomes a message of its own, before the rest of its turn. Blocks that we do
    not know (thinking among them) and marks on blocks go into `provider_data["anthropic"]`, so that
    `to_request` gives them back where they stood.

    Args:
        messages: dicts, or objects of the SDK.
        system: the `system` of the same request; becomes the first message.

    Raises:
        DefinitionError: if one is no message.
    """
    read: list[Message] = []
    if system is not None:
        read.append(_read(to_block({"role": "system", "content": system})))
    for message in messages:
        if isinstance(message, Message):
            read.append(message)
            continue
        block = to_block(message)
        if block.get("role") == "tool" or blocks_of(block.get("content")) is None:
            read.append(to_message(block))
            continue
        results = [b for b in block["content"] if b.get("type") == "tool_result"]
        block["content"] = [b for b in block["content"] if b.get("type") != "tool_result"]
        read += [read_result(result) for result in results]
        if block["content"] or not results:
            read.append(_read(block))
    return tuple(read)


def _read(block: Block) -> Message:
    """Read what a message says beside results of calls."""
    blocks = blocks_of(block["content"])
    if blocks is None:
        return to_message(block)
    found = read_blocks(blocks, read_block, writer(str(block.get("role")), 0))
    # Stores that mix the formats of OpenAI and Anthropic keep calls beside the content.
    others = blocks_of(block.get("tool_calls")) or []
    data = found.data()
    if found.pattern is not None:
        data["blocks"] = [*found.pattern, *["call"] * len(others)]
    calls: list[object] = [*found.calls, *others]
    message = to_message({**block, "content": found.parts, "tool_calls": calls})
    return with_data(message, PROVIDER, data)
