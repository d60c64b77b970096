"""How a gateway calls a model: any async function of a `ModelRequest`; and ready ones for SDKs.

The adapters take a client object and import no SDK; their docstrings say what they need of it. They
know no purposes and parse no answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from attrs import evolve, field, frozen

from promptsections.messages import Message
from promptsections.providers import anthropic_messages, openai_chat
from promptsections.rendered import RenderedPrompt

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@frozen(kw_only=True)
class ModelRequest:
    """What a model is asked."""

    rendered: RenderedPrompt
    """The prompt, with its layout."""
    follow_up: tuple[Message, ...] = ()
    """An answer that was not valid and what is wrong with it, where it is asked again."""
    max_output_tokens: int | None = None
    temperature: float | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, in order."""
        return self.rendered.messages + self.follow_up

    def prompt(self) -> RenderedPrompt:
        """Return the prompt with all messages, its tools and cache marks, to make a request of."""
        return evolve(self.rendered, messages=self.messages) if self.follow_up else self.rendered


@frozen(kw_only=True)
class ModelAnswer:
    """What a model answered."""

    text: str
    input_tokens: int | None = None
    """As the provider counted them, those that were read from a cache included."""
    output_tokens: int | None = None
    stop_reason: str | None = None
    """In the provider's words."""
    cut_off: bool = False
    """Whether it ended at the limit of output tokens."""
    model: str | None = None
    refusal: str | None = None
    """Why it refused to answer; `None` if it did not. A gateway makes an error of it."""


ModelClient = Callable[[ModelRequest], Awaitable[ModelAnswer | str]]
"""Any async function from a request to an answer, or to its text."""


@frozen
class OpenAIClient:
    """Calls Chat Completions through the official SDK.

    `client.chat.completions.create(**request)` must be awaitable, as that of `openai.AsyncOpenAI`.
    """

    client: Any
    model: str
    """Name of the model, or of a deployment."""
    options: Mapping[str, Any] = field(default=_NOTHING, kw_only=True)
    """More parameters of each call: `response_format`, `seed`, `timeout`, …"""

    async def __call__(self, request: ModelRequest, /) -> ModelAnswer:
        """Ask the model; errors of the SDK pass through."""
        settings = {
            "max_completion_tokens": request.max_output_tokens,
            "temperature": request.temperature,
        }
        body = openai_chat.to_request(request.prompt(), model=self.model)
        response = await self.client.chat.completions.create(
            **body, **_set(settings), **self.options
        )
        choice = response.choices[0]
        filtered = "content filter" if choice.finish_reason == "content_filter" else None
        usage = response.usage
        return ModelAnswer(
            text=choice.message.content or "",
            input_tokens=usage.prompt_tokens if usage else None,
            output_tokens=usage.completion_tokens if usage else None,
            stop_reason=choice.finish_reason,
            cut_off=choice.finish_reason == "length",
            model=response.model,
            refusal=getattr(choice.message, "refusal", None) or filtered,
        )


@frozen
class AnthropicClient:
    """Calls the Messages API through the official SDK.

    `client.messages.create(**request)` must be awaitable, as that of `anthropic.AsyncAnthropic`.
    """

    client: Any
    model: str
    options: Mapping[str, Any] = field(default=_NOTHING, kw_only=True)
    """More parameters of each call: `metadata`, `timeout`, …"""
    max_tokens: int = field(default=1024, kw_only=True)
    """Output tokens where neither the call nor the purpose says any; the API wants a number."""
    send_temperature: bool = field(default=False, kw_only=True)
    """Whether a temperature goes along, in the extra body: newer models refuse one, and the SDK has
    no parameter for it any more."""

    async def __call__(self, request: ModelRequest, /) -> ModelAnswer:
        """Ask the model; errors of the SDK pass through."""
        limit = request.max_output_tokens
        body = anthropic_messages.to_request(
            request.prompt(),
            model=self.model,
            max_tokens=self.max_tokens if limit is None else limit,
        )
        extra: dict[str, Any] = {}
        if self.send_temperature and request.temperature is not None:
            extra["extra_body"] = {"temperature": request.temperature}
        response = await self.client.messages.create(**body, **extra, **self.options)
        text = "".join(block.text for block in response.content if block.type == "text")
        refused = response.stop_reason == "refusal"
        usage = response.usage
        cached = (usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
        return ModelAnswer(
            text=text,
            input_tokens=usage.input_tokens + sum(tokens or 0 for tokens in cached),
            output_tokens=usage.output_tokens,
            stop_reason=response.stop_reason,
            cut_off=response.stop_reason == "max_tokens",
            model=response.model,
            refusal=(text or "no reason given") if refused else None,
        )


def _set(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}
