"""Documents that say what is meant, and what becomes of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, NewType, Protocol, TypeVar

import attrs
import pytest

from promptsections import (
    Auto,
    Chunk,
    ConfigError,
    Content,
    ConversationHistory,
    DataSourceSection,
    DefinitionError,
    GroupSection,
    Prompt,
    PromptSection,
    Renderer,
    Rest,
    Scope,
    Share,
    SystemMessage,
    Template,
    TemplateSection,
    TextSection,
    Tokens,
    Tool,
    Truncate,
    UserInput,
)
from promptsections.config import PromptFile, load, loads, read_data, read_prompt_file
from promptsections.config.document import Syntax
from promptsections.config.samples import SampleSource
from promptsections.elements import Element, ElementsSection
from promptsections.testing import WordTokenizer

SAME: Mapping[Syntax, str] = {
    "yaml": """\
# A comment
name: support
description: Answers customers.
model: gpt-4o
budget: 1_200
reserve_output_tokens: 300
variables:
  user.name: string
  input: {type: string, description: What they ask.}
functions: [today]
sections:
  - kind: system_message
    template: |
      You help <<$user.name>>.
      Be kind.
  - kind: group
    name: facts
    tokens: {share: 30%, at_least: 20}
    required: no
    sections:
      - {kind: memory, variable: facts, format: bullets}
  - {kind: conversation_history, tokens: rest}
  - {kind: user_input, tokens: 500}
tools:
  - name: find
    description: Finds orders.
    parameters: {type: object, properties: {id: {type: string}}}
memory:
  user: {name: Ada}
  input: Where is it?
  facts: [late, 3]
options: {temperature: 0.2}
""",
    "json": """\
{
  "$schema": "promptsections.schema.json",
  "name": "support",
  "description": "Answers customers.",
  "model": "gpt-4o",
  "budget": 1200,
  "reserve_output_tokens": 300,
  "variables": {
    "user.name": "string", "input": {"type": "string", "description": "What they ask."}
  },
  "functions": ["today"],
  "sections": [
    {"kind": "system_message", "template": "You help <<$user.name>>.\\nBe kind.\\n"},
    {"kind": "group", "name": "facts", "tokens": {"share": "30%", "at_least": 20},
     "required": false,
     "sections": [{"kind": "memory", "variable": "facts", "format": "bullets"}]},
    {"kind": "conversation_history", "tokens": "rest"},
    {"kind": "user_input", "tokens": 500}
  ],
  "tools": [{"name": "find", "description": "Finds orders.",
    "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}],
  "memory": {"user": {"name": "Ada"}, "input": "Where is it?", "facts": ["late", 3]},
  "options": {"temperature": 0.2}
}
""",
    "toml": """\
name = "support"
description = "Answers customers."
model = "gpt-4o"
budget = 1_200
reserve_output_tokens = 300
functions = ["today"]

[variables]
"user.name" = "string"
input = { type = "string", description = "What they ask." }

[[sections]]
kind = "system_message"
template = \"\"\"
You help <<$user.name>>.
Be kind.
\"\"\"

[[sections]]
kind = "group"
name = "facts"
tokens = { share = "30%", at_least = 20 }
required = false

[[sections.sections]]
kind = "memory"
variable = "facts"
format = "bullets"

[[sections]]
kind = "conversation_history"
tokens = "rest"

[[sections]]
kind = "user_input"
tokens = 500

[[tools]]
name = "find"
description = "Finds orders."
parameters = { type = "object", properties = { id = { type = "string" } } }

[memory]
input = "Where is it?"
facts = ["late", 3]
user.name = "Ada"

[options]
temperature = 0.2
""",
}


@pytest.mark.parametrize("syntax", SAME)
def test_the_same_is_read_from_yaml_json_and_toml(syntax: Syntax) -> None:
    expected = loads(SAME["yaml"])

    found = loads(SAME[syntax], format=syntax)

    assert found == expected
    assert found.prompt.sections[1] == GroupSection(
        [found.prompt.sections[1].sections[0]],  # type: ignore[attr-defined]
        name="facts",
        tokens=Share(Fraction(3, 10), at_least=20),
        required=False,
    )
    assert found.prompt.sections[2:] == (
        ConversationHistory(tokens=Rest()),
        UserInput(tokens=Tokens(500)),
    )
    assert found.prompt.tools == (
        Tool("find", "Finds orders.", {"type": "object", "properties": {"id": {"type": "string"}}}),
    )
    assert (found.budget, found.reserve_output_tokens, found.model) == (1200, 300, "gpt-4o")
    assert found.variables == {
        "user.name": {"type": "string"},
        "input": {"type": "string", "description": "What they ask."},
    }
    assert found.functions == ("today",)
    assert found.memory["facts"] == ["late", 3]
    assert found.options == {"temperature": 0.2}


@pytest.mark.parametrize("syntax", SAME)
def test_every_section_knows_its_line(tmp_path: Path, syntax: Syntax) -> None:
    file = tmp_path / f"prompt.{syntax}"
    file.write_text(SAME[syntax], encoding="utf-8")
    lines = SAME[syntax].splitlines()

    found = read_prompt_file(file)

    assert list(found.places) == [
        "system_message", "facts", "facts/memory", "conversation_history", "user_input"
    ]  # fmt: skip
    for path, place in found.places.items():
        assert place.file == file
        assert place.line is not None
        near = "".join(lines[place.line - 1 : place.line + 1])
        assert path.rpartition("/")[2].replace("facts", "group") in near
    assert found.path == file
    assert load(file) == found.prompt


@pytest.mark.parametrize("syntax", SAME)
def test_marks_and_line_ends_of_windows_are_no_part_of_a_file(
    tmp_path: Path, syntax: Syntax
) -> None:
    file = tmp_path / f"prompt.{syntax}"
    file.write_bytes(b"\xef\xbb\xbf" + SAME[syntax].replace("\n", "\r\n").encode())

    found = load(file)

    assert found == loads(SAME[syntax], format=syntax).prompt
    assert loads("\ufeff" + SAME[syntax].replace("\n", "\r\n"), format=syntax).prompt == found
    assert "\r" not in repr(found)


# --- budgets --------------------------------------------------------------------------------------


def budget_of(written: str, syntax: Syntax = "yaml") -> object:
    if syntax == "toml":
        return loads(f"sections = [{{ kind = 'user_input', tokens = {written} }}]", format="toml")
    quote = '"' if syntax == "json" else ""
    section = f"{{{quote}kind{quote}: {quote}user_input{quote}, {quote}tokens{quote}: {written}}}"
    found = loads(f"{{{quote}sections{quote}: [{section}]}}", format=syntax)
    return found.prompt.sections[0].budget


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("auto", Auto()),
        ("rest", Rest()),
        ("'rest'", Rest()),
        ("-1", Auto()),
        ("1", Rest()),
        ("1.0", Rest()),
        ("100%", Rest()),
        ("30%", Share(Fraction(3, 10))),
        ("'30 %'", Share(Fraction(3, 10))),
        ("12.5%", Share(Fraction(1, 8))),
        ("1/3", Share(Fraction(1, 3))),
        ("0.3", Share(Fraction(3, 10))),
        ("0.30", Share(Fraction(3, 10))),
        ("300", Tokens(300)),
        ("1_000", Tokens(1000)),
        ("1e3", Tokens(1000)),
        ("300.0", Tokens(300)),
        ("{}", Auto()),
        ("{at_most: 9}", Auto(at_most=9)),
        ("{tokens: 1}", Tokens(1)),
        ("{tokens: 9, at_least: 4}", Tokens(9, at_least=4)),
        ("{share: 0.3}", Share(Fraction(3, 10))),
        ("{share: 1}", Share(1)),
        ("{share: 1/3, at_least: 2, at_most: 9}", Share(Fraction(1, 3), at_least=2, at_most=9)),
        ("{rest: true}", Rest()),
        ("{rest: 2, at_most: 8}", Rest(2, at_most=8)),
        ("{rest: 1/2}", Rest(Fraction(1, 2))),
    ],
)
def test_budgets_are_read(written: str, expected: object) -> None:
    assert budget_of(written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [("1", Rest()), ("1.0", Rest()), ("0.3", Share(Fraction(3, 10))), ('{"rest": true}', Rest())],
)
def test_numbers_of_json_mean_the_same_with_and_without_a_point(
    written: str, expected: object
) -> None:
    assert budget_of(written, "json") == expected


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    ["1.10", "no", "007", "2024-01-01", "0o17", "1_000", "1e3", "true", "12:30", ".5", "="],
)
def test_a_text_field_takes_none_of_yamls_guesses(written: str) -> None:
    found = loads(
        f"name: {written}\n"
        f"sections: [{{kind: text, name: {written}, text: {written}}}]\n"
        f"functions: [{written}, '{written}']"
    )

    section = found.prompt.sections[0]
    assert section == TextSection(written, name=written)
    assert (found.name, found.functions) == (written, (written, written))


def test_null_is_a_text_where_only_a_text_can_stand() -> None:
    found = loads("sections: [{kind: text, name: null, text: null}]").prompt.sections[0]

    assert found == TextSection("null", name=None)


def test_a_key_is_a_text_whatever_it_looks_like() -> None:
    memory = loads("sections: []\nmemory: {no: a, 1: b, 2024-01-01: c, null: d, 1.10: e}").memory

    assert memory == {"no": "a", "1": "b", "2024-01-01": "c", "null": "d", "1.10": "e"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3", 3), ("-3", -3), ("0", 0), ("1.5", 1.5), ("1e+22", 1e22), ("true", True),
        ("False", False), ("null", None), ("~", None), ("''", ""), ("'3'", "3"),
        ("1.10", "1.10"), ("007", "007"), ("1_000", "1_000"), ("0o17", "0o17"), ("no", "no"),
        ("1e3", "1e3"), ("+5", "+5"), (".5", ".5"), ("2024-01-01", "2024-01-01"),
        ("12:30:45", "12:30:45"), (".nan", ".nan"), ("1.2.3", "1.2.3"), ("!!str 3", "3"),
    ],
)  # fmt: skip
def test_a_value_of_memory_is_a_number_only_if_it_prints_as_it_is_written(
    written: str, expected: object
) -> None:
    memory = loads(f"sections: []\nmemory:\n  a: {written}\n  b: [{written}]").memory

    assert memory == {"a": expected, "b": [expected]}
    assert type(memory["a"]) is type(expected)
    assert read_data(f"a: {written}", ".yaml") == {"a": expected}


def test_memory_that_is_declared_as_a_text_is_one() -> None:
    memory = loads(
        "variables: {a: string, b.c: {type: string}, d: integer, e: string, f.g: string}\n"
        "memory: {a: 3, b: {c: 1}, d: 3, e: null, f: 4}\n"
        "sections: []"
    ).memory

    assert memory == {"a": "3", "b": {"c": "1"}, "d": 3, "e": None, "f": 4}


def test_variables_may_be_names_alone() -> None:
    assert loads("sections: []\nvariables: [a, b.c]").variables == {"a": {}, "b.c": {}}
    assert loads("sections: []\nvariables: {a: , b: {}}").variables == {"a": {}, "b": {}}
    assert loads("sections: []").variables is None


def test_dates_of_toml_are_texts() -> None:
    found = loads(
        "name = 2024-01-01\nsections = []\nmemory = {at = 12:30:00, on = 2024-01-01T10:00:00Z}",
        format="toml",
    )

    assert found.name == "2024-01-01"
    assert found.memory == {"at": "12:30:00", "on": "2024-01-01T10:00:00+00:00"}


# --- files beside the prompt ----------------------------------------------------------------------


def test_texts_may_stand_in_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "terms.md").write_bytes(b"\xef\xbb\xbfOne <<$x>>\r\ntwo\r\n\r\n")
    file = tmp_path / "prompt.yaml"
    file.write_text(
        "sections:\n"
        "- {kind: text, text: {file: texts/terms.md}}\n"
        "- {kind: template, template: {file: texts/terms.md}}\n"
        "- {kind: template, template: {file: ./texts/terms.md, delimiters: ['{{', '}}']}}\n"
    )

    sections = load(file).sections

    text = "One <<$x>>\ntwo\n"
    assert sections == (
        TextSection(text),
        TemplateSection(text),
        TemplateSection(Template(text, delimiters=("{{", "}}"))),
    )
    assert loads(file.read_text(), folder=tmp_path).prompt.sections == sections


def test_a_template_may_have_other_delimiters() -> None:
    found = loads(
        "sections:\n"
        "- kind: system_message\n"
        "  template: {text: 'Hi {{$x}}', delimiters: ['{{', '}}']}\n"
    )

    assert found.prompt.sections == (SystemMessage(Template("Hi {{$x}}", delimiters=("{{", "}}"))),)


# --- what gives way, calls, elements --------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("whole", None),
        ("null", None),
        ("by_budget", "by_budget"),
        ("{keep: end}", Truncate(keep="end")),
        ("{keep: middle, boundary: line, marker: …}", Truncate("middle", "line", "…")),
    ],
)
def test_how_a_text_gives_way(written: str, expected: object) -> None:
    found = loads(f"sections: [{{kind: text, text: x, when_over: {written}}}]")

    assert found.prompt.sections[0].when_over == expected


def test_arguments_of_a_call_are_a_table_or_json_text() -> None:
    found = loads(
        "sections:\n"
        "- {kind: function_call_message, call: {id: a, name: f, arguments: {q: no, n: 1}}}\n"
        "- {kind: function_response_message, call_id: a, response: [1, no]}\n"
        "- {kind: function_call_message, call: {id: b, name: f, arguments: '{ \"q\": 1 }'}}\n"
    ).prompt.sections

    assert found[0].call.arguments == '{"q":"no","n":1}'  # type: ignore[attr-defined]
    assert found[1].response == [1, "no"]  # type: ignore[attr-defined]
    assert found[2].call.arguments == '{ "q": 1 }'  # type: ignore[attr-defined]


def test_elements_are_said_by_criteria_that_are_data() -> None:
    section = loads(
        "sections:\n"
        "- kind: elements\n"
        "  elements:\n"
        "  - {type: domain_context, content: no, criteria: {language: no, turns: {at_least: 3}}}\n"
        "  - {type: domain_context, content: {text: <<$x>>}}\n"
        "  - type: few_shot_example\n"
        "    content: [{role: user, content: 1.10}, {role: assistant, content: x}]\n"
        "  rules: {seed: 4, total: 3}\n"
    ).prompt.sections[0]

    assert isinstance(section, ElementsSection)
    first, second, third = section.elements
    criteria = {"language": "no", "turns": {"at_least": 3}}
    assert first == Element("domain_context", "no", criteria=criteria)
    assert second.content == Template("<<$x>>")
    assert [message.content for message in third.content] == ["1.10", "x"]  # type: ignore[union-attr]
    assert (section.rules.seed, section.rules.total) == (4, 3)


# --- data sources and other callables -------------------------------------------------------------

SOURCED = """\
sources:
  docs: [first, {text: second, id: d/2, score: 0.5}]
sections:
- kind: data_source
  source: docs
"""


def find(query: str, scope: Scope) -> Sequence[str]:
    return [f"found {query}"]


def keep(message: object) -> bool:
    return True


def test_a_data_source_is_the_one_that_is_passed_in() -> None:
    section = loads(SOURCED, callables={"docs": find}).prompt.sections[0]

    assert section == DataSourceSection(find)


def test_a_file_brings_samples_for_data_sources_that_are_not() -> None:
    found = loads(SOURCED)

    chunks = (Chunk("first"), Chunk("second", id="d/2", score=0.5))
    assert found.prompt.sections == (DataSourceSection(SampleSource("docs", chunks)),)
    rendered = Renderer(tokenizer=WordTokenizer()).render(found.prompt, {}, budget=10)
    assert rendered.messages[0].text == "first\n\nsecond"


def test_a_data_source_that_nobody_gives_is_an_error_or_empty_with_a_note() -> None:
    text = "sections: [{kind: group, sections: [{kind: data_source, source: docs}]}]"

    with pytest.raises(ConfigError, match=r"no callable 'docs'.*sample chunks under sources\.docs"):
        loads(text)
    found = loads(text, missing_sources="empty")
    assert [(note.code, note.path) for note in found.notes] == [
        ("sources_missing", "group/data_source")
    ]
    assert not loads(SOURCED, missing_sources="empty").notes


def test_other_callables_are_named_too() -> None:
    text = "sections: [{kind: conversation_history, pinned: keep, transform: null}]"

    section = loads(text, callables={"keep": keep}).prompt.sections[0]

    assert section == ConversationHistory(pinned=keep)
    with pytest.raises(ConfigError, match="no callable 'keep' was passed in; did you mean 'keeps'"):
        loads(text, callables={"keeps": keep})


# --- kinds of one's own ---------------------------------------------------------------------------


class Mood(Enum):
    GLAD = "glad"
    CALM = "calm"


@attrs.frozen
class Voice:
    pitch: float
    words: tuple[str, ...] = ()


@attrs.frozen
class Persona(PromptSection):
    """Somebody to be."""

    mood: Mood
    voice: Voice | None = None
    since: date | None = None
    traits: Mapping[str, int] = attrs.field(factory=dict[str, int])
    tone: Literal["dry", "warm", 3] = "dry"
    limit: int | str = 0
    inner: PromptSection | None = None
    pair: tuple[int, str] = (0, "")
    words: frozenset[str] = frozenset()
    anything: Any = None

    def resolve(self, scope: Scope, /) -> Content:
        return f"You sound {self.mood.value}."


def test_a_section_of_ones_own_is_written_like_any_other() -> None:
    found = loads(
        "sections:\n"
        "- kind: persona\n"
        "  tokens: 50\n"
        "  mood: glad\n"
        "  voice: {pitch: 2, words: [no, 1.10]}\n"
        "  since: 2024-01-01\n"
        "  traits: {kind: 3}\n"
        "  tone: 3\n"
        "  limit: x\n"
        "  inner: {kind: text, text: hi}\n"
        "  pair: [1, a]\n"
        "  words: [b, a]\n"
        "  anything: {a: [1.10, 2]}\n",
        kinds={"persona": Persona},
    ).prompt.sections[0]

    assert found == Persona(
        Mood.GLAD,
        Voice(2.0, ("no", "1.10")),
        date(2024, 1, 1),
        {"kind": 3},
        3,
        "x",
        TextSection("hi"),
        (1, "a"),
        frozenset({"a", "b"}),
        {"a": ["1.10", 2]},
        tokens=50,
    )


@attrs.frozen
class Opaque(PromptSection):
    thing: complex | Template | slice = attrs.field(default=slice(1))
    text: str = ""

    def resolve(self, scope: Scope, /) -> Content:
        return self.text


Grams = NewType("Grams", int)
T = TypeVar("T")


class Judge(Protocol):
    def __call__(self, text: str) -> bool: ...


@attrs.frozen
class Hinted(PromptSection):
    """Types that are written in other ways."""

    weight: Grams = Grams(0)
    size: Annotated[int, "metres"] = 0
    judge: Judge | None = None
    bare: list = attrs.field(factory=list)  # type: ignore[type-arg]
    table: dict = attrs.field(factory=dict)  # type: ignore[type-arg]
    later: dt.datetime | None = None
    many: Iterable[int] = ()
    loose: T | None = None  # type: ignore[valid-type]
    text: str = ""

    def __attrs_post_init__(self) -> None:
        if self.text == "boom":
            raise KeyError("boom")

    def resolve(self, scope: Scope, /) -> Content:
        return None


def hinted(written: str) -> PromptSection:
    text = f"sections: [{{kind: hinted, {written}}}]"
    return loads(text, kinds={"hinted": Hinted}, callables={"keep": keep}).prompt.sections[0]


def test_types_may_be_written_in_many_ways() -> None:
    found = hinted(
        "weight: 3, size: 4, judge: keep, bare: [no, 1], table: {a: 1.10}, "
        "later: 2024-01-01T10:00:00, many: [1, 2], loose: [x]"
    )

    assert found == Hinted(
        Grams(3),
        4,
        keep,
        ["no", 1],
        {"a": "1.10"},
        dt.datetime(2024, 1, 1, 10),
        (1, 2),
        ["x"],
    )


def test_errors_of_other_types_are_told_in_plain_words() -> None:
    with pytest.raises(ConfigError, match=r"\.later: is no datetime: must be a valid datetime"):
        hinted("later: soon")
    with pytest.raises(ConfigError, match=r"sections\[0\]: Hinted: 'boom'"):
        hinted("text: boom")


def test_types_that_cannot_be_read_are_named() -> None:
    names: dict[str, Any] = {"PromptSection": PromptSection, "attrs": attrs}
    code = (
        "from __future__ import annotations\n@attrs.frozen\nclass Lost(PromptSection):\n"
        "    x: Nowhere = 1\n    def resolve(self, scope): return ''"
    )
    exec(code, names | {"__name__": "nowhere"}, names)

    with pytest.raises(DefinitionError, match="types of Lost cannot be read: name 'Nowhere'"):
        loads("sections: []", kinds={"lost": names["Lost"]})


@attrs.frozen
class Closed(PromptSection):
    thing: slice

    def resolve(self, scope: Scope, /) -> Content:
        return None


class Bare(PromptSection):
    def resolve(self, scope: Scope, /) -> Content:
        return None


def test_what_no_file_can_say_keeps_its_default() -> None:
    found = loads("sections: [{kind: opaque, text: no}]", kinds={"opaque": Opaque})

    assert found.prompt.sections == (Opaque(text="no"),)


@pytest.mark.parametrize(
    ("kinds", "match"),
    [
        ({"closed": Closed}, r"no file can express Closed\.thing, a slice: give it a default"),
        ({"text": Opaque}, "'text'.*built in"),
        ({"x": Bare}, "must be a class derived from PromptSection with @attrs.frozen"),
        ({"x": str}, "must be a class derived from PromptSection"),
        ({"x": Opaque()}, "must be a class derived from PromptSection"),
    ],
)
def test_kinds_that_cannot_be_used_are_refused(kinds: Any, match: str) -> None:
    with pytest.raises(DefinitionError, match=match):
        loads("sections: []", kinds=kinds)


def test_a_kind_may_be_built_in_under_its_own_name() -> None:
    assert loads("sections: []", kinds={"text": TextSection}).prompt == Prompt([])


# --- data beside prompts --------------------------------------------------------------------------


def test_data_is_read_with_the_same_care() -> None:
    assert read_data('\ufeff{"a": [1, 1.5, null]}\r\n', ".json") == {"a": [1, 1.5, None]}
    assert read_data("a = 1.5\n[b]\nc = 'x'", ".TOML") == {"a": 1.5, "b": {"c": "x"}}
    for text, suffix in [
        ('{"a": 1,\n "a": 2}', ".json"),
        ("b: 0\na: b: c", ".yml"),
        ("a=1\na=2", ".toml"),
    ]:
        with pytest.raises(ConfigError, match=r"^turn:2"):
            read_data(text, suffix, name="turn")
    with pytest.raises(ConfigError, match="read from files that end in"):
        read_data("x", ".txt", name="notes.txt")


def test_a_prompt_file_of_a_text_has_no_places() -> None:
    found = loads("sections: [{kind: user_input}]")

    assert isinstance(found, PromptFile)
    assert (found.path, dict(found.places)) == (None, {})
