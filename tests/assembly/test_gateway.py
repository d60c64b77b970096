"""A gateway assembles, calls, parses and validates; what goes wrong is told and typed."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anthropic
import anyio
import httpx
import httpx2
import openai
import pytest
from attrs import evolve
from conatus_cases import cases_of
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from promptsections import (
    DefinitionError,
    EmptyContextError,
    GatewayError,
    InvalidAnswerError,
    ModelCallError,
    ModelProfile,
    Renderer,
)
from promptsections.assembly.assembler import ContextAssembler
from promptsections.assembly.clients import (
    AnthropicClient,
    ModelAnswer,
    ModelRequest,
    OpenAIClient,
)
from promptsections.assembly.gateway import PromptGateway
from promptsections.assembly.preset import goal_agent_catalog
from promptsections.assembly.sources import goal_agent_sources

CATALOG = goal_agent_catalog()
TASK = {"existing_tasks": "built it"}


class Verdict(BaseModel):
    done: bool


class Scripted:
    """A model that answers what it is told, or raises it; remembers the requests."""

    def __init__(self, *answers: str | ModelAnswer | BaseException) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def __call__(self, request: ModelRequest, /) -> str | ModelAnswer:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def gateway(client: Any, model: str | ModelProfile = "gpt-4o", **options: Any) -> PromptGateway:
    assembler = ContextAssembler(CATALOG, Renderer(model), sources=goal_agent_sources())
    return PromptGateway(assembler, client, **options)


def executed(client: Any, purpose: Any = "verification", **options: Any) -> Any:
    settings = {"additional_context": TASK, **options}
    return asyncio.run(gateway(client).execute(purpose, **settings))


# --- what was recorded ----------------------------------------------------------------------------


def test_every_recorded_call_is_tried_here() -> None:
    assert [case["id"] for case in cases_of("gateway_execute")] == [
        f"conatus-{number:04}" for number in range(402, 408)
    ]


@pytest.mark.parametrize("name", ["conatus-0402", "conatus-0403"])
def test_the_recorded_calls(name: str, caplog: pytest.LogCaptureFixture) -> None:
    (case,) = (case for case in cases_of("gateway_execute") if case["id"] == name)
    given, recorded = case["input"], case["output"]
    client = Scripted(ModelAnswer(text='{"ok":1}', input_tokens=3, output_tokens=4))
    caplog.set_level(logging.INFO, "promptsections")

    result = executed(
        client,
        given["purpose"],
        additional_context=given["additional"],
        response_model=dict[str, int],
        max_output_tokens=given.get("max_tokens"),
        temperature=given.get("temperature"),
    )

    (request,), (call,) = client.requests, recorded["calls"]
    assert result.value == recorded["result"]
    system, user = request.messages
    assert user.text == call["messages"][0]["content"]
    assert system.text.startswith(CATALOG.purpose(given["purpose"]).system_prompt)
    assert request.max_output_tokens == call["options"]["max_tokens"]  # 0 is a limit too
    assert request.temperature == call["options"]["temperature"]
    assert "usage.input_tokens=3 usage.output_tokens=4" in caplog.text
    assert "prompt.name=verification" in caplog.text


def test_an_empty_context_is_refused_and_nothing_is_sent() -> None:
    client = Scripted()

    with pytest.raises(EmptyContextError, match=r"purpose 'curiosity_propose', goal 'G': no slot"):
        executed(client, "curiosity_propose", additional_context={}, goal_id="G")

    assert client.requests == []


def test_errors_of_a_call_are_typed_and_chained() -> None:
    cause = RuntimeError("429 busy")

    with pytest.raises(ModelCallError, match="RuntimeError: 429 busy") as caught:
        executed(Scripted(cause), goal_id="G")

    assert caught.value.__cause__ is cause
    assert (caught.value.purpose, caught.value.goal_id) == ("verification", "G")


class NoModel:
    """Pydantic cannot validate it."""


@pytest.mark.parametrize(
    ("purpose", "options", "words"),
    [
        (5, {}, "purpose=5 must be a Purpose"),
        ("verification", {"max_output_tokens": -1}, "max_output_tokens=-1 must be 0 or more"),
        ("verification", {"temperature": "hot"}, "temperature='hot' must be 0 or more"),
        ("verification", {"response_model": "no"}, "answers cannot be no"),
        ("verification", {"response_model": NoModel}, "answers cannot be NoModel"),
        ("verification", {"response_model": Callable}, "answers cannot be Callable"),
    ],
)
def test_wrong_arguments_are_told_before_anything_runs(
    purpose: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(DefinitionError, match=words):
        executed(Scripted(), purpose, **options)


def test_an_unknown_purpose_is_told_before_anything_runs() -> None:
    with pytest.raises(DefinitionError, match="no purpose 'nope'"):
        executed(Scripted(), "nope")


# --- answers --------------------------------------------------------------------------------------


def test_the_schema_is_in_the_prompt_and_in_the_budget() -> None:
    client = Scripted('{"done": true}')

    result = executed(client, response_model=Verdict, budget=400)

    assert result.value == Verdict(done=True)
    assert '"required":["done"]' in client.requests[0].messages[0].text
    assert result.rendered.token_count <= 400


def test_text_is_asked_for_without_a_response_model() -> None:
    client = Scripted("It looks fine.")

    assert executed(client).value == "It looks fine."
    assert "JSON" not in client.requests[0].messages[0].text


def test_the_response_model_of_a_purpose_is_used_unless_another_is_given() -> None:
    purpose = evolve(CATALOG.purpose("verification"), response_model=Verdict)

    assert executed(Scripted('{"done": false}'), purpose).value == Verdict(done=False)
    assert executed(Scripted("[1]"), purpose, response_model=list[int]).value == [1]
    assert executed(Scripted("text"), purpose, response_model=None).value == "text"


def test_an_answer_that_is_not_valid_is_asked_for_again_with_what_is_wrong() -> None:
    client = Scripted('{"done": "perhaps"}', 'Sorry: {"done": true}')

    result = executed(client, response_model=Verdict)

    assert result.value == Verdict(done=True)
    assert len(result.answers) == 2
    *_, answer, repair = client.requests[1].messages
    assert (answer.role, answer.text) == ("assistant", '{"done": "perhaps"}')
    assert "- done: input should be a valid boolean" in repair.text


def test_an_empty_answer_is_asked_for_again() -> None:
    client = Scripted("", '{"done": true}')

    assert executed(client, response_model=Verdict).value == Verdict(done=True)
    assert [m.role for m in client.requests[1].messages] == ["system", "user", "user"]


def test_repairs_are_bounded() -> None:
    client = Scripted("no", "no", "no", "no")

    with pytest.raises(InvalidAnswerError) as caught:
        asyncio.run(
            gateway(client, max_repairs=2).execute(
                "verification", additional_context=TASK, response_model=Verdict, goal_id="G"
            )
        )

    assert len(client.requests) == 3
    assert caught.value.answer == "no"
    assert (caught.value.purpose, caught.value.goal_id) == ("verification", "G")
    assert str(caught.value).startswith("purpose 'verification', goal 'G': the answer holds no")


def test_an_answer_that_was_cut_off_says_so() -> None:
    client = Scripted(*[ModelAnswer(text='{"done": tr', cut_off=True)] * 2)

    with pytest.raises(InvalidAnswerError, match="allow more of them") as caught:
        executed(client, response_model=Verdict)

    assert caught.value.problems[-1].startswith("it ends at the limit of output tokens")


def test_a_repair_that_the_window_has_no_room_for_is_not_tried() -> None:
    profile = ModelProfile(name="small", encoding="o200k_base", context_window=1_500)
    client = Scripted("word " * 400)

    with pytest.raises(InvalidAnswerError, match="no room to show the model"):
        asyncio.run(
            gateway(client, profile).execute(
                "verification",
                additional_context=TASK,
                response_model=Verdict,
                max_output_tokens=1_000,
            )
        )

    assert len(client.requests) == 1


def test_without_a_known_window_a_repair_always_fits() -> None:
    profile = ModelProfile(name="unknown", encoding="o200k_base")
    ask = gateway(Scripted("no", '{"done": true}'), profile).execute

    result = asyncio.run(
        ask("verification", additional_context=TASK, response_model=Verdict, budget=500)
    )

    assert result.value == Verdict(done=True)


def test_usage_of_all_calls_is_added_up() -> None:
    answers = [
        ModelAnswer(text="no", input_tokens=10, output_tokens=1),
        ModelAnswer(text='{"done": true}', input_tokens=20, output_tokens=2),
    ]

    result = executed(Scripted(*answers), response_model=Verdict)

    assert (result.input_tokens, result.output_tokens) == (30, 3)


@pytest.mark.parametrize(
    ("client", "words"),
    [
        (lambda request: "text", "the client returned str: make it async"),
        (Scripted(5), "answered with int: return a ModelAnswer or a text"),  # type: ignore[arg-type]
    ],
)
def test_a_client_that_is_none_is_told(client: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        executed(client)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_repairs": -1}, "max_repairs=-1 must be 0 to 10"),
        ({"max_repairs": True}, "max_repairs=True"),
        ({"timeout": 0}, "timeout=0 must be seconds above 0"),
    ],
)
def test_wrong_settings_are_errors(options: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        gateway(Scripted(), **options)


def test_a_client_must_be_callable() -> None:
    with pytest.raises(DefinitionError, match="client=None must be an async function"):
        gateway(None)


# --- waiting --------------------------------------------------------------------------------------


async def never(_: ModelRequest) -> str:
    await anyio.sleep_forever()
    raise AssertionError


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_model_that_takes_too_long_is_given_up(backend: str) -> None:
    async def ask() -> None:
        with pytest.raises(ModelCallError, match=r"longer than 0\.01 s"):
            await gateway(never, timeout=0.01).execute("verification", additional_context=TASK)

    anyio.run(ask, backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_cancellation_from_outside_passes_through(backend: str) -> None:
    async def ask() -> None:
        with anyio.move_on_after(0.01) as scope:
            await gateway(never).execute("verification", additional_context=TASK)
        assert scope.cancelled_caught

    anyio.run(ask, backend=backend)


def test_a_client_that_cancels_itself_is_an_error() -> None:
    with pytest.raises(ModelCallError, match="cancelled itself"):
        executed(Scripted(asyncio.CancelledError()))


# --- telling --------------------------------------------------------------------------------------


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


def test_a_span_tells_of_the_call_and_of_nothing_that_was_said(
    spans: InMemorySpanExporter,
) -> None:
    answer = ModelAnswer(
        text="SECRET ANSWER", input_tokens=3, output_tokens=4, stop_reason="stop", model="gpt-4o-x"
    )

    executed(Scripted(answer), goal_id="G", additional_context={"existing_tasks": "SECRET"})

    (span,) = spans.get_finished_spans()
    told = dict(span.attributes or {})
    assert span.name == "chat verification"
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.request.model"] == "gpt-4o"
    assert told["gen_ai.response.model"] == "gpt-4o-x"
    assert told["gen_ai.response.finish_reasons"] == ("stop",)
    assert told["gen_ai.usage.input_tokens"] == 3
    assert told["gen_ai.request.max_tokens"] == 1024
    assert told["gen_ai.conversation.id"] == "G"
    assert told["gen_ai.conversation.compacted"] is False
    assert "SECRET" not in str(told)


def test_a_span_tells_what_was_cut_and_what_failed(spans: InMemorySpanExporter) -> None:
    with pytest.raises(GatewayError):
        executed(
            Scripted(RuntimeError("down")),
            additional_context={"existing_tasks": "word\n" * 500},
            budget=300,
        )

    (span,) = spans.get_finished_spans()
    (cut,) = [event for event in span.events if event.name == "promptsections.section"]
    attributes = dict(cut.attributes or {})
    assert attributes["promptsections.section.name"] == ("context/observations/recent_task_results")
    assert attributes["promptsections.section.status"] == "cut"
    assert not span.status.is_ok


def test_calls_that_came_to_nothing_are_told_with_what_they_cost(
    spans: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    answer = ModelAnswer(text="SECRET", input_tokens=3, output_tokens=4)
    caplog.set_level(logging.INFO, "promptsections")

    with pytest.raises(InvalidAnswerError, match="SECRET"):
        executed(Scripted(answer, answer), response_model=Verdict)

    (record,) = [record for record in caplog.records if "usage" in record.message]
    assert record.levelname == "WARNING"
    assert "usage.input_tokens=6 usage.output_tokens=8" in record.message
    assert "calls=2 error.type=InvalidAnswerError" in record.message
    (span,) = spans.get_finished_spans()
    told = dict(span.attributes or {})
    assert told["error.type"] == "InvalidAnswerError"
    assert told["gen_ai.usage.input_tokens"] == 6
    assert "SECRET" not in span.to_json()


def test_a_refusal_is_told_with_what_it_cost(caplog: pytest.LogCaptureFixture) -> None:
    answer = ModelAnswer(text="", refusal="No.", input_tokens=3, output_tokens=1)

    with pytest.raises(ModelCallError, match=r"the model refused to answer: No\."):
        executed(Scripted(answer))

    assert "usage.input_tokens=3 usage.output_tokens=1" in caplog.text


def test_a_call_that_failed_is_told_too(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ModelCallError):
        executed(Scripted(RuntimeError("down")))

    assert "prompt.name=verification" in caplog.text
    assert "error.type=ModelCallError" in caplog.text


def test_nothing_needs_opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry", None)

    assert executed(Scripted("fine")).value == "fine"


# --- the official SDKs ----------------------------------------------------------------------------

Answers = Callable[[Mapping[str, Any]], tuple[int, Mapping[str, Any]]]


def openai_client(answers: Answers, bodies: list[Any]) -> openai.AsyncOpenAI:
    def handle(request: Any) -> Any:
        bodies.append(json.loads(request.content))
        status, body = answers(bodies[-1])
        return _library(openai).Response(status, json=body)

    transport = _library(openai).MockTransport(handle)
    return openai.AsyncOpenAI(
        api_key="x",
        max_retries=0,
        http_client=_library(openai).AsyncClient(transport=transport),
    )


def anthropic_client(answers: Answers, bodies: list[Any]) -> anthropic.AsyncAnthropic:
    def handle(request: Any) -> Any:
        bodies.append(json.loads(request.content))
        status, body = answers(bodies[-1])
        return _library(anthropic).Response(status, json=body)

    transport = _library(anthropic).MockTransport(handle)
    return anthropic.AsyncAnthropic(
        api_key="x",
        max_retries=0,
        http_client=_library(anthropic).AsyncClient(transport=transport),
    )


def _library(sdk: Any) -> Any:
    """Return the HTTP library that an SDK's client is made for."""
    bases = {base.__module__.partition(".")[0] for base in sdk.DefaultAsyncHttpxClient.__mro__}
    return httpx2 if "httpx2" in bases else httpx


def chat(*texts: str, finish: str = "stop", refusal: str | None = None) -> Answers:
    left: Sequence[str] = list(texts)

    def answer(_: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        text = left.pop(0)  # type: ignore[attr-defined]
        message = {"role": "assistant", "content": text, "refusal": refusal}
        return 200, {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": "gpt-4o-2024-08-06",
            "choices": [{"index": 0, "finish_reason": finish, "message": message}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
        }

    return answer


def claude(*texts: str, stop: str = "end_turn") -> Answers:
    left = list(texts)

    def answer(_: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        return 200, {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-6",
            "content": [{"type": "text", "text": left.pop(0)}],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 5,
                "output_tokens": 2,
                "cache_creation_input_tokens": 1,
                "cache_read_input_tokens": 3,
            },
        }

    return answer


def failing(status: int) -> Answers:
    return lambda _: (status, {"error": {"message": "busy", "type": "rate_limit_error"}})


def through(sdk: str, answers: Answers, **options: Any) -> tuple[Any, list[Any]]:
    bodies: list[Any] = []
    model, client = (
        ("gpt-4o", OpenAIClient(openai_client(answers, bodies), "gpt-4o"))
        if sdk == "openai"
        else (
            "claude-sonnet-4-6",
            AnthropicClient(anthropic_client(answers, bodies), "claude-sonnet-4-6"),
        )
    )
    settings: dict[str, Any] = {"additional_context": TASK, **options}
    result = asyncio.run(gateway(client, model).execute("verification", **settings))
    return result, bodies


@pytest.mark.parametrize(
    ("sdk", "answers", "tokens"), [("openai", chat, 18), ("anthropic", claude, 18)]
)
def test_the_real_clients_answer_and_repair(sdk: str, answers: Any, tokens: int) -> None:
    result, bodies = through(
        sdk, answers('{"done": 1.5}', '{"done": true}'), response_model=Verdict
    )

    assert result.value == Verdict(done=True)
    assert (result.input_tokens, result.output_tokens) == (18, 4)
    first, second = bodies
    limit = "max_completion_tokens" if sdk == "openai" else "max_tokens"
    assert first[limit] == 1024
    assert first.get("temperature") == (0 if sdk == "openai" else None)
    assert [m["role"] for m in second["messages"]][-3:] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("sdk", "answers", "words"),
    [
        ("openai", failing(429), "RateLimitError"),
        ("anthropic", failing(429), "RateLimitError"),
        ("openai", chat("", refusal="I cannot help."), "refused to answer: I cannot help"),
        ("openai", chat("", finish="content_filter"), "refused to answer: content filter"),
        ("anthropic", claude("No.", stop="refusal"), "refused to answer: No"),
        ("anthropic", claude("", stop="refusal"), "refused to answer: no reason"),
    ],
)
def test_what_the_real_clients_raise_or_refuse_is_typed(
    sdk: str, answers: Answers, words: str
) -> None:
    with pytest.raises(ModelCallError, match=words):
        through(sdk, answers)


@pytest.mark.parametrize(
    ("sdk", "answers"),
    [
        ("openai", chat("{", "{", finish="length")),
        ("anthropic", claude("{", "{", stop="max_tokens")),
    ],
)
def test_the_real_clients_say_when_an_answer_was_cut_off(sdk: str, answers: Answers) -> None:
    with pytest.raises(InvalidAnswerError, match="limit of output tokens"):
        through(sdk, answers, response_model=Verdict)


def test_a_timeout_of_the_real_client_is_typed() -> None:
    def late(_: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        raise _library(openai).ReadTimeout("too late")

    with pytest.raises(ModelCallError, match="APITimeoutError"):
        through("openai", late)


def silent(sdk: Any, state: list[str]) -> Any:
    """Return a client of an SDK whose server never answers."""

    async def handle(_: Any) -> Any:
        state.append("asked")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            state.append("given up")
            raise

    http = _library(sdk).AsyncClient(transport=_library(sdk).MockTransport(handle))
    if sdk is openai:
        return OpenAIClient(openai.AsyncOpenAI(api_key="x", http_client=http), "gpt-4o")
    client = anthropic.AsyncAnthropic(api_key="x", http_client=http)
    return AnthropicClient(client, "claude-sonnet-4-6")


@pytest.mark.parametrize("sdk", [openai, anthropic])
def test_a_call_of_the_real_client_is_given_up_at_the_timeout(sdk: Any) -> None:
    state: list[str] = []
    slow = gateway(silent(sdk, state), timeout=0.3)

    with pytest.raises(ModelCallError, match=r"took longer than 0\.3 s"):
        asyncio.run(slow.execute("verification", additional_context=TASK))

    assert state == ["asked", "given up"]


@pytest.mark.parametrize("sdk", [openai, anthropic])
def test_cancellation_reaches_the_request_of_the_real_client(sdk: Any) -> None:
    state: list[str] = []
    slow = gateway(silent(sdk, state))

    async def ask() -> None:
        task = asyncio.create_task(slow.execute("verification", additional_context=TASK))
        while not state:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(ask())

    assert state == ["asked", "given up"]


def test_options_of_a_client_go_along() -> None:
    bodies: list[Any] = []
    client = OpenAIClient(openai_client(chat("x"), bodies), "my-deployment", options={"seed": 7})

    executed(client)

    assert (bodies[0]["model"], bodies[0]["seed"]) == ("my-deployment", 7)


def test_claude_is_given_a_limit_where_nobody_says_one() -> None:
    bodies: list[Any] = []
    sdk = anthropic_client(claude("x"), bodies)
    client = AnthropicClient(sdk, "claude-sonnet-4-6", max_tokens=99)
    purpose = evolve(CATALOG.purpose("verification"), max_output_tokens=None, temperature=None)

    executed(client, purpose, budget=900)

    assert bodies[0]["max_tokens"] == 99
    assert "temperature" not in bodies[0]


def test_a_temperature_goes_to_claude_only_if_asked() -> None:
    bodies: list[Any] = []
    sdk = anthropic_client(claude("x", "x"), bodies)
    client = AnthropicClient(sdk, "claude-sonnet-4-6", send_temperature=True)

    executed(client, temperature=0.5)

    assert bodies[0]["temperature"] == 0.5
