"""`check` finds a planted mistake of every kind that it promises to find, with its line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import BOT, PROMPT, ROOT, Command

from promptsections.config import open_prompt
from promptsections.config.checks import check_file, check_path
from promptsections.config.declared import declares
from promptsections.config.findings import Code

HERE = Path(__file__).parent
PLANTED = sorted((HERE / "planted").glob("*.yaml"))
"""Prompts with one mistake each; the first line says what is to be found, where, and in words."""
EXPECTED = re.compile(r"# (\w+)(?: at line (\d+))?: (.*)")


def test_there_is_a_planted_mistake_of_every_kind() -> None:
    assert {path.stem.partition("-")[0] for path in PLANTED} == set(Code)


@pytest.mark.parametrize("path", PLANTED, ids=lambda path: path.stem)
def test_a_planted_mistake_is_found(path: Path) -> None:
    expected = EXPECTED.match(path.read_text(encoding="utf-8"))
    assert expected is not None
    code, line, says = expected.groups()

    (found,) = check_path(path)

    assert found.code == code
    assert says in found.message
    assert found.place is not None
    assert found.place.line == (None if line is None else int(line))
    assert code == "missing_file" or found.place.file == path


def test_nothing_is_found_in_the_examples(command: Command) -> None:
    files = [str(path) for path in (ROOT / "examples").rglob("*.yaml")]
    assert files

    done = command("check", "--strict", *files)

    assert (done.code, done.out) == (0, b"")
    assert "nothing found" in done.errors


def test_the_memory_of_the_example_is_what_its_prompt_needs() -> None:
    assert check_path(PROMPT, memory={"today": "now"}) == ()


def test_what_is_given_wins_over_what_is_declared(prompt: Callable[[str], str]) -> None:
    file = open_prompt(
        prompt(
            "variables: [a]\nfunctions: [f]\nmodel: gpt-4o\nsections:\n"
            "  - {kind: system_message, template: '<<$b.c>> <<g>>'}\n"
        )
    )

    codes = [found.code for found in check_file(file)]
    fewer = check_file(file, memory={"b": {"c": 1}}, functions=["g"])
    other = check_file(file, memory={"b": 3}, functions=["g"], model="gpt-4", budget=9_000)

    assert codes == [Code.UNKNOWN_FUNCTION, Code.UNDEFINED_VARIABLE]
    assert fewer == ()
    assert [found.code for found in other] == [Code.BUDGET_OVER_WINDOW, Code.UNDEFINED_VARIABLE]
    assert "is of type int and has no parts" in other[1].message


def test_a_prompt_without_declarations_is_not_guessed_at(prompt: Callable[[str], str]) -> None:
    path = prompt("sections:\n  - {kind: system_message, template: '<<$any.thing>> <<goes>>'}\n")

    assert check_path(path) == ()


def test_a_prompt_in_cache_order_is_not_told_to_move(prompt: Callable[[str], str]) -> None:
    text = (
        "sections:\n  - {kind: system_message, template: '<<$now>>'}\n  - {kind: text, text: b}\n"
    )

    assert [found.code for found in check_path(prompt(text))] == [Code.VOLATILE_BEFORE_STABLE]
    assert check_path(prompt("order: cache\n" + text)) == ()


SCHEMAS: dict[str, Any] = {
    "text": {"type": "string"},
    "any": {},
    "a.b": {"type": "object"},
    "closed": {"properties": {"x": {"type": "string"}, "y": {"properties": {"z": {}}}}},
    "open": {"properties": {"x": {}}, "additionalProperties": {"type": "string"}},
    "list": {"type": "array", "items": {"properties": {"id": {}}}},
    "either": {"anyOf": [{"type": "string"}, {"properties": {"x": {}}}]},
    "several": {"type": ["string", "null"]},
    "nothing": {"properties": {"x": False}},
    "odd": {"properties": ["x"]},
}


@pytest.mark.parametrize(
    ("path", "declared"),
    [
        ("text", True), ("text.x", False), ("any.x.y", True), ("a", True), ("a.b.c", True),
        ("a.c", False), ("closed.x", True), ("closed.z", False), ("closed.y.z", True),
        ("closed.y.x", False), ("open.other", True), ("open.other.deep", False),
        ("list.0.id", True), ("list.first", False), ("list.0.no", False), ("either.x.y", True),
        ("several.x", False), ("other", False), ("nothing.x.y", False),
        ("nothing.x", False), ("odd.x", False),
    ],
)  # fmt: skip
def test_what_a_schema_declares(path: str, declared: bool) -> None:
    assert declares(SCHEMAS, path) is declared


def test_findings_are_lines_that_editors_understand(
    command: Command, prompt: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    prompt("variables: [a]\nsections:\n  - {kind: memory, name: facts, variable: b}\n")

    done = command("check", "prompt.yaml")

    assert done.code == 1
    assert done.text == (
        "prompt.yaml:3: error undefined_variable: section 'facts': variable 'b' is not declared\n"
    )
    assert done.errors == "1 prompt checked: 1 error(s), 0 warning(s)\n"


def test_warnings_fail_only_if_strict(command: Command) -> None:
    path = str(HERE / "planted" / "shares_over_whole-1.yaml")

    assert command("check", path).code == 0
    assert command("check", path, "--strict").code == 1


def test_findings_as_json(command: Command) -> None:
    path = str(HERE / "planted" / "undefined_variable-2.yaml")

    done = command("check", path, str(BOT / "gone.yaml"), "--json")

    first, second = done.json["findings"]
    assert done.json["checked"] == 2
    assert first == {
        "code": "undefined_variable",
        "severity": "error",
        "file": Path(path).as_posix(),
        "line": 4,
        "section": "memory",
        "message": "variable 'b' is not declared",
    }
    assert (second["code"], second["line"]) == ("missing_file", None)


def test_a_memory_can_be_checked_against(command: Command, tmp_path: Path) -> None:
    memory = tmp_path / "memory.yaml"
    memory.write_text("today: now\n")

    assert command("check", PROMPT, "--memory", str(memory)).code == 0
    memory.write_text("tomorrow: now\n")
    done = command("check", PROMPT, "--memory", str(memory))
    assert done.code == 1
    assert re.search(r"prompt\.yaml:\d+: error undefined_variable: section 'today'", done.text)


def test_a_finding_about_what_was_given_names_no_line_of_the_file(
    prompt: Callable[[str], str],
) -> None:
    path = prompt("model: gpt-4o\nbudget: 9\nsections: []\n")

    (unknown,) = check_path(path, model="gpt-4oo")
    (over,) = check_path(path, budget=10**9)

    assert unknown.place is not None
    assert unknown.place.line is None
    assert over.place is not None
    assert over.place.line == 1  # the model's window is the file's
