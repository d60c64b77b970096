"""`Renderer`: holds a model and functions, and wires the phases together."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import Any, Literal, Protocol

from attrs import Attribute, evolve, field, frozen

from promptsections._run import NoWaiting, OnLoop, drive
from promptsections.budgets import total_budget
from promptsections.caching import CachePolicy, findings
from promptsections.checking import check
from promptsections.errors import DefinitionError, InvalidBudgetError
from promptsections.layout import is_light
from promptsections.memory import check_memory
from promptsections.notes import Note
from promptsections.profiles import ModelProfile, find_profile
from promptsections.prompt import Prompt
from promptsections.rendered import RenderedPrompt, Resolved, lay_out
from promptsections.resolving import Runner, Surroundings, resolve
from promptsections.sections.base import is_seconds
from promptsections.templates import Function, Undefined
from promptsections.tokens import (
    EstimationModel,
    Strategy,
    Tokenizer,
    as_tokenizer,
    is_loaded,
    with_strategy,
)


def _functions(value: Mapping[str, Function] | None) -> Mapping[str, Function]:
    if value is not None and not isinstance(value, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"functions must be a mapping by name, not {type(value).__name__}")
    functions = dict(value or {})
    for name, function in functions.items():
        if not callable(function):
            raise DefinitionError(f"function {name!r} is {type(function).__name__}, not callable")
    return MappingProxyType(functions)


def _one_of(*choices: str | None) -> Callable[[object, Attribute[Any], object], None]:
    def check(_: object, attribute: Attribute[Any], value: object) -> None:
        if value not in choices:
            listed = ", ".join(map(repr, choices))
            raise DefinitionError(f"{attribute.name}={value!r} must be one of {listed}")

    return check


def _policy(_: object, __: Attribute[Any], value: object) -> None:
    if value is not None and not isinstance(value, CachePolicy):
        raise DefinitionError(f"caching must be a CachePolicy, not {type(value).__name__}")


class Cache(Protocol):
    """What keeps renders: a `RenderCache`."""

    async def render(
        self,
        prompt: Prompt,
        around: Surroundings,
        tenant: str | None,
        make: Callable[[Surroundings], Coroutine[Any, Any, RenderedPrompt]],
        /,
    ) -> RenderedPrompt:
        """Return a kept render, or make one and keep it."""
        ...


def _cache(_: object, __: Attribute[Any], value: object) -> None:
    if value is not None and not callable(getattr(value, "render", None)):
        raise DefinitionError(f"cache must be a RenderCache, not {type(value).__name__}")


@frozen
class Renderer:
    """Renders prompts for one model; immutable, for any number of renders at once.

    Raises:
        UnknownModelError: no such model; the text says how to declare it.
        DefinitionError: neither model nor tokenizer, or a wrong value.
    """

    model: str | ModelProfile | None = None
    """A model's name or a profile."""
    tokenizer: str | Tokenizer | Callable[[str], int] | None = field(default=None, kw_only=True)
    """Instead of a model: charges the tokens of text and nothing else. With a model: counts in
    place of the model's own tokenizer."""
    functions: Mapping[str, Function] = field(
        factory=dict[str, Function], kw_only=True, converter=_functions, hash=False
    )
    """Name → function, for templates."""
    profiles: Mapping[str, ModelProfile] | None = field(default=None, kw_only=True, hash=False)
    """Name → profile; they win over the table of models."""
    undefined: Undefined = field(default="error", kw_only=True, validator=_one_of("error", "empty"))
    """What a template's missing variable does: an error, or render nothing and be noted."""
    on_failure: Literal["drop", "raise"] = field(
        default="drop", kw_only=True, validator=_one_of("drop", "raise")
    )
    """Whether an optional section whose source or function fails is left out, logged and noted, or
    the error raised."""
    output: Literal["messages", "text"] | None = field(
        default=None, kw_only=True, validator=_one_of("messages", "text", None)
    )
    """The form of what comes out; by default as the profile has it."""
    reserve_output_tokens: int | None = field(default=None, kw_only=True)
    """Tokens of the window that are kept for the answer; by default the smaller of the model's
    output limit and `max_output_tokens`."""
    max_output_tokens: int | None = field(default=None, kw_only=True)
    """The most that the call lets the model answer, in tokens."""
    caching: CachePolicy | None = field(default=None, kw_only=True, validator=_policy)
    """What may be cached by the provider, and who may read it; `None` asks for nothing."""
    cache: Cache | None = field(default=None, kw_only=True, validator=_cache)
    """A `RenderCache`, which gives out renders again while nothing that they read has changed."""
    counting: Strategy = field(default="precise", kw_only=True)
    """`"estimated"` counts nothing, so that a prompt may be longer than its budget; `"hybrid"`
    counts only where a prompt might be too long, and never is."""
    estimation: str | EstimationModel | None = field(default=None, kw_only=True, hash=False)
    """What estimates then; by default what suits the model's tokenizer."""
    profile: ModelProfile = field(init=False)
    """What things cost, and how much fits."""

    def __attrs_post_init__(self) -> None:
        profile = _profile(self.model, self.tokenizer, self.profiles)
        own = profile.tokenizer()
        counted = with_strategy(own, self.counting, self.estimation, profile.name)
        if counted is not own:
            profile = evolve(profile, encoding=counted)
        if self.output == "text" and profile.form != "text":
            profile = evolve(profile, form="text", reply_priming=0)
        elif self.output == "messages" and profile.form != "messages":
            profile = evolve(profile, form="messages")
        object.__setattr__(self, "profile", profile)

    def render(
        self,
        prompt: Prompt,
        memory: object = None,
        *,
        budget: int | None = None,
        context: Any = None,
        reserve_output_tokens: int | None = None,
        max_output_tokens: int | None = None,
        timeout: float | None = None,
        tenant: str | None = None,
    ) -> RenderedPrompt:
        """Render a prompt; works with and without a running event loop.

        Args:
            prompt: The sections.
            memory: A mapping, or an object with `get(path, default)`.
            budget: Tokens of input as the provider bills it; by default the model's window without
                the reserve for the answer.
            context: Whatever sections and functions of the framework need; passed through.
            reserve_output_tokens: Tokens kept for the answer, for this render.
            max_output_tokens: The most that this call lets the model answer, in tokens.
            timeout: Seconds that a section may take to resolve, under `arender()`.
            tenant: Id of the tenant, where the cache policy keeps tenants apart; never sent.

        Returns:
            Messages that fit, and the reasons.

        Raises:
            BudgetExceededError: what is required does not fit.
            ResolutionError: a required section has no content, or a name is not known.
            NeedsEventLoopError: something must be awaited; it was not started.
        """
        size = self._budget(budget, reserve_output_tokens, max_output_tokens)
        around = self._surroundings(memory, size, context, timeout, tenant, NoWaiting())
        prompt = _checked(prompt)
        if self.cache is None:
            return lay_out(drive(resolve(prompt, around)))

        async def make(around: Surroundings) -> RenderedPrompt:
            return lay_out(await resolve(prompt, around))

        return drive(self.cache.render(prompt, around, tenant, make))

    async def arender(
        self,
        prompt: Prompt,
        memory: object = None,
        *,
        budget: int | None = None,
        context: Any = None,
        reserve_output_tokens: int | None = None,
        max_output_tokens: int | None = None,
        timeout: float | None = None,
        tenant: str | None = None,
    ) -> RenderedPrompt:
        """Render a prompt on asyncio or trio; sections and sources may wait, all at once.

        The same as `render` otherwise. Plain data sources run in a worker thread.
        """
        runner = OnLoop()
        size = self._budget(budget, reserve_output_tokens, max_output_tokens)
        around = self._surroundings(memory, size, context, timeout, tenant, runner)

        async def make(around: Surroundings) -> RenderedPrompt:
            resolved = await self._aresolve(prompt, around, runner)
            if is_light(resolved):
                return lay_out(resolved)
            return await runner.in_thread(lambda: lay_out(resolved))

        if self.cache is None:
            return await make(around)
        return await self.cache.render(_checked(prompt), around, tenant, make)

    def resolve(
        self,
        prompt: Prompt,
        memory: object = None,
        *,
        budget: int | None = None,
        context: Any = None,
        reserve_output_tokens: int | None = None,
        max_output_tokens: int | None = None,
        timeout: float | None = None,
        tenant: str | None = None,
    ) -> Resolved:
        """Do the I/O of a render, once; `lay_out` the result at any number of budgets."""
        size = self._budget(budget, reserve_output_tokens, max_output_tokens)
        around = self._surroundings(memory, size, context, timeout, tenant, NoWaiting())
        return drive(resolve(_checked(prompt), around))

    async def aresolve(
        self,
        prompt: Prompt,
        memory: object = None,
        *,
        budget: int | None = None,
        context: Any = None,
        reserve_output_tokens: int | None = None,
        max_output_tokens: int | None = None,
        timeout: float | None = None,
        tenant: str | None = None,
    ) -> Resolved:
        """Do the I/O of a render on an event loop."""
        runner = OnLoop()
        size = self._budget(budget, reserve_output_tokens, max_output_tokens)
        around = self._surroundings(memory, size, context, timeout, tenant, runner)
        return await self._aresolve(prompt, around, runner)

    async def _aresolve(self, prompt: Prompt, around: Surroundings, runner: OnLoop) -> Resolved:
        if not is_loaded(around.tokenizer):
            # Loading a vocabulary takes longer than a loop may stall.
            await runner.in_thread(lambda: around.tokenizer.count("warm"))
        return await resolve(_checked(prompt), around)

    def check(self, prompt: Prompt, memory: object = None) -> tuple[Note, ...]:
        """Look for names that templates use and nobody provides, before anything runs.

        Args:
            prompt: The sections.
            memory: An example of what renders will have; without it variables are not checked.

        Returns:
            A note for each mistake: `unknown_function` or `undefined_variable`; with prompt caching
            on, `volatile_before_stable` too.
        """
        notes = check(_checked(prompt), self.functions, memory)
        if self.caching is None or not self.caching.prompt_caching:
            return notes
        return notes + findings(prompt, self.caching, self.profile.tokenizer())

    def _surroundings(
        self,
        memory: object,
        size: tuple[int, int],
        context: Any,
        timeout: float | None,
        tenant: str | None,
        runner: Runner,
    ) -> Surroundings:
        tokens, reserved = size
        if timeout is not None and not is_seconds(timeout):
            raise DefinitionError(f"timeout={timeout!r} must be seconds above 0, or None")
        check_memory(memory)
        return Surroundings(
            memory={} if memory is None else memory,
            functions=self.functions,
            context=context,
            profile=self.profile,
            tokenizer=self.profile.tokenizer(),
            budget=tokens,
            reserved=reserved,
            undefined=self.undefined,
            on_failure=self.on_failure,
            timeout=timeout,
            runner=runner,
            caching=self.caching,
            tenant_scope=self.caching.scope_of(tenant) if self.caching is not None else None,
        )

    def _budget(self, budget: int | None, reserve: int | None, most: int | None) -> tuple[int, int]:
        """Return the budget of a render and what is kept for the answer, in tokens."""
        reserve = _whole(
            "reserve_output_tokens",
            self.reserve_output_tokens if reserve is None else reserve,
            least=0,
        )
        most = _whole(
            "max_output_tokens", self.max_output_tokens if most is None else most, least=1
        )
        profile = self.profile
        if budget is None:
            tokens = profile.input_budget(reserve, max_output_tokens=most)
            return tokens, profile.answer_reserve(most) if reserve is None else reserve
        if reserve is None and most is not None:
            reserve = profile.answer_reserve(most)
        tokens, window, reserve = total_budget(budget), profile.context_window, reserve or 0
        if window is not None and tokens + reserve > window:
            answer = f" and {reserve} for the answer" if reserve else ""
            raise InvalidBudgetError(
                f"budget={tokens}{answer} is more than the context window of "
                f"{profile.name!r}, {window} tokens",
                value=budget,
            )
        return tokens, reserve


def _profile(
    model: str | ModelProfile | None,
    tokenizer: str | Tokenizer | Callable[[str], int] | None,
    profiles: Mapping[str, ModelProfile] | None,
) -> ModelProfile:
    if model is None:
        if tokenizer is None:
            raise DefinitionError(
                'Renderer needs a model or a tokenizer: Renderer("gpt-4o"), or '
                'Renderer(tokenizer="o200k_base") to charge nothing but text'
            )
        return ModelProfile.plain(tokenizer)
    if not isinstance(model, str | ModelProfile):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(
            f"model must be a model's name or a ModelProfile, not {type(model).__name__}"
        )
    profile = model if isinstance(model, ModelProfile) else find_profile(model, profiles)
    return profile if tokenizer is None else evolve(profile, encoding=as_tokenizer(tokenizer))


def _whole(name: str, value: object, *, least: int) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= least):
        return value
    raise InvalidBudgetError(
        f"{name}={value!r} must be a whole number of tokens, {least} or more", value=value
    )


def _checked(prompt: object) -> Prompt:
    if isinstance(prompt, Prompt):
        return prompt
    raise DefinitionError(
        f"render needs a Prompt, not {type(prompt).__name__}: write Prompt([section, …])"
    )
