"""What is wrong with a file, where, and what to do about it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

# ruff: noqa: E501, ISC004  one line for each case
from promptsections import ConfigError, DefinitionError, Prompt
from promptsections.config import dumps, load, loads
from promptsections.config.document import Syntax

JARGON = ("Input should", "validation error", "pydantic", "type=", "Value error", "Extra inputs")


def error_of(text: str, syntax: Syntax = "yaml", folder: Path | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        loads(text, format=syntax, folder=folder)
    assert not [word for word in JARGON if word in str(caught.value)]
    return caught.value


CASES = {
    "a key that nobody knows": (
        "sections: []\nzzz: 3",
        "<text>:2: unknown key 'zzz'; known are $schema, description, model, budget, ",
    ),
    "a misspelt key": (
        "sections: []\nbudgte: 3",
        "<text>:2: unknown key 'budgte'; did you mean 'budget'?",
    ),
    "a misspelt key of a section": (
        "sections:\n- kind: text\n  text: x\n  requird: true",
        "<text>:4: sections[0]: unknown key 'requird'; did you mean 'required'?",
    ),
    "a misspelt key of a section in a group": (
        "sections:\n- kind: group\n  sections:\n  - {kind: text, txt: x, text: x}",
        "<text>:4: sections[0].sections[0]: unknown key 'txt'; did you mean 'text'",
    ),
    "a misspelt key of a budget": (
        "sections:\n- kind: user_input\n  tokens:\n    share: 1/2\n    at_last: 3",
        "<text>:5: sections[0].tokens: unknown key 'at_last'; did you mean 'at_least'",
    ),
    "a misspelt key of a tool": (
        "sections: []\ntools:\n- name: x\n  paramters: {}",
        "<text>:4: tools[0]: unknown key 'paramters'; did you mean 'parameters'?",
    ),
    "a misspelt key of a cut": (
        "sections:\n- kind: user_input\n  when_over: {kep: end}",
        "<text>:3: sections[0].when_over: unknown key 'kep'; did you mean 'keep'?",
    ),
    "no sections": ("name: x", "<text>:1: 'sections' is missing here"),
    "sections that are no list": ("sections: {a: 1}", "<text>:1: sections: must be a list, not a table"),
    "no table at all": ("- a", "<text>:1: a prompt is a table with the key 'sections'"),
    "a text alone": ("hello", "<text>:1: a prompt is a table with the key 'sections'"),
    "no kind": (
        "sections:\n- text: x",
        "<text>:2: sections[0]: 'kind' is missing here: it says what the section is",
    ),
    "a kind that nobody knows": (
        "sections:\n- kind: texst",
        "<text>:2: sections[0]: unknown kind 'texst'; did you mean 'text'",
    ),
    "a kind by a part of its name": (
        "sections:\n- kind: history",
        "<text>:2: sections[0]: unknown kind 'history'; did you mean 'conversation_history'?",
    ),
    "a key of other formats": (
        "sections:\n- {kind: text, text: a, budget: 3}",
        "<text>:2: sections[0]: unknown key 'budget'; did you mean 'tokens'?",
    ),
    "a text where a template belongs": (
        "sections:\n- {kind: system_message, text: a}",
        "unknown key 'text'; did you mean 'template'?",
    ),
    "a kind that is no name": (
        "sections:\n- kind: [text]",
        "<text>:2: sections[0]: 'kind' must be a name, not a list",
    ),
    "a section that is no table": (
        "sections:\n- hello",
        "<text>:2: sections[0]: a section must be a table with a kind, not 'hello'",
    ),
    "a field that is missing": (
        "sections:\n- kind: text",
        "<text>:2: sections[0]: 'text' is missing here",
    ),
    "an empty text": (
        "sections:\n- kind: text\n  text:",
        '<text>:3: sections[0].text: has no value: write "" for an empty text',
    ),
    "a list for a text": (
        "sections: []\ndescription: [a]",
        "<text>:2: description: must be a text, not a list",
    ),
    "a text for a number": (
        "sections: []\nbudget: '12'",
        "<text>:2: budget: must be a whole number, not '12': write it without quotes",
    ),
    "half a number": ("sections: []\nbudget: 1.5", "<text>:2: budget: must be a whole number, not 1.5"),
    "a number with a zero before it": (
        "sections: []\nbudget: 010",
        "<text>:2: budget: must be a whole number, not '010'",
    ),
    "a truth value that is none": (
        "sections:\n- kind: user_input\n  required: maybe",
        "<text>:3: sections[0].required: must be true or false, not 'maybe'",
    ),
    "a choice that is none": (
        "sections:\n- kind: text\n  text: x\n  role: sytem",
        "<text>:4: sections[0].role: must be one of system, developer, user, assistant, tool, not "
        "'sytem'; did you mean 'system'?",
    ),
    "a budget that is none": (
        "sections:\n- kind: user_input\n  tokens: atuo",
        "<text>:3: sections[0].tokens: is no budget: 'atuo'; write auto, rest, a number of tokens, "
        "a share such as 30%, or a table with tokens, share or rest, at_least and at_most; did you "
        "mean 'auto'?",
    ),
    "a budget in quotes": (
        "sections:\n- kind: user_input\n  tokens: '300'",
        "at_most: write it without quotes",
    ),
    "a way to summarize that is none": (
        "sections:\n- kind: user_input\n  when_over: {summarize: {triger: 1}}",
        "<text>:3: sections[0].when_over.summarize: unknown key 'triger'; did you mean 'trigger'",
    ),
    "two ways to give way": (
        "sections:\n- kind: user_input\n  when_over: {summarize: {}, keep: start}",
        "<text>:3: sections[0].when_over: unknown key 'keep'; known are",
    ),
    "no tokens": (
        "sections:\n- kind: user_input\n  tokens: 0",
        "<text>:3: sections[0].tokens: tokens=0 is no budget",
    ),
    "half tokens": (
        "sections:\n- kind: user_input\n  tokens: 1.5",
        "<text>:3: sections[0].tokens: tokens=1.5 is no whole number of tokens",
    ),
    "two budgets": (
        "sections:\n- kind: user_input\n  tokens: {share: 1/2, rest: 1}",
        "<text>:3: sections[0].tokens: takes one of tokens, share and rest, not rest and share",
    ),
    "a share that is none": (
        "sections:\n- kind: user_input\n  tokens: {share: half}",
        "<text>:3: sections[0].tokens.share: must be a fraction such as 0.3, 30% or 1/3, not 'half'",
    ),
    "more than the whole": (
        "sections:\n- kind: user_input\n  tokens: {share: 2}",
        "is more than the whole",
    ),
    "more than the whole, in percent": (
        "sections:\n- kind: user_input\n  tokens: 130%",
        "<text>:3: sections[0].tokens: 130% must be above 0% and at most 100%",
    ),
    "a ratio above the whole": (
        "sections:\n- kind: user_input\n  tokens: {share: 4/3}",
        "tokens=4/3 is more than the whole",
    ),
    "nothing of the whole": (
        "sections:\n- kind: user_input\n  tokens: 0%",
        "0% must be above 0%",
    ),
    "limits that contradict": (
        "sections:\n- kind: user_input\n  tokens: {at_least: 9, at_most: 3}",
        "reserves 9 tokens but may get at most 3",
    ),
    "two sections of one name": (
        "sections:\n- {kind: user_input, name: a}\n- {kind: user_input, name: a}",
        "two sections beside each other are named 'a'",
    ),
    "a name that parts paths": (
        "sections:\n- {kind: user_input, name: a/b}",
        "<text>:2: sections[0]: user_input: name='a/b' must be a text without '/'",
    ),
    "a value that a section refuses": (
        "sections:\n- kind: user_input\n- kind: conversation_history\n  max_messages: 0",
        "<text>:3: sections[1]: max_messages=0 must be 1 or more, or None",
    ),
    "two tools of one name": (
        "sections: []\ntools: [{name: a}, {name: a}]",
        "two tools are named 'a'",
    ),
    "memory that is no table": ("sections: []\nmemory: [a]", "memory: must be a table, not a list"),
    "variables that are none": (
        "sections: []\nvariables: 3",
        "variables: must be a list of names, or a table of names with their types",
    ),
    "a type that is none": (
        "sections: []\nvariables: {a: strin}",
        "not 'strin'; did you mean 'string'?",
    ),
    "a schema that is none": (
        "sections: []\nvariables: {a: [x]}",
        "variables: a: must be a type such as string, or a JSON Schema",
    ),
    "a file without a folder": (
        "sections:\n- {kind: text, text: {file: a.txt}}",
        "<text>:2: sections[0].text.file: the file 'a.txt' has no folder to be read from",
    ),
    "neither text nor file": (
        "sections:\n- {kind: template, template: {}}",
        "<text>:2: sections[0].template: takes either text or file",
    ),
    "one delimiter": (
        "sections:\n- {kind: template, template: {text: x, delimiters: ['<']}}",
        "delimiters are two texts",
    ),
    "no number where one of two types may stand": (
        "sections:\n- kind: conversation_history\n  trim_to: x",
        "<text>:3: sections[0].trim_to: must be a number, not 'x'; must be one of by_caching",
    ),
    "a part of one of several types": (
        "sections:\n- kind: elements\n  elements:\n  - type: few_shot_example\n"
        "    content:\n    - {role: usr}",
        "<text>:6: sections[0].elements[0].content[0]: role='usr' is no role",
    ),
    "a key that no message has": (
        "sections:\n- kind: elements\n  elements:\n"
        "  - {type: few_shot_example, content: [{role: user, contnt: x}]}",
        "unknown key 'contnt' of a message; did you mean 'content'?",
    ),
    "a message that is none": (
        "sections:\n- kind: elements\n  elements:\n  - {type: few_shot_example, content: [[x]]}",
        "content[0]: must be a message with role and content, not a list",
    ),
    "a call without an id": (
        "sections:\n- {kind: function_call_message, call: {name: f, id: ''}}",
        "the call of 'f' needs an id",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_error_says_where_what_and_what_to_do(case: str) -> None:
    text, expected = CASES[case]

    error = error_of(text)

    assert expected in str(error)
    assert (error.path, error.kind, len(error.problems)) == ("<text>", "invalid", 1)
    assert "\n" not in str(error)


def test_all_errors_of_a_file_come_at_once_in_the_order_of_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "prompt.yaml"
    file.write_text(
        "tools: [{name: a, b: c}]\nsections:\n- kind: text\n- {kind: x}\nbudget: x\nz: 1\n"
    )

    with pytest.raises(ConfigError) as caught:
        load(file)

    error = caught.value
    assert [(problem.line, problem.where) for problem in error.problems] == [
        (1, "tools[0]"), (3, "sections[0]"), (4, "sections[1]"), (5, "budget"), (6, "")
    ]  # fmt: skip
    lines = str(error).splitlines()
    assert lines[0] == f"{file}: 5 problems"
    assert all(line.startswith(f"{file}:") for line in lines)
    assert pickle.loads(pickle.dumps(error)).problems == error.problems


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("'<<$x>'", 4),
        ("|\n    one\n    two <<$x>\n", 6),
        ("{text: '<<$x>'}", 4),
        ("{text: '{{$x}', delimiters: ['{{', '}}']}", 4),
        ("\n    text: |\n      one\n      <<$x>\n", 7),
    ],
)
def test_a_template_is_wrong_on_the_line_of_the_file(written: str, line: int) -> None:
    error = error_of(f"name: x\nsections:\n- kind: template\n  template: {written}\n")

    assert error.problems[0].line == line
    assert "is no name of a variable" in str(error)


@pytest.mark.parametrize(
    ("syntax", "text", "expected"),
    [
        ("yaml", "sections: [}", "<text>:1: this is no YAML: "),
        (
            "yaml",
            "sections: []\nsections: []",
            "<text>:2: the key 'sections' stands here twice, first on",
        ),
        ("yaml", "", "<text>: the document is empty"),
        ("yaml", "# nothing", "<text>: the document is empty"),
        ("yaml", "a: 1\n---\nb: 2", "<text>:2: one file holds one document"),
        ("yaml", "{[a]: b}", "<text>:1: a key must be a text"),
        ("yaml", "a: {{name}}", "<text>:1: a key must be a text; a text that begins with {{ needs"),
        ("yaml", "a:\n\t- b", "indented with spaces, not with tabs"),
        ("yaml", "a:\n  - b: c\n\td: e", "indented with spaces, not with tabs"),
        ("yaml", "a: @b", "a text that begins with @ needs quotes"),
        ("yaml", "a: Note: b", "a text that holds ': ' needs quotes"),
        ("yaml", "a: b\n  c: d", "begin in the same column"),
        ("yaml", "a:\n- b: c\n - d: e", "begin in the same column"),
        ("yaml", "a: 'b' c", "nothing may follow the quote that ends a text"),
        ("yaml", 'a: "b', "<text>:1: this is no YAML: while scanning a quoted scalar"),
        ("yaml", "a: &a [b]\n*a : c", "<text>:2: a key must be a text"),
        ("yaml", "a: &a b\n*a: c\n? *b", "nothing is marked &b"),
        ("yaml", "x: \x07", "<text>:1: the character '\\x07' may not stand in YAML as it is"),
        ("yaml", "<<: 3", "<text>:1: << takes a table, or a list of them"),
        (
            "json",
            "{'a': 1}",
            "<text>:1: this is no JSON: a key in double quotes is needed here (column 2)",
        ),
        ("json", '{"a": 1,}', "<text>:1: this is no JSON: a comma may not stand in front of '}'"),
        (
            "json",
            '{"a": 1\n "b": 2}',
            "<text>:2: this is no JSON: ',' or '}' is needed here (column 2)",
        ),
        ("json", '{"a": 1,\n "a": 2}', "<text>:2: the key 'a' stands here twice, first on line 1"),
        ("json", '{"a" 1}', "':' is needed here"),
        ("json", '{"a": NaN}', "NaN is no number of JSON"),
        ("json", '{"a": nul}', "expecting value"),
        ("json", '{"a": [1', "',' or ']' is needed here"),
        ("json", "{} {}", "the document goes on after its end"),
        ("json", "", "expecting value"),
        ("json", "1" * 5000, "this is no JSON: "),
        ("toml", "a = ", "<text>:1: this is no TOML: invalid value"),
        ("toml", "a = 1\na = 2", "<text>:2: this is no TOML: cannot overwrite a value"),
        ("toml", "a = '''x", "<text>:1: this is no TOML: "),
        (
            "toml",
            "sections = []\n[memory]\nx = nan",
            "<text>:3: nan is no number that a prompt can use",
        ),
    ],
)
def test_what_cannot_be_read_at_all_is_said_with_its_line(
    syntax: Syntax, text: str, expected: str
) -> None:
    assert expected in str(error_of(text, syntax))


@pytest.mark.parametrize(
    ("syntax", "text", "line", "where"),
    [
        ("json", '{\n "sections": [\n  {"kind": "text",\n   "text": 5}]}', 4, "sections[0].text"),
        ("toml", "name = 'x'\n[[sections]]\nkind = 'text'\ntext = 5", 4, "sections[0].text"),
        ("toml", "sections = [\n {kind = 'text',  text = 5}]", 1, "sections[0].text"),
        ("toml", "[[sections]]\nkind='group'\n[[sections.sections]]\nkind='text'\n"
                 "text='''\na = 1\nb = 2'''\n[[sections.sections]]\nkind='text'\ntext = true",
         10, "sections[0].sections[1].text"),
        ("toml", "[[sections]]\nkind='user_input'\n[sections.tokens]\nshare = 'x'",
         4, "sections[0].tokens.share"),
        ("toml", "[[sections]]\nkind='user_input'\ntokens.share = 'x'", 3, "sections[0].tokens.share"),
        ("toml", "'sections' = 3", 1, "sections"),
    ],
)  # fmt: skip
def test_json_and_toml_know_their_lines(syntax: Syntax, text: str, line: int, where: str) -> None:
    problem = error_of(text, syntax).problems[0]

    assert (problem.line, problem.where) == (line, where)


# --- files ----------------------------------------------------------------------------------------


def test_missing_and_invalid_are_told_apart_with_the_full_path(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_bytes(b"name: caf\xe9\n")
    for path, kind, expected in [
        (tmp_path / "none.yaml", "missing", "none.yaml does not exist"),
        (tmp_path, "missing", "is no file"),
        (tmp_path / "nul\0.yaml", "missing", "nul\0.yaml"),
        (bad, "invalid", "bad.yaml:1: the file is no UTF-8: byte 0xe9 at offset 9"),
    ]:
        with pytest.raises(ConfigError) as caught:
            load(path)
        assert (caught.value.kind, caught.value.path) == (kind, str(path))
        assert expected in str(caught.value)
        assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("name: x".encode("utf-16"), "is UTF-16: save it as UTF-8"),
        (b"a: b\nc: \0", ":2: the file holds a NUL character at offset 8"),
    ],
)
def test_what_is_no_utf_8_text_is_refused(tmp_path: Path, data: bytes, expected: str) -> None:
    file = tmp_path / "prompt.yaml"
    file.write_bytes(data)

    with pytest.raises(ConfigError, match=expected):
        load(file)


def test_a_file_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "prompt.yaml"
    file.write_text("sections: []")

    def refuse(_: Path) -> bytes:
        raise PermissionError("not yours")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(ConfigError, match=r"prompt\.yaml cannot be read: not yours"):
        load(file)


def test_a_relative_path_is_tried_from_the_current_folder_and_named_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prompt.json").write_text('{"sections": []}')
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load("prompt.json").sections == ()

    monkeypatch.chdir(tmp_path / "src")
    with pytest.raises(ConfigError, match=r"src/prompt\.json does not exist") as caught:
        load("prompt.json")
    assert caught.value.path == str(tmp_path / "src" / "prompt.json")


def test_an_ending_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("hi")

    with pytest.raises(ConfigError, match=r"files that end in \.yaml, \.yml, \.json, \.toml"):
        load(tmp_path / "prompt.txt")


def test_a_missing_file_of_a_template_is_missing_and_named_with_both_places(tmp_path: Path) -> None:
    file = tmp_path / "prompt.yaml"
    file.write_text("sections:\n- kind: text\n  text: {file: terms.md}\n")

    with pytest.raises(ConfigError) as caught:
        load(file)

    error, wanted = caught.value, tmp_path.resolve() / "terms.md"
    assert (error.kind, error.path) == ("missing", str(wanted))
    assert str(error) == f"{file}:3: sections[0].text.file: {wanted} does not exist"


def test_a_missing_file_beside_other_problems_makes_the_prompt_invalid(tmp_path: Path) -> None:
    error = error_of("sections:\n- kind: text\n  text: {file: a.md}\n- kind: x", folder=tmp_path)

    assert (error.kind, error.path) == ("invalid", "<text>")


def test_a_format_that_nobody_knows_is_refused() -> None:
    unknown: Any = "xml"

    with pytest.raises(DefinitionError, match="format='xml' must be one of yaml, json, toml"):
        loads("", format=unknown)
    with pytest.raises(DefinitionError, match="format='xml' must be one of yaml, json, toml"):
        dumps(Prompt([]), format=unknown)


def test_a_template_that_is_wrong_in_a_file_of_its_own_names_both_places(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("fine\n<<today\n", encoding="utf-8")
    path = tmp_path / "prompt.yaml"
    path.write_text("sections:\n- kind: template\n  template: {file: t.txt}\n", encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        load(path)

    assert f"{path}:3: sections[0].template: in 't.txt', line 2, column 1" in str(caught.value)
