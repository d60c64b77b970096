"""`PromptEngine`: a prompt out of components, a persona and a configuration; a thin assembly.

Every option is done by a part that stands by itself: elements, data sources, histories, the tool
manifest, counting, summaries, the result cache. Here they are put together, and what happened is
told in the words of AgentOS.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final, Literal, cast

from attrs import evolve, field, frozen

from promptsections.blocks import Chunk
from promptsections.budgets import Rest, Tokens
from promptsections.config.prompt_engine import ContextManagement, PromptEngineConfig
from promptsections.elements import element_sections
from promptsections.errors import DefinitionError
from promptsections.foreign_roles import map_roles
from promptsections.manifest import ToolSelection
from promptsections.messages import Message
from promptsections.preferences import preference_sentences
from promptsections.profiles import ModelProfile, find_profile
from promptsections.prompt import Prompt
from promptsections.prompt_engine.inputs import seen_media, select_tools
from promptsections.prompt_engine.results import (
    issues_of,
    metadata_of,
    modifications_of,
    selection_notes,
)
from promptsections.prompt_engine.values import (
    EngineResult,
    EngineStatistics,
    ExecutionContext,
    Issue,
    ModelTarget,
    PersonaSettings,
    PromptComponents,
)
from promptsections.providers import anthropic_messages, openai_chat
from promptsections.render_cache import RenderCache, cacheable
from promptsections.rendered import RenderedPrompt
from promptsections.renderer import Renderer
from promptsections.retrieval import SOURCE_AND_CONTENT
from promptsections.scope import Scope
from promptsections.sections import (
    ConversationHistory,
    DataSourceSection,
    MemorySection,
    PromptSection,
    TextSection,
    UserInput,
)
from promptsections.summaries import Quality, Summarize, Summarizer
from promptsections.templates import Function
from promptsections.templates.suggestions import did_you_mean, suggest

Form = Callable[[RenderedPrompt], Any]
"""From a rendered prompt to what is sent."""

FORMS: Final[Mapping[str, Form]] = MappingProxyType(
    {
        "openai_chat": lambda rendered: openai_chat.to_request(rendered)["messages"],
        "anthropic_messages": anthropic_messages.to_request,
        "generic_completion": lambda rendered: rendered.text,
    }
)
"""The templates that are always there; `generic_completion` renders as one text."""

Hook = Callable[[str, Mapping[str, Any]], None]
"""Told of each event: its name, and what there is to know."""

_ROOT: Final = "prompt_engine"
"""Where memory has what a call brought along."""

_QUALITIES: Final[Mapping[str, Quality]] = {
    "fast": "fast",
    "balanced": "balanced",
    "high_quality": "high",
}

_log = logging.getLogger("promptsections")


@cacheable(key="1")
def is_marked_important(message: Message) -> bool:
    """Say whether a message says of itself that it is important: `important: true` or metadata."""
    metadata = message.extra.get("metadata")
    own: Mapping[str, Any] = {}
    if isinstance(metadata, Mapping):
        own = cast("Mapping[str, Any]", metadata)
    return bool(message.extra.get("important", own.get("important")))


@cacheable(key="1")
def _found(_: str, scope: Scope) -> list[Chunk | str]:
    """Return what was retrieved before."""
    return list(scope.read(f"{_ROOT}.retrieved"))


@frozen
class PromptEngine:
    """Constructs prompts; immutable but for what it counts, for any number of calls at once.

    Raises:
        DefinitionError: the configured template is none.
    """

    config: PromptEngineConfig = field(factory=PromptEngineConfig)
    functions: Mapping[str, Function] = field(factory=dict[str, Function], kw_only=True)
    """Template functions of elements."""
    summarizer: Summarizer | None = field(default=None, kw_only=True)
    """Says in fewer words what of a history or of retrieved text does not fit; without one it is
    cut."""
    is_important: Callable[[Message], bool] = field(default=is_marked_important, kw_only=True)
    """Which messages of a history are important."""
    hook: Hook | None = field(default=None, kw_only=True)
    """Is told of each construction; what it raises passes through."""
    profiles: Mapping[str, ModelProfile] = field(factory=dict[str, ModelProfile], kw_only=True)
    """Name → profile; they win over the table of models."""
    statistics: EngineStatistics = field(factory=EngineStatistics, init=False, eq=False)
    cache: RenderCache = field(init=False, eq=False, repr=False)
    """Results, as the configuration lets them be kept; per tenant."""

    def __attrs_post_init__(self) -> None:
        options = self.config.performance
        cache = RenderCache(
            max_bytes=options.max_cache_size_bytes, ttl=options.cache_timeout_seconds
        )
        object.__setattr__(self, "cache", cache)
        _form(self.config.default_template_name, self.config)

    def construct(
        self,
        components: PromptComponents,
        target: ModelTarget | str,
        *,
        context: ExecutionContext | None = None,
        template: str | None = None,
        reserve_output_tokens: int | None = None,
    ) -> EngineResult:
        """Construct a prompt, without an event loop.

        Args:
            components: What it is made of.
            target: The model that it is for, or its name.
            context: Persona, circumstances, preferences, memory.
            template: Name of the form; wins over the target's and the configured one.
            reserve_output_tokens: Tokens of the window that are kept for the answer.

        Raises:
            DefinitionError: a template, model or option is not known.
            BudgetExceededError: what is required does not fit.
        """
        started = perf_counter()
        try:
            plan = self._plan(components, target, context, template, reserve_output_tokens)
            rendered = plan.renderer.render(
                plan.prompt, plan.memory, budget=plan.budget, tenant=plan.tenant
            )
        except Exception as error:
            self.statistics.add_failure(error)
            raise
        return self._result(plan, rendered, perf_counter() - started)

    async def aconstruct(
        self,
        components: PromptComponents,
        target: ModelTarget | str,
        *,
        context: ExecutionContext | None = None,
        template: str | None = None,
        reserve_output_tokens: int | None = None,
    ) -> EngineResult:
        """Construct a prompt; template functions and summarizers may be async.

        The same as `construct` otherwise.
        """
        started = perf_counter()
        try:
            plan = self._plan(components, target, context, template, reserve_output_tokens)
            rendered = await plan.renderer.arender(
                plan.prompt, plan.memory, budget=plan.budget, tenant=plan.tenant
            )
        except Exception as error:
            self.statistics.add_failure(error)
            raise
        return self._result(plan, rendered, perf_counter() - started)

    # --- what is rendered -----------------------------------------------------------------------

    def _plan(
        self,
        components: PromptComponents,
        target: ModelTarget | str,
        context: ExecutionContext | None,
        template: str | None,
        reserve: int | None,
    ) -> _Plan:
        if not isinstance(components, PromptComponents):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(
                f"components must be PromptComponents, not {type(components).__name__}"
            )
        aim = ModelTarget(model=target) if isinstance(target, str) else target
        now = context or ExecutionContext()
        persona = now.persona or PersonaSettings(id="")
        config = self.config.overridden(persona.overrides)
        name = template or aim.prompt_format or config.default_template_name
        form = _form(name, config)
        renderer = self._renderer(aim, config, name, reserve)
        tools, issues = select_tools(components, aim, now, config, renderer.profile.name)
        media, blind = seen_media(components, aim)
        history = map_roles(components.history)
        prompt = Prompt(self._sections(components, persona, now, config), tools=tools.tools)
        mine = {
            "input": components.user_input or "",
            "media": media,
            "history": history,
            "circumstances": now.circumstances,
            "task_data": components.task_data,
            "custom": components.custom,
            "summaries": now.summaries,
            "retrieved": components.retrieved,
        }
        return _Plan(
            config=config,
            renderer=renderer,
            prompt=prompt,
            memory={**now.memory, _ROOT: mine},
            budget=aim.optimal_context_tokens,
            template=name,
            form=form,
            tools=tools,
            issues=(*issues, *blind),
            history=len(history),
            tenant=now.tenant,
        )

    def _renderer(
        self, target: ModelTarget, config: PromptEngineConfig, template: str, reserve: int | None
    ) -> Renderer:
        profile = (
            target.model
            if isinstance(target.model, ModelProfile)
            else find_profile(target.model, self.profiles)
        )
        if target.max_context_tokens is not None:
            profile = evolve(profile, context_window=target.max_context_tokens)
        counting = config.token_counting
        return Renderer(
            profile,
            functions=self.functions,
            output="text" if template == "generic_completion" else None,
            reserve_output_tokens=reserve,
            counting=counting.strategy,
            estimation=None if counting.strategy == "precise" else counting.estimation_model,
            cache=self.cache if config.performance.enable_caching else None,
        )

    def _sections(
        self,
        components: PromptComponents,
        persona: PersonaSettings,
        context: ExecutionContext,
        config: PromptEngineConfig,
    ) -> list[PromptSection]:
        system, examples, turn, answer = element_sections(
            persona.elements,
            user=UserInput(f"{_ROOT}.input", files=f"{_ROOT}.media", text_prefix=""),
            circumstances=f"{_ROOT}.circumstances",
            rules=config.contextual_element_selection.rules(persona.preferences),
        )
        preferences = preference_sentences(context.user_preferences)
        return [
            *(
                TextSection(
                    each.content,
                    name=f"system_prompt-{at}",
                    required=each.required,
                    priority=each.priority,
                )
                for at, each in enumerate(components.system_prompts, 1)
            ),
            system,
            TextSection(" ".join(preferences), name="preferences", required=False),
            MemorySection(f"{_ROOT}.task_data", tag="task_data", name="task_data"),
            MemorySection(f"{_ROOT}.custom", tag="custom", name="custom"),
            examples,
            self._history(config),
            self._retrieved(components, config),
            turn,
            answer,
        ]

    def _history(self, config: PromptEngineConfig) -> ConversationHistory:
        options = config.history_management
        ratio = options.summarization_trigger_ratio
        when_over: Summarize | Literal["by_budget"] = (
            Summarize(self.summarizer, trigger=ratio, variable=f"{_ROOT}.summaries")
            if self.summarizer is not None and ratio
            else "by_budget"
        )
        return ConversationHistory(
            f"{_ROOT}.history",
            name="conversation_history",
            tokens=Rest(at_most=options.max_tokens_for_history),
            max_messages=options.default_max_messages or None,
            pinned=self.is_important if options.preserve_important_messages else None,
            when_over=when_over,
        )

    def _retrieved(
        self, components: PromptComponents, config: PromptEngineConfig
    ) -> DataSourceSection:
        options = config.context_management
        chunks = components.retrieved
        attributed = options.preserve_source_attribution_in_summary and any(
            isinstance(chunk, Chunk) and chunk.source for chunk in chunks
        )
        return DataSourceSection(
            _found,
            f"{_ROOT}.input",
            name="retrieved",
            tokens=Tokens(options.max_rag_context_tokens),
            min_relevance=options.min_context_relevance_threshold,
            unscored="keep",
            attribution=SOURCE_AND_CONTENT if attributed else None,
            when_over=self._retrieved_over(options),
        )

    def _retrieved_over(self, options: ContextManagement) -> Summarize | Literal["by_budget"]:
        if self.summarizer is None:
            return "by_budget"
        quality: Quality = _QUALITIES[options.summarization_quality_tier]
        return Summarize(self.summarizer, quality=quality, variable=f"{_ROOT}.summaries")

    # --- what came of it ------------------------------------------------------------------------

    def _result(self, plan: _Plan, rendered: RenderedPrompt, seconds: float) -> EngineResult:
        debugging = plan.config.debugging
        result = EngineResult(
            prompt=plan.form(rendered),
            rendered=rendered,
            tools=plan.tools,
            template=plan.template,
            issues=(*plan.issues, *issues_of(rendered.layout)),
            modifications=modifications_of(rendered.layout),
            metadata=metadata_of(
                rendered,
                history=plan.history,
                seconds=seconds,
                template=plan.template,
                debug=debugging.include_debug_metadata_in_result,
            ),
        )
        self.statistics.add(result, seconds)
        if debugging.log_construction_steps:
            _log.info("constructed a prompt:\n%s", rendered.explain())
        if debugging.log_selected_contextual_elements:
            refused = "; ".join(note.detail for note in selection_notes(rendered.layout))
            said = ", ".join(result.modifications.elements) or "none"
            _log.info("elements: %s%s", said, f"; not said: {refused}" if refused else "")
        if self.hook is not None:
            self.hook("constructed", {"result": result, "seconds": seconds})
        return result


@frozen(kw_only=True)
class _Plan:
    """All that a render needs, and what is known before it."""

    config: PromptEngineConfig
    renderer: Renderer
    prompt: Prompt
    memory: Mapping[str, Any]
    budget: int | None
    template: str
    form: Form
    tools: ToolSelection
    issues: tuple[Issue, ...]
    history: int
    tenant: str | None


def _form(name: str, config: PromptEngineConfig) -> Form:
    form = config.available_templates.get(name) or FORMS.get(name)
    if form is None:
        known = (*FORMS, *config.available_templates)
        raise DefinitionError(
            f"there is no template {name!r}{did_you_mean(name, suggest(name, known))}; "
            f"known are {', '.join(known)}"
        )
    return form
