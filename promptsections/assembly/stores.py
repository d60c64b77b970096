"""Protocols of the stores that slots are filled from; implement those that there are.

Every method may be plain or async. They know nothing of slots and budgets.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Protocol

from promptsections.assembly.records import Record

Records = Iterable[Record] | Awaitable[Iterable[Record]]
"""Records, oldest or best first; plain or to be awaited."""


class GoalStore(Protocol):
    """Has goals: records with `title`, `description`, `active_strategy`, `dimensions`."""

    def load_goal(self, goal_id: str, /) -> Record | Awaitable[Record | None] | None:
        """Return a goal; `None` if there is none."""
        ...


class LessonStore(Protocol):
    """Has lessons: records with `content`, `importance`, `last_used`, `uses`."""

    def lessons(self, goal_id: str | None, /) -> Records:
        """Return the lessons for a goal, the most relevant first."""
        ...


class KnowledgeStore(Protocol):
    """Has knowledge: records with `question` and `answer`, or `content`; and `confidence`."""

    def knowledge(self, goal_id: str | None, question: str, /) -> Records:
        """Return what is known about a question, best first."""
        ...


class VectorIndex(Protocol):
    """Searches by meaning: records with `text` and `similarity` (0 to 1)."""

    def search(self, text: str, most: int, /) -> Records:
        """Return at most so many records, the most similar first."""
        ...


class ReflectionStore(Protocol):
    """Has reflections on what was tried."""

    def reflections(self, goal_id: str | None, most: int, /) -> Records:
        """Return the newest reflections: `what_failed` and `suggestion`, or `content`."""
        ...


class WorkspaceStore(Protocol):
    """Knows the workspace: texts, or records with `label` and `content`."""

    def items(self, goal_id: str | None, dimension: str | None, /) -> Records:
        """Return what there is, for one dimension or for all."""
        ...


class StrategyStore(Protocol):
    """Has strategies: records with `hypothesis_pattern` and `effectiveness_score`."""

    def strategies(self, question: str, most: int, /) -> Records:
        """Return at most so many that fit, best first; with `similarity` or `last_used`."""
        ...
