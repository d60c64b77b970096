"""Goals, observations, lessons and the like as lines of text; each is a plain function.

A formatter takes what a slot's source returns and gives the inner text of the slot's element, `""`
if there is nothing to say. It knows no budgets, no tags and no sources, so it can be replaced by
any function of the same kind. Fields that are missing or `None` are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from promptsections.assembly.records import Record, as_text, field_of, text_of
from promptsections.errors import DefinitionError

Formatter = Callable[[Any], str]
"""From what a source returned to the text of a slot."""

TREND_LENGTH: Final = 5
"""How many of the newest observations a trend shows."""

_IMPORTANCE: Final = ("HIGH", "MEDIUM", "LOW")


def format_goal(goal: Record, strategy: Record | None = None) -> str:
    """Write a goal's `title` and `description`, and the `hypothesis` of the strategy it follows.

    Args:
        goal: The goal.
        strategy: By default the goal's own `active_strategy`.
    """
    active = field_of(goal, "active_strategy") if strategy is None else strategy
    lines = {
        "Goal": text_of(goal, "title"),
        "Description": text_of(goal, "description"),
        "Active Strategy": "" if active is None else text_of(active, "hypothesis"),
    }
    return "\n".join(f"{label}: {text}" for label, text in lines.items() if text)


def format_current_state(dimensions: Iterable[Record]) -> str:
    """Write one line for each dimension: `name: current (target: …, gap: …)`."""
    return "\n".join(_dimension(dimension) for dimension in _records(dimensions))


def _dimension(dimension: Record) -> str:
    name = text_of(dimension, "name")
    current, target, gap = (field_of(dimension, key) for key in ("current", "target", "gap"))
    line = name if current is None else f"{name}: {as_text(current, name)}"
    distance = "" if gap is None else f", gap: {as_text(gap, name)}"
    if target is None:
        return line + distance
    return f"{line} (target: {as_text(target, name)}{distance})"


def format_observation_history(history: Iterable[Record], direction: str | None = None) -> str:
    """Write the newest observations, oldest first: `Trend (last 5): when: score, …`.

    Args:
        history: Observations, oldest first, each with `timestamp` and `score`; those without a
            score say nothing. Where they have a `dimension`, each dimension has a line of its own.
        direction: Where it is going, in a word.
    """
    trends: dict[str, list[str]] = {}
    for entry in _records(history):
        if field_of(entry, "score") is not None:
            point = f"{text_of(entry, 'timestamp')}: {text_of(entry, 'score')}"
            trends.setdefault(text_of(entry, "dimension"), []).append(point)
    lines = [_trend(dimension, points[-TREND_LENGTH:]) for dimension, points in trends.items()]
    if lines and direction:
        lines.append(f"Direction: {direction}")
    return "\n".join(lines)


def _trend(dimension: str, points: Sequence[str]) -> str:
    whose = f"{dimension}: " if dimension else ""
    return f"{whose}Trend (last {len(points)}): {', '.join(points)}"


def format_lessons(lessons: Iterable[Record]) -> str:
    """Write `- [IMPORTANCE] content` for each lesson: high, medium, low, then all others."""
    ranked = sorted(
        ((text_of(lesson, "importance").upper(), lesson) for lesson in _records(lessons)),
        key=lambda pair: _rank(pair[0]),
    )
    return "\n".join(
        f"- [{importance}] {text_of(lesson, 'content')}"
        if importance
        else f"- {text_of(lesson, 'content')}"
        for importance, lesson in ranked
    )


def _rank(importance: str) -> int:
    return _IMPORTANCE.index(importance) if importance in _IMPORTANCE else len(_IMPORTANCE)


def format_knowledge(entries: Iterable[Record]) -> str:
    """Write each entry as `Q: …` and `A: …`, or its `content`; with its `confidence` if it has one.

    An entry needs both `question` and `answer`, or a `content`; otherwise it says nothing.
    """
    return "\n".join(text for entry in _records(entries) if (text := _knowledge(entry)))


def _knowledge(entry: Record) -> str:
    question, answer = text_of(entry, "question"), text_of(entry, "answer")
    text = f"Q: {question}\nA: {answer}" if question and answer else text_of(entry, "content")
    confidence = text_of(entry, "confidence")
    return f"{text} (confidence: {confidence})" if text and confidence else text


def format_reflections(reflections: Iterable[Record]) -> str:
    """Write each reflection as `Failed: …` and `Suggestion: …`, or its `content`.

    Blocks are parted by a line `---`. A reflection needs both `what_failed` and `suggestion`, or a
    `content`; otherwise it says nothing.
    """
    return "\n---\n".join(text for item in _records(reflections) if (text := _reflection(item)))


def _reflection(item: Record) -> str:
    failed, suggestion = text_of(item, "what_failed"), text_of(item, "suggestion")
    if failed and suggestion:
        return f"Failed: {failed}\nSuggestion: {suggestion}"
    return text_of(item, "content")


def format_workspace_state(items: Iterable[object]) -> str:
    """Write the items one below the other, as they are; records as `label: content`."""
    return "\n".join(_workspace_item(item) for item in _records(items))


def _workspace_item(item: object) -> str:
    if isinstance(item, str):
        return item
    label, content = text_of(item, "label"), text_of(item, "content")
    return f"{label}: {content}" if label else content


def format_strategy_templates(templates: Iterable[Record]) -> str:
    """Write `- pattern (effectiveness: …)` for each template."""
    lines: list[str] = []
    for template in _records(templates):
        pattern = text_of(template, "hypothesis_pattern")
        score = text_of(template, "effectiveness_score")
        lines.append(f"- {pattern} (effectiveness: {score})" if score else f"- {pattern}")
    return "\n".join(lines)


def format_failure_context(context: str) -> str:
    """Write a failure below a heading."""
    return f"Failure Context:\n{context}" if context.strip() else ""


def format_task_results(results: Iterable[Record]) -> str:
    """Write `[SUCCESS] task` or `[FAILURE] task`, and below it the `outcome`.

    A task whose `success` is missing or false has failed.
    """
    lines: list[str] = []
    for result in _records(results):
        mark = "SUCCESS" if field_of(result, "success") else "FAILURE"
        lines.append(f"[{mark}] {text_of(result, 'task_description')}".rstrip())
        if outcome := text_of(result, "outcome"):
            lines.append(f"  Outcome: {outcome}")
    return "\n".join(lines)


def _records(value: Iterable[Any]) -> Iterable[Any]:
    """Return the records of a list.

    Raises:
        DefinitionError: if it is a text, which would be read letter by letter, or no list at all.
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"a list of records is needed, not {type(value).__name__}")
    return value
