"""How long sections stay the same, and `order="cache"`: what stays longer comes first."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cached_prompts import CLAUDE, chat, policies, policy, prompts, renderer, words
from hypothesis import given
from judges import JUDGES

from promptsections import (
    AssistantMessage,
    CacheBreakpoint,
    CachePolicy,
    ConversationHistory,
    DataSourceSection,
    DefinitionError,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    MemorySection,
    Prompt,
    PromptSection,
    Renderer,
    Scope,
    SystemMessage,
    TemplateSection,
    TemplateSyntaxError,
    TextSection,
    ToolCall,
    UserInput,
    UserMessage,
)
from promptsections.caching import findings, stability_of
from promptsections.providers import anthropic_messages
from promptsections.testing import WordTokenizer

KNOWN = CachePolicy(
    prompt_caching=True,
    share_prompt_cache_across_tenants=True,
    variables={"user": "session", "user.plan": "tenant", "company": "static"},
    functions={"today": "session"},
)


class Own(PromptSection):
    def resolve(self, scope: Scope, /) -> str:
        return "own"


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (TextSection("a"), "static"),
        (TextSection("a", stability="turn"), "turn"),
        (SystemMessage("a"), "static"),
        (SystemMessage("<<$company>>"), "static"),
        (SystemMessage("<<$company>> <<$user.plan.name>>"), "tenant"),
        (SystemMessage("<<$company>> <<$user.name>>"), "session"),
        (SystemMessage("<<today>>"), "session"),
        (SystemMessage("<<today $other>>"), "turn"),
        (SystemMessage("<<now>>"), "turn"),
        (SystemMessage("<<$input>>", stability="session"), "session"),
        (UserInput(), "turn"),
        (MemorySection("user.name"), "session"),
        (MemorySection("other"), "turn"),
        (DataSourceSection(lambda query, scope: []), "turn"),
        (ConversationHistory(), "session"),
        (FunctionCallMessage(ToolCall("c", "f")), "static"),
        (FunctionResponseMessage("c", "r"), "static"),
        (CacheBreakpoint(), "static"),
        (Own(), "turn"),
        (GroupSection([]), "static"),
        (GroupSection([TextSection("a"), MemorySection("user")]), "session"),
        (GroupSection([SystemMessage("<<now>>")], stability="tenant"), "tenant"),
    ],
)
def test_how_long_a_section_stays_the_same(section: PromptSection, expected: str) -> None:
    assert stability_of(section, KNOWN) == expected


def test_what_nobody_declared_may_change_with_every_turn() -> None:
    assert stability_of(SystemMessage("<<$company>>")) == "turn"
    assert stability_of(SystemMessage("a <<cache_breakpoint>> b")) == "static"


def test_a_layout_says_how_stable_its_sections_are() -> None:
    group = GroupSection([TextSection("a"), SystemMessage("<<now>>")], name="group")
    firm = GroupSection([SystemMessage("<<now>>")], name="firm", stability="tenant")
    layout = renderer().render(Prompt([group, firm, UserInput()]), {"input": "hi"}).layout

    assert layout["group"].stability == "turn"
    assert layout["group/text"].stability == "static"
    assert layout["firm/system_message"].stability == "tenant"
    assert layout["user_input"].stability == "turn"


# --- order --------------------------------------------------------------------------------------


def order(*sections: PromptSection, role: Any = None, declared: Any = None) -> list[str]:
    group = GroupSection(sections, role, order="cache", name="g")
    drawing = Renderer(CLAUDE, caching=KNOWN, functions={"now": lambda: "x", "today": lambda: "y"})
    memory = {"history": chat(1), "input": "i", "user": {"name": "u"}, "notes": "n"}
    layout = drawing.render(Prompt([group]), memory, budget=3_000).layout
    return [placement.name for placement in layout["g"].children]


RULES = TextSection("rules", name="rules")
CLOCK = SystemMessage("<<now>>", name="clock")
USER = MemorySection("user", name="user")
HISTORY = ConversationHistory(name="history")
INPUT = UserInput(name="input")
SHOTS = [UserMessage("q", name="q"), AssistantMessage("a", name="a")]
CALL = FunctionCallMessage(ToolCall("c", "f"), name="call")
RESULT = FunctionResponseMessage("c", "r", name="result")


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ([CLOCK, RULES, HISTORY, INPUT], "rules history clock input"),
        ([RULES, CLOCK, USER, HISTORY, INPUT], "rules user history clock input"),
        ([RULES, HISTORY, USER, INPUT], "rules user history input"),
        ([CLOCK, *SHOTS, RULES, HISTORY, INPUT], "q a rules history clock input"),
        ([CLOCK, CALL, RESULT, INPUT], "call result clock input"),
        ([HISTORY, INPUT, CLOCK], "history input clock"),
        ([HISTORY, INPUT, RULES], "rules history input"),
        ([CLOCK, UserMessage("q", name="q")], "clock q"),
        ([CLOCK, RULES, CacheBreakpoint(name="here"), INPUT], "rules here clock input"),
        ([CacheBreakpoint(name="here"), CLOCK, RULES], "here rules clock"),
        ([CLOCK, GroupSection([RULES, USER], name="both"), INPUT], "both clock input"),
        ([CLOCK, Own(name="own"), RULES], "rules clock own"),
        ([INPUT, HISTORY], "input history"),
        ([], ""),
    ],
)
def test_instructions_move_and_the_conversation_keeps_its_order(
    sections: list[PromptSection], expected: str
) -> None:
    assert order(*sections) == expected.split()


def test_in_one_message_everything_moves() -> None:
    parts = [TemplateSection("<<now>>", "user", name="clock"), TextSection("r", name="rules")]

    assert order(*parts, role="user") == ["rules", "clock"]


def test_the_order_is_the_authors_by_default() -> None:
    layout = renderer().render(Prompt([CLOCK, RULES, INPUT]), {"input": "i"}).layout

    assert [p.name for p in layout.placements] == ["clock", "rules", "input"]
    with pytest.raises(DefinitionError, match="order='other'"):
        GroupSection([], order="other")  # type: ignore[arg-type]


@given(prompts(), policies)
def test_in_cache_order_nothing_volatile_stands_before_stable_instructions(
    drawn: Any, decided: CachePolicy
) -> None:
    """Fixed instructions beside each other are sorted; requests stay valid; nothing is lost."""
    prompt, memory = drawn
    group = Prompt(prompt.sections, tools=prompt.tools, order="cache")
    functions = {"now": lambda: "10:00"}
    drawing = Renderer(CLAUDE, caching=decided, functions=functions)
    ordered = drawing.render(group, memory, tenant="acme", budget=2_000)
    plain = drawing.render(
        Prompt(prompt.sections, tools=prompt.tools), memory, tenant="acme", budget=2_000
    )

    assert sorted(p.path for p in ordered.layout.walk()) == sorted(
        p.path for p in plain.layout.walk()
    )
    request: Any = anthropic_messages.to_request(ordered)
    JUDGES["anthropic_messages"](request)
    said = [m for m in ordered.messages if m.role in ("user", "assistant")]
    assert said == [m for m in plain.messages if m.role in ("user", "assistant")]


# --- findings -----------------------------------------------------------------------------------


def test_what_is_volatile_before_stable_text_is_found_before_anything_runs() -> None:
    prompt = Prompt(
        [SystemMessage("It is <<now>> in the city", name="clock"), TextSection(words(50), name="r")]
    )

    (note,) = findings(prompt, tokenizer=WordTokenizer())

    assert (note.code, note.path) == ("volatile_before_stable", "clock")
    assert note.detail.startswith(
        "volatile 'clock' (5 tokens) stands before 50 stable tokens ('r')"
    )
    (bare,) = findings(prompt)
    assert bare.detail.startswith("volatile 'clock' stands before what is more stable ('r')")
    assert findings(Prompt(prompt.sections, order="cache")) == ()
    assert findings(Prompt([CLOCK, CacheBreakpoint(), UserInput()])) == ()
    assert renderer().check(prompt, {}) == (note,)
    assert Renderer(CLAUDE, functions={"now": str}).check(prompt) == ()


def test_what_is_not_volatile_is_found_where_enough_stands_behind_it() -> None:
    def found(size: int) -> list[str]:
        prompt = Prompt([MemorySection("x", name="x"), TextSection(words(size))])
        declared = policy(variables={"x": "session"})
        return [note.path for note in findings(prompt, declared, WordTokenizer())]

    assert found(1_023) == []
    assert found(1_024) == ["x"]


def test_a_group_and_its_sections_are_looked_into() -> None:
    inner = GroupSection([SystemMessage("<<now>>", name="clock")], name="g")
    notes = findings(Prompt([inner, *(TextSection("a", name=f"t{n}") for n in range(5))]))

    assert [note.path for note in notes] == ["g/clock"]
    assert "('t0', 't1', 't2', …)" in notes[0].detail
    firm = GroupSection(inner.sections, name="g", stability="static")
    assert findings(Prompt([firm, TextSection("a")])) == ()


def test_a_report_names_what_ends_a_long_session_prefix_too() -> None:
    prompt = Prompt(
        [TextSection(words(3), name="user", stability="session"), TextSection(words(20)), INPUT]
    )

    layout = renderer().render(prompt, {"input": "hi"}).layout

    assert [n.path for n in layout.notes if n.code == "volatile_before_stable"] == ["user"]
    static, tenant, session, turn = layout.prefixes
    assert (static.ends_at, tenant.ends_at, session.ends_at, turn.ends_at) == (
        "user", "user", "input", None,
    )  # fmt: skip
    assert json.dumps(layout.to_dict()["prefixes"])


# --- the placeholder ----------------------------------------------------------------------------


def test_two_breakpoints_in_a_prompt_are_an_error() -> None:
    with pytest.raises(TemplateSyntaxError, match="one at most"):
        SystemMessage("a <<cache_breakpoint>> b <<cacheBreakpoint>>")
    one = SystemMessage("a <<cache_breakpoint>> b")
    with pytest.raises(DefinitionError, match="2 templates"):
        Prompt([one, GroupSection([UserMessage("a <<cache_breakpoint>> b")])])
    assert Prompt([GroupSection([one]), CacheBreakpoint(), CacheBreakpoint()]).breakpoints == 1


@pytest.mark.parametrize("name", ["cache_breakpoint", "cacheBreakpoint"])
def test_a_breakpoint_takes_no_arguments(name: str) -> None:
    with pytest.raises(TemplateSyntaxError, match="takes no arguments"):
        SystemMessage(f"a <<{name} 'x'>> b")


def test_a_breakpoint_needs_a_time_that_can_be_read() -> None:
    with pytest.raises(DefinitionError, match="lifetime='soon'"):
        CacheBreakpoint("soon")
