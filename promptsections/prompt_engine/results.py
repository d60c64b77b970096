"""What a layout says, in the words of a `PromptEngine`: issues, modifications, metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from promptsections.layout import Layout, Placement
from promptsections.notes import Note
from promptsections.prompt_engine.values import Issue, Modifications, Severity
from promptsections.rendered import RenderedPrompt

_WARNINGS: Final = frozenset({"failed", "timeout"})
_QUIET: Final = frozenset(
    {"element_not_applicable", "element_over_cap", "element_conflict", "element_merged"}
)
"""Notes on elements: told where selections are asked for, and no issue."""


def issues_of(layout: Layout) -> tuple[Issue, ...]:
    """Return what was left out, failed, repaired or estimated, in document order."""
    found = [issue for placement in _sections(layout) for issue in _issue(placement)]
    found += [
        Issue(severity="info", code=note.code.upper(), message=note.detail, component=note.path)
        for note in layout.notes
        if note.code not in _QUIET
    ]
    return tuple(found)


def _issue(placement: Placement) -> Iterable[Issue]:
    severity: Severity
    match placement.outcome:
        case "cut":
            severity, code = "info", "TRUNCATED"
        case "dropped":
            severity, code = "warning", "REMOVED"
        case "failed":
            severity, code = "warning", "FAILED"
        case _:
            return ()
    said = placement.error or placement.message or str(placement.reason)
    return (Issue(severity=severity, code=code, message=said, component=placement.path),)


def modifications_of(layout: Layout) -> Modifications:
    """Return which sections are not as they were given."""
    summarized = {note.path for note in layout.notes if note.code == "summarized"}
    sections = tuple(_sections(layout))
    return Modifications(
        truncated=tuple(
            p.path for p in sections if p.outcome == "cut" and p.path not in summarized
        ),
        summarized=tuple(p.path for p in sections if p.path in summarized),
        removed=tuple(p.path for p in sections if p.outcome in ("dropped", "failed")),
        elements=tuple(id_ for p in sections if p.kind == "elements" for id_ in p.items),
    )


def metadata_of(
    rendered: RenderedPrompt, *, history: int, seconds: float, template: str, debug: bool
) -> Mapping[str, Any]:
    """Return what was applied, and how long it took.

    Args:
        rendered: The prompt.
        history: Messages of the history that was given.
        seconds: What it took.
        template: Name of the form.
        debug: Whether the layout and the times of its phases go along.
    """
    layout = rendered.layout
    sections = {p.path: p for p in _sections(layout)}
    sent = sections.get("conversation_history")
    retrieved = sections.get("retrieved") or sections.get("user_turn/retrieved")
    metadata: dict[str, Any] = {
        "construction_seconds": seconds,
        "template_used": template,
        "from_cache": rendered.cached,
        "total_system_prompts_applied": sum(
            1 for path, p in sections.items() if path.startswith("system_prompt") and p.kept
        ),
        "selected_contextual_element_ids": list(modifications_of(layout).elements),
        "history_messages_included": history - sent.omitted if sent and sent.kept else 0,
        "rag_context_tokens_used": retrieved.used if retrieved else 0,
    }
    if debug:
        metadata["debug"] = {"layout": layout.to_dict(), "timings": dict(rendered.timings)}
    return metadata


def selection_notes(layout: Layout) -> tuple[Note, ...]:
    """Return the notes on elements that are not said."""
    return tuple(note for note in layout.notes if note.code in _QUIET)


def _sections(layout: Layout) -> Iterable[Placement]:
    return (placement for placement in layout.walk() if not placement.children)
