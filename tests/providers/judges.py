"""What others say of a request: the types of each SDK, and Mistral's own checker of order.

Each judge takes a request of one provider and raises if it would be refused. The order of every
request is judged by `mistral-common`, as that provider's server does it, after a translation that
keeps nothing but roles, ids and texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import botocore.session
import botocore.validate
import ollama
from anthropic.types import MessageParam, TextBlockParam
from anthropic.types import ToolParam as AnthropicTool
from google.genai import types as google
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import MistralRequestValidatorV13, ValidationMode
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.responses import FunctionToolParam, ResponseInputItemParam
from strict import validate

Line = tuple[str, str, tuple[str, ...]]
"""A message without its content: role, the id that it answers, the ids that it asks for."""


def judge_order(lines: Iterable[Line], *, reusable: bool = False) -> None:
    """Ask Mistral's checker, as a server does, whether calls and results stand as they must."""
    lines = list(lines)
    # The checker overlooks calls of a first message, which matters to Mistral's server alone.
    messages: list[dict[str, Any]] = [{"role": "user", "content": "x"}]
    for role, answers, asks in lines:
        message: dict[str, Any] = {"role": role, "content": "x"}
        if role == "system":  # instructions may stand anywhere; the checker wants them in front
            message["role"] = "user"
        if asks:
            message["tool_calls"] = [
                {"id": f"i{each}", "function": {"name": "f", "arguments": "{}"}} for each in asks
            ]
        if role == "tool":
            message["tool_call_id"] = f"i{answers}"
        messages.append(message)
    request = ChatCompletionRequest.model_validate({"model": "m", "messages": messages})
    MistralRequestValidatorV13(ValidationMode.serving).validate_request(request)
    every = [each for _, _, asks in lines for each in asks]
    assert reusable or len(set(every)) == len(every), "an id is used twice"


def judge_turns(roles: list[str]) -> None:
    """The user begins, and the two take turns."""
    assert roles[0] == "user"
    assert all(one != other for one, other in pairwise(roles)), roles


def no_blank(texts: Iterator[str] | list[str]) -> None:
    """No text is nothing but white space."""
    assert all(text.strip() for text in texts)


# --- OpenAI -------------------------------------------------------------------------------------


def openai_chat(request: Any) -> None:
    validate(list[ChatCompletionMessageParam], request["messages"])
    validate(list[ChatCompletionToolUnionParam], request.get("tools", []))
    lines: list[Line] = []
    for message in request["messages"]:
        # Instructions may stand anywhere; to the checker of order, later ones are the user's.
        role = message["role"].replace("developer", "system")
        role = "user" if role == "system" and lines else role
        ids = tuple(call["id"] for call in message.get("tool_calls", ()))
        lines.append((role, message.get("tool_call_id", ""), ids))
    judge_order(lines, reusable=True)


def openai_responses(request: Any) -> None:
    validate(list[ResponseInputItemParam], request["input"])
    validate(list[FunctionToolParam], request.get("tools", []))

    def lines() -> Iterator[Line]:
        asked: list[str] = []
        for item in [*request["input"], {"type": "end"}]:
            kind = item.get("type", "message")
            if kind == "function_call":
                asked.append(item["call_id"])
                continue
            if asked and kind in ("function_call_output", "end"):
                yield "assistant", "", tuple(asked)
                asked = []
            if kind == "function_call_output":
                yield "tool", item["call_id"], ()
            elif kind == "message":
                role = item["role"].replace("developer", "system")
                yield "user" if role == "system" else role, "", ()
            within = item.get("role") == "assistant" or kind in ("reasoning", "custom_tool_call")
            assert within or not asked

    judge_order(lines())


# --- turns of blocks ----------------------------------------------------------------------------


def anthropic_messages(request: Any) -> None:
    messages = request["messages"]
    validate(list[MessageParam], messages)
    validate(list[AnthropicTool], request.get("tools", []))
    system = request.get("system", "S")
    no_blank([system] if isinstance(system, str) else [block["text"] for block in system])
    validate(str | list[TextBlockParam], system)
    judge_turns([message["role"] for message in messages])
    lines: list[Line] = []
    for message in messages:
        content = message["content"]
        assert content
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        no_blank([block["text"] for block in blocks if block["type"] == "text"])
        kinds = [block["type"] == "tool_result" for block in blocks]
        assert kinds == sorted(kinds, reverse=True), "results come first"
        asks = [block["id"] for block in blocks if block["type"] == "tool_use"]
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert all(re.fullmatch("[a-zA-Z0-9_-]+", each) for each in asks)
        lines += [("tool", each, ()) for each in answers]
        if not all(kinds):
            lines.append((message["role"], "", tuple(asks)))
    judge_order(lines)


@cache
def _converse() -> Any:
    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    return service.operation_model("Converse").input_shape


def bedrock_converse(request: Any) -> None:
    found = botocore.validate.ParamValidator().validate({"modelId": "m", **request}, _converse())
    assert not found.has_errors(), found.generate_report()
    messages = request["messages"]
    judge_turns([message["role"] for message in messages])
    no_blank([block["text"] for block in request.get("system", []) if "text" in block])
    lines: list[Line] = []
    for message in messages:
        blocks = message["content"]
        assert blocks
        assert all(len(block) == 1 for block in blocks)
        no_blank([block["text"] for block in blocks if "text" in block])
        results = ["toolResult" in block for block in blocks]
        assert results == sorted(results, reverse=True), "results come first"
        asks = [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block]
        assert all(re.fullmatch("[a-zA-Z0-9_.:-]{1,64}", each) for each in asks)
        for block in blocks:
            if "toolResult" in block:
                lines.append(("tool", block["toolResult"]["toolUseId"], ()))
                assert block["toolResult"]["content"]
                no_blank([c["text"] for c in block["toolResult"]["content"] if "text" in c])
        if not all(results):
            lines.append((message["role"], "", tuple(asks)))
    judge_order(lines)


_DATA = {"text", "inlineData", "fileData", "functionCall", "functionResponse"}


def gemini(request: Any) -> None:
    contents = request["contents"]
    for content in [*contents, request.get("systemInstruction", {"parts": []})]:
        google.Content.model_validate(content)
        assert all(len(_DATA & part.keys()) <= 1 for part in content["parts"])
    config = {"tools": request.get("tools"), "systemInstruction": request.get("systemInstruction")}
    google.GenerateContentConfig.model_validate(config)
    judge_turns([content["role"] for content in contents])
    assert contents[-1]["role"] == "user"
    lines: list[Line] = []
    asked: list[dict[str, Any]] = []
    for number, content in enumerate(contents):
        parts = content["parts"]
        assert parts
        no_blank([part["text"] for part in parts if "text" in part])
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        assert sorted(one["name"] for one in asked) == sorted(one["name"] for one in answers)
        asked = calls
        for place, answer in enumerate(answers):
            assert isinstance(answer["response"], dict)
            lines.append(("tool", answer.get("id", f"{number - 1}:{place}"), ()))
        if len(answers) < len(parts):
            role = "assistant" if content["role"] == "model" else "user"
            ids = [call.get("id", f"{number}:{place}") for place, call in enumerate(calls)]
            lines.append((role, "", tuple(ids)))
    judge_order(lines)


# --- flat messages ------------------------------------------------------------------------------


def mistral_chat(request: Any) -> None:
    checked = ChatCompletionRequest.model_validate({"model": "m", **request})
    MistralRequestValidatorV13(ValidationMode.serving).validate_request(checked)
    ids = [call["id"] for m in request["messages"] for call in m.get("tool_calls", ())]
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", each) for each in ids)
    assert len(set(ids)) == len(ids)


def ollama_chat(request: Any) -> None:
    lines: list[Line] = []
    waiting: list[str] = []
    for number, message in enumerate(request["messages"]):
        shown = [ollama.Image(value=image) for image in message.get("images", ())]
        ollama.Message.model_validate({**message, "images": shown})
        known = {"role", "content", "thinking", "images", "tool_name", "tool_calls"}
        assert message.keys() <= known
        assert message["role"] in ("system", "user", "assistant", "tool")
        calls = [call["function"]["name"] for call in message.get("tool_calls", ())]
        if calls:
            waiting = [f"{number}:{place}" for place in range(len(calls))]
        answers = waiting.pop(0) if message["role"] == "tool" else ""
        ids = tuple(waiting) if calls else ()
        lines.append((message["role"].replace("system", "user"), answers, ids))
    for tool in request.get("tools", ()):
        ollama.Tool.model_validate(tool)
    judge_order(lines)


JUDGES: dict[str, Callable[[Any], None]] = {
    judge.__name__: judge
    for judge in (
        openai_chat,
        openai_responses,
        anthropic_messages,
        gemini,
        bedrock_converse,
        mistral_chat,
        ollama_chat,
    )
}


def bytes_of(request: Any) -> str:
    """Write a request as text, to compare requests byte for byte."""
    return json.dumps(request, default=lambda value: value.hex(), ensure_ascii=False)
