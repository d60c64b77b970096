"""`PromptGateway`: assembles the context of a purpose, calls a model, and validates its answer."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar, cast, overload

from attrs import evolve, field, frozen

from promptsections._run import OnLoop, SelfCancelled, TimedOut
from promptsections.assembly.answers import parse_answer, schema_of
from promptsections.assembly.assembler import ContextAssembler
from promptsections.assembly.clients import ModelAnswer, ModelClient, ModelRequest
from promptsections.assembly.shares import Percent
from promptsections.assembly.slots import Purpose
from promptsections.assembly.telemetry import Span, span_of, tell_call, tell_layout
from promptsections.errors import (
    DefinitionError,
    EmptyContextError,
    GatewayError,
    InvalidAnswerError,
    ModelCallError,
    PromptSectionsError,
)
from promptsections.messages import Message
from promptsections.rendered import RenderedPrompt
from promptsections.sections.base import is_seconds

T = TypeVar("T")

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_OF_PURPOSE: Final[Any] = object()
"""Stands for the response model of the purpose; `None` asks for text."""

_SCHEMA: Final = "Answer with JSON, and nothing else, that is valid under this JSON Schema:\n{}"
_REPAIR: Final = "That is not a valid answer:\n{}\nAnswer again, with nothing but the JSON."


@frozen(kw_only=True)
class GatewayResult(Generic[T]):
    """A valid answer, and how it came about."""

    value: T
    answers: tuple[ModelAnswer, ...]
    """All answers, the valid one last."""
    rendered: RenderedPrompt
    """What was sent first, with its layout."""

    @property
    def input_tokens(self) -> int:
        """Tokens of input of all calls, as far as the provider said."""
        return sum(answer.input_tokens or 0 for answer in self.answers)

    @property
    def output_tokens(self) -> int:
        """Tokens of output of all calls, as far as the provider said."""
        return sum(answer.output_tokens or 0 for answer in self.answers)


@frozen
class PromptGateway:
    """Asks a model by purpose; immutable, for any number of calls at once."""

    assembler: ContextAssembler
    client: ModelClient
    max_repairs: int = field(default=1, kw_only=True)
    """How often an answer that is not valid is asked for again, with what is wrong with it."""
    timeout: float | None = field(default=None, kw_only=True)
    """Seconds that one call of the model may take."""

    def __attrs_post_init__(self) -> None:
        if isinstance(self.max_repairs, bool) or self.max_repairs not in range(11):
            raise DefinitionError(f"max_repairs={self.max_repairs!r} must be 0 to 10")
        if not callable(self.client):
            raise DefinitionError(
                f"client={self.client!r} must be an async function of a ModelRequest"
            )
        if self.timeout is not None and not is_seconds(self.timeout):
            raise DefinitionError(f"timeout={self.timeout!r} must be seconds above 0, or None")

    @overload
    async def execute(
        self,
        purpose: str | Purpose,
        *,
        response_model: type[T],
        goal_id: str | None = None,
        dimension: str | None = None,
        additional_context: Mapping[str, Any] = _NOTHING,
        shares: Mapping[str, Percent] | None = None,
        budget: int | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
    ) -> GatewayResult[T]: ...

    @overload
    async def execute(
        self,
        purpose: str | Purpose,
        *,
        response_model: Any = ...,
        goal_id: str | None = None,
        dimension: str | None = None,
        additional_context: Mapping[str, Any] = _NOTHING,
        shares: Mapping[str, Percent] | None = None,
        budget: int | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
    ) -> GatewayResult[Any]: ...

    async def execute(
        self,
        purpose: str | Purpose,
        *,
        response_model: Any = _OF_PURPOSE,
        goal_id: str | None = None,
        dimension: str | None = None,
        additional_context: Mapping[str, Any] = _NOTHING,
        shares: Mapping[str, Percent] | None = None,
        budget: int | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
    ) -> GatewayResult[Any]:
        """Assemble, call, parse, validate.

        Args:
            purpose: What the call is for.
            response_model: A pydantic model, or any type that pydantic validates; `None`: the
                answer's text. By default the purpose's.
            goal_id: The goal to load.
            dimension: The one dimension of the goal that the call is about.
            additional_context: What slots read by key.
            shares: Category → percent, for this call.
            budget: Tokens of input; by default the model's window without the answer.
            max_output_tokens: Instead of the purpose's; 0 is a limit like any other.
            temperature: Instead of the purpose's; 0 counts.

        Raises:
            EmptyContextError: no slot has anything to say; nothing was sent.
            ModelCallError: the call failed, took too long, or the model refused; `__cause__` says.
            InvalidAnswerError: no answer was valid; `.problems` of the last one.
            PromptSectionsError: the context could not be assembled.
        """
        asked = self._purpose(purpose, response_model, max_output_tokens, temperature)
        limit, heat = asked.max_output_tokens, asked.temperature
        with span_of(asked.name, goal_id) as span:
            rendered = await self.assembler.abuild(
                asked,
                goal_id=goal_id,
                dimension=dimension,
                additional_context=additional_context,
                shares=shares,
                budget=budget,
                reserve_output_tokens=limit if budget is None else None,
            )
            tell_layout(span, rendered.layout)
            request = ModelRequest(rendered=rendered, max_output_tokens=limit, temperature=heat)
            answers: list[ModelAnswer] = []
            try:
                value = await self._answered(request, asked.response_model, answers)
            except GatewayError as error:
                error.purpose, error.goal_id = asked.name, goal_id
                self._tell(span, asked, request, answers, error)
                raise
            self._tell(span, asked, request, answers)
            return GatewayResult(value=value, answers=tuple(answers), rendered=rendered)

    def _purpose(
        self,
        purpose: str | Purpose,
        response_model: Any,
        max_output_tokens: int | None,
        temperature: float | None,
    ) -> Purpose:
        """Return the purpose with the settings of the call, and a prompt that says its schema."""
        found = self.assembler.catalog.purpose(purpose) if isinstance(purpose, str) else purpose
        if not isinstance(found, Purpose):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"purpose={purpose!r} must be a Purpose, or the name of one")
        if max_output_tokens is not None:
            found = evolve(found, max_output_tokens=max_output_tokens)
        if temperature is not None:
            found = evolve(found, temperature=temperature)
        model = found.response_model if response_model is _OF_PURPOSE else response_model
        if model is None:
            return evolve(found, response_model=None)
        schema = json.dumps(schema_of(model), ensure_ascii=False, separators=(",", ":"))
        prompt = f"{found.system_prompt}\n\n{_SCHEMA.format(schema)}"
        return evolve(found, response_model=model, system_prompt=prompt)

    async def _answered(self, request: ModelRequest, kind: Any, answers: list[ModelAnswer]) -> Any:
        """Return the value of the first valid answer, and add every answer to `answers`."""
        if not any(message.role == "user" for message in request.messages):
            raise EmptyContextError(
                "no slot has anything to say, so there is nothing to ask about: "
                "see the layout of assembler.build(…)"
            )
        while True:
            answer = await self._called(request)
            answers.append(answer)
            if answer.refusal is not None:
                raise ModelCallError(f"the model refused to answer: {answer.refusal}")
            try:
                return answer.text if kind is None else parse_answer(answer.text, kind)
            except InvalidAnswerError as error:
                follow_up = self._follow_up(request, answer, error, len(answers))
                request = evolve(request, follow_up=follow_up)

    async def _called(self, request: ModelRequest) -> ModelAnswer:
        try:
            answer = await OnLoop().within(self.timeout, partial(_awaited, self.client, request))
        except TimedOut as error:
            raise ModelCallError(f"the model took longer than {self.timeout:g} s") from error
        except SelfCancelled as error:
            raise ModelCallError("the client cancelled itself") from error
        except PromptSectionsError:
            raise
        except Exception as error:
            raise ModelCallError(
                f"the model could not be called: {type(error).__name__}: {error}"
            ) from error
        return ModelAnswer(text=answer) if isinstance(answer, str) else answer

    def _follow_up(
        self, request: ModelRequest, answer: ModelAnswer, error: InvalidAnswerError, calls: int
    ) -> tuple[Message, ...]:
        """Return the messages that show the model what was wrong, or give up."""
        if answer.cut_off:
            error = _also(error, "it ends at the limit of output tokens: allow more of them")
        if calls > self.max_repairs:
            raise error
        problems = "\n".join(f"- {problem}" for problem in error.problems)
        said = (Message("assistant", answer.text),) if answer.text.strip() else ()
        shown = (*said, Message("user", _REPAIR.format(problems)))
        if not self._fits(request, shown):
            raise _also(error, "there is no room to show the model what is wrong")
        return shown

    def _fits(self, request: ModelRequest, follow_up: tuple[Message, ...]) -> bool:
        """Say whether the model's window has room for a follow-up and another answer."""
        profile = self.assembler.renderer.profile
        if profile.context_window is None:
            return True  # nothing is known that it could exceed
        more = profile.messages_tokens(follow_up, profile.tokenizer())
        needed = request.rendered.token_count + more + (request.max_output_tokens or 0)
        return needed <= profile.context_window

    def _tell(
        self,
        span: Span,
        purpose: Purpose,
        request: ModelRequest,
        answers: Sequence[ModelAnswer],
        error: GatewayError | None = None,
    ) -> None:
        """Tell of a call, whether it came to something or not: tokens were paid for either way."""
        last = answers[-1] if answers else ModelAnswer(text="")
        told: dict[str, Any] = {
            "gen_ai.prompt.name": purpose.name,
            "gen_ai.request.model": self.assembler.renderer.profile.name,
            "gen_ai.request.max_tokens": request.max_output_tokens,
            "gen_ai.request.temperature": request.temperature,
            "gen_ai.response.model": last.model,
            "gen_ai.usage.input_tokens": sum(answer.input_tokens or 0 for answer in answers),
            "gen_ai.usage.output_tokens": sum(answer.output_tokens or 0 for answer in answers),
            "promptsections.token_count": request.rendered.token_count,
            "promptsections.calls": len(answers),
            "error.type": None if error is None else type(error).__name__,
        }
        if last.stop_reason is not None:
            told["gen_ai.response.finish_reasons"] = (last.stop_reason,)
        tell_call(span, told)


async def _awaited(client: ModelClient, request: ModelRequest) -> ModelAnswer | str:
    answer = cast("object", client(request))
    if not inspect.isawaitable(answer):
        raise DefinitionError(f"the client returned {type(answer).__name__}: make it async")
    found = cast("object", await answer)
    if not isinstance(found, ModelAnswer | str):
        raise DefinitionError(
            f"the client answered with {type(found).__name__}: return a ModelAnswer or a text"
        )
    return found


def _also(error: InvalidAnswerError, problem: str) -> InvalidAnswerError:
    """Add a problem to an error."""
    more = InvalidAnswerError(
        f"{error.message}; {problem}", answer=error.answer, problems=(*error.problems, problem)
    )
    more.__cause__ = error.__cause__
    return more
