"""Every option of the prompt engine does what it says; each test fails where it is ignored."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from promptsections import (
    BudgetExceededError,
    Chunk,
    ConfigError,
    DefinitionError,
    ImagePart,
    Message,
    ModelProfile,
    RenderedPrompt,
    Template,
    Tool,
)
from promptsections.elements import Element
from promptsections.prompt_engine import (
    EngineResult,
    ExecutionContext,
    ModelTarget,
    PersonaSettings,
    PromptComponents,
    PromptEngine,
    PromptEngineConfig,
    SystemPrompt,
)
from promptsections.summaries import SummaryRequest

TURNS = [
    Message("user" if at % 2 == 0 else "assistant", f"message {at} " + "word " * 20)
    for at in range(20)
]


def constructed(
    options: dict[str, Any] | None = None,
    *,
    target: ModelTarget | str = "gpt-4o",
    context: ExecutionContext | None = None,
    template: str | None = None,
    engine: dict[str, Any] | None = None,
    **components: Any,
) -> EngineResult:
    counted = {"tokenCounting": {"strategy": "precise"}, **(options or {})}
    made = PromptEngine(PromptEngineConfig.read(counted), **(engine or {}))
    given = PromptComponents(**{"user_input": "Q", **components})
    return made.construct(given, target, context=context, template=template)


def said(result: EngineResult) -> str:
    return "\n".join(message.text for message in result.rendered.messages)


def persona(*elements: Element, **fields: Any) -> ExecutionContext:
    return ExecutionContext(persona=PersonaSettings(id="P", elements=elements, **fields))


# --- templates ------------------------------------------------------------------------------------


def test_the_default_template_is_taken_where_nobody_names_one() -> None:
    options = {"defaultTemplateName": "generic_completion"}
    target = ModelTarget(model="gpt-4o", prompt_format="anthropic_messages")

    assert constructed(options).prompt == "Q"
    assert constructed().prompt == [{"role": "user", "content": "Q"}]
    assert constructed(options, target=target).template == "anthropic_messages"
    assert constructed(options, target=target, template="openai_chat").template == "openai_chat"


def test_templates_of_ones_own_are_functions_of_what_was_rendered() -> None:
    options = {
        "defaultTemplateName": "shout",
        "availableTemplates": {"shout": said_loud},
    }

    assert constructed(options).prompt == "Q!"


def said_loud(rendered: RenderedPrompt) -> str:
    return rendered.messages[-1].text + "!"


def test_an_unknown_template_is_an_error_and_no_empty_prompt() -> None:
    with pytest.raises(
        DefinitionError, match="no template 'openai_cht'; did you mean 'openai_chat'"
    ):
        constructed(template="openai_cht")
    with pytest.raises(DefinitionError, match="no template 'nope'"):
        PromptEngine(PromptEngineConfig.read({"defaultTemplateName": "nope"}))


# --- history --------------------------------------------------------------------------------------


def test_no_more_messages_than_allowed() -> None:
    result = constructed({"historyManagement": {"defaultMaxMessages": 4}}, history=TURNS)

    assert result.metadata["history_messages_included"] == 4
    assert len(result.rendered.messages) == 5


def test_a_history_has_its_own_limit() -> None:
    result = constructed({"historyManagement": {"maxTokensForHistory": 120}}, history=TURNS)

    assert 0 < result.rendered.layout["conversation_history"].used <= 120
    assert result.modifications.truncated == ("conversation_history",)
    assert result.was_truncated_or_summarized


def test_important_messages_are_kept_word_for_word_if_asked() -> None:
    history = [
        {"role": "user", "content": "I am allergic to nuts.", "important": True},
        {"role": "assistant", "content": "Noted."},
        *TURNS,
    ]
    limit = {"maxTokensForHistory": 120}

    kept = constructed({"historyManagement": limit}, history=history)
    dropped = constructed(
        {"historyManagement": {**limit, "preserveImportantMessages": False}}, history=history
    )

    assert "allergic to nuts" in said(kept)
    assert "allergic to nuts" not in said(dropped)


def test_what_is_important_can_be_said_by_metadata_or_a_function() -> None:
    history = [
        {"role": "user", "content": "KEEP", "metadata": {"important": True}},
        {"role": "assistant", "content": "Yes."},
        *TURNS,
    ]
    limit = {"historyManagement": {"maxTokensForHistory": 120}}
    engine = {"is_important": lambda message: message.text.startswith("message 0 ")}

    assert "KEEP" in said(constructed(limit, history=history))
    assert "message 0 " in said(constructed(limit, history=history, engine=engine))


# --- retrieved context ----------------------------------------------------------------------------

CHUNKS = [
    Chunk("near " * 10, id="near", score=0.9),
    Chunk("middle " * 10, id="middle", score=0.5),
    Chunk("far " * 10, id="far", score=0.01),
]


def test_retrieved_context_has_its_own_limit() -> None:
    small = constructed({"contextManagement": {"maxRAGContextTokens": 20}}, retrieved=CHUNKS)
    large = constructed(retrieved=CHUNKS)

    assert small.rendered.layout["retrieved"].items == ("near",)
    assert 0 < small.metadata["rag_context_tokens_used"] <= 20
    assert large.rendered.layout["retrieved"].items == ("near", "middle", "far")


def test_what_is_not_relevant_is_left_out() -> None:
    options = {"contextManagement": {"minContextRelevanceThreshold": 0.5}}

    result = constructed(options, retrieved=[*CHUNKS, "unscored"])

    assert result.rendered.layout["retrieved"].items == ("near", "middle", "3")


def test_sources_are_said_if_asked() -> None:
    found = [Chunk("Exchanges are free.", source="faq.md")]
    silent = {"contextManagement": {"preserveSourceAttributionInSummary": False}}

    assert "Source: faq.md\nContent: Exchanges are free." in said(constructed(retrieved=found))
    assert "faq.md" not in said(constructed(silent, retrieved=found))


# --- summaries ------------------------------------------------------------------------------------


class Recorder:
    """A summarizer that says the same, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest, /) -> str:
        self.asked.append(request)
        return "IN SHORT"


def test_a_history_is_summarised_beyond_its_ratio_and_not_at_all_with_0() -> None:
    def asked(ratio: float, limit: int = 400) -> tuple[int, EngineResult]:
        recorder = Recorder()
        options = {"summarizationTriggerRatio": ratio, "maxTokensForHistory": limit}
        result = constructed(
            {"historyManagement": options}, history=TURNS, engine={"summarizer": recorder}
        )
        return len(recorder.asked), result

    calls, result = asked(0.8)

    assert calls >= 1
    assert "IN SHORT" in said(result)
    assert "conversation_history" in result.modifications.summarized
    assert result.rendered.summaries
    assert asked(0)[0] == 0
    assert asked(0.8, limit=4000)[0] == 0
    assert asked(0.25, limit=2000)[0] >= 1
    assert asked(0.5, limit=2000)[0] == 0


def test_a_summary_is_used_again() -> None:
    recorder = Recorder()
    options = {"historyManagement": {"maxTokensForHistory": 400}}
    first = constructed(options, history=TURNS, engine={"summarizer": recorder})

    again = constructed(
        options,
        history=TURNS,
        engine={"summarizer": recorder},
        context=ExecutionContext(summaries=first.rendered.summaries),
    )

    assert len(recorder.asked) == 1
    assert again.prompt == first.prompt


@pytest.mark.parametrize(
    ("tier", "quality"), [("fast", "fast"), ("balanced", "balanced"), ("high_quality", "high")]
)
def test_retrieved_text_is_summarised_with_the_configured_quality(tier: str, quality: str) -> None:
    recorder = Recorder()
    options = {"summarizationQualityTier": tier, "maxRAGContextTokens": 30}

    result = constructed(
        {"contextManagement": options}, retrieved=["word " * 150], engine={"summarizer": recorder}
    )

    assert {request.quality for request in recorder.asked} == {quality}
    assert "IN SHORT" in said(result)


# --- all of it ------------------------------------------------------------------------------------


@pytest.mark.parametrize("template", ["openai_chat", "anthropic_messages", "generic_completion"])
def test_everything_is_in_every_output(template: str) -> None:
    result = constructed(
        template=template,
        system_prompts=["INSTRUCTIONS"],
        retrieved=["RETRIEVED"],
        task_data={"step": "TASK"},
        custom={"note": "CUSTOM"},
        history=[Message("user", "OLD"), Message("assistant", "ANSWER")],
        context=persona(Element("domain_context", "ELEMENT")),
    )

    for word in ("INSTRUCTIONS", "RETRIEVED", "TASK", "CUSTOM", "OLD", "ANSWER", "ELEMENT", "Q"):
        assert word in str(result.prompt)


# --- elements -------------------------------------------------------------------------------------

GUIDES = [
    Element("behavioral_guidance", f"guide {at}", id=f"g{at}", priority=at) for at in range(5)
]


def test_elements_are_capped_by_type_and_in_all() -> None:
    def chosen(**options: Any) -> tuple[str, ...]:
        selection = {"contextualElementSelection": options}
        return constructed(selection, context=persona(*GUIDES)).modifications.elements

    assert chosen() == ("g4", "g3", "g2")
    assert chosen(defaultMaxElementsPerType=1) == ("g4",)
    assert chosen(maxElementsPerType={"behavioral_guidance": 4}) == ("g4", "g3", "g2", "g1")
    assert chosen(maxElements=2) == ("g4", "g3")


def test_priorities_are_resolved_as_asked() -> None:
    def chosen(strategy: str, **options: Any) -> tuple[str, ...]:
        selection = {"priorityResolutionStrategy": strategy, "defaultMaxElementsPerType": 1}
        return constructed(
            {"contextualElementSelection": {**selection, **options}},
            context=persona(*GUIDES, preferences={"g1": 5}),
        ).modifications.elements

    assert chosen("highest_first") == ("g4",)
    assert chosen("persona_preference") == ("g1",)
    assert {chosen("weighted_random", seed=seed) for seed in range(20)} > {("g4",)}


def test_conflicts_are_resolved_as_asked() -> None:
    rivals = [
        Element("behavioral_guidance", "Be short.", id="a", conflicts="length"),
        Element("behavioral_guidance", "Be long.", id="b", conflicts="length"),
    ]

    def told(strategy: str) -> str:
        options = {"contextualElementSelection": {"conflictResolutionStrategy": strategy}}
        return said(constructed(options, context=persona(*rivals)))

    assert told("skip_conflicting") == "Be short.\nQ"
    assert told("merge_compatible") == "Be short.\nBe long.\nQ"
    with pytest.raises(DefinitionError, match="contradict each other"):
        told("error_on_conflict")


def test_criteria_read_what_is_the_case() -> None:
    element = Element("domain_context", "CALM", criteria={"mood": "angry"})
    context = ExecutionContext(
        persona=PersonaSettings(id="P", elements=(element,)), circumstances={"mood": "angry"}
    )

    assert "CALM" in said(constructed(context=context))
    assert "CALM" not in said(constructed(context=persona(element)))


# --- tools ----------------------------------------------------------------------------------------

TOOLS = [Tool("search"), Tool("deploy")]


def test_the_manifest_says_who_may_use_what() -> None:
    options = {"toolSchemaManifest": {"P": {"enabledToolIds": ["search", "gone"]}}}

    mine = constructed(options, tools=TOOLS, context=persona())
    others = constructed(options, tools=TOOLS)

    assert [tool.name for tool in mine.rendered.tools] == ["search"]
    assert mine.tools.reasons["deploy"] == "excluded:not_in_enabled_tool_ids"
    assert "UNKNOWN_TOOL" in [issue.code for issue in mine.issues]
    assert [tool.name for tool in others.rendered.tools] == ["search", "deploy"]


def test_an_empty_list_allows_nothing_unless_read_the_old_way() -> None:
    manifest: dict[str, Any] = {"toolSchemaManifest": {"P": {"enabledToolIds": []}}}

    assert constructed(manifest, tools=TOOLS, context=persona()).rendered.tools == ()
    old = constructed({**manifest, "emptyToolListMeans": "all"}, tools=TOOLS, context=persona())
    assert len(old.rendered.tools) == 2


def test_a_target_may_take_no_tools_or_only_some() -> None:
    none = constructed(tools=TOOLS, target=ModelTarget(model="gpt-4o", tools_supported=False))
    one = constructed(tools=TOOLS, target=ModelTarget(model="gpt-4o", max_tools_per_call=1))

    assert none.rendered.tools == ()
    assert [issue.code for issue in none.issues] == ["TOOLS_NOT_SUPPORTED"]
    assert [tool.name for tool in one.rendered.tools] == ["search"]
    assert one.tools.reasons == {"deploy": "excluded:max_tools_per_call"}


# --- counting and keeping -------------------------------------------------------------------------


def test_tokens_are_counted_as_configured() -> None:
    text = "一二三四五六七八九十" * 20

    def counted(**options: Any) -> EngineResult:
        return constructed({"tokenCounting": options}, user_input=text)

    precise = counted(strategy="precise")
    gpt_4 = counted(strategy="estimated", estimationModel="gpt-4")
    claude = counted(strategy="estimated", estimationModel="claude-3")

    assert precise.rendered.exact
    assert not gpt_4.rendered.exact
    assert len({precise.token_count, gpt_4.token_count, claude.token_count}) == 3
    assert counted(strategy="hybrid").token_count >= precise.token_count


def twice(options: dict[str, Any], *, tenants: tuple[str | None, ...] = (None, None)) -> Any:
    engine = PromptEngine(PromptEngineConfig.read({"performance": options}))
    components = PromptComponents(user_input="Q", retrieved=["R"], history=TURNS[:2])
    return [
        engine.construct(components, "gpt-4o", context=ExecutionContext(tenant=tenant))
        for tenant in tenants
    ]


def test_results_are_kept_if_asked_and_for_each_tenant_apart() -> None:
    first, again = twice({})
    assert (first.metadata["from_cache"], again.metadata["from_cache"]) == (False, True)
    assert again.prompt == first.prompt

    assert not twice({"enableCaching": False})[1].metadata["from_cache"]
    assert not twice({"maxCacheSizeBytes": 10})[1].metadata["from_cache"]
    assert not twice({"cacheTimeoutSeconds": 1e-9})[1].metadata["from_cache"]
    assert not twice({}, tenants=("a", "b"))[1].metadata["from_cache"]
    assert twice({}, tenants=("a", "a"))[1].metadata["from_cache"]


def test_nothing_that_was_retrieved_for_another_question_is_given_out() -> None:
    engine = PromptEngine()

    for document in ("mine", "yours"):
        result = engine.construct(
            PromptComponents(user_input="the same question", retrieved=[document]), "gpt-4o"
        )
        assert document in said(result)


# --- debugging ------------------------------------------------------------------------------------


def test_steps_are_logged_if_asked(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "promptsections")

    constructed()
    assert caplog.text == ""

    constructed({"debugging": {"logConstructionSteps": True}})
    assert "constructed a prompt:" in caplog.text


def test_selections_are_logged_if_asked(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "promptsections")
    options = {"debugging": {"logSelectedContextualElements": True}}

    constructed(
        options,
        context=persona(*GUIDES[:1], Element("domain_context", "x", criteria={"mood": "x"})),
    )

    assert "elements: g0; not said: 'domain_context': its criteria do not hold" in caplog.text


def test_debug_metadata_goes_along_if_asked() -> None:
    options = {"debugging": {"includeDebugMetadataInResult": True}}

    assert "debug" not in constructed().metadata
    assert constructed(options).metadata["debug"]["layout"]["budget"] > 0


# --- personas, preferences, models ----------------------------------------------------------------


def test_a_personas_options_are_merged_deeply() -> None:
    context = persona(overrides={"historyManagement": {"defaultMaxMessages": 2}})
    options = {"historyManagement": {"maxTokensForHistory": 5000}}

    result = constructed(options, history=TURNS, context=context)

    assert result.metadata["history_messages_included"] == 2
    with pytest.raises(ConfigError, match="historyManagment"):
        constructed(context=persona(overrides={"historyManagment": {}}))


def test_what_the_user_prefers_is_said() -> None:
    context = ExecutionContext(user_preferences={"verbosity": "brief", "format": "a table"})

    assert said(constructed(context=context)) == (
        "Answer briefly, without anything that was not asked for. "
        "The user prefers answers in this format: a table.\nQ"
    )


def test_system_prompts_give_way_by_priority_and_stand_in_their_order() -> None:
    prompts = [
        SystemPrompt("low " * 30, priority=1, required=False),
        SystemPrompt("high " * 30, priority=2, required=False),
        SystemPrompt("always"),
    ]
    target = ModelTarget(model="gpt-4o", optimal_context_tokens=60)

    result = constructed(system_prompts=prompts, target=target)

    assert said(result).split() == ["high"] * 30 + ["always", "Q"]
    assert result.modifications.removed == ("system_prompt-1",)
    assert [(i.severity, i.code) for i in result.issues] == [("warning", "REMOVED")]
    assert result.metadata["total_system_prompts_applied"] == 2


def test_the_window_of_a_target_is_the_limit_and_what_is_required_is_an_error() -> None:
    profile = ModelProfile(name="own", encoding="o200k_base", context_window=100_000)
    small = ModelTarget(model=profile, max_context_tokens=40)

    assert constructed(target=small).rendered.layout.budget <= 40
    with pytest.raises(BudgetExceededError):
        constructed(target=small, system_prompts=["word " * 100])


def test_profiles_of_ones_own_are_found_by_name() -> None:
    profile = ModelProfile(name="mine", encoding="o200k_base", context_window=1000)

    result = constructed(target="mine", engine={"profiles": {"mine": profile}})

    assert result.rendered.model == "mine"


def test_images_go_along_or_are_told_to_be_left_out() -> None:
    image = ImagePart("https://x.test/a.png")
    blind = ModelTarget(model="gpt-4o", vision_supported=False)
    context = persona(Element("user_prompt_augmentation", "BELOW"))

    seen = constructed(media=[image], retrieved=["RAG"], context=context)
    unseen = constructed(media=[image], target=blind)

    (parts,) = (m.content for m in seen.rendered.messages if isinstance(m.content, tuple))
    assert image in parts
    assert "RAG" in said(seen)
    assert "Q\nBELOW" in said(seen)
    assert unseen.rendered.messages == (Message("user", "Q"),)
    assert [issue.code for issue in unseen.issues] == ["VISION_NOT_SUPPORTED"]


# --- what comes along -----------------------------------------------------------------------------


def test_one_system_prompt_is_a_text() -> None:
    result = constructed(system_prompts="one two")

    assert result.rendered.messages[0].text == "one two"


@pytest.mark.parametrize("most", [-1, True, 1.5])
def test_a_target_takes_a_whole_number_of_tools(most: Any) -> None:
    with pytest.raises(DefinitionError, match=r"max_tools_per_call=.* must be a whole number"):
        ModelTarget(model="gpt-4o", max_tools_per_call=most)


def test_what_is_no_component_is_an_error() -> None:
    wrong: Any = "hi"

    with pytest.raises(DefinitionError, match="components must be PromptComponents, not str"):
        PromptEngine().construct(wrong, "gpt-4o")


def test_statistics_count_what_happened() -> None:
    engine = PromptEngine()
    components = PromptComponents(user_input="Q", tools=TOOLS)

    engine.construct(components, "gpt-4o", context=persona(*GUIDES[:1]))
    engine.construct(components, ModelTarget(model="gpt-4o", tools_supported=False))
    with pytest.raises(DefinitionError):
        engine.construct(components, "gpt-4o", template="nope")

    counted = engine.statistics.to_dict()
    assert (counted["constructions"], counted["failures"]) == (2, 1)
    assert counted["issues"]["TOOLS_NOT_SUPPORTED"] == counted["issues"]["DefinitionError"] == 1
    assert counted["elements"] == {"g0": 1}
    assert counted["mean_seconds"] > 0


def test_a_hook_is_told_of_each_construction() -> None:
    events: list[tuple[str, Any]] = []

    result = constructed(engine={"hook": lambda name, known: events.append((name, known))})

    ((name, known),) = events
    assert name == "constructed"
    assert known["result"] == result


def test_templates_of_elements_may_call_async_functions() -> None:
    async def weather() -> str:
        return "sunny"

    engine = PromptEngine(functions={"weather": weather})
    element = Element("domain_context", Template("It is <<weather>>."))

    result = asyncio.run(
        engine.aconstruct(PromptComponents(user_input="Q"), "gpt-4o", context=persona(element))
    )

    assert said(result) == "It is sunny.\nQ"
    with pytest.raises(DefinitionError):
        asyncio.run(engine.aconstruct(PromptComponents(), "gpt-4o", template="nope"))


def test_a_prompt_of_nothing_is_empty() -> None:
    result = constructed(user_input=None, template="generic_completion")

    assert (result.prompt, result.token_count, result.issues) == ("", 0, ())
