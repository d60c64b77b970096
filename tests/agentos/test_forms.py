"""What is sent for the same components, held against recorded templates.

The original loses images, calls and retrieved texts in some of its forms. Here every form says
everything; where that makes another prompt, the case is named below with its reason.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from agentos_cases import Case, of, of_id

from promptsections import (
    Chunk,
    DefinitionError,
    ImagePart,
    ProviderError,
    UnsupportedContentError,
)
from promptsections.prompt_engine import (
    EngineResult,
    ModelTarget,
    PromptComponents,
    PromptEngine,
)

MODELS = {
    "openai_chat": "gpt-4o",
    "anthropic_messages": "claude-sonnet-4-5",
    "generic_completion": "gpt-4o",
}


def image(given: dict[str, str]) -> ImagePart:
    is_url = given["type"] == "url"
    return ImagePart(given["data"] if is_url else f"data:image/jpeg;base64,{given['data']}")


def components_of(given: dict[str, Any]) -> PromptComponents:
    prompts = sorted(given.get("systemPrompts", ()), key=lambda prompt: prompt["priority"])
    found = given.get("retrievedContext", [])
    return PromptComponents(
        system_prompts=[prompt["content"] for prompt in prompts],
        history=given.get("conversationHistory", ()),
        user_input=given.get("userInput"),
        media=[image(one) for one in given.get("visionInputs", ())],
        retrieved=[found]
        if isinstance(found, str)
        else [Chunk(one["content"], source=one["source"]) for one in found],
    )


def constructed(case: Case) -> EngineResult:
    template = case.input["template"]
    target = ModelTarget(
        model=MODELS.get(template, "gpt-4o"),
        vision_supported=case.input["model"].get("visionSupport", {}).get("supported", False),
    )
    components = components_of(case.input["components"])
    return PromptEngine().construct(components, target, template=template)


def texts_in(value: Any) -> list[str]:
    """Return all texts of a prompt, in order, whatever its form."""
    match value:
        case str():
            return [value]
        case list():
            return [text for one in value for text in texts_in(one)]
        case dict():
            return [text for one in value.values() for text in texts_in(one)]
        case _:
            return []


REFUSED = {
    "agentos-0166": (UnsupportedContentError, "https:// addresses only"),
    "agentos-0168": (ProviderError, "needs a user message"),
    "agentos-0181": (DefinitionError, "no template 'google_gemini'"),
}
"""Case → the error instead of a request that the provider refuses, or of an empty prompt."""

KNOWN = [p for p in of("template") if p.id not in REFUSED]


@pytest.mark.parametrize("case", KNOWN)
def test_every_part_is_in_every_form(case: Case) -> None:
    given = case.input["components"]
    result = constructed(case)
    sent = "\n".join(texts_in(result.prompt))
    for prompt in given.get("systemPrompts", ()):
        assert prompt["content"] in sent
    assert given.get("userInput", "") in sent
    retrieved = given.get("retrievedContext", [])
    for chunk in [{"content": retrieved}] if isinstance(retrieved, str) else retrieved:
        assert chunk["content"] in sent
        assert chunk.get("source", "") in sent
    for message in given.get("conversationHistory", ()):
        is_sent = message["role"] not in ("error", "thought")
        called = {
            call["id"] for m in given["conversationHistory"] for call in m.get("tool_calls", ())
        }
        is_sent &= message["role"] != "tool" or message["tool_call_id"] in called
        if message["content"] and len(message["content"]) > 1:
            assert (message["content"] in sent) == is_sent
        for call in message.get("tool_calls", ()):
            assert call["name"] in sent


@pytest.mark.parametrize("case", KNOWN)
def test_images_are_sent_or_it_is_said_that_they_are_not(case: Case) -> None:
    images = case.input["components"].get("visionInputs", [])
    result = constructed(case)
    sent = json.dumps(result.prompt)
    codes = {issue.code for issue in result.issues}
    for one in images:
        if case.input["model"]:
            is_text = case.input["template"] == "generic_completion"
            assert one["data"] in sent or (is_text and "[image]" in sent)
        else:
            assert "VISION_NOT_SUPPORTED" in codes
    assert "[object Object]" not in sent


@pytest.mark.parametrize("number", [155, 158, 160, 161])
def test_chat_messages_are_as_recorded(number: int) -> None:
    case = of_id(number)
    prompts = [m["content"] for m in case.output if m["role"] == "system"]
    sent = constructed(case).prompt
    systems = [m["content"] for m in sent if m["role"] in ("system", "developer")]
    assert "\n\n".join(systems) == "\n\n".join(prompts), "ours may stand in several messages"
    rest = [m for m in sent if m["role"] not in ("system", "developer")]
    recorded = [m for m in case.output if m["role"] != "system"]
    assert [m["role"] for m in rest] == [m["role"] for m in recorded]
    for mine, theirs in zip(rest, recorded, strict=True):
        assert mine.get("content") == theirs["content"]
        calls = [c["function"] for c in mine.get("tool_calls", ())]
        assert [json.loads(c["arguments"]) for c in calls] == [
            json.loads(c["function"]["arguments"]) for c in theirs.get("tool_calls", ())
        ]


def test_errors_and_thoughts_of_an_agent_are_not_said_by_the_user() -> None:
    """The original sends both as the user's; Anthropic's form loses the system message too."""
    for number in (157, 164, 171):
        sent = "\n".join(texts_in(constructed(of_id(number)).prompt))
        assert "Conversation summary (older context):\nSUM" in sent
        assert "SYS" in sent
        assert "E" not in sent.replace("SYS", "").splitlines()
        assert "T" not in sent.splitlines()


def test_a_call_keeps_its_result_and_a_result_its_call() -> None:
    sent = constructed(of_id(165)).prompt["messages"]
    blocks = [b for m in sent if isinstance(m["content"], list) for b in m["content"]]
    assert [b["id"] for b in blocks if b["type"] == "tool_use"] == ["c1"]
    assert [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"] == ["c1"]


@pytest.mark.parametrize("case", [p for p in of("template") if p.id in REFUSED])
def test_what_cannot_be_sent_is_an_error(case: Case) -> None:
    kind, said = REFUSED[case.id]
    with pytest.raises(kind, match=said):
        constructed(case)


def test_images_for_anthropic_are_in_the_form_that_it_reads() -> None:
    """The original writes an address where the bytes belong."""
    given = of_id(166).input["components"]
    media = [ImagePart("https://x/a.png"), image(given["visionInputs"][1])]
    result = PromptEngine().construct(
        PromptComponents(user_input="q", media=media),
        MODELS["anthropic_messages"],
        template="anthropic_messages",
    )
    sources = [b["source"] for b in result.prompt["messages"][0]["content"] if b["type"] == "image"]
    assert sources == [
        {"type": "url", "url": "https://x/a.png"},
        {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"},
    ]


def test_images_stay_beside_retrieved_text() -> None:
    sent = constructed(of_id(180)).prompt
    assert '"image_url": {"url": "u"}' in json.dumps(sent)
    assert "RAG" in json.dumps(sent)
