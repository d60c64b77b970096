"""A prompt engine in the terms of AgentOS: components, a persona and a configuration."""

from promptsections.config.prompt_engine import PromptEngineConfig
from promptsections.prompt_engine.engine import FORMS, PromptEngine, is_marked_important
from promptsections.prompt_engine.validation import validate
from promptsections.prompt_engine.values import (
    EngineResult,
    EngineStatistics,
    ExecutionContext,
    Issue,
    ModelTarget,
    Modifications,
    PersonaSettings,
    PromptComponents,
    SystemPrompt,
)

__all__ = [
    "FORMS",
    "EngineResult",
    "EngineStatistics",
    "ExecutionContext",
    "Issue",
    "ModelTarget",
    "Modifications",
    "PersonaSettings",
    "PromptComponents",
    "PromptEngine",
    "PromptEngineConfig",
    "SystemPrompt",
    "is_marked_important",
    "validate",
]
