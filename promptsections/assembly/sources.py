"""Where the content of slots comes from: the goal, the additional context of a call, and stores.

A source is any function from a `SlotQuery` to what its slot's formatter takes, plain or async. The
ones here are for `promptsections.assembly.preset`; they correct what stores of that kind return
(ages, scores, labels), each by a rule that can be passed in. They know no sections and no budgets.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Final, cast

from attrs import field, frozen

from promptsections.assembly.records import Record, as_text, field_of, text_of
from promptsections.assembly.stores import (
    KnowledgeStore,
    LessonStore,
    Records,
    ReflectionStore,
    StrategyStore,
    VectorIndex,
    WorkspaceStore,
)
from promptsections.selectors import Missing, fresh, similar
from promptsections.templates import Deferred

_log = logging.getLogger("promptsections")


@frozen(kw_only=True)
class SlotQuery:
    """What a source is asked for."""

    purpose: str
    """Name of the purpose of the call."""
    goal_id: str | None = None
    dimension: str | None = None
    """The one dimension of the goal that the call is about; `None`: all."""
    goal: Record | None = None
    """The goal, loaded once for all slots."""
    context: Mapping[str, Any] = field(factory=dict[str, Any])
    """The additional context of the call."""
    keys: tuple[str, ...] = ()
    """Keys of the additional context that the slot reads."""
    tell: Callable[[str], None] = field(default=lambda _: None, eq=False, repr=False)
    """Records in the layout that something failed, for sources that have something to say yet."""

    def given(self) -> Any:
        """Return what the additional context says for this slot; `None` if nothing."""
        said = (self.context[key] for key in self.keys if key in self.context)
        return next((value for value in said if value is not None), None)

    def question(self) -> str:
        """Return what a search is asked for: the goal's strategy, else its title."""
        strategy = None if self.goal is None else field_of(self.goal, "active_strategy")
        hypothesis = "" if strategy is None else text_of(strategy, "hypothesis")
        return hypothesis or ("" if self.goal is None else text_of(self.goal, "title"))


SlotSource = Callable[[SlotQuery], Any]
"""`source(query)` → what the slot's formatter takes, or `None`; plain or async."""


# --- sources of a goal ----------------------------------------------------------------------------


def goal_source(query: SlotQuery) -> Record | None:
    """Return the goal itself."""
    return query.goal


def state_source(query: SlotQuery) -> list[Mapping[str, Any]]:
    """Return the goal's dimensions: `name`, `current`, `target`, `gap`.

    A target is a number (`value`), a range (`min`, `max`), or anything else that the threshold
    says, in words.
    """
    return [
        {
            "name": text_of(dimension, "name"),
            "current": field_of(dimension, "current_value"),
            "target": _target(field_of(dimension, "threshold")),
            "gap": field_of(dimension, "gap"),
        }
        for dimension in dimensions_of(query.goal)
    ]


def dimensions_of(goal: Record | None) -> Sequence[Record]:
    """Return the dimensions of a goal."""
    found = None if goal is None else field_of(goal, "dimensions")
    return tuple(cast("Iterable[Record]", found or ()))


def _target(threshold: Record | None) -> Any:
    if threshold is None or isinstance(threshold, str | int | float):
        return threshold
    value, low, high = (field_of(threshold, name) for name in ("value", "min", "max"))
    if value is not None:
        return value
    if low is not None and high is not None:
        return f"{as_text(low, 'min')} to {as_text(high, 'max')}"
    if low is not None or high is not None:
        bound = "at least" if low is not None else "at most"
        return f"{bound} {as_text(low if low is not None else high, 'threshold')}"
    return field_of(threshold, "type")


def history_source(query: SlotQuery) -> list[Mapping[str, Any]]:
    """Return the observations of the asked dimension, or of all; named if there are several."""
    asked = [
        dimension
        for dimension in dimensions_of(query.goal)
        if query.dimension is None or text_of(dimension, "name") == query.dimension
    ]
    told = [(d, h) for d in asked if (h := field_of(d, "history"))]
    return [
        {
            "timestamp": field_of(entry, "timestamp"),
            "score": field_of(entry, "value"),
            "dimension": text_of(dimension, "name") if len(told) > 1 else None,
        }
        for dimension, history in told
        for entry in cast("Iterable[Record]", history)
    ]


# --- sources of the call --------------------------------------------------------------------------


def context_source(query: SlotQuery) -> Any:
    """Return what the additional context says."""
    return query.given()


def task_results_source(query: SlotQuery) -> Any:
    """Return task results: a list of records, or of JSON text one; any other text as it is."""
    given = query.given()
    if not isinstance(given, str):
        return given
    try:
        results = json.loads(given)
    except ValueError:
        return given
    if isinstance(results, list) and all(
        isinstance(result, Mapping) for result in cast("list[object]", results)
    ):
        return cast("list[Any]", results)
    return given


# --- sources that ask a store ---------------------------------------------------------------------

LESSONS_MAX_AGE: Final = timedelta(days=14)
STRATEGIES_MAX_AGE: Final = timedelta(days=30)
MIN_SIMILARITY: Final = 0.6


@frozen(kw_only=True)
class Freshness:
    """When a record is too old to be said; ages are told by the clock that is passed in."""

    max_age: timedelta
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    min_uses: int | None = None
    """Used as often as this, it is never too old."""
    missing: Missing = "keep"
    """What becomes of a record without a date."""
    only_above: int = 0
    """Leave out nothing unless there are more records than this."""
    keep_all_if_stale: bool = True
    """Whether all are kept where none would be left."""

    def of(self, records: Iterable[Record]) -> list[Record]:
        """Return the records that are not too old."""
        given = list(records)
        kept = fresh(
            given,
            last_used=lambda record: _date(field_of(record, "last_used")),
            now=self.now(),
            max_age=self.max_age,
            uses=lambda record: field_of(record, "uses"),
            min_uses=self.min_uses,
            missing=self.missing,
            only_above=self.only_above,
        )
        return kept if kept or not self.keep_all_if_stale else given


def _date(value: object) -> datetime | None:
    """Read a date; one that cannot be read is none."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return None
    return value if isinstance(value, datetime) else None


@frozen
class LessonSource:
    """Lessons that are not stale, with their importance."""

    store: LessonStore
    freshness: Freshness = field(
        default=Freshness(max_age=LESSONS_MAX_AGE, min_uses=2, only_above=5), kw_only=True
    )

    def __call__(self, query: SlotQuery, /) -> Deferred[list[Mapping[str, Any]]]:
        """Return `content` and `importance`; without one it is told by tags, else MEDIUM."""
        return Deferred(partial(self._found, query))

    async def _found(self, query: SlotQuery) -> list[Mapping[str, Any]]:
        found = await _awaited(self.store.lessons(query.goal_id))
        return [
            {
                "content": text_of(record, "content") or text_of(record, "lesson"),
                "importance": text_of(record, "importance") or _by_tags(record),
            }
            for record in self.freshness.of(found)
        ]


def _by_tags(record: Record) -> str:
    tags = [str(tag).upper() for tag in field_of(record, "relevance_tags") or ()]
    return next((rank for rank in ("HIGH", "LOW") if rank in tags), "MEDIUM")


@frozen
class KnowledgeSource:
    """The first of several sources of knowledge that has any; a search by meaning comes last."""

    stores: tuple[KnowledgeStore, ...] = field(converter=tuple["KnowledgeStore", ...])
    index: VectorIndex | None = field(default=None, kw_only=True)
    most: int = field(default=5, kw_only=True)
    """The most that are asked of the index."""
    min_similarity: float = field(default=MIN_SIMILARITY, kw_only=True)
    missing: Missing = field(default="drop", kw_only=True)
    """What becomes of what the index gives no similarity."""

    def __call__(self, query: SlotQuery, /) -> Deferred[list[Any]]:
        """Return what is known; a store that fails is told and passed over, if others do not."""
        return Deferred(partial(self._found, query))

    async def _found(self, query: SlotQuery) -> list[Any]:
        failures: list[Exception] = []
        found: list[Any] = []
        for ask in self._asked(query):
            try:
                found = list(await _awaited(ask()))
            except Exception as error:
                failures.append(error)
            if found:
                break
        if failures and not found:
            raise failures[0]
        for failure in failures:
            _log.warning("passed over a store of knowledge", exc_info=failure)
            query.tell(f"a store was passed over: {type(failure).__name__}: {failure}")
        return found

    def _asked(self, query: SlotQuery) -> Iterable[Callable[[], Records]]:
        question = query.question()
        for store in self.stores:
            yield partial(store.knowledge, query.goal_id, question)
        if self.index is not None and question:
            yield partial(self._searched, self.index, question)

    async def _searched(self, index: VectorIndex, question: str) -> Iterable[Record]:
        found = await _awaited(index.search(question, self.most))
        near = similar(found, self.min_similarity, score=_similarity, missing=self.missing)
        return [
            {"content": text_of(record, "text"), "confidence": _similarity(record)}
            for record in near
        ]


def _similarity(record: Record) -> float | None:
    similarity: float | None = field_of(record, "similarity")
    if similarity is not None:
        return similarity
    score: float | None = field_of(record, "score")
    return score


@frozen
class ReflectionSource:
    """The newest reflections; those on a success do not say that something failed."""

    store: ReflectionStore
    most: int = field(default=5, kw_only=True)

    def __call__(self, query: SlotQuery, /) -> Deferred[list[Mapping[str, Any]]]:
        """Return `what_failed` and `suggestion`, or `content`."""
        return Deferred(partial(self._found, query))

    async def _found(self, query: SlotQuery) -> list[Mapping[str, Any]]:
        found = await _awaited(self.store.reflections(query.goal_id, self.most))
        return [_reflection(record) for record in found]


def _reflection(record: Record) -> Mapping[str, Any]:
    why = text_of(record, "what_failed") or text_of(record, "why_it_worked_or_failed")
    suggestion = text_of(record, "suggestion") or text_of(record, "what_to_do_differently")
    if field_of(record, "success"):
        worked = f"Worked: {why}" if why else ""
        return {"content": "\n".join(filter(None, (worked, suggestion and f"Next: {suggestion}")))}
    return {
        "what_failed": why,
        "suggestion": suggestion,
        "content": text_of(record, "content"),
    }


@frozen
class WorkspaceSource:
    """What is in the workspace."""

    store: WorkspaceStore

    def __call__(self, query: SlotQuery, /) -> Deferred[list[Any]]:
        """Return texts and records as they are."""
        return Deferred(partial(self._found, query))

    async def _found(self, query: SlotQuery) -> list[Any]:
        return list(await _awaited(self.store.items(query.goal_id, query.dimension)))


@frozen
class StrategySource:
    """Strategies that fit the goal: near enough where they have a similarity, else not too old."""

    store: StrategyStore
    most: int = field(default=3, kw_only=True)
    min_similarity: float = field(default=MIN_SIMILARITY, kw_only=True)
    freshness: Freshness = field(default=Freshness(max_age=STRATEGIES_MAX_AGE), kw_only=True)

    def __call__(self, query: SlotQuery, /) -> Deferred[list[Record]]:
        """Return the strategies; nothing is searched for a goal without strategy and title."""
        return Deferred(partial(self._found, query))

    async def _found(self, query: SlotQuery) -> list[Record]:
        question = query.question()
        if not question:
            return []
        found = list(await _awaited(self.store.strategies(question, self.most)))
        if any(_similarity(record) is not None for record in found):
            return similar(found, self.min_similarity, score=_similarity, missing="keep")
        return self.freshness.of(found)


async def _awaited(found: Any) -> Any:
    return await found if inspect.isawaitable(found) else found


def goal_agent_sources(
    *,
    lessons: LessonStore | None = None,
    knowledge: KnowledgeStore | Iterable[KnowledgeStore] = (),
    index: VectorIndex | None = None,
    reflections: ReflectionStore | None = None,
    workspace: WorkspaceStore | None = None,
    strategies: StrategyStore | None = None,
) -> Mapping[str, SlotSource]:
    """Return sources for the slots of the preset; without a store a slot has nothing to say."""
    stores = tuple(knowledge) if isinstance(knowledge, Iterable) else (knowledge,)
    sources: dict[str, SlotSource] = {
        "goal_definition": goal_source,
        "current_state": state_source,
        "dimension_history": history_source,
        "recent_task_results": task_results_source,
        "failure_context": context_source,
        "knowledge": KnowledgeSource(stores, index=index),
    }
    if lessons is not None:
        sources["lessons"] = LessonSource(lessons)
    if reflections is not None:
        sources["reflections"] = ReflectionSource(reflections)
    if workspace is not None:
        sources["workspace_state"] = WorkspaceSource(workspace)
    if strategies is not None:
        sources["strategy_templates"] = StrategySource(strategies)
    return MappingProxyType(sources)
