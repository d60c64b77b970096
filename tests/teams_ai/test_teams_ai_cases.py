"""Every case of Teams AI's own tests: the same result here, or a listed difference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from teams_ai_cases import (
    ENCODING,
    ROWS,
    Calls,
    Row,
    TestMessages,
    attribute,
    expected_output,
    output_of,
    render,
    text_source,
    to_role,
    to_section,
)
from teams_ai_checks import Check
from teams_ai_differences import DIFFERENCES
from teams_ai_folders import loads_the_same

from promptsections import (
    DataSourceError,
    DataSourceSection,
    ImagePart,
    Message,
    Prompt,
    Renderer,
    Scope,
    Template,
    TemplateSyntaxError,
    TextSection,
    UnknownFunctionError,
    UserInput,
    to_message,
)
from promptsections.tokens import as_tokenizer

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "coming-from-teams-ai.md"

LISTED: Mapping[str, Check | None] = {
    number: check for difference in DIFFERENCES for number, check in difference.cases.items()
}
SAME = sorted(ROWS.keys() - LISTED.keys())


# --- what is the same ---------------------------------------------------------------------------


def gives_the_same(row: Row) -> None:
    """Assert that a case gives here what it gives in Teams AI."""
    data, expected = row["input"], row["expected"]
    match row["area"]:
        case "to_string":
            assert text_of(data["value"]) == expected_text(row)
        case "tokenizer":
            encodes_the_same(row)
        case "functions":
            calls_the_same(row)
        case "data_source":
            errors_name_the_source(row)
        case "prompt_manager":
            loads_the_same(row)
        case _ if "call" in data:
            _CALLS[data["call"]](row)
        case _ if "attrs" in expected:
            section = to_section(data["section"])
            found = {name: attribute(section, name) for name in expected["attrs"]}
            assert found == {
                name: to_role(value) if name == "role" else value
                for name, value in expected["attrs"].items()
            }
        case _ if "error" in expected:
            with pytest.raises(TemplateSyntaxError):
                to_section(data["section"])
        case _ if "checks" in expected:
            leaves_the_image_out(row)
        case _:
            renders_the_same(row)


def renders_the_same(row: Row) -> None:
    expected, calls = row["expected"], Calls()
    rendered = render(row, calls=calls)
    assert output_of(rendered) == expected_output(row)
    if expected.get("length") is not None:
        assert rendered.token_count == expected["length"]
    if "invoked" in expected:
        assert [list(call) for call in calls] == [expected["invoked"]]
    assert not expected.get("too_long")


def leaves_the_image_out(row: Row) -> None:
    """By Teams AI's rule an image has 85 tokens; by ours it has what its model says."""
    data = row["input"]
    image = ImagePart("data:image/png;base64,iVBORw0KGgo=")
    prompt = Prompt([UserInput(files="files", tokens=data["section"]["tokens"])])
    memory = {"input": data["memory"]["temp.input"], "files": [image]}
    rendered = Renderer("gpt-4o").render(prompt, memory, budget=data["max_tokens"])
    assert rendered.messages == (Message("user", memory["input"]),)
    assert rendered.layout.placements[0].omitted == 1


def text_of(value: Any) -> str:
    if isinstance(value, dict) and "$datetime" in value:
        value = datetime(2025, 1, 30, 12, 30, 5)
    return Template("<<$value>>").render({"value": value})


def expected_text(row: Row) -> str:
    text = row["expected"]["text"]
    return datetime(2025, 1, 30, 12, 30, 5).isoformat() if "isoformat" in text else text


def encodes_the_same(row: Row) -> None:
    text, tokenizer = row["input"]["encode"], as_tokenizer(ENCODING)
    ids = list(tokenizer.encode(text))
    assert len(ids) == tokenizer.count(text) == row["expected"].get("count", len(ids))
    assert row["expected"].get("ids", ids) == ids


def calls_the_same(row: Row) -> None:
    if "called_with" in row["expected"]:
        seen: list[str] = []
        Template("<<test 'Hello World'>>").render(functions={"test": seen.append})
        assert seen == row["expected"]["called_with"]
    if "called_with" not in row["expected"] or "missing" in row["expected"]:
        with pytest.raises(UnknownFunctionError):
            Template("<<test>>").render(functions={})


def errors_name_the_source(row: Row) -> None:
    def source(query: str, scope: Scope) -> list[str]:
        raise RuntimeError("no index")

    source.__qualname__ = text_source(row["input"]["data_source"]).__name__
    prompt = Prompt([DataSourceSection(source, required=True)])
    with pytest.raises(DataSourceError, match=row["expected"]["name"]):
        Renderer(tokenizer=ENCODING).render(prompt, budget=row["input"]["max_tokens"])


def limits_the_same(row: Row) -> None:
    prompt = Prompt([TextSection("one two three four five six", tokens=row["input"]["tokens"])])
    renderer = Renderer(tokenizer=ENCODING)
    sizes = [renderer.render(prompt, budget=b).token_count for b in row["input"]["max_tokens"]]
    assert sizes == row["expected"]["results"]


def returns_the_same_messages(row: Row) -> None:
    data = row["input"]
    messages = [Message(to_role(m["role"]), m["content"]) for m in data["messages"]]
    prompt = Prompt([TestMessages(messages, tokens=data["tokens"])])
    rendered = Renderer(tokenizer=ENCODING).render(prompt, budget=data["max_tokens"])
    assert output_of(rendered) == expected_output(row)
    assert rendered.token_count == row["expected"]["length"]


def has_the_same_text(row: Row) -> None:
    given = row["input"]["message"]
    assert to_message({**given, "role": to_role(given["role"])}).text == row["expected"]["text"]


_CALLS = {
    "token_budget": limits_the_same,
    "return_messages": returns_the_same_messages,
    "message_text": has_the_same_text,
}


@pytest.mark.parametrize("number", SAME)
def test_a_case_gives_what_it_gives_in_teams_ai(number: str) -> None:
    gives_the_same(ROWS[number])


# --- what is different --------------------------------------------------------------------------


@pytest.mark.parametrize("number", sorted(n for n, check in LISTED.items() if check is not None))
def test_a_listed_case_differs_as_the_table_says(number: str) -> None:
    check = LISTED[number]
    assert check is not None
    check(ROWS[number])


@pytest.mark.parametrize(
    "number",
    sorted(
        n
        for n, check in LISTED.items()
        if check is not None and "section" in ROWS[n]["input"] and "output" in ROWS[n]["expected"]
    ),
)
def test_a_listed_case_does_differ(number: str) -> None:
    """A difference that is none any more must leave the table."""
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever way it differs
        gives_the_same(ROWS[number])


def test_every_case_is_run_or_listed_once() -> None:
    listed = Counter(number for difference in DIFFERENCES for number in difference.cases)

    assert len(ROWS) == 461
    assert set(listed.values()) == {1}
    assert listed.keys() | set(SAME) == ROWS.keys()
    assert not listed.keys() & set(SAME)


def test_cases_that_nothing_is_run_for_have_nothing_of_ours_to_call() -> None:
    areas = {ROWS[number]["area"] for number, check in LISTED.items() if check is None}

    assert areas == {
        "memory.turn_state", "memory.volatile", "prompt_manager", "section.action_output"
    }  # fmt: skip


def test_the_page_for_people_has_every_difference_with_its_reason() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = dict(re.findall(r"^### `([a-z0-9-]+)`\n\n(.+?)\n(?=\n|\Z)", page, re.M | re.S))

    for difference in DIFFERENCES:
        assert difference.code in shown, f"the page lacks the difference {difference.code}"
        words = re.sub(r"[`*]", "", " ".join(shown[difference.code].split()))
        assert difference.reason in words, difference.code
