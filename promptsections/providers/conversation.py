"""Messages as turns of blocks: what Anthropic, Bedrock and Gemini do alike.

It knows no provider's blocks; a `Format` brings them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from attrs import frozen

from promptsections.blocks.turns import is_system
from promptsections.errors import ProviderError
from promptsections.messages import Message
from promptsections.notes import Note
from promptsections.providers.kept import Write, Writer, fill, kept_data
from promptsections.providers.plain import Block
from promptsections.providers.turns import (
    Piece,
    Turn,
    check_turns,
    leading_system,
    merge,
    note_name,
    system_as_user,
    without_unasked,
)

MidSystem = Literal["wrap", "keep", "raise"]
"""What becomes of a system message inside the conversation.

`wrap`: sent as the user's, marked by `<system>`. `keep`: sent with its role where it follows a user
turn, for models that take one; wrapped elsewhere. `raise`: an error.
"""


@frozen(kw_only=True)
class Format:
    """How one provider writes turns."""

    provider: str
    """The key of `provider_data` that is given back."""
    name: str
    """For people."""
    writer: Callable[[str, int], Write]
    """Of a message's role and index: what writes its blocks."""
    result: Callable[[Message, int, Block, list[Note]], Block]
    """Writes the result of a call: of its message, index and kept data, and the notes."""
    is_thinking: Callable[[Block], bool]
    """Whether a block that only the provider understands is bound to what precedes it."""


@frozen(kw_only=True)
class Conversation:
    """Writes messages as turns."""

    format: Format
    notes: list[Note]
    mid_system: MidSystem = "wrap"
    may_end_on_model: bool = True
    keep_thinking: bool = True

    def write(self, messages: Sequence[Message]) -> tuple[Turn | None, list[Turn]]:
        """Return the instructions, if there are any, and the turns behind them.

        Raises:
            ProviderError: if the provider would refuse it; the text names the message by its index
                from 0.
        """
        start = leading_system(messages)
        system = merge([self._piece(m, i) for i, m in enumerate(messages[:start])], self.notes)
        pieces = without_unasked(self._pieces(messages, start), self.notes)
        turns = merge(pieces, self.notes)
        check_turns(turns, self.format.name, may_end_on_model=self.may_end_on_model)
        return system[0] if system else None, turns

    def _pieces(self, messages: Sequence[Message], start: int) -> list[Piece]:
        pieces: list[Piece] = []
        before = ""
        for index, message in enumerate(messages[start:], start):
            if is_system(message):
                message = self._instruction(message, index, before)
            piece = self._piece(message, index)
            before = piece.role if piece.blocks else before
            pieces.append(piece)
        return pieces

    def _instruction(self, message: Message, index: int, before: str) -> Message:
        if self.mid_system == "raise":
            raise ProviderError(
                f"message {index}: a {message.role} message inside the conversation; "
                'put it first, or pass mid_system="wrap"'
            )
        if self.mid_system == "keep" and before in ("user", "system"):
            return message
        return system_as_user(message, index, self.notes)

    def _piece(self, message: Message, index: int) -> Piece:
        note_name(message, index, self.notes)
        provider = self.format.provider
        data = kept_data(message, provider, index)
        if message.role == "tool":
            result = self.format.result(message, index, data, self.notes)
            return Piece(index, "user", [fill(data.get("message", "="), result)], is_result=True)
        role = "system" if is_system(message) else message.role
        writer = Writer(
            provider, index, self.format.writer(role, index), self.notes, self._keeps(index)
        )
        blocks = writer.blocks(message, data)
        is_bare = isinstance(message.content, str) and len(blocks) == 1 and not message.tool_calls
        return Piece(index, role, blocks, is_bare=is_bare and "blocks" not in data)

    def _keeps(self, index: int) -> Callable[[Block], bool]:
        def keep(block: Block) -> bool:
            if self.keep_thinking or not self.format.is_thinking(block):
                return True
            detail = f"message {index}: what precedes its thinking may differ, so it is not sent"
            self.notes.append(Note("thinking_left_out", "", detail))
            return False

        return keep


def cut_prefill(block: Block, notes: list[Note]) -> None:
    """Cut white space at the end of the text that the model shall continue.

    Anthropic refuses it, on Bedrock too. It is reported as `trailing_space_cut`.
    """
    text: Any = block.get("text")
    if isinstance(text, str) and text != text.rstrip():
        block["text"] = text.rstrip()
        detail = "white space at the end of the last message is cut: the model continues it"
        notes.append(Note("trailing_space_cut", "", detail))
