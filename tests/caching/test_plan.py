"""Where marks stand: at the ends of stabilities, no more than a request may carry."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from cached_prompts import (
    CLAUDE,
    OPENAI,
    RULE,
    chat,
    policies,
    policy,
    prompts,
    renderer,
    words,
)
from hypothesis import given

from promptsections import (
    CacheBreakpoint,
    CachePolicy,
    ConversationHistory,
    GroupSection,
    Message,
    Prompt,
    PromptSection,
    RenderedPrompt,
    Renderer,
    SystemMessage,
    TextSection,
    Tool,
    Truncate,
    UserInput,
    lay_out,
)
from promptsections.caching import CachePlan, Mark
from promptsections.caching.plan import takes_mark


def marks(rendered: RenderedPrompt) -> list[tuple[int, int | None]]:
    assert rendered.cache_plan is not None
    return [(mark.after, mark.part) for mark in rendered.cache_plan.marks]


def codes(rendered: RenderedPrompt) -> list[tuple[str, str]]:
    return [(note.code, note.path) for note in rendered.layout.notes if note.code != "estimated"]


def render(
    *sections: PromptSection, memory: dict[str, Any] | None = None, tools: bool = False, **opts: Any
) -> RenderedPrompt:
    prompt = Prompt(sections, tools=[Tool("look_up", words(20))] if tools else [])
    given = {"input": "hi", **(memory or {})}
    return renderer(**opts).render(prompt, given, tenant="acme", budget=4_000)


# --- laws ---------------------------------------------------------------------------------------


@given(prompts(), policies)
def test_marks_keep_the_rules_of_providers(drawn: Any, decided: CachePolicy) -> None:
    """At most four, in order, no time rises, none is too early, none on an empty message."""
    prompt, memory = drawn
    drawing = Renderer(CLAUDE, caching=decided, functions={"now": lambda: "10:00"})
    rendered = drawing.render(prompt, memory, tenant="acme", budget=2_000)

    plan = rendered.cache_plan
    assert plan is not None
    assert len(plan.marks) <= 4
    places = [(m.after, 99 if m.part is None else m.part) for m in plan.marks]
    assert places == sorted(set(places))
    seconds = [m.lifetime.seconds for m in plan.marks if m.lifetime is not None]
    assert seconds == sorted(seconds, reverse=True)
    assert all(m.tokens >= RULE.minimum for m in plan.marks)
    assert all(takes_mark(rendered.messages[m.after]) for m in plan.marks if m.after >= 0)
    tokens = [mark.tokens for mark in plan.marks]
    assert tokens == sorted(tokens)


@given(prompts(), policies)
def test_marks_change_nothing_in_a_layout(drawn: Any, decided: CachePolicy) -> None:
    """Whatever is marked, the same is kept, cut and dropped as where the model takes no marks."""
    prompt, memory = drawn
    one, other = (
        Renderer(
            evolve(CLAUDE, cache=rule), caching=decided, functions={"now": lambda: "10:00"}
        ).resolve(prompt, memory, tenant="acme", budget=2_000)
        for rule in (evolve(RULE, minimum=1), evolve(RULE, minimum=10_000))
    )
    for budget in {one.minimum_budget(), one.minimum_budget() + 30, 2_000}:
        marked, bare = lay_out(one, budget), lay_out(other, budget)

        assert marked.layout.placements == bare.layout.placements
        assert marked.token_count == bare.token_count
        assert marked.messages == bare.messages


@given(prompts(), policies)
def test_prefixes_grow_and_are_measured_by_the_layout(drawn: Any, decided: CachePolicy) -> None:
    """A less stable prefix holds the more stable one; the last one is the whole prompt."""
    prompt, memory = drawn
    drawing = Renderer(CLAUDE, caching=decided, functions={"now": lambda: "10:00"})
    layout = drawing.render(prompt, memory, tenant="acme", budget=2_000).layout

    sizes = [prefix.prefix_tokens for prefix in layout.prefixes]
    assert sizes == sorted(sizes)
    assert sizes[-1] == layout.token_count - CLAUDE.reply_priming
    assert sum(prefix.tokens for prefix in layout.prefixes) + _tools(prompt) == sizes[-1]
    assert layout.prefixes[-1].ends_at is None
    for shorter, longer in zip(layout.prefixes, layout.prefixes[1:], strict=False):
        same = shorter.fingerprint == longer.fingerprint
        assert same == (shorter.prefix_tokens == longer.prefix_tokens)


def _tools(prompt: Prompt) -> int:
    return CLAUDE.base_tokens(prompt.all_tools(), CLAUDE.tokenizer()) - CLAUDE.reply_priming


# --- where they stand ---------------------------------------------------------------------------


def test_marks_stand_behind_tools_each_stability_and_the_conversation() -> None:
    rendered = render(
        TextSection(words(20), name="rules"),
        TextSection(words(20), name="profile", stability="session"),
        ConversationHistory(),
        UserInput(),
        memory={"history": chat(2)},
        tools=True,
    )

    assert marks(rendered) == [(-1, None), (0, None), (1, None), (5, None)]
    assert rendered.cache_plan is not None
    assert [m.stability for m in rendered.cache_plan.marks] == [
        "static", "static", "session", "session",
    ]  # fmt: skip
    assert codes(rendered) == []


def test_nothing_is_marked_behind_what_changes_with_every_turn() -> None:
    rendered = render(
        TextSection(words(20), name="rules"),
        SystemMessage("It is <<now>>", name="clock"),
        ConversationHistory(),
        UserInput(),
        memory={"history": chat(2)},
    )

    assert marks(rendered) == [(0, None)]
    assert codes(rendered) == [("volatile_before_stable", "clock")]
    detail = next(n.detail for n in rendered.layout.notes if n.path == "clock")
    clock, history = rendered.layout["clock"].used, rendered.layout["conversation_history"].used
    assert f"'clock' ({clock} tokens) stands before {history} stable tokens" in detail


def test_a_mark_that_the_lookback_reaches_is_set_once_others_where_the_chat_ended_before() -> None:
    sections = TextSection(words(20)), ConversationHistory(), UserInput()
    memory = {"history": chat(3)}

    assert marks(render(*sections, memory=memory)) == [(0, None), (6, None)]
    assert marks(render(*sections, memory=memory, profile=OPENAI)) == [
        (0, None), (4, None), (6, None),
    ]  # fmt: skip


def test_in_an_agent_loop_the_chat_ended_before_the_last_step() -> None:
    def step(number: int) -> list[dict[str, Any]]:
        call = {"id": f"c{number}", "name": "f", "arguments": "{}"}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": words(12)},
        ]

    history = [{"role": "user", "content": words(12)}, *step(1), *step(2)]
    rendered = render(ConversationHistory(), memory={"history": history}, profile=OPENAI)

    assert marks(rendered) == [(2, None), (4, None)]


def test_too_many_marks_lose_those_that_save_least_and_say_so() -> None:
    asked = [CacheBreakpoint(name=f"here{n}") for n in range(3)]
    rendered = render(
        TextSection(words(20), name="a"),
        asked[0],
        TextSection(words(50), name="b"),
        asked[1],
        TextSection(words(10), name="c"),
        TextSection(words(20), name="d", stability="session"),
        ConversationHistory(),
        UserInput(),
        memory={"history": chat(2)},
        tools=True,
    )

    # Ends of stabilities stand behind messages 2, 3 and 7, and one goes to the tools.
    assert marks(rendered) == [(-1, None), (2, None), (3, None), (7, None)]
    assert codes(rendered) == [("cache_mark_dropped", "here0"), ("cache_mark_dropped", "here1")]


def test_a_mark_before_the_shortest_prefix_is_dropped_and_said() -> None:
    rendered = render(
        TextSection("a", name="small"), CacheBreakpoint(name="here"), TextSection(words(50)),
        UserInput(), profile=evolve(CLAUDE, cache=evolve(RULE, minimum=50)),
    )  # fmt: skip

    assert marks(rendered) == [(1, None)]
    assert codes(rendered) == [("cache_mark_dropped", "here")]


def test_if_all_is_too_short_that_is_said_once() -> None:
    rendered = render(TextSection("a", name="small"), UserInput())

    assert marks(rendered) == []
    assert codes(rendered) == [("cache_mark_dropped", "small")]


def test_a_breakpoint_with_nothing_before_it_is_dropped() -> None:
    rendered = render(CacheBreakpoint(name="here"), TextSection(words(20)), UserInput())

    assert marks(rendered) == [(0, None)]
    assert codes(rendered) == [("cache_mark_dropped", "here")]


def test_a_breakpoint_inside_a_message_moves_to_the_message_before() -> None:
    group = GroupSection(
        [TextSection(words(20)), CacheBreakpoint(name="here"), SystemMessage("<<now>>")], "system",
        name="group",
    )  # fmt: skip

    rendered = render(TextSection(words(20)), group, UserInput())

    assert marks(rendered) == [(0, None)]
    assert ("cache_mark_moved", "group/here") in codes(rendered)
    alone = render(group, UserInput())
    assert marks(alone) == []
    assert ("cache_mark_dropped", "group/here") in codes(alone)


def test_a_mark_never_stands_on_an_empty_message() -> None:
    class_ = ConversationHistory(start_on="any")
    history = [Message("user", words(20)), Message("assistant", "  ")]
    rendered = render(class_, UserInput(), memory={"history": history})

    assert marks(rendered) == [(0, None)]
    assert codes(rendered) == [("cache_mark_moved", "conversation_history")]
    silent = render(TextSection(" \n "), TextSection("\t", stability="session"), UserInput())
    assert marks(silent) == []


# --- templates ----------------------------------------------------------------------------------


def test_a_breakpoint_parts_a_template_into_stable_and_volatile_text() -> None:
    rules = SystemMessage(f"{words(20)}\n<<cache_breakpoint>>\nIt is <<now>>.", name="rules")

    rendered = render(rules, UserInput())

    assert marks(rendered) == [(0, 0)]
    assert [part.text for part in rendered.messages[0].content] == [  # type: ignore[union-attr]
        f"{words(20)}\n", "\nIt is 10:00.",
    ]  # fmt: skip
    static = rendered.layout.prefixes[0]
    assert (static.stability, static.tokens, static.ends_at) == (
        "static", rendered.layout["rules"].used - 3, "rules",
    )  # fmt: skip


def test_without_caching_or_marks_the_template_is_one_text() -> None:
    prompt = Prompt([SystemMessage("a <<cache_breakpoint>> b <<now>>"), UserInput()])
    functions = {"now": lambda: "c"}
    off = CachePolicy(prompt_caching=False, share_prompt_cache_across_tenants=False)
    automatic = evolve(RULE, marks=0)
    for options in (
        {}, {"caching": off}, {"caching": policy(rule=automatic)}, {"caching": policy()},
    ):  # fmt: skip
        in_text = options == {"caching": policy()}
        drawing = Renderer(
            CLAUDE, functions=functions, output="text" if in_text else None, **options
        )
        rendered = drawing.render(prompt, {"input": "d"}, budget=2_000)

        assert rendered.messages[0].text.startswith("a  b c"), options


def test_what_is_before_a_breakpoint_should_not_change_with_every_turn() -> None:
    rules = SystemMessage(f"{words(20)} <<now>> <<cache_breakpoint>> b <<now>>", name="rules")

    assert codes(render(rules, UserInput())) == [("volatile_before_breakpoint", "rules")]
    assert codes(render(rules, UserInput(), functions={"now": "session"})) == []


@pytest.mark.parametrize("source", ["<<cache_breakpoint>>a <<now>>", "a<<cache_breakpoint>> \n"])
def test_a_breakpoint_with_nothing_on_one_side_is_dropped(source: str) -> None:
    rendered = render(TextSection(words(20)), SystemMessage(source, name="rules"), UserInput())

    assert ("cache_mark_dropped", "rules") in codes(rendered)
    assert isinstance(rendered.messages[1].content, str)


def test_a_parted_template_can_still_be_cut() -> None:
    source = f"{words(20)} <<cache_breakpoint>>{words(30, 'v')} <<now>>"
    whole = SystemMessage(source, name="rules")
    for tokens in range(17, 60):
        cut = SystemMessage(source, name="rules", tokens=tokens, when_over=Truncate())
        rendered = render(cut, UserInput())
        placement = rendered.layout["rules"]
        assert placement.used <= tokens or placement.outcome == "whole"
        lost = ("cache_mark_dropped", "rules") in codes(rendered)
        assert lost == (isinstance(rendered.messages[0].content, str))
    assert render(whole, UserInput()).layout["rules"].outcome == "whole"


# --- for how long -------------------------------------------------------------------------------


def test_a_longer_time_behind_raises_the_ones_before() -> None:
    rendered = render(
        TextSection(words(20), name="a"), CacheBreakpoint("5m", name="first"),
        TextSection(words(20), name="b"), CacheBreakpoint("1h", name="second"),
        UserInput(),
    )  # fmt: skip

    assert rendered.cache_plan is not None
    assert [m.lifetime and m.lifetime.name for m in rendered.cache_plan.marks] == ["1h", "1h"]
    assert codes(rendered) == [("cache_lifetime_raised", "first")]


def test_a_time_that_is_not_offered_is_the_next_shorter_one() -> None:
    rendered = render(
        TextSection(words(20)), CacheBreakpoint("12h", name="here"), UserInput(),
        lifetimes={"static": "30m"},
    )  # fmt: skip

    assert rendered.cache_plan is not None
    assert rendered.cache_plan.marks[0].lifetime == RULE.lifetimes[1]
    assert codes(rendered) == [("cache_lifetime_changed", "here")]
    shortest = render(TextSection(words(20)), UserInput(), lifetimes="1m")
    assert shortest.cache_plan is not None
    assert shortest.cache_plan.marks[0].lifetime == RULE.lifetimes[0]


def test_a_provider_without_times_gets_none() -> None:
    rendered = render(
        TextSection(words(20)), UserInput(), rule=evolve(RULE, lifetimes=()), lifetimes="1h"
    )

    assert rendered.cache_plan is not None
    assert [m.lifetime for m in rendered.cache_plan.marks] == [None]


# --- when there is nothing to plan --------------------------------------------------------------


def test_no_policy_makes_no_plan_and_a_policy_that_is_off_an_empty_one() -> None:
    prompt = Prompt([TextSection(words(20)), UserInput()])
    off = CachePolicy(prompt_caching=False, share_prompt_cache_across_tenants=True)

    nobody = Renderer(CLAUDE).render(prompt, {"input": "hi"}, budget=2_000)
    decided = Renderer(CLAUDE, caching=off).render(prompt, {"input": "hi"}, budget=2_000)

    assert nobody.cache_plan is None
    assert decided.cache_plan == CachePlan()
    assert nobody.layout == decided.layout
    assert nobody.layout.prefixes == ()


def test_a_model_without_a_known_cache_is_said() -> None:
    rendered = render(TextSection(words(20)), UserInput(), profile=evolve(CLAUDE, cache=None))

    assert rendered.cache_plan == CachePlan()
    assert codes(rendered) == [("cache_unknown", "")]
    assert len(rendered.layout.prefixes) == 4


def test_a_mark_made_by_hand_needs_no_more_than_a_place() -> None:
    assert Mark(after=3) == Mark(after=3, tokens=0, path="", stability="turn")
