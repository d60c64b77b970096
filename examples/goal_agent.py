"""An agent that works towards a goal, offline: SQLite has what it knows, a script is the model.

Run it with `python examples/goal_agent.py`.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen
from pydantic import BaseModel

from promptsections import Renderer
from promptsections.assembly import (
    ContextAssembler,
    ModelAnswer,
    ModelRequest,
    PromptGateway,
    goal_agent_catalog,
    goal_agent_sources,
)


class Task(BaseModel):
    """What the agent is to do next."""

    task: str
    done_when: str


@frozen
class Database:
    """Goals, lessons and knowledge in SQLite."""

    connection: sqlite3.Connection

    @classmethod
    def filled(cls) -> Database:
        """Make a database in memory, with a little in it."""
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.executescript(
            """
            create table goals (id, title, description, hypothesis);
            create table dimensions (goal, name, current_value real, target real);
            create table lessons (content, importance, last_used, uses);
            create table knowledge (question, answer, confidence real);
            insert into goals values ('g1', 'Ship version 1', 'Release it in May', 'Small steps');
            insert into dimensions values ('g1', 'test coverage', 0.6, 0.9), ('g1', 'docs', 1, 1);
            insert into lessons values ('Large changes break the build', 'HIGH', '2026-02-20', 3),
                ('Write the test first', 'MEDIUM', '2026-02-25', 1);
            insert into knowledge values ('Who releases?', 'The build server, at night', 0.9);
            """
        )
        return cls(connection)

    def load_goal(self, goal_id: str, /) -> Mapping[str, Any] | None:
        """Return a goal with its strategy and dimensions."""
        goals = self._rows("select * from goals where id = ?", goal_id)
        if not goals:
            return None
        found = self._rows("select * from dimensions where goal = ?", goal_id)
        return {
            **goals[0],
            "active_strategy": {"hypothesis": goals[0]["hypothesis"]},
            "dimensions": [{**row, "threshold": {"value": row["target"]}} for row in found],
        }

    def lessons(self, goal_id: str | None, /) -> Iterable[Mapping[str, Any]]:
        """Return all lessons."""
        return self._rows("select * from lessons")

    def knowledge(self, goal_id: str | None, question: str, /) -> Iterable[Mapping[str, Any]]:
        """Return all that is known."""
        return self._rows("select * from knowledge")

    def _rows(self, query: str, *values: str) -> list[dict[str, Any]]:
        return [dict(row) for row in self.connection.execute(query, values)]


class ScriptedModel:
    """Stands for a model; its first task is missing a part, so that it is asked again."""

    def __init__(self) -> None:
        self._answers = [
            "Releases are made by the build server at night.",
            'Sure:\n```json\n{"task": "Test the parser"}\n```',
            '{"task": "Test the parser", "done_when": "coverage of parser.py is above 0.9"}',
            "It passes: coverage is 0.93.",
        ]

    async def __call__(self, request: ModelRequest, /) -> ModelAnswer:
        """Give the next answer."""
        return ModelAnswer(text=self._answers.pop(0), input_tokens=request.rendered.token_count)


async def main() -> None:
    """Ask what is known, plan a task, and verify it."""
    database = Database.filled()
    assembler = ContextAssembler(
        goal_agent_catalog(),
        Renderer("gpt-4o"),
        sources=goal_agent_sources(lessons=database, knowledge=database),
        goals=database,
    )
    gateway = PromptGateway(assembler, ScriptedModel())

    known = await gateway.execute("knowledge_query", goal_id="g1", budget=500)
    print(known.value)

    planned = await gateway.execute(
        "task_generation", goal_id="g1", response_model=Task, budget=800
    )
    print(f"{planned.value.task}; done when {planned.value.done_when}")
    print(f"({len(planned.answers)} calls)")

    result = {"task_description": planned.value.task, "outcome": "0.93", "success": True}
    verified = await gateway.execute(
        "verification", goal_id="g1", additional_context={"existing_tasks": [result]}, budget=500
    )
    print(verified.value)
    print()
    print(verified.rendered.messages[-1].text)
    print()
    print(verified.rendered.explain())


if __name__ == "__main__":
    asyncio.run(main())
