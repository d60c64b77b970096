"""`PromptEngineConfig`: the options of AgentOS's prompt engine, every one of which does something.

Names are snake_case, or camelCase as in the original's JSON; default values are those of its
factory. It says what is wanted; `promptsections.prompt_engine` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from promptsections.elements import ElementRules
from promptsections.elements.selection import ConflictStrategy
from promptsections.errors import ConfigError
from promptsections.manifest import EmptyList, ToolAccess, ToolManifest

Count = Annotated[int, Field(ge=0, strict=True)]
Tokens = Annotated[int, Field(gt=0, strict=True)]

QualityTier = Literal["fast", "balanced", "high_quality"]

_CONFLICTS: Mapping[str, ConflictStrategy] = {
    "skip_conflicting": "skip",
    "merge_compatible": "merge",
    "error_on_conflict": "error",
}


class _Options(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )


class TokenCounting(_Options):
    """How tokens are counted."""

    strategy: Literal["estimated", "precise", "hybrid"] = "estimated"
    estimation_model: Literal["gpt-3.5-turbo", "gpt-4", "claude-3", "generic"] = "gpt-3.5-turbo"
    """Whose ratio of characters to tokens an estimate takes."""


class HistoryManagement(_Options):
    """How much of a conversation is sent, and what becomes of the rest."""

    default_max_messages: Count = 40
    max_tokens_for_history: Tokens = 4000
    summarization_trigger_ratio: Annotated[float, Field(ge=0, le=1)] = 0.8
    """A history larger than this part of `max_tokens_for_history` is summarised; 0: never."""
    preserve_important_messages: bool = True
    """Whether messages that are marked important are sent word for word, whatever else is cut."""


class ContextManagement(_Options):
    """How much of what was retrieved is sent."""

    max_rag_context_tokens: Tokens = Field(
        default=1500,
        validation_alias=AliasChoices("maxRAGContextTokens", "maxRagContextTokens"),
        serialization_alias="maxRAGContextTokens",
    )
    min_context_relevance_threshold: float | None = None
    """What is less relevant is left out."""
    summarization_quality_tier: QualityTier = "balanced"
    preserve_source_attribution_in_summary: bool = True
    """Whether each piece says its source, summarised, cut or whole."""


class ContextualElementSelection(_Options):
    """Which elements are said."""

    max_elements_per_type: Mapping[str, Count] = Field(default_factory=dict)
    default_max_elements_per_type: Count = 3
    max_elements: Count | None = None
    """The most in all; the original has a fixed 10."""
    priority_resolution_strategy: Literal[
        "highest_first", "weighted_random", "persona_preference"
    ] = "highest_first"
    conflict_resolution_strategy: Literal[
        "skip_conflicting", "merge_compatible", "error_on_conflict"
    ] = "skip_conflicting"
    seed: int | str = 0
    """What `weighted_random` draws from."""

    def rules(self, preferences: Mapping[str, int] | None = None) -> ElementRules:
        """Return the rules of a selection.

        Args:
            preferences: Element id or type → preference of the persona.
        """
        return ElementRules(
            total=self.max_elements,
            per_type=self.max_elements_per_type,
            default_per_type=self.default_max_elements_per_type,
            priority_strategy=self.priority_resolution_strategy,
            preferences=preferences or {},
            seed=self.seed,
            conflict_strategy=_CONFLICTS[self.conflict_resolution_strategy],
        )


class Performance(_Options):
    """Whether results are kept."""

    enable_caching: bool = True
    cache_timeout_seconds: Annotated[float, Field(gt=0)] = 120
    max_cache_size_bytes: Annotated[int, Field(gt=0)] = 64 * 1024 * 1024


class Debugging(_Options):
    """What is told beside the prompt."""

    log_construction_steps: bool = False
    include_debug_metadata_in_result: bool = False
    log_selected_contextual_elements: bool = False


class PersonaTools(_Options):
    """The tools of one persona."""

    enabled_tool_ids: tuple[str, ...] | None = None
    disabled_tool_ids: tuple[str, ...] = ()
    model_overrides: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)


class PromptEngineConfig(_Options):
    """All options of a `PromptEngine`.

    Construction raises pydantic's `ValidationError`; `read` raises a `ConfigError`.
    """

    default_template_name: Annotated[str, Field(min_length=1)] = "openai_chat"
    """The form of what comes out where the target model says none."""
    available_templates: Mapping[str, Callable[..., Any]] = Field(default_factory=dict)
    """Name → function from a rendered prompt to what is sent; wins over a built-in form."""
    token_counting: TokenCounting = TokenCounting()
    history_management: HistoryManagement = HistoryManagement()
    context_management: ContextManagement = ContextManagement()
    contextual_element_selection: ContextualElementSelection = ContextualElementSelection()
    performance: Performance = Performance()
    debugging: Debugging = Debugging()
    tool_schema_manifest: Mapping[str, PersonaTools] = Field(default_factory=dict)
    empty_tool_list_means: EmptyList = "none"
    """What an empty `enabledToolIds` allows; `"all"` is how the original reads it."""

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> PromptEngineConfig:
        """Read options as JSON has them; groups and options may be missing or null.

        Raises:
            ConfigError: one is wrong or not known; the text names all of them.
        """
        try:
            return cls.model_validate(_without_nulls(options))
        except ValidationError as error:
            listed = "; ".join(
                f"{'.'.join(map(str, one['loc'])) or 'options'}: {one['msg']}"
                for one in error.errors(include_url=False)
            )
            raise ConfigError(listed, path="promptEngineConfig", kind="invalid") from error

    def overridden(self, overrides: Mapping[str, Any] | None) -> PromptEngineConfig:
        """Return the options with some replaced, group by group: those of a persona.

        Args:
            overrides: Options as `read` takes them; what is not named stays.

        Raises:
            ConfigError: one is wrong or not known.
        """
        if not overrides:
            return self
        own = self.model_dump(by_alias=True, exclude={"available_templates"})
        merged = _merged(own, _in_camel_case(type(self), overrides))
        return type(self).read({**merged, "availableTemplates": self.available_templates})

    def manifest(self) -> ToolManifest:
        """Return who may use which tools."""
        return ToolManifest(
            {
                persona: ToolAccess(
                    enabled=tools.enabled_tool_ids,
                    disabled=tools.disabled_tool_ids,
                    models=tools.model_overrides,
                )
                for persona, tools in self.tool_schema_manifest.items()
            },
            empty_list_means=self.empty_tool_list_means,
        )


def _without_nulls(options: object) -> object:
    """Leave out what is null, however deep: no option means by it anything but its default."""
    if not isinstance(options, Mapping):
        return options
    given = cast("Mapping[str, object]", options)
    return {name: _without_nulls(v) for name, v in given.items() if v is not None}


def _in_camel_case(model: type[BaseModel], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options under the names that a dump has, however they were written."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        field = model.model_fields.get(name)
        key = name if field is None else field.serialization_alias or to_camel(name)
        inner = next(
            (f.annotation for n, f in model.model_fields.items() if key in (n, to_camel(n))), None
        )
        is_group = isinstance(inner, type) and issubclass(inner, BaseModel)
        if is_group and isinstance(value, Mapping):
            value = _in_camel_case(cast("type[BaseModel]", inner), cast("Mapping[str, Any]", value))
        found[key] = value
    return found


def _merged(own: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings, however deep; anything else is replaced."""
    result = dict(own)
    for name, value in other.items():
        mine = result.get(name)
        if isinstance(mine, Mapping) and isinstance(value, Mapping):
            result[name] = _merged(
                cast("Mapping[str, Any]", mine), cast("Mapping[str, Any]", value)
            )
        else:
            result[name] = value
    return result
