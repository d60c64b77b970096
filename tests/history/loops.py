"""The two conversations of the show, and what must hold of them at every budget."""

from __future__ import annotations

from promptsections import Message, ToolCall

BUDGETS = tuple(round(60 + number * 2340 / 179) for number in range(180))
TASK = "Find out which of the twenty cities is the warmest, and say why."


def _words(seed: int, count: int) -> str:
    """Make a text of so many words that differ from text to text."""
    said = ("rain", "wind", "sun", "cloud", "snow", "fog", "hail", "storm", "mist", "frost")
    return " ".join(said[(seed * 7 + n * n + n) % len(said)] for n in range(count))


def _step(name: str, calls: int, words: int) -> list[Message]:
    made = [
        ToolCall(f"call_{name}_{n}", "weather", {"city": f"City {name}", "day": n})
        for n in range(calls)
    ]
    results = [
        Message("tool", _words(len(name) + n, words + 9 * n), tool_call_id=call.id)
        for n, call in enumerate(made)
    ]
    return [Message("assistant", None, tool_calls=made), *results]


def agent_loop() -> list[Message]:
    """Make one user task and the twenty steps that have been taken for it."""
    steps = [_step(f"{n}", 1, 30 + 5 * (n % 7)) for n in range(20)]
    return [Message("user", TASK), *(message for step in steps for message in step)]


def chat() -> list[Message]:
    """Make twelve turns with one to three calls each; the last one is not answered yet."""
    messages: list[Message] = []
    for n in range(12):
        messages.append(Message("user", f"How is it in city {n}? {_words(n, 12)}"))
        messages += _step(f"{n}", 1 + n % 3, 15 + 3 * (n % 5))
        messages.append(Message("assistant", f"It is so: {_words(n + 3, 25)}"))
    return messages[:-1]


CONVERSATIONS = {"agent loop": agent_loop, "chat": chat}
