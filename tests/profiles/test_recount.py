"""`token_count` against a recount of OpenAI's request by someone who knows the payload alone."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    ConversationHistory,
    ImagePart,
    Message,
    Prompt,
    Renderer,
    SystemMessage,
    TextPart,
    Tool,
    ToolCall,
    UserInput,
)
from promptsections.providers import openai_chat
from promptsections.tokens import TiktokenTokenizer

count = TiktokenTokenizer("o200k_base").count


def recount(request: dict[str, Any]) -> int:
    """Count a request for gpt-4o as OpenAI's cookbook and its guide to images do."""
    return (
        3
        + sum(map(message_tokens, request["messages"]))
        + tools_tokens([tool["function"] for tool in request.get("tools", [])])
    )


def message_tokens(message: dict[str, Any]) -> int:
    tokens = 3 + (1 if "name" in message else 0)
    for key, value in message.items():
        match key, value:
            case "tool_calls", list():
                for call in value:
                    function = call["function"]
                    texts = (call["id"], function["name"], function["arguments"])
                    tokens += 3 + sum(map(count, texts))
            case "content", list():
                tokens += sum(map(part_tokens, value))
            case _, str():
                tokens += count(value)
    return tokens


def part_tokens(part: dict[str, Any]) -> int:
    match part:
        case {"type": "text", "text": text}:
            return count(text)
        case {"image_url": {"detail": "low"}}:
            return 85
        case {"image_url": {"url": url}}:
            width, height = map(int, url.rpartition("/")[2].split("x"))
    long = max(width, height)
    shrink = min(1.0, 2048 / long)
    shrink = min(shrink, 768 / min(width, height))
    tiles = math.ceil(round(width * shrink / 512, 9)) * math.ceil(round(height * shrink / 512, 9))
    return 85 + 170 * tiles


def tools_tokens(functions: list[dict[str, Any]]) -> int:
    """The cookbook's `num_tokens_for_tools`, for flat schemas."""
    tokens = 12 if functions else 0
    for function in functions:
        tokens += 7 + count(
            f"{function['name']}:{function.get('description', '').removesuffix('.')}"
        )
        properties = function["parameters"]["properties"]
        tokens += 3 if properties else 0
        for key, value in properties.items():
            tokens += 3
            if "enum" in value:
                tokens += -3 + sum(3 + count(item) for item in value["enum"])
            tokens += count(f"{key}:{value['type']}:{value['description'].removesuffix('.')}")
    return tokens


words = st.text(st.characters(codec="utf-8"), max_size=30)
names = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)
properties = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer"]), "description": words},
    optional={"enum": st.lists(words, min_size=1, max_size=3)},
)
tools = st.lists(
    st.builds(
        lambda name, about, fields: Tool(name, about, {"type": "object", "properties": fields}),
        names,
        words,
        st.dictionaries(names, properties, max_size=3),
    ),
    max_size=2,
    unique_by=lambda tool: tool.name,
)


@st.composite
def images(draw: st.DrawFn) -> ImagePart:
    width, height = draw(st.integers(1, 3_000)), draw(st.integers(1, 3_000))
    detail = draw(st.sampled_from([None, "low", "high"]))
    url = f"https://example.com/{width}x{height}"
    return ImagePart(url, detail=detail, width=width, height=height)


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    history: list[Message] = []
    for turn in range(draw(st.integers(0, 4))):
        history.append(Message("user", draw(words), name=draw(st.none() | names)))
        for step in range(draw(st.integers(0, 2))):
            calls = [
                ToolCall(f"call_{turn}_{step}_{i}", draw(names), {"q": draw(words)})
                for i in range(draw(st.integers(1, 2)))
            ]
            history.append(Message("assistant", draw(words) or None, tool_calls=calls))
            history += [Message("tool", draw(words), tool_call_id=call.id) for call in calls]
        history.append(Message("assistant", draw(words)))
    return history


@given(turns(), words, st.lists(images(), max_size=2), tools, st.integers(200, 3_000))
def test_the_count_of_a_render_is_a_recount_of_what_is_sent(
    history: list[Message], text: str, pictures: list[ImagePart], offered: list[Tool], budget: int
) -> None:
    """Framing, names, calls, results, images and tools: all are in `token_count`, nothing else."""
    prompt = Prompt(
        [SystemMessage("Be brief."), ConversationHistory(), UserInput(files="files")],
        tools=offered,
    )
    memory = {"history": history, "input": text, "files": [TextPart("See:"), *pictures]}
    renderer = Renderer("gpt-4o")
    resolved = renderer.resolve(prompt, memory, budget=100_000)

    rendered = renderer.render(prompt, memory, budget=max(budget, resolved.minimum_budget()))

    assert rendered.token_count == recount(dict(openai_chat.to_request(rendered)))
