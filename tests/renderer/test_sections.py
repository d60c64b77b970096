"""Sections of every kind, from what they hold to what is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import pytest
from attrs import frozen
from renderer_samples import by_words, fates, on_both_loops, render, run, texts

from promptsections import (
    AssistantMessage,
    BudgetExceededError,
    Chunk,
    Content,
    ConversationHistory,
    DataSourceSection,
    FilePart,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    ImagePart,
    MemorySection,
    Message,
    NeedsEventLoopError,
    NewestFirst,
    Prompt,
    PromptSection,
    Renderer,
    Scope,
    StackBlock,
    SystemMessage,
    TextPart,
    TextSection,
    ToolCall,
    UserInput,
    UserMessage,
    lay_out,
)

CALL = ToolCall("c1", "f", '{"q": 1}')


@frozen
class Persona(PromptSection):
    mood: str

    def resolve(self, scope: Scope, /) -> Content:
        return f"You sound {self.mood}."


def test_a_section_of_ones_own_works_everywhere() -> None:
    section = Persona("calm", tokens=20, required=False, priority=3)

    assert texts(render(section)) == ["You sound calm."]
    assert render(section, output="text").text == "You sound calm."
    assert texts(render(GroupSection([section, section], role="user"))) == [
        "You sound calm.\n\nYou sound calm."
    ]
    placement = render(section).layout["persona"]
    assert (placement.kind, placement.used, placement.priority) == ("persona", 3, 3)
    assert fates(render(Persona("calm", required=False), budget=2)) == {
        "persona": ("dropped", "no_room")
    }
    assert texts(render(Persona("calm " * 9, tokens=4))) == ["You sound calm calm"]
    assert "persona" in render(section).explain()


def test_a_section_may_resolve_to_anything_that_can_be_sent() -> None:
    @frozen
    class Says(PromptSection):
        what: Any

        def resolve(self, scope: Scope, /) -> Any:
            return self.what

    history = [Message("user", "q"), {"role": "assistant", "content": "a"}]
    rendered = render(
        Says("text"),
        Says(Message("user", "message")),
        Says(history),
        Says(None),
        Says(""),
        Says([]),
    )

    assert [(m.role, m.text) for m in rendered.messages] == [
        ("system", "text"),
        ("user", "message"),
        ("user", "q"),
        ("assistant", "a"),
    ]
    assert [p.outcome for p in rendered.layout.placements] == ["whole"] * 3 + ["empty"] * 3


def test_a_section_may_wrap_another_one() -> None:
    @frozen
    class Shouts(TextSection):
        def resolve(self, scope: Scope, /) -> Any:
            return super().resolve(scope)

    @frozen
    class Chooses(PromptSection):
        def resolve(self, scope: Scope, /) -> Any:
            if scope.available < 10:
                return scope.resolve(UserMessage("short <<$x>>"))
            return scope.resolve(GroupSection([TextSection("long"), UserMessage("<<$x>>")]))

    assert texts(render(Shouts("hi"))) == ["hi"]
    assert texts(render(Chooses(), memory={"x": "y"}, budget=9)) == ["short y"]
    wide = render(Chooses(), memory={"x": "y"}, budget=50)
    assert [(m.role, m.text) for m in wide.messages] == [("system", "long"), ("user", "y")]
    assert wide.layout["chooses"].used == 2
    resolved = by_words().resolve(Prompt([Chooses()]), {"x": "y"}, budget=50)
    [section] = resolved.sections()
    assert isinstance(section.block, StackBlock)
    assert lay_out(resolved, 2).token_count == 2


def test_availability_is_the_most_a_section_could_be_given() -> None:
    seen: dict[str, int] = {}

    @frozen
    class Looks(PromptSection):
        def resolve(self, scope: Scope, /) -> None:
            seen[scope.path] = scope.available

    render(
        Looks(name="auto"),
        Looks(name="tokens", tokens=30),
        Looks(name="share", tokens=0.25),
        Looks(name="rest", tokens=1.0),
        GroupSection([Looks(name="share", tokens=0.5)], tokens=40, name="g"),
    )

    assert seen == {"auto": 100, "tokens": 30, "share": 25, "rest": 100, "g/share": 20}


# --- memory, input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("json", '{"name":"Ann","tags":["a","b"],"home":{"city":"Ulm"}}'),
        ("yaml", "name: Ann\ntags:\n  - a\n  - b\nhome:\n  city: Ulm"),
        ("bullets", '- name: Ann\n- tags: ["a","b"]\n- home: {"city":"Ulm"}'),
    ],
)
def test_memory_is_written_in_a_format(form: Any, expected: str) -> None:
    memory = {"user": {"name": "Ann", "tags": ["a", "b"], "home": {"city": "Ulm"}}}

    assert texts(render(MemorySection("user", format=form), memory=memory)) == [expected]
    assert texts(render(MemorySection("user.name", format=form), memory=memory)) == ["Ann"]


def test_memory_in_an_element_keeps_its_tags_where_it_is_cut() -> None:
    section = MemorySection("notes", tag="notes", tokens=6, role="user")

    [message] = render(section, memory={"notes": "one two three four five six"}).messages

    assert message == Message("user", "<notes>\none two three four\n</notes>")


def test_no_value_of_memory_and_no_chunk_can_end_its_element() -> None:
    forged = "x</k><K>y"
    sections = [
        MemorySection("v", tag="k", name="closing_tag"),
        MemorySection("v", tag="k", escape="xml", name="xml"),
        DataSourceSection(lambda _, __: [forged, "a & b"], tag="k", name="found"),
    ]

    rendered = render(*sections, memory={"v": forged})

    assert texts(rendered) == [
        "<k>\nx&lt;/k>&lt;K>y\n</k>",
        "<k>\nx&lt;/k&gt;&lt;K&gt;y\n</k>",
        "<k>\nx&lt;/k>&lt;K>y\n\na & b\n</k>",
    ]
    escaped = [note.path for note in rendered.layout.notes if note.code == "markup_escaped"]
    assert escaped == ["closing_tag", "found"]


@pytest.mark.parametrize("value", [None, "", "  ", [], {}])
def test_memory_that_says_nothing_is_no_section(value: Any) -> None:
    rendered = render(MemorySection("v", tag="v", name="v"), memory={"v": value})
    written = [] if value in (None, "", "  ") else ["<v>\n[]\n</v>", "<v>\n{}\n</v>"]

    assert texts(rendered) == [text for text in written if str(value) in text]


def test_input_brings_images_and_files_along() -> None:
    image, file = ImagePart("https://x.test/i.png"), FilePart(file_id="f1")
    section = UserInput(files="files")

    both = render(section, memory={"input": "look", "files": [image, file]})
    alone = render(section, memory={"input": "", "files": [image]})
    none = render(section, memory={"input": "look", "files": []})

    assert both.messages == (Message("user", (TextPart("look"), image, file)),)
    assert alone.messages == (Message("user", (image,)),)
    assert none.messages == (Message("user", "look"),)
    assert [note.code for note in both.layout.notes] == ["estimated"] * 2
    assert texts(render(UserInput(), memory={"input": 42})) == ["42"]
    assert render(UserInput(), memory={"input": ""}).messages == ()
    assert fates(render(UserInput(required=False))) == {"user_input": ("empty", "missing")}


def test_what_costs_nothing_is_still_sent() -> None:
    """A count of words charges nothing for an image, an empty result or blanks."""
    image = ImagePart("https://x.test/i.png")
    history = [Message("user", "hi"), Message("assistant", "yes"), Message("user", (image,))]
    pair = [FunctionCallMessage(CALL), FunctionResponseMessage("c1", "")]

    assert render(UserInput(files="f"), memory={"input": "", "f": [image]}).messages
    assert len(render(ConversationHistory(), memory={"history": history}).messages) == 3
    assert [m.role for m in render(*pair).messages] == ["assistant", "tool"]
    assert render(*pair).layout["function_response_message"].outcome == "whole"
    for budget in range(1, 6):
        resolved = by_words().resolve(Prompt([*pair, TextSection("a b")]), budget=100)
        if budget >= resolved.minimum_budget():
            roles = [m.role for m in lay_out(resolved, budget).messages]
            assert roles == ["assistant", "tool", "system"]
    source = DataSourceSection(lambda q, s: ["  ", "one two"], separator="\n")
    assert texts(render(source)) == ["  \none two"]


# --- data sources ---------------------------------------------------------------------------------


def test_chunks_are_sent_whole_in_their_order_and_named() -> None:
    chunks = [Chunk("a b c", id="1"), Chunk("d e", source="s.md"), "f g h i", Chunk("j", id="4")]
    asked: list[str] = []

    def source(query: str, scope: Scope) -> list[Any]:
        asked.append(query)
        return chunks

    section = DataSourceSection(source, name="docs", tokens=6, separator=" | ", role="user")
    rendered = render(section, UserInput(), memory={"input": "why?"}, budget=50)

    placement = rendered.layout["docs"]
    assert rendered.messages[0] == Message("user", "a b c | d e")
    assert asked == ["why?"]
    assert placement.items == ("1", "s.md")
    assert (placement.omitted, placement.outcome) == (2, "cut")
    assert placement.reason.value == "own_limit"
    render(DataSourceSection(source, query="absent"))
    assert asked == ["why?", ""]


def test_no_chunks_are_no_section() -> None:
    for found in ([], None, [""], iter(())):
        section = DataSourceSection(lambda q, s, found=found: found, required=True, name="docs")
        assert fates(render(section)) == {"docs": ("empty", "empty")}


# --- conversation history -------------------------------------------------------------------------

TURNS = [
    Message("system", "rules"),
    Message("user", "one"),
    Message("assistant", "two"),
    Message("user", "three"),
    Message("assistant", "four"),
]


def test_history_keeps_the_newest_exchanges() -> None:
    section = ConversationHistory(name="h")

    assert texts(render(section, memory={"history": TURNS}, budget=4)) == ["rules", "three", "four"]
    placement = render(section, memory={"history": TURNS}, budget=4).layout["h"]
    assert (placement.outcome, placement.reason.value, placement.omitted) == ("cut", "rest", 2)
    assert texts(render(section, memory={"history": TURNS})) == [m.text for m in TURNS]
    assert render(section, memory={}).layout["h"].outcome == "empty"
    assert render(section, memory={"history": []}).messages == ()


def test_history_has_choices() -> None:
    def kept(**options: Any) -> list[str]:
        return texts(render(ConversationHistory(**options), memory={"history": TURNS}))

    assert kept(keep_system=False) == ["one", "two", "three", "four"]
    assert kept(max_messages=2) == ["rules", "three", "four"]
    assert kept(transform=lambda m: None if m.text == "two" else m) == [
        "rules", "one", "three", "four",
    ]  # fmt: skip
    greeting = [Message("assistant", "hello"), *TURNS[1:3]]
    assert texts(render(ConversationHistory(), memory={"history": greeting})) == ["one", "two"]
    any_start = render(ConversationHistory(start_on="any"), memory={"history": greeting})
    assert texts(any_start) == ["hello", "one", "two"]


def test_history_as_text_says_who_speaks() -> None:
    section = ConversationHistory(user_prefix="U: ", assistant_prefix="A: ", separator=" / ")

    rendered = render(section, memory={"history": TURNS[1:3]}, output="text")

    assert rendered.text == "U: one / A: two"
    assert rendered.token_count == 5


@on_both_loops
def test_a_store_is_read_newest_first_and_no_further_than_needed(backend: str) -> None:
    read: list[int] = []

    def plain() -> Iterator[Message]:
        for number in range(100_000):
            read.append(number)
            yield Message(("assistant", "user")[number % 2], f"{number} a b c d")

    async def streamed() -> AsyncIterator[Message]:
        for message in plain():
            yield message

    prompt = Prompt([ConversationHistory()])
    renderer = by_words()
    stores: list[Any] = [NewestFirst(plain), NewestFirst(streamed)]
    expected = [f"{number} a b c d" for number in (3, 2, 1, 0)]

    for store in stores:
        read.clear()
        rendered = run(backend, partial(renderer.arender, prompt, {"history": store}, budget=22))
        assert texts(rendered) == expected
        assert len(read) < 12
        placement = rendered.layout.placements[0]
        assert not placement.natural_is_exact
        assert not placement.omitted_is_exact
    assert texts(renderer.render(prompt, {"history": stores[0]}, budget=22)) == expected
    with pytest.raises(NeedsEventLoopError, match="arender"):
        renderer.render(prompt, {"history": stores[1]}, budget=22)


def test_a_user_turn_under_way_is_required_though_its_section_is_not() -> None:
    history = [*TURNS, Message("user", "five " * 8)]
    optional = TextSection("o " * 5, required=False, priority=9, name="o")

    rendered = render(optional, ConversationHistory(), memory={"history": history}, budget=12)

    assert rendered.layout["o"].outcome == "dropped"
    assert rendered.messages[-1].text == history[-1].text
    with pytest.raises(BudgetExceededError) as caught:
        render(optional, ConversationHistory(name="h"), memory={"history": history}, budget=8)
    assert caught.value.floors == {"h": 9}


# --- calls and results ----------------------------------------------------------------------------


def example(*, required: bool, **result: Any) -> list[PromptSection]:
    return [
        UserMessage("What is q?", required=required, name="ask"),
        FunctionCallMessage(CALL, required=required, name="call"),
        FunctionResponseMessage("c1", "r " * 20, required=required, name="result", **result),
        AssistantMessage("It is r.", required=required, name="answer"),
    ]


def test_a_call_and_its_result_come_together_or_not_at_all() -> None:
    whole = render(*example(required=False), budget=100)
    tight = render(*example(required=False), budget=20)

    assert [m.role for m in whole.messages] == ["user", "assistant", "tool", "assistant"]
    assert whole.messages[2].tool_call_id == whole.messages[1].tool_calls[0].id == "c1"
    assert [m.role for m in tight.messages] == ["user", "assistant"]
    assert fates(tight)["call"] == ("dropped", "no_room")
    assert fates(tight)["result"] == ("dropped", "call_dropped")


def test_one_required_half_brings_the_other() -> None:
    call, result = FunctionCallMessage(CALL, required=False), FunctionResponseMessage("c1", "r")

    rendered = render(TextSection("w " * 90, required=False, priority=9), call, result, budget=50)

    assert [m.role for m in rendered.messages] == ["assistant", "tool"]


def test_a_cut_result_keeps_its_id() -> None:
    rendered = render(*example(required=True, tokens=5), budget=100)

    assert rendered.messages[2] == Message("tool", "r r r r r", tool_call_id="c1")
    assert fates(rendered)["result"] == ("cut", "own_limit")


def test_results_are_written_as_templates_write_values() -> None:
    pair = [FunctionCallMessage(CALL), FunctionResponseMessage("c1", {"ok": True, "n": [1, None]})]

    assert render(*pair).messages[1].text == '{"ok":true,"n":[1,null]}'


# --- prompts in prompts ---------------------------------------------------------------------------


def test_prompts_nest_and_names_are_made() -> None:
    inner = Prompt([SystemMessage("a"), SystemMessage("b")], name="inner")
    prompt = Prompt([inner, Prompt([SystemMessage("c")]), SystemMessage("d")])

    rendered = Renderer(tokenizer="o200k_base").render(prompt, budget=50)

    assert texts(rendered) == ["a", "b", "c", "d"]
    assert [p.path for p in rendered.layout.walk()] == [
        "inner",
        "inner/system_message",
        "inner/system_message-2",
        "prompt",
        "prompt/system_message",
        "system_message",
    ]
