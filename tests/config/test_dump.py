"""What is written and read again is the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    AudioPart,
    Auto,
    BudgetExceededError,
    Chunk,
    ConfigError,
    Content,
    ConversationHistory,
    DataSourceSection,
    FilePart,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    ImagePart,
    Message,
    Prompt,
    PromptSection,
    Renderer,
    Rest,
    Scope,
    Share,
    SystemMessage,
    Template,
    TextPart,
    TextSection,
    Tokens,
    ToolCall,
    Truncate,
    UserInput,
)  # fmt: skip
from promptsections.config import PromptFile, dump, dumps, loads, read_prompt_file, save
from promptsections.config.document import Syntax
from promptsections.config.samples import SampleSource
from promptsections.elements import Element, ElementsSection
from promptsections.summaries import Summarize, SummaryRequest
from promptsections.testing import WordTokenizer
from promptsections.testing import strategies as own
from promptsections.unicode import well_formed

SYNTAXES: list[Syntax] = ["yaml", "json", "toml"]


def sources_of(group: GroupSection) -> Iterator[Any]:
    for section in group.sections:
        if isinstance(section, DataSourceSection):
            yield section.source
        elif isinstance(section, GroupSection):
            yield from sources_of(section)


def outcome(prompt: Prompt, memory: Mapping[str, Any], budget: int) -> object:
    """Return the messages of a render, or what stood against it."""
    try:
        return Renderer(tokenizer=WordTokenizer()).render(prompt, memory, budget=budget).messages
    except BudgetExceededError as error:
        return str(error)


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(prompt=own.prompts(), memory=own.memories(), budget=own.total_budgets())
def test_what_is_loaded_from_what_was_written_renders_the_same(
    syntax: Syntax, prompt: Prompt, memory: Mapping[str, Any], budget: int
) -> None:
    """`loads(dumps(p))` equals `p` and renders the same bytes, whatever it is written in."""
    callables = {f"source {n}": source for n, source in enumerate(sources_of(prompt))}
    text = dumps(prompt, format=syntax, callables=callables)

    loaded = loads(text, format=syntax, callables=callables).prompt

    assert loaded == prompt
    assert outcome(loaded, memory, budget) == outcome(prompt, memory, budget)
    assert dumps(loaded, format=syntax, callables=callables) == text


# --- texts ----------------------------------------------------------------------------------------

_AWKWARD = (
    "a", " ", "\n", "\r", "\t", "#", ": ", "- ", "'", '"', "\\", "\x85", "\u2028", "\ufeff", "\x00",
    "\x7f", "🧠", "\ud800", "no", "1.10", "|", "~", "<<", "%", "@", "`", "\\u0041",
)  # fmt: skip
ANY_TEXT = st.text(max_size=30) | st.lists(st.sampled_from(_AWKWARD), max_size=12).map("".join)


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(text=ANY_TEXT, name=ANY_TEXT)
def test_every_text_comes_back_as_it_was(syntax: Syntax, text: str, name: str) -> None:
    """Whatever a text holds, it is read as it was written; lone surrogates as U+FFFD."""
    file = PromptFile(
        prompt=Prompt(
            [TextSection(text), FunctionResponseMessage("c", {name: [text, {name: text}]})]
        ),
        format="promptsections",
        memory={name: text, "list": [text, [name]]},
        description=text or None,
    )

    found = loads(dumps(file, format=syntax), format=syntax)

    said, key = well_formed(text), well_formed(name)
    assert found.prompt.sections == (
        TextSection(said),
        FunctionResponseMessage("c", {key: [said, {key: said}]}),
    )
    assert found.memory == {key: said, "list": [said, [key]]}
    assert found.description == (said or None)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT.map(well_formed),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("syntax", ["yaml", "json"])
@given(value=VALUES)
def test_every_value_comes_back_as_it_was(syntax: Syntax, value: object) -> None:
    """Numbers, truth values and nothing keep their types beside texts that look like them."""
    prompt = Prompt([FunctionResponseMessage("c", value)])

    found = loads(dumps(prompt, format=syntax), format=syntax).prompt.sections[0]

    assert repr(found.response) == repr(value)  # type: ignore[attr-defined]


def test_a_text_of_many_lines_is_written_so_that_people_can_read_it() -> None:
    prompt = Prompt([TextSection("One.\n\n  two\nthree"), SystemMessage("a\nb\n")])

    assert dumps(prompt) == (
        "sections:\n- kind: text\n  text: |-\n    One.\n\n      two\n    three\n"
        "- kind: system_message\n  template: |\n    a\n    b\n"
    )
    assert dumps(prompt, format="toml") == (
        '[[sections]]\nkind = "text"\ntext = """\nOne.\n\n  two\nthree"""\n\n'
        '[[sections]]\nkind = "system_message"\ntemplate = """\na\nb\n"""\n'
    )


# --- what stands beside a prompt ------------------------------------------------------------------


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_all_that_stands_in_a_file_is_written_again(syntax: Syntax, tmp_path: Path) -> None:
    file = loads(
        "name: support\ndescription: 'no'\nmodel: gpt-4o\nbudget: 900\nreserve_output_tokens: 30\n"
        "variables: {input: string, x: {}}\nfunctions: [today]\n"
        "options: {temperature: 0.5, stop: ['no']}\n"
        "memory: {input: hi, n: 3, t: '3', deep: {a: [1.5, true]}}\n"
        "tools: [{name: t, description: d, parameters: {type: object, properties: {}}}]\n"
        "sources: {docs: [a, {text: b, id: 1}]}\n"
        "sections: [{kind: data_source, source: docs},\n"
        " {kind: prompt, sections: [], tools: [{name: u}]}]\n"
        'separator: "\\n"\norder: cache\n'
    )

    save(tmp_path / f"x.{syntax}", file)

    found = read_prompt_file(tmp_path / f"x.{syntax}")
    assert attrs.evolve(found, path=None, places={}, keys={}) == file
    assert b"\r" not in (tmp_path / f"x.{syntax}").read_bytes()


def test_a_prompt_alone_is_written_without_settings() -> None:
    assert dump(Prompt([])) == {"sections": []}
    assert dump(PromptFile(prompt=Prompt([]), format="prompty", name="n")) == {
        "name": "n", "sections": []
    }  # fmt: skip


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (Tokens(1), {"tokens": 1}),
        (Tokens(9), 9),
        (Tokens(9, at_least=2), {"tokens": 9, "at_least": 2}),
        (Share(1), {"share": 1}),
        (Share(Fraction(1, 3)), "1/3"),
        (Share(0.3), 0.3),
        (Share(0.3, at_most=9), {"share": 0.3, "at_most": 9}),
        (Rest(), "rest"),
        (Rest(at_least=3), {"rest": True, "at_least": 3}),
        (Rest(2), {"rest": 2}),
        (Auto(at_most=3), {"at_most": 3}),
    ],
)
def test_budgets_are_written_short(budget: Any, expected: object) -> None:
    prompt = Prompt(
        [SystemMessage("x", tokens=budget), DataSourceSection(SampleSource("s"), tokens=Auto())]
    )

    written = dump(prompt)["sections"]

    assert written[0]["tokens"] == expected
    assert written[1]["tokens"] == "auto"
    assert loads(dumps(prompt)).prompt == prompt


# --- kinds and callables --------------------------------------------------------------------------


class Mood(Enum):
    GLAD = "glad"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Plain:
    x: int


@attrs.frozen
class Persona(PromptSection):
    mood: Mood = Mood.GLAD
    level: Level = Level.LOW
    since: date | None = None
    part: Fraction = Fraction(1, 2)
    money: Decimal = Decimal(0)
    plain: Plain | None = None
    words: frozenset[str] = frozenset()
    pattern: str | Template = ""
    inner: tuple[PromptSection, ...] = ()
    id: UUID | None = None
    anything: Any = None
    made: list[int] = attrs.field(factory=list[int])
    linked: Any = attrs.field(default=attrs.Factory(lambda self: self.name, takes_self=True))

    def resolve(self, scope: Scope, /) -> Content:
        return "x"


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_sections_of_ones_own_come_back(syntax: Syntax) -> None:
    prompt = Prompt(
        [
            Persona(
                level=Level.HIGH,
                since=date(2024, 1, 1),
                part=Fraction(1, 3),
                money=Decimal("1.10"),
                plain=Plain(3),
                words=frozenset({"b", "a"}),
                pattern=Template("<<$x>>"),
                inner=(Persona(pattern="<<$x>>"),),
                id=UUID(int=5),
                made=[1],
                linked="x",
            ),
        ]
    )

    text = dumps(prompt, format=syntax, kinds={"persona": Persona})

    assert loads(text, format=syntax, kinds={"persona": Persona}).prompt == prompt


def test_calls_and_messages_come_back() -> None:
    image = ImagePart("data:,", detail="low", width=3)
    parts = (TextPart("a"), image, FilePart(file_id="f"), AudioPart("x", format="mp3"))
    calls = [
        ToolCall("a", "f", '{ "x": 1 }'),
        ToolCall("b", "f", {"x": 1.5}),
        ToolCall("c", "f"),
        ToolCall("d", "f", "{"),
    ]
    said = (
        Message("user", parts, name="n"),
        Message("assistant", tool_calls=calls, provider_data={"openai": {"x": 1}}),
        Message("tool", "r", tool_call_id="a"),
    )
    prompt = Prompt(
        [
            *(FunctionCallMessage(call) for call in calls),
            ElementsSection((Element("few_shot_example", said), Element("domain_context", "x"))),
        ]
    )

    for syntax in SYNTAXES:
        assert loads(dumps(prompt, format=syntax), format=syntax).prompt == prompt
    assert [section.get("call", {}).get("arguments") for section in dump(prompt)["sections"]] == [
        '{ "x": 1 }', {"x": 1.5}, None, "{", None
    ]  # fmt: skip


def find(query: str, scope: Scope) -> list[str]:
    return []


@attrs.frozen
class Holder(PromptSection):
    thing: Any = None

    def resolve(self, scope: Scope, /) -> Content:
        return None


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (DataSourceSection(find), r"callable find has no form.*pass callables={'find': …}"),
        (
            ConversationHistory(pinned=lambda _: True),
            r"\.pinned: the callable <lambda> has no form",
        ),
        (Persona(), r"Persona is no kind that files know: pass kinds={'persona': Persona}"),
        (Holder(float("inf")), r"\.thing: inf has no form in a file"),
        (Holder(b"x"), r"\.thing: b'x' has no form in a file"),
        (Holder(object()), r"\.thing: <object object at .* has no form in a file"),
        (Holder({1: 2}), r"\.thing: the key 1 is no text"),
        (
            ElementsSection(
                (Element("few_shot_example", [Message("user", [FilePart(tokens=3)])]),)
            ),
            r"\.elements\[0\]\.content\[0\]: this message holds something that has no form",
        ),
    ],
)
def test_what_cannot_be_written_says_so_and_what_to_do(
    section: PromptSection, expected: str
) -> None:
    prompt = Prompt([GroupSection([section], name="g")])
    kinds: Any = {} if "no kind" in expected else {"persona": Persona, "holder": Holder}

    with pytest.raises(ConfigError, match=f"^g/{section.kind}.*{expected}"):
        dump(prompt, kinds=kinds)


def test_two_sample_sources_of_one_name_are_refused() -> None:
    sources = [SampleSource("s", (Chunk("a"),)), SampleSource("s")]

    with pytest.raises(ConfigError, match="two sample sources are named 's': rename one"):
        dump(Prompt([DataSourceSection(source) for source in sources]))


def test_toml_has_no_null() -> None:
    with pytest.raises(
        ConfigError, match=r"sections\.response: TOML has no null: write YAML or JSON"
    ):
        dumps(Prompt([FunctionResponseMessage("c", None)]), format="toml")


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_ways_to_summarize_come_back(syntax: Syntax) -> None:
    def ours(request: SummaryRequest) -> str:
        return request.text[:9]

    tail = Truncate(keep="end")
    prompt = Prompt(
        [
            ConversationHistory(when_over=Summarize()),
            UserInput(when_over=Summarize(ours, trigger=0.5, otherwise=tail), tokens=50),
        ]
    )

    written = dump(prompt, callables={"ours": ours})
    text = dumps(prompt, format=syntax, callables={"ours": ours})

    assert loads(text, format=syntax, callables={"ours": ours}).prompt == prompt
    assert [section["when_over"] for section in written["sections"]] == [
        "summarize",
        {"summarize": {"summarizer": "ours", "trigger": 0.5, "otherwise": {"keep": "end"}}},
    ]
