"""Roles that no provider knows are mapped, left out, or an error."""

from __future__ import annotations

from typing import Any

import pytest

from promptsections import DefinitionError, ImagePart, Message, TextPart
from promptsections.foreign_roles import SpokenAs, map_roles


def said(*messages: Any, **roles: Any) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in map_roles(messages, roles)]


def test_errors_and_thoughts_are_left_out_and_summaries_are_headed() -> None:
    history = [{"role": role, "content": role} for role in ("error", "thought", "summary", "user")]
    assert said(*history) == [
        ("system", "Conversation summary (older context):\nsummary"),
        ("user", "user"),
    ]


def test_a_mapping_says_otherwise() -> None:
    history = [{"role": "error", "content": "E"}, {"role": "user", "content": "U"}]
    assert said(*history, error="assistant", user=None) == [("assistant", "E")]
    assert said(*history, error=SpokenAs("user", "Error:")) == [
        ("user", "Error:\nE"),
        ("user", "U"),
    ]


def test_messages_of_known_roles_stay_as_they_are() -> None:
    message = Message("user", "U")
    assert map_roles([message])[0] is message
    assert said(message, user="developer") == [("developer", "U")]


def test_a_heading_takes_no_image_away() -> None:
    parts = [TextPart("t"), ImagePart("https://x.test/a.png")]
    (message,) = map_roles([{"role": "note", "content": parts}], {"note": SpokenAs("user", "N")})
    assert message.content == (TextPart("N"), *parts)


def test_a_role_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(DefinitionError, match=r"messages\[1\] has the role 'critic'.*map it"):
        said(Message("user", "U"), {"role": "critic", "content": "C"})
    with pytest.raises(DefinitionError, match="needs a role"):
        said({"content": "C"})
    with pytest.raises(DefinitionError, match="no role"):
        SpokenAs("critic")
