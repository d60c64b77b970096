"""A support bot's prompt, laid out at three budgets: `python examples/support_bot.py`.

It needs no network and no key, and prints the same every time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from promptsections import (
    AssistantMessage,
    Chunk,
    ConversationHistory,
    DataSourceSection,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    MemorySection,
    Message,
    Prompt,
    RenderedPrompt,
    Renderer,
    Rest,
    Scope,
    Share,
    SystemMessage,
    Tool,
    ToolCall,
    UserInput,
    UserMessage,
    lay_out,
)
from promptsections.providers import openai_chat

BUDGETS = (700, 1_500, 6_000)

# --- what the bot knows -----------------------------------------------------------------------

CUSTOMER = {
    "name": "Ana Lindqvist",
    "plan": "Plus",
    "language": "en",
    "orders": [
        {"id": "A-1042", "item": "Trail shoes", "status": "delivered"},
        {"id": "A-1077", "item": "Rain jacket", "status": "in transit"},
    ],
}

ARTICLES = {
    "returns": "Goods can be returned within 30 days of delivery if they are unused. Plus "
    "customers have 60 days. The label is in the parcel; a new one can be made under Orders.",
    "refunds": "Money goes back the way it came, within five working days of the parcel's arrival "
    "at our warehouse. Gift cards are refunded as gift cards.",
    "shipping": "Parcels within the country take two to three working days, abroad five to nine. A "
    "parcel that has not moved for five days is searched for on request.",
    "exchanges": "A size can be exchanged once, free of charge. The new size is sent when the "
    "carrier has scanned the old one, so that nobody waits for our warehouse.",
    "warranty": "Seams and zips are repaired free of charge for five years. Please wash the piece "
    "before it is sent in, and describe the damage on the form.",
}

TOPICS = (
    ("Can I still change the address of my last order?", "Yes, as long as it is not packed."),
    ("Do the trail shoes run small?", "They do. Most people take half a size more."),
    ("Is the rain jacket warm enough for winter?", "With a layer below it, down to minus five."),
    ("Can I pay by invoice?", "Yes, Plus customers can, up to 500 euros."),
)


def conversation(turns: int) -> Iterator[dict[str, Any]]:
    """Yield a conversation of so many turns as a store has it; every fifth calls a tool."""
    for turn in range(1, turns + 1):
        question, answer = TOPICS[turn % len(TOPICS)]
        if turn % 5:
            yield {"role": "user", "content": f"({turn}) {question}"}
            yield {"role": "assistant", "content": answer}
            continue
        call = {"name": "order_status", "arguments": '{"order":"A-1077"}'}
        yield {"role": "user", "content": f"({turn}) Where is my jacket now?"}
        yield {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"call_{turn}", "type": "function", "function": call}],
        }
        result = {"order": "A-1077", "status": "in transit", "place": f"depot {turn}"}
        yield {"role": "tool", "tool_call_id": f"call_{turn}", "content": json.dumps(result)}
        yield {"role": "assistant", "content": f"It is in depot {turn} and moves on tonight."}


def search(query: str, scope: Scope) -> list[Chunk]:
    """Return the articles that share most words with the query; a stand-in for a vector store."""
    asked = {word.strip("?,.").lower() for word in query.split()}
    scored = [
        Chunk(text, id=name, score=len(asked & set(text.lower().split())) + 3 * (name in asked))
        for name, text in ARTICLES.items()
    ]
    return sorted(scored, key=lambda chunk: -(chunk.score or 0))


def today() -> str:
    """Return the date; a real bot would ask a clock."""
    return "Monday, 3 March 2025"


# --- the prompt -------------------------------------------------------------------------------

EXAMPLE = GroupSection(
    [
        UserMessage("Where is order A-0001?"),
        FunctionCallMessage(ToolCall("call_example", "order_status", '{"order":"A-0001"}')),
        FunctionResponseMessage("call_example", {"order": "A-0001", "status": "packed"}),
        AssistantMessage("It is packed and leaves our warehouse tonight."),
    ],
    name="example",
    required=False,
    priority=-1,
)

PROMPT = Prompt(
    [
        SystemMessage(
            "You are the support assistant of Fjell, an outdoor shop. Today is <<today>>.\n"
            "You talk to <<$customer.name>> (<<$customer.plan>>). Answer in two sentences at most, "
            "and only from what stands below. Look orders up; never guess where a parcel is.",
            name="instructions",
        ),
        MemorySection("customer", tag="customer", format="yaml", priority=2),
        EXAMPLE,
        DataSourceSection(search, tokens=Share(0.3), name="articles"),
        ConversationHistory(tokens=Rest(at_least=400)),
        UserInput(),
    ],
    tools=[
        Tool(
            "order_status",
            "Look up where an order is.",
            {
                "type": "object",
                "properties": {"order": {"type": "string", "description": "Number of the order"}},
                "required": ["order"],
            },
        )
    ],
)

MEMORY = {
    "customer": CUSTOMER,
    "history": list(conversation(60)),
    "input": "My trail shoes are too small. How do exchanges and returns work, and when are "
    "refunds paid?",
}


# --- what is printed ----------------------------------------------------------------------------


def in_short(message: Message) -> str:
    """Write a message in one line."""
    calls = " ".join(f"{call.name}({call.arguments})" for call in message.tool_calls)
    words = " ".join((message.text or calls).split())
    return f"  {message.role:<9} {words if len(words) <= 78 else words[:77] + '…'}"


def show(rendered: RenderedPrompt) -> None:
    """Print a layout, and its messages in short; of a long list the ends."""
    print(f"=== budget {rendered.layout.budget:,} ===\n\n{rendered.explain()}\n")
    lines = [in_short(message) for message in rendered.messages]
    if len(lines) > 14:
        lines[8:-5] = [f"  … {len(lines) - 13} more messages"]
    print("\n".join(lines), end="\n\n")


def main() -> None:
    """Resolve the prompt once, lay it out at each budget, and write one request."""
    renderer = Renderer("gpt-4o", functions={"today": today})
    resolved = renderer.resolve(PROMPT, MEMORY, budget=max(BUDGETS))
    print(f"What is required takes {resolved.minimum_budget()} tokens.\n")
    for budget in BUDGETS:
        show(lay_out(resolved, budget))
    request = openai_chat.to_request(lay_out(resolved, BUDGETS[0]), model="gpt-4o")
    print(f"=== request at {BUDGETS[0]:,} ===\n")
    print(json.dumps(request, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
