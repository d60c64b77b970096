"""Options are read as the original's JSON has them, or in snake case."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from promptsections import ConfigError
from promptsections.prompt_engine import PromptEngineConfig

ORIGINAL: dict[str, Any] = {
    "defaultTemplateName": "openai_chat",
    "availableTemplates": {},
    "tokenCounting": {"strategy": "estimated", "estimationModel": "gpt-3.5-turbo"},
    "historyManagement": {
        "defaultMaxMessages": 40,
        "maxTokensForHistory": 4000,
        "summarizationTriggerRatio": 0.8,
        "preserveImportantMessages": True,
    },
    "contextManagement": {
        "maxRAGContextTokens": 1500,
        "summarizationQualityTier": "balanced",
        "preserveSourceAttributionInSummary": True,
    },
    "contextualElementSelection": {
        "maxElementsPerType": {},
        "defaultMaxElementsPerType": 3,
        "priorityResolutionStrategy": "highest_first",
        "conflictResolutionStrategy": "skip_conflicting",
    },
    "performance": {"enableCaching": True, "cacheTimeoutSeconds": 120},
    "debugging": None,
}
"""What the original's factory ships."""


def test_the_defaults_are_those_of_the_original() -> None:
    assert PromptEngineConfig.read(ORIGINAL) == PromptEngineConfig()


def test_names_may_be_written_either_way() -> None:
    snake = PromptEngineConfig.read(
        {
            "history_management": {"default_max_messages": 3},
            "context_management": {"max_rag_context_tokens": 7},
            "contextManagement": None,
        }
    )
    camel = PromptEngineConfig.read(
        {
            "historyManagement": {"defaultMaxMessages": 3},
            "contextManagement": {"maxRAGContextTokens": 7},
        }
    )

    assert snake == camel
    assert PromptEngineConfig(context_management={"max_rag_context_tokens": 7}) is not None  # type: ignore[arg-type]


def test_a_dump_is_read_again() -> None:
    options = PromptEngineConfig.read({"contextManagement": {"maxRAGContextTokens": 7}})

    assert PromptEngineConfig.read(options.model_dump(by_alias=True)) == options


@pytest.mark.parametrize(
    "overrides",
    [
        {"historyManagement": {"defaultMaxMessages": 5}},
        {"history_management": {"default_max_messages": 5}},
    ],
)
def test_overrides_replace_what_they_name_and_nothing_else(overrides: dict[str, Any]) -> None:
    base = PromptEngineConfig.read({"historyManagement": {"maxTokensForHistory": 99}})

    options = base.overridden(overrides)

    assert options.history_management.default_max_messages == 5
    assert options.history_management.max_tokens_for_history == 99
    assert base.history_management.default_max_messages == 40
    assert base.overridden(None) is base


def test_overrides_keep_templates_and_replace_lists() -> None:
    base = PromptEngineConfig.read(
        {
            "availableTemplates": {"own": str},
            "toolSchemaManifest": {"P": {"enabledToolIds": ["a", "b"]}},
        }
    )

    options = base.overridden({"tool_schema_manifest": {"P": {"enabledToolIds": ["c"]}}})

    assert options.available_templates == {"own": str}
    assert options.tool_schema_manifest["P"].enabled_tool_ids == ("c",)


def test_null_is_the_default_however_deep() -> None:
    options = {
        "debugging": None,
        "historyManagement": {"defaultMaxMessages": None, "maxTokensForHistory": 7},
        "toolSchemaManifest": {"P": {"enabledToolIds": ["a"], "disabledToolIds": None}},
    }

    read = PromptEngineConfig.read(options)

    assert read.history_management.default_max_messages == 40
    assert read.history_management.max_tokens_for_history == 7
    assert read.tool_schema_manifest["P"].enabled_tool_ids == ("a",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "options: Input should be"),
        ({"historyManagment": {}}, "historyManagment"),
        (
            {"historyManagement": {"defaultMaxMessages": "5"}},
            "historyManagement.defaultMaxMessages",
        ),
        ({"historyManagement": {"maxTokensForHistory": 0}}, "greater than 0"),
        ({"tokenCounting": {"strategy": "guess"}}, "tokenCounting.strategy"),
        ({"performance": {"cacheTimeoutSeconds": -1}}, "performance.cacheTimeoutSeconds"),
    ],
)
def test_wrong_options_are_one_error_with_their_places(options: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        PromptEngineConfig.read(options)

    assert caught.value.kind == "invalid"
    assert isinstance(caught.value.__cause__, ValidationError)
