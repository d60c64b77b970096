"""Renders prompts and prints a digest of every byte, for a process with a hash seed of its own."""

from __future__ import annotations

import json
from hashlib import sha256

from promptsections import (
    Chunk,
    ConversationHistory,
    DataSourceSection,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    MemorySection,
    Prompt,
    Renderer,
    Rest,
    SystemMessage,
    TextSection,
    Tool,
    ToolCall,
    UserInput,
    compare,
    lay_out,
)
from promptsections.testing import FakeSource

PROMPT = Prompt(
    [
        SystemMessage("Answer <<$user.name>>; tags: <<$tags>>, <<join $tags>>."),
        FunctionCallMessage(ToolCall("c1", "search", {"b": 1, "a": 2}), required=False),
        FunctionResponseMessage("c1", {"z": 1, "y": [1, 2]}, required=False),
        GroupSection(
            [
                MemorySection("profile", format="yaml", tokens=0.3),
                MemorySection("tags", priority=1),
                DataSourceSection(
                    FakeSource([Chunk(f"chunk {i} of many", id=f"d{i}") for i in range(9)])
                ),
            ],
            role="system",
            tokens=0.5,
            required=False,
        ),
        TextSection("Rules. " * 40, tokens=Rest(weight=2)),
        ConversationHistory(),
        UserInput(),
    ],
    tools=[Tool("search", "Finds things.", {"type": "object", "properties": {"q": {}, "a": {}}})],
)
MEMORY = {
    "user": {"name": "Ada"},
    "input": "Which one?",
    "tags": {"red", "green", "blue", "yellow", "violet"},
    "profile": {"likes": {"tea", "rain"}, "since": 1999, "notes": ["a b c " * 5] * 3},
    "history": [
        {"role": role, "content": f"turn {i} " * 4}
        for i in range(8)
        for role in ("user", "assistant")
    ],
}


def join(values: object) -> str:
    """Join what a template passes, in a stable order."""
    return "+".join(sorted(values))  # type: ignore[call-overload]


def main() -> None:
    """Print one digest of many layouts."""
    digest = sha256()
    for output in ("messages", "text"):
        for model in ("gpt-4o", "gpt-4"):
            renderer = Renderer(model, output=output, functions={"join": join})
            resolved = renderer.resolve(PROMPT, MEMORY, budget=4_000)
            before = lay_out(resolved)
            minimum = resolved.minimum_budget()
            for budget in range(minimum, minimum + 400, 13):
                rendered = lay_out(resolved, budget)
                digest.update(repr(rendered.messages).encode())
                digest.update(json.dumps(rendered.layout.to_dict()).encode())
                digest.update(rendered.explain().encode())
                digest.update(compare(before.layout, rendered.layout).encode())
    print(digest.hexdigest())  # noqa: T201


if __name__ == "__main__":
    main()
