"""A conversation as turns of two speakers, as Anthropic, Bedrock and Gemini want it.

Instructions stand outside, the user begins, roles alternate, no turn is empty. It knows no blocks:
what a turn holds is the provider's matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from promptsections.blocks.turns import is_system
from promptsections.errors import ProviderError
from promptsections.messages import SYSTEM_TAGS, Message, TextPart
from promptsections.notes import Note
from promptsections.providers.plain import Block


def is_blank(text: str) -> bool:
    """Say whether a text is empty or nothing but white space, which providers refuse."""
    return not text or text.isspace()


def leading_system(messages: Sequence[Message]) -> int:
    """Return how many system and developer messages stand before everything else."""
    return next((n for n, message in enumerate(messages) if not is_system(message)), len(messages))


def system_as_user(message: Message, index: int, notes: list[Note]) -> Message:
    """Write a later system message as the user's, each text of it marked by `<system>`.

    It stays where it stands. It is reported as `system_wrapped`; profiles of such models charge
    every system message for the marks.
    """
    content = message.content
    if isinstance(content, str):
        content = _wrapped(content)
    elif content is not None:
        content = tuple(
            TextPart(_wrapped(part.text)) if isinstance(part, TextPart) else part
            for part in content
        )
    detail = f"message {index}: a system message inside the conversation is sent as the user's"
    notes.append(Note("system_wrapped", "", detail))
    return evolve(message, role="user", content=content)


def _wrapped(text: str) -> str:
    return "" if is_blank(text) else SYSTEM_TAGS[0] + text + SYSTEM_TAGS[1]


def note_name(message: Message, index: int, notes: list[Note]) -> None:
    """Report a name of a speaker that the format has no place for."""
    if message.name and message.role != "tool":
        detail = f"message {index}: names have no place here, {message.name!r} is not sent"
        notes.append(Note("name_left_out", "", detail))


@frozen
class Piece:
    """What one message says, in blocks."""

    index: int
    """Of the message, from 0."""
    role: str
    blocks: list[Block]
    is_bare: bool = False
    """Whether the message is a text without parts, so that it may be sent as one."""
    is_result: bool = False
    """Whether it is the result of a call."""

    @property
    def opens(self) -> bool:
        """Whether a conversation can begin with it."""
        return self.role == "user" and not self.is_result


@frozen
class Turn:
    """What one speaker says until the other one does."""

    role: str
    pieces: tuple[Piece, ...]

    @property
    def blocks(self) -> list[Block]:
        """All blocks, in order."""
        return [block for piece in self.pieces for block in piece.blocks]


def merge(pieces: Sequence[Piece], notes: list[Note]) -> list[Turn]:
    """Put messages of one role that stand in a row into one turn, their blocks kept apart.

    A message without blocks is left out and reported as `empty_left_out`.
    """
    turns: list[Turn] = []
    for piece in pieces:
        if not piece.blocks:
            detail = f"message {piece.index}: it says nothing, so it is not sent"
            notes.append(Note("empty_left_out", "", detail))
        elif turns and turns[-1].role == piece.role:
            turns[-1] = Turn(piece.role, (*turns[-1].pieces, piece))
        else:
            turns.append(Turn(piece.role, (piece,)))
    return turns


def without_unasked(pieces: Sequence[Piece], notes: list[Note]) -> Sequence[Piece]:
    """Leave out what answers a first user turn that says nothing, as that turn is left out itself.

    Each message is reported as `unasked_left_out`. If there was no such turn, nothing is left out:
    a conversation that the assistant begins is not ours to change.
    """
    start = next((n for n, piece in enumerate(pieces) if piece.blocks), len(pieces))
    if not any(piece.role == "user" for piece in pieces[:start]):
        return pieces
    end = start
    while end < len(pieces) and not (pieces[end].opens and pieces[end].blocks):
        if pieces[end].blocks:
            detail = f"message {pieces[end].index}: it answers a message that says nothing"
            notes.append(Note("unasked_left_out", "", detail))
        end += 1
    silent = [piece for piece in pieces[start:end] if not piece.blocks]
    return (*pieces[:start], *silent, *pieces[end:])


def check_turns(turns: Sequence[Turn], provider: str, *, may_end_on_model: bool) -> None:
    """Check that the user begins, and who speaks last.

    Raises:
        ProviderError: if the provider would refuse it.
    """
    if not any(turn.role == "user" for turn in turns):
        raise ProviderError(f"{provider} needs a user message that says something, there is none")
    first, last = turns[0].pieces[0], turns[-1].pieces[-1]
    if first.role != "user":
        raise ProviderError(
            f"message {first.index}: a conversation begins with the user's message for {provider}"
        )
    if last.role != "user" and not may_end_on_model:
        raise ProviderError(
            f"message {last.index}: the model is to speak next, but it is also the last to speak; "
            f"{provider} wants a user message or tool results at the end"
        )
