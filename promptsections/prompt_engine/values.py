"""What a `PromptEngine` takes and returns; values only.

The words are those of AgentOS: components, execution context, issues, modifications, metadata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Literal

from attrs import Attribute, field, frozen

from promptsections.blocks import Chunk
from promptsections.elements import Element
from promptsections.errors import DefinitionError
from promptsections.manifest import ToolSelection
from promptsections.messages import MessageLike, Part, Tool
from promptsections.profiles import ModelProfile
from promptsections.rendered import RenderedPrompt

Severity = Literal["error", "warning", "info"]


@frozen
class SystemPrompt:
    """A part of the instructions."""

    content: str
    priority: int = 0
    """Higher is kept first; where it stands is its place in the list."""
    required: bool = True


def _system_prompts(value: str | Sequence[SystemPrompt | str]) -> tuple[SystemPrompt, ...]:
    several = (value,) if isinstance(value, str) else value
    return tuple(SystemPrompt(each) if isinstance(each, str) else each for each in several)


def _count(_: object, attribute: Attribute[Any], value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise DefinitionError(f"{attribute.name}={value!r} must be a whole number from 0, or None")


@frozen(kw_only=True)
class PromptComponents:
    """What a prompt is made of."""

    system_prompts: tuple[SystemPrompt, ...] = field(default=(), converter=_system_prompts)
    history: Sequence[MessageLike] = ()
    """Oldest first."""
    user_input: str | None = None
    media: Sequence[Part] = ()
    """Images, files and sound that go with the user's words."""
    retrieved: Sequence[Chunk | str] = ()
    """Best first."""
    tools: Sequence[Tool] = ()
    task_data: Mapping[str, Any] | None = None
    custom: Mapping[str, Any] | None = None
    """More values that the model should know."""


@frozen(kw_only=True)
class PersonaSettings:
    """What a persona brings along."""

    id: str
    elements: tuple[Element, ...] = ()
    preferences: Mapping[str, int] = field(factory=dict[str, int])
    """Element id or type → preference, for `persona_preference`."""
    overrides: Mapping[str, Any] = field(factory=dict[str, Any])
    """Options that replace those of the engine, group by group."""


@frozen(kw_only=True)
class ExecutionContext:
    """What is the case at a call."""

    persona: PersonaSettings | None = None
    circumstances: Mapping[str, Any] = field(factory=dict[str, Any])
    """Mood, language, …: what criteria of elements ask for."""
    user_preferences: Mapping[str, Any] = field(factory=dict[str, Any])
    memory: Mapping[str, Any] = field(factory=dict[str, Any])
    """What criteria and templates of elements read."""
    tenant: str | None = None
    """Whose prompt it is; results are kept for each tenant apart."""
    summaries: Any = None
    """What `rendered.summaries` of the last prompt of this conversation was."""


@frozen(kw_only=True)
class ModelTarget:
    """The model that a prompt is for."""

    model: str | ModelProfile
    max_context_tokens: int | None = None
    """Instead of the model's own window."""
    optimal_context_tokens: int | None = None
    """What a prompt should not exceed; wins over the window."""
    prompt_format: str | None = None
    """Name of the template; by default the configured one."""
    tools_supported: bool = True
    max_tools_per_call: int | None = field(default=None, validator=_count)
    vision_supported: bool = True


@frozen(kw_only=True)
class Issue:
    """Something that whoever sends the prompt should know."""

    severity: Severity
    code: str
    message: str
    component: str = ""
    """Path of the section that it is about."""


@frozen(kw_only=True)
class Modifications:
    """What was changed to make it fit; paths of sections."""

    truncated: tuple[str, ...] = ()
    summarized: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    """Ids of the elements that are said."""


@frozen(kw_only=True)
class EngineResult:
    """A prompt, and what happened on the way."""

    prompt: Any
    """In the form of the template: messages, a request, a text."""
    rendered: RenderedPrompt
    tools: ToolSelection
    template: str
    issues: tuple[Issue, ...]
    modifications: Modifications
    metadata: Mapping[str, Any]
    """What was applied and how long it took; with debugging on, the layout as well."""

    @property
    def token_count(self) -> int:
        """Tokens in all."""
        return self.rendered.token_count

    @property
    def was_truncated_or_summarized(self) -> bool:
        """Whether anything is not as it was given."""
        changed = self.modifications
        return bool(changed.truncated or changed.summarized or changed.removed)


class EngineStatistics:
    """What an engine has counted so far; threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._constructions = self._failures = 0
        self._seconds = 0.0
        self._issues: Counter[str] = Counter()
        self._elements: Counter[str] = Counter()

    def add(self, result: EngineResult, seconds: float) -> None:
        """Count a prompt that was constructed."""
        with self._lock:
            self._constructions += 1
            self._seconds += seconds
            self._issues.update(issue.code for issue in result.issues)
            self._elements.update(result.modifications.elements)

    def add_failure(self, error: Exception) -> None:
        """Count a construction that came to nothing."""
        with self._lock:
            self._failures += 1
            self._issues[type(error).__name__] += 1

    def to_dict(self) -> dict[str, Any]:
        """Return all counts as plain data."""
        with self._lock:
            made = self._constructions
            return {
                "constructions": made,
                "failures": self._failures,
                "mean_seconds": self._seconds / made if made else 0.0,
                "issues": dict(self._issues),
                "elements": dict(self._elements),
            }
