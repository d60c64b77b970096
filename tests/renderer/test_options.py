"""What a renderer is given: a model, memory, functions, a budget, and the form that comes out."""

from __future__ import annotations

import json
from collections import ChainMap, defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from renderer_samples import by_words, fates, render, texts

from promptsections import (
    BudgetExceededError,
    ConversationHistory,
    GroupSection,
    InvalidBudgetError,
    LayoutError,
    MemorySection,
    Message,
    ModelProfile,
    NewestFirst,
    Prompt,
    Renderer,
    Rest,
    ScopedMemory,
    Share,
    SystemMessage,
    TextSection,
    Tool,
    UndefinedVariableError,
    UserInput,
    UserMessage,
    compare,
    lay_out,
)
from promptsections.explain import explain

PROMPT = Prompt([UserMessage("<<$user.name>>: <<$input>>")])


class Paths:
    """Memory that is asked by path."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.asked: list[str] = []

    def get(self, path: str, default: Any = None, /) -> Any:
        self.asked.append(path)
        return self.values.get(path, default)


@pytest.mark.parametrize(
    "memory",
    [
        {"user": {"name": "Ann"}, "input": "hi"},
        {"user.name": "Ann", "input": "hi"},
        MappingProxyType({"user": MappingProxyType({"name": "Ann"}), "input": "hi"}),
        ChainMap({"input": "hi"}, {"user": {"name": "Ann"}, "input": "no"}),
        Paths({"user": {"name": "Ann"}, "input": "hi"}),
        Paths({"user.name": "Ann", "input": "hi"}),
        ScopedMemory({"user": {"name": "Ann"}, "temp": {"input": "hi"}}),
        ScopedMemory({"user": Paths({"name": "Ann"}), "turn": {"input": "hi"}}, default="turn"),
    ],
    ids=["nested", "flat", "read-only", "chained", "asked", "asked for parts", "scoped", "default"],
)
def test_memory_may_have_many_forms(memory: Any) -> None:
    assert texts(by_words().render(PROMPT, memory, budget=50)) == ["Ann: hi"]


def test_memory_is_never_changed() -> None:
    memory: Any = defaultdict(dict, {"input": "hi"})
    with pytest.raises(UndefinedVariableError):
        by_words().render(PROMPT, memory, budget=50)
    render(MemorySection("absent"), ConversationHistory(), memory=memory)

    assert dict(memory) == {"input": "hi"}


def test_what_is_missing_is_an_error_or_a_note() -> None:
    memory = {"input": "hi"}
    with pytest.raises(UndefinedVariableError, match=r"user\.name"):
        by_words().render(PROMPT, memory, budget=50)

    rendered = by_words(undefined="empty").render(PROMPT, memory, budget=50)

    assert texts(rendered) == [": hi"]
    [note] = rendered.layout.notes
    assert (note.code, note.path) == ("undefined_variable", "user_message")
    assert "'user.name'" in note.detail


def test_check_finds_unknown_names_before_anything_runs() -> None:
    prompt = Prompt(
        [
            SystemMessage("<<tody>>"),
            GroupSection([UserMessage("<<$user.nam>> <<today>>")], name="g"),
            TextSection("<<$never parsed>>"),
        ]
    )
    renderer = by_words(functions={"today": lambda: 1 / 0})

    notes = renderer.check(prompt, {"user": {"name": "Ann"}})

    assert [(note.code, note.path) for note in notes] == [
        ("unknown_function", "system_message"),
        ("undefined_variable", "g/user_message"),
    ]
    assert "'today'" in notes[0].detail
    assert "'user.name'" in notes[1].detail
    assert [note.code for note in renderer.check(prompt)] == ["unknown_function"]


# --- model and tokenizer --------------------------------------------------------------------------


def test_a_model_charges_framing_and_a_tokenizer_only_text() -> None:
    prompt = Prompt([SystemMessage("Be brief."), UserInput()])
    memory = {"input": "hello world"}

    model = Renderer("gpt-4o").render(prompt, memory)
    plain = Renderer(tokenizer="o200k_base").render(prompt, memory, budget=100)
    mixed = Renderer("gpt-4o", tokenizer=lambda text: len(text.split())).render(prompt, memory)

    assert plain.token_count == 3 + 2
    assert model.token_count == 3 + 2 * (3 + 1) + 3 + 2
    assert mixed.token_count == 3 + 2 * (3 + 1) + 2 + 2
    assert model.model == "gpt-4o"
    assert model.exact
    assert model.messages == plain.messages == mixed.messages


def test_the_budget_is_the_window_without_the_reserve() -> None:
    profile = ModelProfile(
        name="small", encoding="o200k_base", context_window=1_000, max_output_tokens=100
    )

    def budget(**options: Any) -> tuple[int, int]:
        layout = Renderer(profile, **options).render(Prompt([])).layout
        return layout.budget, layout.reserved

    assert budget() == (900, 100)
    assert budget(reserve_output_tokens=300) == (700, 300)
    assert budget(reserve_output_tokens=0) == (1_000, 0)
    own = Renderer(profile, reserve_output_tokens=300)
    assert own.render(Prompt([]), reserve_output_tokens=50).layout.budget == 950
    assert own.render(Prompt([]), budget=700).layout.budget == 700
    for options in ({"budget": 1_001}, {"budget": 800}):  # 300 are reserved beside
        with pytest.raises(InvalidBudgetError, match="1000"):
            own.render(Prompt([]), **options)


def test_tools_are_reserved_first() -> None:
    tool = Tool("lookup", "Looks something up.", {"type": "object", "properties": {}})
    prompt = Prompt([TextSection("one two three", required=False)], tools=[tool])
    renderer = Renderer("gpt-4o")

    rendered = renderer.render(prompt)
    base = rendered.layout.base

    assert rendered.tools == (tool,)
    assert rendered.token_count == base + 3 + 1 + 3
    assert renderer.render(prompt, budget=base).messages == ()
    with pytest.raises(BudgetExceededError) as caught:
        renderer.render(prompt, budget=base - 1)
    assert caught.value.needed == base


def test_a_text_is_one_string_and_costs_what_it_counts() -> None:
    prompt = Prompt(
        [
            SystemMessage("Be brief."),
            GroupSection([TextSection("a"), TextSection("b")], separator=", ", text_prefix="Of: "),
            ConversationHistory(),
            UserInput(),
        ]
    )
    history = [Message("user", "hi"), Message("assistant", "ho")]
    renderer = Renderer(tokenizer="o200k_base", output="text")

    rendered = renderer.render(prompt, {"history": history, "input": "bye"}, budget=100)

    assert rendered.text == "Be brief.\n\nOf: a, b\n\nuser: hi\nassistant: ho\n\nuser: bye"
    assert rendered.token_count == renderer.profile.tokenizer().count(rendered.text)
    assert rendered.form == "text"
    assert Renderer(tokenizer="o200k_base", output="text").render(Prompt([]), budget=9).text == ""


def test_a_group_with_a_role_is_one_message() -> None:
    group = GroupSection(
        [TextSection("a b"), UserInput(), TextSection("c", required=False)],
        role="user",
        separator="\n",
        text_prefix="Task: ",
        name="g",
    )

    rendered = render(group, memory={"input": "do"}, budget=6)

    assert rendered.messages == (Message("user", "Task: a b\nuser: do\nc"),)
    assert rendered.token_count == 6
    assert [child.path for child in rendered.layout["g"].children] == [
        "g/text",
        "g/user_input",
        "g/text-2",
    ]


def test_a_prefix_stands_only_in_texts() -> None:
    section = TextSection("rain", text_prefix="Weather: ", name="w")

    assert texts(render(section)) == ["rain"]
    assert render(section, output="text").text == "Weather: rain"
    assert render(section, output="text").layout["w"].used == 2
    assert render(TextSection("", text_prefix="Weather: "), output="text").text == ""


# --- one resolve, many layouts --------------------------------------------------------------------


def big_prompt() -> tuple[Prompt, dict[str, Any]]:
    history = [Message(("user", "assistant")[n % 2], f"{n} " + "w " * 9) for n in range(40)]
    sections = [
        SystemMessage("Be brief."),
        MemorySection("facts", tokens=0.3),
        TextSection("x " * 30, tokens=Share(0.2), required=False, name="x"),
        ConversationHistory(),
        UserInput(),
    ]
    return Prompt(sections), {"facts": "f " * 60, "history": history, "input": "Why so?"}


def test_a_resolved_prompt_is_laid_out_as_a_render_would() -> None:
    prompt, memory = big_prompt()
    resolved = by_words().resolve(prompt, memory, budget=400)
    minimum = resolved.minimum_budget()

    for budget in (minimum, minimum + 1, 50, 120, 399, 400, 5_000):
        once = lay_out(resolved, budget)
        rendered = by_words().render(prompt, memory, budget=budget)
        assert once.messages == rendered.messages
        assert once.token_count == rendered.token_count <= budget
        assert once.layout == lay_out(resolved, budget).layout
    with pytest.raises(BudgetExceededError) as caught:
        lay_out(resolved, minimum - 1)
    assert caught.value.needed == minimum
    assert lay_out(resolved) == lay_out(resolved, 400)


def test_what_was_left_unread_allows_no_larger_budget() -> None:
    opened: list[int] = []

    def store() -> Any:
        for number in range(1_000):
            opened.append(number)
            yield Message(("assistant", "user")[number % 2], "w " * 10)

    prompt = Prompt([ConversationHistory(name="h"), UserInput()])
    memory = {"history": NewestFirst(store), "input": "x"}

    resolved = by_words().resolve(prompt, memory, budget=100)

    assert resolved.unread == ("h",)
    assert len(opened) < 30
    assert lay_out(resolved, 50).token_count <= 50
    with pytest.raises(LayoutError, match=r"'h'.*100 tokens.*budget=101"):
        lay_out(resolved, 101)
    assert not lay_out(resolved).layout["h"].natural_is_exact
    short = {"history": NewestFirst(lambda: iter([Message("user", "w")])), "input": "x"}
    assert lay_out(by_words().resolve(prompt, short, budget=100), 5_000).token_count == 2


# --- layouts --------------------------------------------------------------------------------------


def test_a_layout_is_plain_data_equal_for_equal_inputs() -> None:
    prompt, memory = big_prompt()
    first = by_words().render(prompt, memory, budget=120)
    second = Renderer(tokenizer=by_words().tokenizer).render(prompt, dict(memory), budget=120)

    assert first.layout == by_words().render(prompt, memory, budget=120).layout
    assert first.layout.placements == second.layout.placements
    data = first.layout.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert [p["name"] for p in data["placements"]] == [p.name for p in first.layout.placements]
    assert [p["budget"] for p in data["placements"]] == ["auto", "30%", "20%", "rest", "auto"]
    assert data["token_count"] == first.token_count
    assert all(isinstance(p["reason"], str) for p in data["placements"])


def test_a_layout_is_found_by_path() -> None:
    rendered = render(
        GroupSection(
            [TextSection("a"), GroupSection([TextSection("b", name="inner")], name="g2")], name="g"
        )
    )
    layout = rendered.layout

    assert layout["g/g2/inner"].used == 1
    assert "g/g2" in layout
    assert "inner" not in layout
    with pytest.raises(KeyError, match="inner"):
        _ = layout["inner"]
    assert [p.path for p in layout.walk()] == ["g", "g/text", "g/g2", "g/g2/inner"]
    assert layout["g"].used == 2


def test_an_explanation_has_a_row_for_each_section() -> None:
    prompt, memory = big_prompt()
    rendered = by_words().render(prompt, memory, budget=120)

    table = rendered.explain().splitlines()

    assert rendered.explain() == explain(rendered.layout)
    assert table[0].split()[:4] == ["section", "budget", "floor", "natural"]
    rows = table[2 : 2 + len(rendered.layout.placements)]
    for row, placement in zip(rows, rendered.layout.placements, strict=True):
        mark = "" if placement.required else "?"
        cells = row.split()
        assert cells[0] == placement.name + mark
        assert str(placement.used) in cells
        assert placement.outcome in cells
    assert f"{rendered.token_count} of 120 tokens" in table


def test_two_layouts_are_compared_by_what_became_of_each_section() -> None:
    prompt, memory = big_prompt()
    resolved = by_words().resolve(prompt, memory, budget=400)
    small, large = lay_out(resolved, 80).layout, lay_out(resolved, 300).layout
    other = render(TextSection("a", name="new")).layout

    said = compare(small, large).splitlines()

    assert said[0] == "budget 80 → 300"
    assert said[-1] == f"total {small.token_count} → {large.token_count} tokens"
    assert any(line.strip().startswith("x: ") for line in said)
    assert not any("system_message" in line for line in said)
    assert compare(small, small) == ""
    assert "+ new: whole 1 (fits)" in compare(small, other).splitlines()
    assert "- x: absent" not in compare(small, other)
    assert any(line.startswith("- x: ") for line in compare(small, other).splitlines())


def test_every_outcome_has_its_reason() -> None:
    words = "w " * 50
    rendered = render(
        TextSection("a b", name="whole"),
        TextSection(words, name="own", tokens=5),
        TextSection(words, name="share", tokens=0.3, required=False),
        TextSection(words, name="rest", tokens=Rest(), required=False),
        TextSection(words, name="dropped", required=False),
        TextSection("", name="empty"),
        MemorySection("absent", name="missing"),
        GroupSection([TextSection(words * 9), TextSection("c", required=False)], name="g",
                     required=False),
        budget=77,
    )  # fmt: skip

    assert fates(rendered) == {
        "whole": ("whole", "fits"),
        "own": ("cut", "own_limit"),
        "share": ("cut", "share"),
        "rest": ("cut", "rest"),
        "dropped": ("dropped", "no_room"),
        "empty": ("empty", "empty"),
        "missing": ("empty", "missing"),
        "g": ("dropped", "no_room"),
        "g/text": ("dropped", "group_dropped"),
        "g/text-2": ("dropped", "group_dropped"),
    }
    assert [rendered.layout[name].used for name in ("whole", "own", "share", "rest")] == [
        2, 5, 21, 49,
    ]  # fmt: skip
    assert rendered.layout.space == 70
    assert "'absent'" in rendered.layout["missing"].message


def test_what_does_not_fit_in_a_group_that_only_joins_is_judged_by_itself() -> None:
    rendered = render(
        GroupSection([TextSection("a b", required=False, name="a")], name="g", priority=-1),
        GroupSection([TextSection("c d e", name="c")], name="h", required=False, priority=-1),
        GroupSection([TextSection("f g", required=False, name="f")], name="i", required=False,
                     tokens=2, priority=-2),
        TextSection("x y", required=False, name="x"),
        budget=3,
    )  # fmt: skip

    assert fates(rendered) == {
        "g": ("dropped", "no_room"),
        "g/a": ("dropped", "no_room"),
        "h": ("dropped", "no_room"),
        "h/c": ("dropped", "group_dropped"),
        "i": ("dropped", "no_room"),
        "i/f": ("dropped", "group_dropped"),
        "x": ("whole", "fits"),
    }
