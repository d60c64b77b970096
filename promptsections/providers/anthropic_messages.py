"""Anthropic's Messages API: messages and tools as the plain data that `create(**request)` takes.

Pure, without Anthropic's SDK. Source: the `anthropic` package 2.14.0 and the rules of its API that
its errors tell: results right after their calls in one user turn, no blank text, the user first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NotRequired, TypedDict, cast

from promptsections.blocks.turns import is_system
from promptsections.errors import ProviderError
from promptsections.messages import Message, MessageLike, Tool, to_message
from promptsections.notes import Note
from promptsections.providers.anthropic_blocks import (
    PROVIDER,
    THINKING,
    read_block,
    read_result,
    write_result,
    writer,
)
from promptsections.providers.calls import check_names, schema_of
from promptsections.providers.ids import IdRule
from promptsections.providers.kept import Writer, fill, kept_data, read_blocks, with_data
from promptsections.providers.pairing import pair
from promptsections.providers.plain import Block, blocks_of, to_block
from promptsections.providers.source import Source, is_whole, read_source
from promptsections.providers.turns import (
    Piece,
    Turn,
    check_turns,
    leading_system,
    merge,
    note_name,
    system_as_user,
)
from promptsections.unicode import well_formed

__all__ = ["MessageParam", "MessagesRequest", "from_messages", "to_request"]

IDS = IdRule(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MidSystem = Literal["wrap", "keep", "raise"]


class MessageParam(TypedDict):
    """One turn."""

    role: Literal["user", "assistant", "system"]
    content: str | list[Block]


class ToolParam(TypedDict):
    """A tool that the model may call; its schema is a JSON Schema."""

    name: str
    description: NotRequired[str]
    input_schema: Block


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
        notes: gets a note for whatever was converted.

    Raises:
        ProviderError: if the API would refuse it; the text names the message by its index from 0.
        UnsupportedContentError: if a message holds what has no place there.
    """
    notes = [] if notes is None else notes
    messages, tools = read_source(source, tools)
    check_names(messages, tools, _NAME, "Anthropic allows up to 128 letters a-z, digits, _ and -")
    messages = pair(messages, IDS, notes)
    start = leading_system(messages)
    keep = is_whole(source) if keep_thinking is None else keep_thinking
    conversation = _Conversation(mid_system, keep, notes)
    system = [conversation.piece(m, i) for i, m in enumerate(messages[:start])]
    turns = merge(conversation.pieces(messages, start), notes)
    check_turns(turns, "Anthropic", may_end_on_model=prefill)
    request = cast("MessagesRequest", {})
    if model is not None:
        request["model"] = model
    if max_tokens is not None:
        request["max_tokens"] = max_tokens
    for instructions in merge(system, notes):
        request["system"] = _content(instructions)
    request["messages"] = [cast("MessageParam", _turn(turn)) for turn in turns]
    _cut_prefill(request["messages"], notes)
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
    return request


class _Conversation:
    """Writes messages as pieces of turns, in order."""

    def __init__(self, mid_system: MidSystem, keep_thinking: bool, notes: list[Note]) -> None:
        self._mid_system = mid_system
        self._keep_thinking = keep_thinking
        self._notes = notes

    def pieces(self, messages: Sequence[Message], start: int) -> list[Piece]:
        """Write what stands behind the instructions."""
        pieces: list[Piece] = []
        for index, message in enumerate(messages[start:], start):
            if is_system(message):
                before = next((piece.role for piece in reversed(pieces) if piece.blocks), None)
                message = self._instruction(message, index, before)
            pieces.append(self.piece(message, index))
        return pieces

    def _instruction(self, message: Message, index: int, before: str | None) -> Message:
        if self._mid_system == "raise":
            raise ProviderError(
                f"message {index}: a {message.role} message inside the conversation; "
                'put it first, or pass mid_system="wrap"'
            )
        if self._mid_system == "keep" and before in ("user", "system"):
            return message
        return system_as_user(message, index, self._notes)

    def piece(self, message: Message, index: int) -> Piece:
        """Write one message."""
        note_name(message, index, self._notes)
        data = kept_data(message, PROVIDER, index)
        if message.role == "tool":
            result = write_result(message, index, data, self._notes)
            return Piece(index, "user", [fill(data.get("message", "="), result)])
        role = "system" if is_system(message) else message.role
        write = writer(role, index)
        keep = self._keeps(index)
        blocks = Writer(PROVIDER, index, write, self._notes, keep).blocks(message, data)
        bare = message.content if isinstance(message.content, str) else None
        single = len(blocks) == 1 and blocks[0].get("type") == "text"
        return Piece(index, role, blocks, bare if single else None)

    def _keeps(self, index: int) -> Any:
        def keep(block: Block) -> bool:
            if self._keep_thinking or block.get("type") not in THINKING:
                return True
            detail = f"message {index}: what precedes its thinking may differ, so it is not sent"
            self._notes.append(Note("thinking_left_out", "", detail))
            return False

        return keep


def _turn(turn: Turn) -> dict[str, Any]:
    return {"role": turn.role, "content": _content(turn)}


def _content(turn: Turn) -> str | list[Block]:
    """Return a bare text as such if it is all, and blocks otherwise."""
    first, *others = turn.pieces
    return turn.blocks if others or first.text is None else first.text


def _cut_prefill(messages: list[MessageParam], notes: list[Note]) -> None:
    """Cut white space at the end of what the model shall continue, which the API refuses."""
    last = messages[-1]
    if last["role"] != "assistant":
        return
    content = last["content"]
    text = content if isinstance(content, str) else content[-1].get("text", "")
    if text == text.rstrip():
        return
    if isinstance(content, str):
        last["content"] = text.rstrip()
    else:
        content[-1]["text"] = text.rstrip()
    detail = "white space at the end of the last message is cut: the model continues it"
    notes.append(Note("trailing_space_cut", "", detail))


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
