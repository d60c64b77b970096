"""OpenAI's Responses: messages and tools as the plain data that `create(**request)` takes.

Pure, without OpenAI's SDK. Source: the `openai` package 3.57.0, and the rules of the API that its
errors tell: a call is answered, and a reasoning item stays before the item that it led to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NotRequired, TypedDict, cast

from promptsections.caching import CachePlan
from promptsections.messages import Message, MessageLike, TextPart, Tool
from promptsections.notes import Note
from promptsections.providers.calls import check_names, schema_of
from promptsections.providers.ids import IdRule
from promptsections.providers.kept import Writer, fill, kept_data, read_blocks, with_data
from promptsections.providers.marks import plan_of
from promptsections.providers.openai_marks import CacheOptions, mark_messages
from promptsections.providers.pairing import pair
from promptsections.providers.plain import Block, blocks_of, to_block
from promptsections.providers.responses_items import (
    PROVIDER,
    is_message,
    item_writer,
    read_item,
    read_message,
    read_result,
    write_message,
    write_result,
)
from promptsections.providers.source import Source, read_source
from promptsections.providers.turns import note_name
from promptsections.unicode import well_formed

__all__ = ["ResponsesRequest", "from_messages", "to_request"]

IDS = IdRule(r"[a-zA-Z0-9_-]{1,64}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class FunctionTool(TypedDict):
    """A function that the model may call; its parameters are a JSON Schema."""

    type: Literal["function"]
    name: str
    description: NotRequired[str]
    parameters: Block
    strict: bool


class ResponsesRequest(TypedDict):
    """Arguments of `client.responses.create`."""

    model: NotRequired[str]
    input: list[Block]
    tools: NotRequired[list[FunctionTool]]
    prompt_cache_key: NotRequired[str]
    prompt_cache_options: NotRequired[CacheOptions]
    extra_body: NotRequired[dict[str, str]]
    """What OpenAI itself does not know: vLLM's `cache_salt`."""


def to_request(
    source: Source,
    *,
    model: str | None = None,
    tools: Sequence[Tool] = (),
    cache_plan: CachePlan | None = None,
    notes: list[Note] | None = None,
) -> ResponsesRequest:
    """Make a request of a rendered prompt, or of messages and tools.

    Instructions are items like all others, where they stand. Reasoning
    (`provider_data["openai_responses"]`) is given back with the message that it led to, or not at
    all; it is not bound to what precedes it.

    Args:
        source: a rendered prompt, or messages.
        model: put into the request, if given.
        tools: with bare messages, the tools that the model may call; they are sent with
            `strict` off, which the API otherwise turns on.
        cache_plan: with bare messages, where a `prompt_cache_breakpoint` stands, and the key. A
            rendered prompt has its own. With one, marks that messages brought along are left out.
        notes: gets a note for whatever was converted.

    Raises:
        ProviderError: if the API would refuse it; the text names the message by its index from 0.
        UnsupportedContentError: if a message holds what has no place there.
    """
    notes = [] if notes is None else notes
    plan = plan_of(source, cache_plan)
    messages, tools = read_source(source, tools)
    check_names(messages, tools, _NAME, "OpenAI allows up to 64 letters a-z, digits, _ and -")
    request = cast("ResponsesRequest", {})
    if model is not None:
        request["model"] = model
    written = [_items(m, index, notes) for index, m in enumerate(pair(messages, IDS, notes))]
    request["input"] = [item for items in written for item in items]
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
    fields = mark_messages(
        plan, list(_can_carry(messages, written)), _text, carriers=_CARRIERS, notes=notes
    )
    return cast("ResponsesRequest", {**request, **fields})


_CARRIERS = frozenset({"input_text", "input_image", "input_file"})


def _can_carry(
    messages: Sequence[Message], written: Sequence[list[Block]]
) -> Iterator[tuple[int, Block, str]]:
    """Yield what takes marks: items of others than the assistant."""
    for index, (message, items) in enumerate(zip(messages, written, strict=True)):
        if message.role != "assistant":
            yield index, items[0], "output" if message.role == "tool" else "content"


def _text(text: str) -> Block:
    return {"type": "input_text", "text": text}


def _items(message: Message, index: int, notes: list[Note]) -> list[Block]:
    note_name(message, index, notes)
    data = kept_data(message, PROVIDER, index)
    if message.role == "assistant":
        return _answer(message, index, data, notes)
    write = write_result if message.role == "tool" else write_message
    item = fill(data.get("message", "="), write(message, index, data, notes))
    return [item, *(blocks_of(data.get("after")) or ())]


def _answer(message: Message, index: int, data: Block, notes: list[Note]) -> list[Block]:
    items = Writer(PROVIDER, index, item_writer(index), notes).blocks(message, data)
    if not items:
        detail = f"message {index}: it says nothing, so it is not sent"
        notes.append(Note("empty_left_out", "", detail))
    return items


def _tool(tool: Tool) -> FunctionTool:
    sent = cast("FunctionTool", {"type": "function", "name": tool.name})
    if tool.description:
        sent["description"] = well_formed(tool.description)
    sent["parameters"] = schema_of(tool)
    sent["strict"] = False
    return sent


# --- reading ------------------------------------------------------------------------------------


def from_messages(
    messages: Iterable[MessageLike], *, instructions: str | None = None
) -> tuple[Message, ...]:
    """Read items of this format, as sent or as the API answered them.

    What the assistant says in a row (reasoning, messages, calls, items that we do not know) becomes
    one message, so that a history keeps all of it or nothing. What a message cannot hold goes into
    `provider_data["openai_responses"]`, so that `to_request` gives it back where it stood.

    Args:
        messages: dicts or objects of the SDK; of an answer, its `output`.
        instructions: those of the same request; become the first message.

    Raises:
        DefinitionError: if one is no item.
    """
    read: list[Message] = [] if instructions is None else [Message("system", instructions)]
    waiting: list[Block] = []
    for message in messages:
        item = message if isinstance(message, Message) else to_block(message)
        if not isinstance(item, Message) and _is_assistants(item):
            if waiting or not _belongs_to_result(item, read):
                waiting.append(item)
            else:
                read[-1] = _followed(read[-1], item)
            continue
        read += _answered(waiting)
        waiting = []
        if isinstance(item, Message):
            read.append(item)
        else:
            read.append(read_message(item) if is_message(item) else read_result(item))
    return (*read, *_answered(waiting))


def _is_assistants(item: Block) -> bool:
    """Say whether an item is part of what the assistant says; so are those that we do not know."""
    if is_message(item):
        return bool(item["role"] == "assistant")
    return item.get("type") != "function_call_output"


def _belongs_to_result(item: Block, read: Sequence[Message]) -> bool:
    """Say whether an item is the output of a tool of another kind, beside a function's."""
    is_output = str(item.get("type")).endswith("_output")
    return is_output and bool(read) and read[-1].role == "tool"


def _followed(result: Message, item: Block) -> Message:
    data = dict(result.provider_data.get(PROVIDER, {}))
    return with_data(result, PROVIDER, {**data, "after": [*data.get("after", ()), item]})


def _answered(items: list[Block]) -> list[Message]:
    if not items:
        return []
    found = read_blocks(items, read_item, item_writer(0))
    parts = found.parts
    single = parts[0] if len(parts) == 1 else None
    content = single.text if isinstance(single, TextPart) else parts or None
    message = Message("assistant", content, tool_calls=found.calls)
    return [with_data(message, PROVIDER, found.data())]
