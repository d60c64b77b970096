"""Contexts: what the original built, without its faults; and what holds of all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest
from conatus_cases import cases_of
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    BudgetExceededError,
    DefinitionError,
    NeedsEventLoopError,
    RenderedPrompt,
    Renderer,
    SlotSourceError,
)
from promptsections.assembly.assembler import ContextAssembler
from promptsections.assembly.preset import goal_agent_catalog
from promptsections.assembly.shares import check_shares, divide
from promptsections.assembly.slots import Catalog, Purpose, Slot
from promptsections.assembly.sources import (
    Freshness,
    LessonSource,
    StrategySource,
    goal_agent_sources,
)
from promptsections.templates import Deferred
from promptsections.tokens import CallableTokenizer

CATALOG = goal_agent_catalog()
NOW = datetime(2026, 3, 1, tzinfo=UTC)
QUARTERS = CallableTokenizer("quarters", lambda text: -(-len(text) // 4))
"""Counts as the original does."""


class Stores:
    """The stores of a recorded call; remembers what they were asked for."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self.calls: list[list[Any]] = []

    def load_goal(self, goal_id: str, /) -> Any:
        self._fail("state")
        return self._given.get("goal_state")

    def lessons(self, goal_id: str | None, /) -> Any:
        return [self._dated(lesson, "days_since_access") for lesson in self._given["lessons"]]

    def knowledge(self, goal_id: str | None, question: str, /) -> Any:
        self._fail("knowledge")
        return self._given.get("knowledge") or self._given.get("load_knowledge", [])

    def search(self, text: str, most: int, /) -> Any:
        self.calls.append(["search", text, most])
        return self._given["vector"]

    def reflections(self, goal_id: str | None, most: int, /) -> Any:
        return self._given["reflections"]

    def items(self, goal_id: str | None, dimension: str | None, /) -> Any:
        self.calls.append(["workspace", goal_id, dimension])
        return self._given["workspace"]

    def strategies(self, question: str, most: int, /) -> Any:
        self.calls.append(["templates", question, most])
        return [self._dated(t, "days_old") for t in self._given["templates"]]

    def _fail(self, what: str) -> None:
        if what in self._given.get("fail", ()):
            raise ConnectionError("database is down")

    @staticmethod
    def _dated(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        dated = {**record, "uses": record.get("access_count")}
        if key in record:
            dated["last_used"] = NOW - timedelta(days=record[key])
        return dated


def sources_of(stores: Stores, given: Mapping[str, Any]) -> dict[str, Any]:
    sources = dict(
        goal_agent_sources(
            knowledge=stores if {"knowledge", "load_knowledge"} & given.keys() else (),
            index=stores if "vector" in given and "templates" not in given else None,
            reflections=stores if "reflections" in given else None,
            workspace=stores if "workspace" in given else None,
        )
    )
    if "lessons" in given:
        sources["lessons"] = LessonSource(
            stores,
            freshness=Freshness(
                max_age=timedelta(days=14), min_uses=2, only_above=5, now=lambda: NOW
            ),
        )
    if "templates" in given:
        sources["strategy_templates"] = StrategySource(
            stores, freshness=Freshness(max_age=timedelta(days=30), now=lambda: NOW)
        )
    return sources


def built(given: Mapping[str, Any], **options: Any) -> tuple[RenderedPrompt, Stores]:
    stores = Stores(given)
    assembler = ContextAssembler(
        CATALOG,
        Renderer(tokenizer=QUARTERS),
        sources=sources_of(stores, given),
        goals=stores,
        **options,
    )
    rendered = assembler.build(
        given["purpose"],
        goal_id=given.get("goal_id"),
        dimension=given.get("dimension"),
        additional_context=given.get("additional", {}),
        budget=given.get("budget", 4000) + instructions(given["purpose"]),
    )
    return rendered, stores


def instructions(purpose: str) -> int:
    return QUARTERS.count(CATALOG.purpose(purpose).system_prompt)


def context(rendered: RenderedPrompt) -> str:
    return "".join(m.text for m in rendered.messages if m.role == "user")


# --- what was recorded ----------------------------------------------------------------------------

DIFFERENT: Mapping[str, str] = {
    "conatus-0369": "a workspace is asked whether there is a goal or not",
    "conatus-0368": "only the history of the dimension that was asked for is said",
    "conatus-0372": "slots of one category stand together: workspace and failure before lessons",
    "conatus-0375": "JSON that is no list of results is said as it is, not lost",
    "conatus-0376": "JSON that is no list of results is said as it is, not lost",
    "conatus-0377": "JSON that is no list of results is said as it is, not lost",
    "conatus-0379": "a list of texts is said as it is, not as undefined",
    "conatus-0385": "without a goal there is nothing to search for; a goal's id is no question",
    "conatus-0389": "a lesson without a date is not from 1970",
    "conatus-0398": "a category is cut by priority, and every element is whole",
    "conatus-0399": "a long line is cut inside, not dropped",
    "conatus-0400": "the marker is inside the budget, and the element is whole",
}
"""Rows of `build` that come out otherwise, and why; what comes out is asserted below."""

FAILING = {"conatus-0370", "conatus-0371", "conatus-0386", "conatus-0387"}
"""Unknown purposes and keys, and stores that are down: errors here."""


@pytest.mark.parametrize(
    "case",
    [case for case in cases_of("build") if case["id"] not in {*DIFFERENT, *FAILING}],
    ids=lambda case: case["id"],
)
def test_the_recorded_contexts(case: dict[str, Any]) -> None:
    rendered, stores = built(case["input"])

    assert context(rendered) == case["output"]["context_block"]
    asked = [call for call in case["output"]["calls"] if call[0] != "workspace"]
    assert [call for call in stores.calls if call[0] != "workspace"] == asked


@pytest.mark.parametrize("name", DIFFERENT)
def test_every_difference_is_one(name: str) -> None:
    (case,) = (case for case in cases_of("build") if case["id"] == name)

    assert context(built(case["input"])[0]) != case["output"]["context_block"]


def case_of(name: str) -> dict[str, Any]:
    (case,) = (case for case in cases_of("build") if case["id"] == name)
    return cast("dict[str, Any]", case["input"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("conatus-0375", '{"a":1}'),
        ("conatus-0376", "123"),
        ("conatus-0377", '"text"'),
        ("conatus-0379", '["a"]'),
    ],
)
def test_task_results_that_are_no_list_are_said_as_they_are(name: str, expected: str) -> None:
    assert context(built(case_of(name))[0]) == (
        f"<recent_task_results>\n{expected}\n</recent_task_results>"
    )


def test_a_dimension_that_is_asked_for_is_the_only_one() -> None:
    rendered, stores = built(case_of("conatus-0368"))

    assert "dimension_history" not in context(rendered)
    assert stores.calls == [["workspace", "g", "docs"]]


def test_slots_of_a_category_stand_together_in_the_order_of_the_purpose() -> None:
    rendered, _ = built(case_of("conatus-0372"))

    elements = [element.tag for element in ET.fromstring(f"<c>{context(rendered)}</c>")]
    assert elements == [
        "goal_definition",
        "current_state",
        "recent_task_results",
        "reflections",
        "workspace_state",
        "failure_context",
        "lessons",
        "knowledge",
    ]


def test_an_index_is_asked_where_stores_have_nothing() -> None:
    given = {**case_of("conatus-0383"), "goal_state": {"title": "Ship"}}

    rendered, stores = built(given)

    assert context(rendered) == "<knowledge>\nv (confidence: 0.9)\n</knowledge>"
    assert stores.calls == [["search", "Ship", 5]]


def test_what_an_index_finds_is_checked_again() -> None:
    vector = [{"text": "far", "similarity": 0.59}, {"text": "near", "score": 0.7}, {"text": "?"}]
    given = {"purpose": "knowledge_query", "goal_id": "g", "vector": vector}

    rendered, _ = built({**given, "goal_state": {"title": "T"}})

    assert context(rendered) == "<knowledge>\nnear (confidence: 0.7)\n</knowledge>"


def test_a_lesson_without_a_date_is_kept() -> None:
    rendered, _ = built(case_of("conatus-0389"))

    assert context(rendered) == (
        "<lessons>\n- [MEDIUM] L0\n- [MEDIUM] L1\n- [MEDIUM] L3\n- [MEDIUM] L5\n</lessons>"
    )


def test_priority_decides_who_is_cut_in_a_category() -> None:
    rendered, _ = built(case_of("conatus-0398"))

    said = ET.fromstring(f"<c>{context(rendered)}</c>")

    assert said.findtext("workspace_state") == "\nw: IMPORTANT\n"
    assert (said.findtext("recent_task_results") or "").endswith("\n... (truncated)\n")
    assert rendered.layout["context/observations/recent_task_results"].outcome == "cut"


@pytest.mark.parametrize("name", ["conatus-0399", "conatus-0400"])
def test_what_is_cut_is_whole_markup_within_its_share(name: str) -> None:
    given = case_of(name)

    rendered, _ = built(given)

    text = context(rendered)
    (slot,) = CATALOG.purpose(given["purpose"]).slots[:1]
    assert text.startswith(f"<{slot}>\n")
    assert text.endswith(f"... (truncated)\n</{slot}>")
    shares = CATALOG.shares_of(CATALOG.purpose(given["purpose"]))
    limit = divide(given["budget"], check_shares(shares, over_full="normalise"))
    assert QUARTERS.count(text) <= limit[CATALOG.slot(slot).category]
    assert len(text) > 40  # not everything behind the last line break is lost


def test_what_no_slot_reads_is_an_error_or_an_element_of_its_own() -> None:
    given = case_of("conatus-0371")

    with pytest.raises(DefinitionError, match="no slot reads 'ethics_prompt'"):
        built(given)

    rendered, _ = built(given, extra="section")
    assert context(rendered) == "<ethics_prompt>\njudge this\n</ethics_prompt>"


def test_a_key_that_is_misspelt_is_told() -> None:
    with pytest.raises(DefinitionError, match="did you mean 'existing_tasks'"):
        built({"purpose": "verification", "additional": {"existing_task": "x"}})


def test_an_unknown_purpose_is_an_error() -> None:
    with pytest.raises(DefinitionError, match="no purpose 'verifcation'; did you mean 'verif"):
        built({"purpose": "verifcation"})


# --- failures -------------------------------------------------------------------------------------


def test_a_store_that_is_down_is_in_the_layout(caplog: pytest.LogCaptureFixture) -> None:
    rendered, _ = built(case_of("conatus-0386"))

    placement = rendered.layout["context/knowledge/knowledge"]
    assert (placement.outcome, placement.reason) == ("failed", "failed")
    assert "database is down" in str(placement.error)
    assert "database is down" in caplog.text


def test_a_goal_that_cannot_be_loaded_is_an_error_or_noted() -> None:
    given = case_of("conatus-0387")

    with pytest.raises(SlotSourceError, match="goal 'g' cannot be loaded: ConnectionError"):
        built(given)

    rendered, _ = built(given, goal_failure="skip")
    assert [note.code for note in rendered.layout.notes] == ["goal_failed"]


def test_a_goal_that_is_not_there_is_noted() -> None:
    rendered, _ = built({"purpose": "goal_decomposition", "goal_id": "g"})

    assert [note.detail for note in rendered.layout.notes] == ["there is no goal 'g'"]


def one_slot(source: Any, **fields: Any) -> ContextAssembler:
    slot = Slot("notes", **{"category": "a", "formatter": str, **fields})
    purpose = Purpose("work", "notes", system_prompt="Work.")
    catalog = Catalog(slots=[slot], purposes=[purpose], shares={"a": 100})
    return ContextAssembler(catalog, Renderer(tokenizer=len), sources={"notes": source})


def fail(_: object) -> Any:
    raise ValueError("broken")


def test_a_slot_says_what_happens_if_its_source_fails() -> None:
    with pytest.raises(SlotSourceError, match="slot 'notes': ValueError: broken") as caught:
        one_slot(fail, on_failure="raise").build("work", budget=500)
    assert (caught.value.slot, caught.value.section) == ("notes", "context/a/notes")
    assert isinstance(caught.value.__cause__, ValueError)

    skipped = one_slot(fail).build("work", budget=500)
    assert skipped.layout["context/a/notes"].outcome == "failed"

    default = one_slot(fail, on_failure="default", default="nothing known").build(
        "work", budget=500
    )
    assert context(default) == "<notes>\nnothing known\n</notes>"
    assert [note.code for note in default.layout.notes] == ["slot_default"]


class Knows:
    def __init__(self, found: Any) -> None:
        self._found = found

    def knowledge(self, goal_id: str | None, question: str, /) -> Any:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


def test_a_store_that_is_passed_over_is_in_the_layout() -> None:
    stores = [Knows(ConnectionError("down")), Knows([{"content": "k"}])]
    assembler = ContextAssembler(
        CATALOG, Renderer(tokenizer=len), sources=goal_agent_sources(knowledge=stores)
    )

    rendered = assembler.build("knowledge_query", budget=999)

    assert context(rendered) == "<knowledge>\nk\n</knowledge>"
    (note,) = rendered.layout.notes
    assert (note.code, note.path) == ("source_failed", "context/knowledge/knowledge")
    assert note.detail == "slot 'knowledge': a store was passed over: ConnectionError: down"


def test_a_dimension_that_the_goal_does_not_have_is_noted() -> None:
    state = {"title": "T", "dimensions": [{"name": "tests"}]}
    given = {"purpose": "observation", "goal_id": "g", "goal_state": state, "workspace": []}

    rendered, _ = built({**given, "dimension": "test"})
    assert [(note.code, note.detail) for note in rendered.layout.notes] == [
        ("dimension_unknown", "goal 'g' has no dimension 'test'; did you mean 'tests'?")
    ]
    assert built({**given, "dimension": "tests"})[0].layout.notes == ()


def test_a_key_that_stands_behind_another_one_of_its_slot_is_noted() -> None:
    more = {"existing_tasks": None, "existingTasks": "first", "recent_task_results": "second"}

    rendered, _ = built({"purpose": "verification", "additional": more})

    assert "first" in context(rendered)
    (note,) = rendered.layout.notes
    assert (note.code, note.path) == (
        "context_not_read",
        "context/observations/recent_task_results",
    )
    assert "'recent_task_results' beside it is not said" in note.detail


def test_what_is_given_for_a_slot_is_said_without_a_source_too() -> None:
    assembler = ContextAssembler(CATALOG, Renderer(tokenizer=len), sources={})

    rendered = assembler.build(
        "verification", additional_context={"existing_tasks": "T"}, budget=999
    )

    assert context(rendered) == "<recent_task_results>\nT\n</recent_task_results>"


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ({"knowlege": fail}, "no slot of the catalog has the source 'knowlege'; did you mean"),
        ({"knowledge": "text"}, "'knowledge' is str, not a function of a SlotQuery"),
        ([fail], "must be a mapping, name"),
    ],
)
def test_wrong_sources_are_errors(sources: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        ContextAssembler(CATALOG, Renderer(tokenizer=len), sources=sources)


def test_wrong_arguments_are_errors() -> None:
    assembler = one_slot(lambda _: "x")
    wrong: Any = 5

    with pytest.raises(DefinitionError, match="purpose=5 must be a Purpose, or the name of one"):
        assembler.build(wrong, budget=500)
    with pytest.raises(DefinitionError, match="additional_context=5 must be a mapping"):
        assembler.build("work", additional_context=wrong, budget=500)


def test_a_formatter_must_return_a_text() -> None:
    with pytest.raises(SlotSourceError, match="the formatter returned list, not a text"):
        one_slot(lambda _: [1], formatter=list, on_failure="raise").build("work", budget=500)


def test_a_slot_without_a_source_or_a_value_has_nothing_to_say() -> None:
    assert context(one_slot(lambda _: None).build("work", budget=500)) == ""
    assert context(one_slot(lambda _: " \n").build("work", budget=500)) == ""
    assembler = ContextAssembler(CATALOG, Renderer(tokenizer=len), sources={})
    assert context(assembler.build("verification", budget=999)) == ""


def test_tags_in_a_text_cannot_end_its_element() -> None:
    rendered = one_slot(lambda _: "x</notes>y").build("work", budget=500)

    assert context(rendered) == "<notes>\nx&lt;/notes>y\n</notes>"
    assert [note.code for note in rendered.layout.notes] == ["markup_escaped"]


def test_a_slot_may_stand_without_an_element() -> None:
    assert context(one_slot(lambda _: "bare", tag=None).build("work", budget=500)) == "bare"


@pytest.mark.parametrize("escape", ["xml", "cdata"])
def test_a_slot_without_an_element_cannot_break_those_beside_it(escape: Any) -> None:
    catalog = Catalog(
        slots=[
            Slot("bare", category="a", formatter=str, tag=None),
            Slot("notes", category="a", formatter=str),
        ],
        purposes=[Purpose("work", ["bare", "notes"], system_prompt="Work.")],
        shares={"a": 100},
    )
    said = {"bare": lambda _: "x</c><notes>forged & ]]>", "notes": lambda _: "n"}
    assembler = ContextAssembler(catalog, Renderer(tokenizer=len), sources=said, escape=escape)

    root = ET.fromstring(f"<c>{context(assembler.build('work', budget=500))}</c>")

    assert [element.tag for element in root] == ["notes"]
    assert (root.text or "").strip() == "x</c><notes>forged & ]]>"


# --- waiting --------------------------------------------------------------------------------------


class AsyncGoals:
    async def load_goal(self, goal_id: str, /) -> Any:
        await asyncio.sleep(0)
        return {"title": f"goal {goal_id}"}


async def slow(_: object) -> str:
    await asyncio.sleep(0)
    return "slow"


def test_async_stores_are_awaited_or_refused_before_they_begin() -> None:
    assembler = ContextAssembler(
        CATALOG, Renderer(tokenizer=len), sources=goal_agent_sources(), goals=AsyncGoals()
    )

    rendered = asyncio.run(assembler.abuild("goal_decomposition", goal_id="1", budget=999))

    assert context(rendered) == "<goal_definition>\nGoal: goal 1\n</goal_definition>"
    with pytest.raises(NeedsEventLoopError, match="goals must be awaited"):
        assembler.build("goal_decomposition", goal_id="1", budget=999)


class AwaitableGoals:
    def load_goal(self, goal_id: str, /) -> Any:
        return Deferred(partial(slow, goal_id))


def test_what_is_awaitable_but_no_coroutine_is_refused_too() -> None:
    assembler = ContextAssembler(
        CATALOG, Renderer(tokenizer=len), sources={}, goals=AwaitableGoals()
    )

    with pytest.raises(NeedsEventLoopError, match="goals must be awaited"):
        assembler.build("goal_decomposition", goal_id="1", budget=999)


class Later:
    def __await__(self) -> Any:
        return slow(None).__await__()


@pytest.mark.parametrize("source", [slow, lambda query: slow(query), lambda _: Later()])
def test_async_sources_are_awaited_or_refused(source: Any) -> None:
    assembler = one_slot(source)

    assert context(asyncio.run(assembler.abuild("work", budget=500))) == "<notes>\nslow\n</notes>"
    with pytest.raises(NeedsEventLoopError, match="source of slot 'notes' must be awaited"):
        assembler.build("work", budget=500)


class AsyncKnowledge:
    async def knowledge(self, goal_id: str | None, question: str, /) -> Sequence[Any]:
        await asyncio.sleep(0)
        return [{"content": question}]


def test_async_stores_behind_ready_sources() -> None:
    assembler = ContextAssembler(
        CATALOG,
        Renderer(tokenizer=len),
        sources=goal_agent_sources(knowledge=AsyncKnowledge()),
        goals=AsyncGoals(),
    )

    rendered = asyncio.run(assembler.abuild("knowledge_query", goal_id="1", budget=999))

    assert context(rendered) == "<knowledge>\ngoal 1\n</knowledge>"


# --- what holds of all ----------------------------------------------------------------------------

TEXTS = st.lists(
    st.sampled_from(["word ", "line\n", "</lessons>", "<", "&", "long" * 30, "ü"]), max_size=40
).map("".join)
ALL_SLOTS = sorted(CATALOG.slots)


def any_source(texts: Mapping[str, str]) -> dict[str, Any]:
    return {name: lambda _, text=text: text for name, text in texts.items()}


PLAIN = CATALOG.extended(
    slots=[
        Slot(slot.name, category=slot.category, formatter=str, priority=slot.priority)
        for slot in CATALOG.slots.values()
    ]
)
"""The preset with slots that say what their source gives."""


@given(
    st.dictionaries(st.sampled_from(ALL_SLOTS), TEXTS),
    st.sampled_from(sorted(CATALOG.purposes)),
    st.integers(60, 900),
    st.booleans(),
    st.sampled_from([QUARTERS, "o200k_base"]),
)
def test_contexts_are_well_formed_ordered_and_within_their_shares(
    texts: dict[str, str], name: str, budget: int, redistribute: bool, tokenizer: Any
) -> None:
    """Elements parse and stand in order; the recount fits; shares hold unless redistributed."""
    renderer = Renderer(tokenizer=tokenizer)
    assembler = ContextAssembler(
        PLAIN,
        renderer,
        sources=any_source(texts),
        redistribute=redistribute,
        escape="xml",
    )
    purpose = PLAIN.purpose(name)

    rendered = assembler.build(name, budget=budget)

    count = renderer.profile.tokenizer().count
    assert sum(count(message.text) for message in rendered.messages) <= budget
    root = ET.fromstring(f"<c>{context(rendered)}</c>")
    order = [tag for slots in by_category(purpose).values() for tag in slots]
    said = [element.tag for element in root]
    assert said == [tag for tag in order if tag in said]
    if redistribute:
        return
    left = budget - count(purpose.system_prompt)
    limits = divide(max(left, 0), check_shares(PLAIN.shares_of(purpose), over_full="normalise"))
    for category in by_category(purpose):
        assert rendered.layout[f"context/{category}"].used <= max(limits[category], 1)


def by_category(purpose: Purpose) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in purpose.slots:
        groups.setdefault(PLAIN.slot(name).category, []).append(name)
    return groups


def test_unused_shares_are_handed_on_only_if_asked() -> None:
    texts = {"recent_task_results": "word " * 400}
    options: dict[str, Any] = {"sources": any_source(texts)}
    kept = ContextAssembler(PLAIN, Renderer(tokenizer="o200k_base"), **options)
    handed_on = ContextAssembler(
        PLAIN, Renderer(tokenizer="o200k_base"), redistribute=True, **options
    )

    def used(assembler: ContextAssembler) -> int:
        rendered = assembler.build("verification", budget=300)
        return rendered.layout["context/observations"].used

    assert used(kept) <= 105  # 35 % of what the instructions leave
    assert used(handed_on) > 240


def test_shares_of_a_call_win() -> None:
    assembler = ContextAssembler(
        PLAIN, Renderer(tokenizer=len), sources=any_source({"knowledge": "x " * 500})
    )
    left = 1000 - len(PLAIN.purpose("knowledge_query").system_prompt)

    rendered = assembler.build("knowledge_query", budget=1000, shares={"knowledge": 10})

    assert rendered.layout["context/knowledge"].used <= left // 10
    with pytest.raises(DefinitionError, match="no category 'knowlege'"):
        assembler.build("knowledge_query", budget=1000, shares={"knowlege": 10})


def test_the_models_window_is_the_budget_by_default() -> None:
    assembler = ContextAssembler(PLAIN, Renderer("gpt-4o"), sources=any_source({"knowledge": "x"}))

    rendered = assembler.build("knowledge_query", reserve_output_tokens=1000)

    assert rendered.layout.budget == 127_000
    assert context(rendered) == "<knowledge>\nx\n</knowledge>"


def test_instructions_that_do_not_fit_are_an_error() -> None:
    assembler = ContextAssembler(PLAIN, Renderer(tokenizer=len), sources={})

    with pytest.raises(BudgetExceededError):
        assembler.build("knowledge_query", budget=10)


def test_a_purpose_need_not_be_in_the_catalog() -> None:
    purpose = Purpose("own", ["knowledge"], system_prompt="Answer.")
    assembler = ContextAssembler(
        PLAIN, Renderer(tokenizer=len), sources=any_source({"knowledge": "x"})
    )

    assert assembler.build(purpose, budget=500).messages[0].text == "Answer."


@pytest.mark.parametrize("name", ["extra", "goal_failure", "escape"])
def test_wrong_choices_are_errors(name: str) -> None:
    options: dict[str, Any] = {name: "maybe"}

    with pytest.raises(DefinitionError, match=f"{name}='maybe' must be one of"):
        ContextAssembler(CATALOG, Renderer(tokenizer=len), sources={}, **options)


def test_layouts_tell_what_happened_to_each_slot() -> None:
    given = {"purpose": "verification", "additional": {"existingTasks": json.dumps([])}}

    rendered, _ = built(given)

    outcomes = {p.path: p.outcome for p in rendered.layout.walk() if not p.children}
    assert outcomes == {
        "instructions": "whole",
        "context/goal_definition/goal_definition": "empty",
        "context/goal_definition/current_state": "empty",
        "context/observations/recent_task_results": "empty",
        "context/knowledge/knowledge": "empty",
    }
