"""Cases from the field and from Teams AI, kept as data beside this file."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from promptsections.errors import (
    RecursionLimitError,
    TemplateSyntaxError,
    UndefinedVariableError,
    UnknownFunctionError,
    ValueRenderError,
)
from promptsections.memory import ScopedMemory
from promptsections.templates import Template, to_text

CASES = Path(__file__).parent / "cases"


def load(name: str) -> list[Any]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


def by_id(rows: list[Any]) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in rows]


class User:
    """Stands for any object with attributes."""


def show(*args: object, **_: object) -> str:
    return f"{len(args)}:" + "".join(f"[{arg}]" for arg in args)


FUNCTIONS: dict[str, Callable[..., object]] = {
    "returns f'{len(args)}:' + ''.join(f'[{a}]' for a in args)": show,
    "returns f'{len(args)}'": lambda *args: f"{len(args)}",
    "returns type(args[0]).__name__": lambda value: type(value).__name__,
    "returns 'P'+args[0]": lambda text: "P" + text,
    "returns 'M'+args[0]": lambda text: "M" + text,
    "renders a template <<b>>": lambda scope: scope.evaluate("<<b>>"),
    "renders a template <<a>>": lambda scope: scope.evaluate("<<a>>"),
    "returns 'Hello World'": lambda: "Hello World",
    "returns 'Hello World!'": lambda: "Hello World!",
    "returns args[0]": lambda text: text,
    "returns args joined by a space": lambda *args: " ".join(args),
    "returns 'test_func'": lambda *args: "test_func",
    "returns 'your param is: ' + args[0]": lambda text: "your param is: " + text,
}


def decode(value: Any) -> Any:
    """Read the marked values that JSON has no form for."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$repeat": [text, times]}:
            return text * times
        case {"$concat": parts}:
            return "".join(map(decode, parts))
        case {"$date": text}:
            return date.fromisoformat(text)
        case {"$datetime": "now"}:
            return datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=UTC)
        case {"$datetime": text}:
            return datetime.fromisoformat(text)
        case {"$float": "0.1+0.2"}:
            return 0.1 + 0.2
        case {"$float": text}:
            return float(text)
        case {"$obj": {"attrs": attrs}}:
            user = User()
            vars(user).update(attrs)
            return user
        case _:
            return {key: decode(item) for key, item in value.items()}


ERRORS = {
    "template_syntax": TemplateSyntaxError,
    "missing_variable": UndefinedVariableError,
    "value_render": ValueRenderError,
    "unknown_function": UnknownFunctionError,
    "recursion_limit": RecursionLimitError,
}


@pytest.mark.parametrize("row", by_id(load("field.jsonl")))
def test_template_renders_or_fails_as_reported_from_the_field(row: Any) -> None:
    given, expected = row["input"], row["expected"]
    source = decode(given["template"])
    functions = {name: FUNCTIONS[text] for name, text in given.get("functions", {}).items()}

    def render() -> str:
        return Template(source).render(decode(given["vars"]), functions=functions)

    if "raises" not in expected:
        assert render() == decode(expected["equals"])
        return
    raises = expected["raises"]
    with pytest.raises(ERRORS[raises["kind"]]) as caught:
        Template(source) if raises["kind"] == "template_syntax" else render()
    for part in raises.get("mentions", ()):
        assert part in str(caught.value)
    if "position" in raises:
        assert caught.value.position == raises["position"]
    assert len(str(caught.value)) <= 400
    for part in expected.get("error_text_not_contains", ()):
        assert part not in str(caught.value)
    if "also" in expected:
        assert Template(expected["also"]["template"]).render() == expected["also"]["equals"]


def test_keyword_argument_reaches_the_function_whole() -> None:
    [row] = [row for row in load("field.jsonl") if row["id"] == "tpl-002"]
    seen: list[object] = []

    Template(row["input"]["template"]).render(
        functions={"show": lambda *args, **keywords: seen.extend([args, keywords])}
    )

    assert seen == [tuple(row["expected"]["positional"]), row["expected"]["keyword_argument"]]


def teams_ai(area: str, *, agrees: bool) -> list[Any]:
    rows = load("teams_ai.jsonl")
    return by_id([row for row in rows if row["area"] == area and row["agrees"] is agrees])


def scoped(memory: dict[str, object]) -> ScopedMemory:
    scopes: dict[str, dict[str, object]] = {"conversation": {}, "user": {}, "temp": {}}
    for path, value in memory.items():
        scope, _, name = path.rpartition(".")
        scopes[scope or "temp"][name] = value
    return ScopedMemory(scopes)


def render_teams_ai(row: Any, **options: Any) -> tuple[str, list[Any]]:
    invoked: list[Any] = []

    def recording(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object) -> object:
            invoked[:] = [name, list(args)]
            return function(*args)

        return call

    functions = {
        (name if name != "*" else "test_func"): FUNCTIONS[text]
        for name, text in row["functions"].items()
    }
    text = Template(row["template"], delimiters=("{{", "}}")).render(
        scoped(row["memory"]),
        functions={name: recording(name, function) for name, function in functions.items()},
        **options,
    )
    return text, invoked


@pytest.mark.parametrize("row", teams_ai("template.parser", agrees=True))
def test_template_written_for_teams_ai_renders_the_same(row: Any) -> None:
    expected = row["expected"]
    if "error" in expected:
        with pytest.raises(TemplateSyntaxError):
            Template(row["template"], delimiters=("{{", "}}"))
        return

    text, invoked = render_teams_ai(row)

    assert text == expected["output"]
    if "invoked" in expected:
        assert invoked == expected["invoked"]


EMPTY = "an empty placeholder is a syntax error with a position, at construction"
PLAIN = "a string comes out as it is, without quotes (as in TS and Python: 9 tokens)"
MISSING = (
    'a missing variable is an error by default; undefined="empty" gives "Hello " and reports it'
)


@pytest.mark.parametrize("row", teams_ai("template.parser", agrees=False))
def test_template_differs_from_teams_ai_for_a_reason(row: Any) -> None:
    match row["differs_because"]:
        case reason if reason == EMPTY:
            with pytest.raises(TemplateSyntaxError) as caught:
                Template(row["template"], delimiters=("{{", "}}"))
            assert caught.value.position == row["template"].index("{{")
        case reason if reason == PLAIN:
            assert render_teams_ai(row)[0] == row["expected"]["output"].replace('"', "")
        case reason if reason == MISSING:
            with pytest.raises(UndefinedVariableError):
                render_teams_ai(row)
            assert render_teams_ai(row, undefined="empty")[0] == row["expected"]["output"]
        case reason:
            pytest.fail(f"no assertion for {reason!r}")


@pytest.mark.parametrize("row", teams_ai("to_string", agrees=True))
def test_value_has_the_text_that_teams_ai_gives_it(row: Any) -> None:
    value = decode(row["value"])
    expected = row["expected"]["text"]
    if expected == "value.isoformat()":
        expected = value.isoformat()

    assert to_text(value, name="v") == expected


OURS = {
    'containers are JSON always: {"a":1}': '{"a":1}',
    "a date prints as 2021-01-01; only a datetime has a time, in ISO 8601": "2021-01-01",
    'containers are JSON always, whatever their size: {"key":"value","key2":[1,2,3]}': (
        '{"key":"value","key2":[1,2,3]}'
    ),
    'JSON, but compact: {"key":"value","key2":[1,2,3]}': '{"key":"value","key2":[1,2,3]}',
}


@pytest.mark.parametrize("row", teams_ai("to_string", agrees=False))
def test_value_differs_from_teams_ai_for_a_reason(row: Any) -> None:
    if row["differs_because"].startswith("no undefined value"):
        with pytest.raises(UndefinedVariableError):
            Template("<<$v>>").render({})
        return
    value = decode(row["value"])
    if isinstance(value, dict):
        value.pop("$as_json", None)

    assert to_text(value, name="v") == OURS[row["differs_because"]]
