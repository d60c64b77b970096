"""Look at components before a prompt is constructed: what a model cannot take, what will not fit.

Everything is counted, whole, as the engine would write it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve

from promptsections.messages import ImagePart
from promptsections.profiles import ModelProfile, find_profile
from promptsections.prompt_engine.engine import PromptEngine
from promptsections.prompt_engine.values import (
    ExecutionContext,
    Issue,
    ModelTarget,
    PromptComponents,
    Severity,
)

NEAR_LIMIT: Final = 0.8
"""Above this part of the limit a prompt is nearly too large."""

_UNLIMITED: Final = 10**12
"""Tokens: more than any prompt has."""


def validate(
    engine: PromptEngine,
    components: PromptComponents,
    target: ModelTarget | str,
    *,
    context: ExecutionContext | None = None,
    template: str | None = None,
) -> tuple[Issue, ...]:
    """Say what stands against a prompt of these components, without cutting or summarising.

    Codes: the errors `VISION_NOT_SUPPORTED` and `TOOLS_NOT_SUPPORTED`, the warning
    `POTENTIAL_TOKEN_OVERFLOW` (over the model's window), and for your information
    `NEAR_TOKEN_LIMIT` (above 80 % of the optimal size, or of the window) and `NO_SYSTEM_PROMPT`.

    Args:
        engine: What would construct it.
        components: What it would be made of.
        target: The model that it would be for, or its name.
        context: Persona, circumstances, preferences, memory.
        template: Name of the form.

    Raises:
        DefinitionError: a template, model or option is not known.
    """
    aim = ModelTarget(model=target) if isinstance(target, str) else target
    return (
        *_unsupported(components, aim),
        *_sizes(engine, components, aim, context, template),
        *_recommendations(components),
    )


def _issue(severity: Severity, code: str, message: str) -> Issue:
    return Issue(severity=severity, code=code, message=message)


def _unsupported(components: PromptComponents, target: ModelTarget) -> Iterator[Issue]:
    images = sum(isinstance(part, ImagePart) for part in components.media)
    if images and not target.vision_supported:
        yield _issue("error", "VISION_NOT_SUPPORTED", f"the model sees no images; {images} given")
    if components.tools and not target.tools_supported:
        message = f"the model takes no tools; {len(components.tools)} given"
        yield _issue("error", "TOOLS_NOT_SUPPORTED", message)


def _sizes(
    engine: PromptEngine,
    components: PromptComponents,
    target: ModelTarget,
    context: ExecutionContext | None,
    template: str | None,
) -> Iterator[Issue]:
    size = _whole_size(engine, components, target, context, template)
    window = target.max_context_tokens or _profile(engine, target).context_window
    limit = target.optimal_context_tokens or window
    if window is not None and size > window:
        message = f"{size} tokens of a window of {window}: what does not fit will be cut"
        yield _issue("warning", "POTENTIAL_TOKEN_OVERFLOW", message)
    elif limit is not None and size > NEAR_LIMIT * limit:
        message = f"{size} tokens are more than {NEAR_LIMIT:.0%} of {limit}"
        yield _issue("info", "NEAR_TOKEN_LIMIT", message)


def _whole_size(
    engine: PromptEngine,
    components: PromptComponents,
    target: ModelTarget,
    context: ExecutionContext | None,
    template: str | None,
) -> int:
    """Return what all of it takes, in tokens: no part has a limit of its own."""
    unlimited = {
        "historyManagement": {"defaultMaxMessages": 0, "maxTokensForHistory": _UNLIMITED},
        "contextManagement": {"maxRAGContextTokens": _UNLIMITED},
        "debugging": {"logConstructionSteps": False, "logSelectedContextualElements": False},
    }
    now = context or ExecutionContext()
    if now.persona is not None:
        options = engine.config.overridden(now.persona.overrides)
        now = evolve(now, persona=evolve(now.persona, overrides={}))
    else:
        options = engine.config
    whole = evolve(
        engine, config=options.overridden(unlimited), hook=None, summarizer=None
    ).construct(
        components,
        evolve(target, max_context_tokens=_UNLIMITED, optimal_context_tokens=None),
        context=now,
        template=template,
    )
    return whole.token_count


def _profile(engine: PromptEngine, target: ModelTarget) -> ModelProfile:
    model = target.model
    return model if isinstance(model, ModelProfile) else find_profile(model, engine.profiles)


def _recommendations(components: PromptComponents) -> Iterator[Issue]:
    if not any(prompt.content.strip() for prompt in components.system_prompts):
        yield _issue("info", "NO_SYSTEM_PROMPT", "nothing tells the model what it is to do")
