"""What of the tools and media a target model can take; the rest is left out, and told."""

from __future__ import annotations

from attrs import evolve

from promptsections.config.prompt_engine import PromptEngineConfig
from promptsections.manifest import ToolSelection
from promptsections.messages import ImagePart, Part
from promptsections.prompt_engine.values import (
    ExecutionContext,
    Issue,
    ModelTarget,
    PromptComponents,
)


def select_tools(
    components: PromptComponents,
    target: ModelTarget,
    context: ExecutionContext,
    config: PromptEngineConfig,
    model: str,
) -> tuple[ToolSelection, list[Issue]]:
    persona = None if context.persona is None else context.persona.id
    selection = config.manifest().select(
        components.tools, persona=persona, model=model, supported=target.tools_supported
    )
    issues = [
        Issue(severity="warning", code="UNKNOWN_TOOL", message=f"no tool has the id {id_!r}")
        for id_ in selection.unknown
    ]
    if components.tools and not target.tools_supported:
        issues.append(
            Issue(
                severity="warning",
                code="TOOLS_NOT_SUPPORTED",
                message=f"{model!r} takes no tools: {len(components.tools)} are left out",
            )
        )
    most = target.max_tools_per_call
    if most is not None and len(selection.selected) > most:
        kept = dict(list(selection.selected.items())[:most])
        left_out = [id_ for id_ in selection.selected if id_ not in kept]
        selection = evolve(
            selection,
            selected=kept,
            reasons={**selection.reasons, **dict.fromkeys(left_out, "excluded:max_tools_per_call")},
        )
        issues.append(
            Issue(
                severity="warning",
                code="TOO_MANY_TOOLS",
                message=f"{model!r} takes {most} tools: left out are {', '.join(left_out)}",
            )
        )
    return selection, issues


def seen_media(
    components: PromptComponents, target: ModelTarget
) -> tuple[tuple[Part, ...], list[Issue]]:
    """Leave out images that the model cannot see, and say so."""
    seen = [p for p in components.media if target.vision_supported or not isinstance(p, ImagePart)]
    lost = len(components.media) - len(seen)
    if not lost:
        return tuple(seen), []
    message = f"the model sees no images: {lost} left out"
    return tuple(seen), [Issue(severity="warning", code="VISION_NOT_SUPPORTED", message=message)]
