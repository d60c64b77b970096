"""What Teams AI's augmentations add to a prompt: the actions, and the form of the answer.

The answers have the form that its planners read; the words are ours. It reads no files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from promptsections.messages import Tool
from promptsections.sections import PromptSection, TextSection

Augmentation = Callable[[Sequence[Tool]], PromptSection | None]
"""Makes a section of the actions, or none."""

_SAY = Tool(
    "SAY",
    "Answers the user with a text.",
    {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "What the user reads."}},
        "required": ["text"],
    },
)

_MONOLOGUE = """\
Answer with one JSON object and nothing else. It has this form:
{"thoughts":{"thought":"<your thought>","reasoning":"<why>","plan":"- <a step> - <the next>"},\
"action":{"name":"<name of an action>","parameters":{"<name>":<value>}}}
Choose one of the actions above, and no other. Its parameters must be those that it lists.
To say something to the user, choose the action SAY."""

_SEQUENCE = """\
Answer with a plan: one JSON object and nothing else. It has this form:
{"type":"plan","commands":[\
{"type":"DO","action":"<name of an action>","parameters":{"<name>":<value>}},\
{"type":"SAY","response":"<what the user reads>"}]}
The commands are carried out in their order. A DO names one of the actions above, and no other.
A SAY tells the user something."""


def _none(actions: Sequence[Tool]) -> None:
    """Add nothing."""


def _monologue(actions: Sequence[Tool]) -> PromptSection:
    """Let the model think aloud, then choose one action."""
    return _listed((*actions, _SAY), _MONOLOGUE)


def _sequence(actions: Sequence[Tool]) -> PromptSection:
    """Let the model answer with a plan of actions."""
    return _listed(actions, _SEQUENCE)


def _listed(actions: Sequence[Tool], rules: str) -> PromptSection:
    listed = {"actions": {action.name: _described(action) for action in actions}}
    text = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    return TextSection(f"{text}\n\n{rules}", name="actions")


def _described(action: Tool) -> Mapping[str, Any]:
    described = {"description": action.description} if action.description else {}
    return {**described, "parameters": action.parameters}


AUGMENTATIONS: Mapping[str, Augmentation] = MappingProxyType(
    {"none": _none, "tools": _none, "monologue": _monologue, "sequence": _sequence}
)
"""`augmentation_type` → what it adds; with `tools` the actions are tools of the prompt."""
