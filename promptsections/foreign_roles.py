"""Messages of roles that no provider knows, such as errors, thoughts and summaries of an agent.

It maps roles and nothing else: what a message says is read by `promptsections.messages`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from attrs import evolve, field, frozen

from promptsections.errors import DefinitionError
from promptsections.messages import ROLES, Message, MessageLike, Role, to_message, to_role
from promptsections.parts import TextPart, as_mapping


@frozen
class SpokenAs:
    """How a message of a foreign role is sent."""

    role: Role = field(converter=to_role)
    heading: str = ""
    """Stands above its text on a line of its own."""


FOREIGN_ROLES: Final[Mapping[str, SpokenAs | None]] = MappingProxyType(
    {
        "error": None,
        "thought": None,
        "summary": SpokenAs("system", "Conversation summary (older context):"),
    }
)
"""Role → how it is sent; `None`: not at all."""


def map_roles(
    messages: Iterable[MessageLike],
    roles: Mapping[str, SpokenAs | Role | None] = MappingProxyType({}),
) -> tuple[Message, ...]:
    """Read messages, those of foreign roles as the mapping says.

    Args:
        messages: Oldest first.
        roles: Role → how it is sent, a role, or `None` for not at all; wins over `FOREIGN_ROLES`.
            Roles that providers know may be mapped too.

    Raises:
        DefinitionError: a message has a role that neither is known nor mapped.
    """
    given: Mapping[str, SpokenAs | Role | None] = {**FOREIGN_ROLES, **roles}
    spoken = {role: _spoken(how) for role, how in given.items()}
    read = (_mapped(at, message, spoken) for at, message in enumerate(messages))
    return tuple(message for message in read if message is not None)


def _spoken(how: SpokenAs | Role | None) -> SpokenAs | None:
    return how if how is None or isinstance(how, SpokenAs) else SpokenAs(how)


def _mapped(at: int, message: MessageLike, spoken: Mapping[str, SpokenAs | None]) -> Message | None:
    fields = {"role": message.role} if isinstance(message, Message) else as_mapping(message)
    role = None if fields is None else fields.get("role")
    if not isinstance(role, str) or (role not in spoken and (role in ROLES or role == "function")):
        return to_message(message)
    if role not in spoken:
        raise DefinitionError(
            f"messages[{at}] has the role {role!r}, which no model knows: map it, as in "
            f"map_roles(messages, {{{role!r}: 'user'}}), or leave it out with None"
        )
    how = spoken[role]
    if how is None:
        return None
    if isinstance(message, Message):
        return _headed(evolve(message, role=how.role), how.heading)
    return _headed(to_message({**(fields or {}), "role": how.role}), how.heading)


def _headed(message: Message, heading: str) -> Message:
    if not heading:
        return message
    if isinstance(message.content, tuple):
        return evolve(message, content=(TextPart(heading), *message.content))
    return message.saying(f"{heading}\n{message.text}")
