"""A catalog for agents that work towards goals: ten slots, fifty-five purposes.

The slots are those of conatus 0.1.0; the purposes stand in `goal_agent.toml`. Extend the catalog
with `goal_agent_catalog().extended(…)`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from promptsections.assembly.formatters import (
    format_current_state,
    format_failure_context,
    format_goal,
    format_knowledge,
    format_lessons,
    format_observation_history,
    format_reflections,
    format_strategy_templates,
    format_task_results,
    format_workspace_state,
)
from promptsections.assembly.slots import Catalog, Purpose, Slot

SHARES: Final[Mapping[str, int]] = {
    "goal_definition": 20,
    "observations": 30,
    "knowledge": 30,
    "transfer_knowledge": 15,
    "meta": 5,
}
"""Percent of the budget, for purposes that say nothing else."""

_SLOTS: Final = (
    Slot(
        "goal_definition",
        category="goal_definition",
        formatter=format_goal,
        priority=10,
        layer="hot",
    ),
    Slot(
        "current_state",
        category="goal_definition",
        formatter=format_current_state,
        priority=9,
        layer="hot",
    ),
    Slot(
        "workspace_state",
        category="observations",
        formatter=format_workspace_state,
        priority=8,
    ),
    Slot(
        "recent_task_results",
        category="observations",
        formatter=lambda value: value if isinstance(value, str) else format_task_results(value),
        priority=7,
        context_keys=(
            "existingTasks",
            "existing_tasks",
            "recentTaskResults",
            "recent_task_results",
        ),
    ),
    Slot(
        "dimension_history",
        category="observations",
        formatter=format_observation_history,
        priority=6,
    ),
    Slot("reflections", category="observations", formatter=format_reflections, priority=5),
    Slot("lessons", category="knowledge", formatter=format_lessons, priority=4, layer="cold"),
    Slot(
        "knowledge",
        category="knowledge",
        formatter=format_knowledge,
        priority=3,
        layer="archival",
    ),
    Slot(
        "strategy_templates",
        category="transfer_knowledge",
        formatter=format_strategy_templates,
        priority=2,
        layer="archival",
    ),
    Slot(
        "failure_context",
        category="observations",
        formatter=format_failure_context,
        priority=1,
        context_keys=("failureContext", "failure_context"),
    ),
)


@cache
def goal_agent_catalog() -> Catalog:
    """Return the ten slots and fifty-five purposes.

    The shares of one purpose (`knowledge_transfer_apply`) add up to 105 %; they are normalised.
    """
    text = files("promptsections.assembly").joinpath("goal_agent.toml").read_text("utf-8")
    return Catalog(
        slots=_SLOTS,
        purposes=[_purpose(name, fields) for name, fields in tomllib.loads(text).items()],
        shares=SHARES,
        over_full="normalise",
    )


def _purpose(name: str, fields: dict[str, Any]) -> Purpose:
    settings: dict[str, Any] = {"temperature": 0, **fields}
    return Purpose(name, **settings)
