"""What ready sources make of what stores return."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from promptsections.assembly.formatters import format_reflections
from promptsections.assembly.sources import (
    Freshness,
    KnowledgeSource,
    ReflectionSource,
    SlotQuery,
    StrategySource,
    goal_agent_sources,
    history_source,
    state_source,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def query(**fields: Any) -> SlotQuery:
    return SlotQuery(**{"purpose": "p", **fields})


def asked(source: Any, **fields: Any) -> Any:
    async def ask() -> Any:
        return await source(query(**fields))

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("threshold", "target"),
    [
        ({"value": 0.9}, 0.9),
        ({"value": 0}, 0),
        ({"min": 1, "max": 5.0}, "1 to 5"),
        ({"min": 1}, "at least 1"),
        ({"max": 5}, "at most 5"),
        ({"type": "present"}, "present"),
        (0.5, 0.5),
        ("green", "green"),
        (None, None),
    ],
)
def test_every_kind_of_target_is_said(threshold: Any, target: Any) -> None:
    goal = {"dimensions": [{"name": "a", "current_value": 1, "threshold": threshold}]}

    assert state_source(query(goal=goal)) == [
        {"name": "a", "current": 1, "target": target, "gap": None}
    ]


def test_histories_of_several_dimensions_are_told_apart() -> None:
    goal = {
        "dimensions": [
            {"name": "a", "history": [{"timestamp": "1", "value": 1}]},
            {"name": "b", "history": [{"timestamp": "2", "value": 2}]},
            {"name": "c"},
        ]
    }

    assert [entry["dimension"] for entry in history_source(query(goal=goal))] == ["a", "b"]
    assert history_source(query(goal=goal, dimension="b")) == [
        {"timestamp": "2", "score": 2, "dimension": None}
    ]
    assert history_source(query()) == []


class Store:
    """A store that returns or raises what it was given."""

    def __init__(self, found: Any) -> None:
        self._found = found

    def knowledge(self, goal_id: str | None, question: str, /) -> Any:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found

    def reflections(self, goal_id: str | None, most: int, /) -> Any:
        return self._found[:most]

    def strategies(self, question: str, most: int, /) -> Any:
        return self._found[:most]

    def lessons(self, goal_id: str | None, /) -> Any:
        return self._found

    def items(self, goal_id: str | None, dimension: str | None, /) -> Any:
        return self._found

    def search(self, text: str, most: int, /) -> Any:
        return self._found


def test_the_next_store_answers_where_one_is_empty_or_down(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = [{"content": "k"}]
    down = Store(ConnectionError("down"))

    assert asked(KnowledgeSource([Store([]), Store(found)])) == found
    assert asked(KnowledgeSource([down, Store(found)])) == found
    assert "down" in caplog.text
    assert asked(KnowledgeSource([Store([])])) == []
    assert asked(KnowledgeSource([], index=Store(found)), goal=None) == []  # nothing to ask for
    with pytest.raises(ConnectionError, match="down"):
        asked(KnowledgeSource([down, Store([])]))


def test_a_success_is_not_said_to_have_failed() -> None:
    records = [
        {"success": True, "why_it_worked_or_failed": "small steps", "suggestion": "go on"},
        {"success": False, "why_it_worked_or_failed": "too big", "suggestion": "part it"},
        {"success": True},
        {"content": "free text"},
    ]

    found = asked(ReflectionSource(Store(records)))

    assert format_reflections(found) == (
        "Worked: small steps\nNext: go on\n---\n"
        "Failed: too big\nSuggestion: part it\n---\nfree text"
    )


def strategies(*records: Mapping[str, Any]) -> list[str]:
    source = StrategySource(
        Store(records), freshness=Freshness(max_age=timedelta(days=30), now=lambda: NOW)
    )
    return [record["name"] for record in asked(source, goal={"title": "T"})]


def test_strategies_are_near_or_young() -> None:
    old = (NOW - timedelta(days=31)).isoformat()

    assert strategies({"name": "far", "similarity": 0.5}, {"name": "?"}) == ["?"]
    assert strategies({"name": "old", "last_used": old}, {"name": "undated"}) == ["undated"]
    assert strategies({"name": "old", "last_used": old}) == ["old"]  # better than none
    assert strategies({"name": "odd", "last_used": "last spring"}) == ["odd"]


def test_the_clock_is_the_systems_by_default() -> None:
    records = [
        {"name": "new", "last_used": datetime.now(UTC)},
        {"name": "old", "last_used": datetime(2000, 1, 1, tzinfo=UTC)},
    ]

    assert Freshness(max_age=timedelta(days=1)).of(records) == records[:1]


def test_only_stores_that_there_are_have_sources() -> None:
    store = Store([])

    alone = goal_agent_sources()
    every = goal_agent_sources(
        lessons=store,
        knowledge=store,
        index=store,
        reflections=store,
        workspace=store,
        strategies=store,
    )

    assert set(every) - set(alone) == {
        "lessons",
        "reflections",
        "workspace_state",
        "strategy_templates",
    }
    assert len(every) == 10
