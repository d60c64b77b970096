"""What holds with us instead, for cases of Teams AI in which we differ: one function each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from teams_ai_cases import (
    ENCODING,
    Row,
    TestMessages,
    attribute,
    expected_output,
    output_of,
    render,
    text_source,
    to_memory,
    to_prompt,
    to_role,
    to_section,
)

from promptsections import (
    BudgetExceededError,
    ConversationHistory,
    DataSourceSection,
    DefinitionError,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    ImagePart,
    InvalidBudgetError,
    Message,
    Prompt,
    Renderer,
    Template,
    TemplateSyntaxError,
    TextPart,
    TextSection,
    Tokens,
    ToolCall,
    UndefinedVariableError,
    UserInput,
    to_message,
)
from promptsections.tokens import as_tokenizer

Check = Callable[[Row], None]
"""Asserts what we do with a case."""


def is_refused(row: Row) -> None:
    """It is refused with what is needed, each time, and rendered in full where that is there."""
    for _ in range(row["input"].get("repeat", 1)):
        with pytest.raises(BudgetExceededError) as caught:
            render(row)
        assert caught.value.budget == row["input"]["max_tokens"] < caught.value.needed
        assert caught.value.floors
    assert render(row, budget=caught.value.needed).token_count <= caught.value.needed


def is_cut_to(output: str | list[str], length: int) -> Check:
    """Make a check that it is cut to this, and that the layout says so."""

    def check(row: Row) -> None:
        rendered = render(row)
        out = output_of(rendered)
        assert (out if isinstance(out, str) else [m["content"] for m in out]) == output
        assert rendered.token_count == length <= row["input"]["max_tokens"]
        assert rendered.layout.placements[0].outcome == "cut"

    return check


def returned_messages_are_cut_to(output: list[str], length: int) -> Check:
    """Make a check for messages that a section of one's own returns."""

    def check(row: Row) -> None:
        data = row["input"]
        messages = [Message(to_role(m["role"]), m["content"]) for m in data["messages"]]
        prompt = Prompt([TestMessages(messages, tokens=data["tokens"])])
        rendered = Renderer(tokenizer=ENCODING).render(prompt, budget=data["max_tokens"])
        assert [message.text for message in rendered.messages] == output
        assert rendered.token_count == length <= data["max_tokens"]

    return check


def has_length(length: int) -> Check:
    """Make a check that the output is Teams AI's, and has this many tokens."""

    def check(row: Row) -> None:
        rendered = render(row)
        assert output_of(rendered) == expected_output(row)
        assert rendered.token_count == length == as_tokenizer(ENCODING).count(rendered.text)

    return check


def keeps_no_half_exchange(row: Row) -> None:
    rendered = render(row)
    assert rendered.messages == ()
    assert rendered.layout.placements[0].outcome == "dropped"


def begins_with_the_user(row: Row) -> None:
    rendered = render(row)
    assert rendered.messages == ()
    assert [note.code for note in rendered.layout.notes] == ["orphan_result", "leading_turn"]

    history = ConversationHistory(row["input"]["section"]["variable"], start_on="any")
    assert output_of(render(row, Prompt([history]))) == expected_output(row)


def _with_role(section: Any, role: str) -> GroupSection:
    """Give a group a role; the groups in it only join, as Teams AI's do in the end."""
    return GroupSection(section.sections, role, separator=section.separator)


def is_one_message_with_a_role(row: Row) -> None:
    group = to_section(row["input"]["section"])
    assert [m.role for m in render(row).messages] == ["user"] * len(render(row).messages)

    rendered = render(row, Prompt([_with_role(group, "system")]))
    assert output_of(rendered) == expected_output(row)
    assert rendered.token_count == as_tokenizer(ENCODING).count(rendered.messages[0].text)


def has_attributes_but(**ours: object) -> Check:
    """Make a check that attributes are Teams AI's, apart from these."""

    def check(row: Row) -> None:
        section = to_section(row["input"]["section"])
        expected = row["expected"]["attrs"] | ours
        assert {name: attribute(section, name) for name in expected} == expected

    return check


def is_a_syntax_error(row: Row) -> None:
    template = row["input"]["section"]["template"]
    with pytest.raises(TemplateSyntaxError) as caught:
        to_prompt(row)
    assert caught.value.position == template.index("{{")


def is_undefined(row: Row) -> None:
    with pytest.raises(UndefinedVariableError):
        render(row)


def is_undefined_or_empty(row: Row) -> None:
    with pytest.raises(UndefinedVariableError) as caught:
        render(row)
    assert caught.value.position == row["input"]["section"]["template"].index("{{")

    rendered = render(row, undefined="empty")
    assert output_of(rendered) == row["expected"]["output"]
    assert [note.code for note in rendered.layout.notes] == ["undefined_variable"]


def a_missing_value_is_an_error(row: Row) -> None:
    with pytest.raises(UndefinedVariableError):
        Template("<<$value>>").render({})
    assert Template("<<$value>>").render({}, undefined="empty") == row["expected"]["text"]


def _tool_messages(row: Row) -> tuple[Message, ...]:
    """Render a case's call, or its result, with the other half: alone neither may be sent."""
    spec = row["input"]["section"]
    call = spec.get("function_call", {"name": spec.get("name"), "arguments": "{}"})
    prompt = Prompt([
        FunctionCallMessage(ToolCall("call_1", call["name"], call["arguments"])),
        FunctionResponseMessage("call_1", spec.get("response", "ok")),
    ])  # fmt: skip
    rendered = Renderer(tokenizer=ENCODING).render(prompt, budget=100)
    count = as_tokenizer(ENCODING).count
    call, result = rendered.messages
    assert rendered.token_count == sum(
        map(count, (call.tool_calls[0].name, call.tool_calls[0].arguments, result.text))
    )
    return rendered.messages


def is_a_tool_call(row: Row) -> None:
    spec = row["input"]["section"]["function_call"]
    message, _ = _tool_messages(row)
    assert (message.role, message.content) == ("assistant", None)
    assert message.tool_calls == (ToolCall("call_1", spec["name"], spec["arguments"]),)


def is_a_tool_result(row: Row) -> None:
    spec = row["input"]["section"]
    _, message = _tool_messages(row)
    assert (message.role, message.tool_call_id) == ("tool", "call_1")
    assert message.text == str(spec["response"])


def an_old_call_is_read(row: Row) -> None:
    spec = row["input"]["message"]["function_call"]
    message = to_message({**row["input"]["message"], "role": "assistant"})
    assert (message.content, message.text) == (None, "")
    assert message.tool_calls[0].name == spec["name"]
    assert message.tool_calls[0].arguments == spec["arguments"]


def outputs_stand_behind_their_calls(row: Row) -> None:
    """The history holds calls and results; a result that is missing leaves its call out too."""
    memory = row["input"]["memory"]
    (outputs,) = [v for k, v in memory.items() if "utputs" in k] or [{}]
    (history,) = [v for k, v in memory.items() if "istory" in k]
    calls = history[-1].get("action_calls", []) if history else []
    answered = [
        *({"role": "user", "content": "Go on"} for _ in [0] if len(history) == 1),
        *history,
        *(
            {"role": "tool", "action_call_id": c["id"], "content": outputs[c["id"]]}
            for c in calls
            if c["id"] in outputs
        ),
    ]
    rendered = Renderer(tokenizer=ENCODING).render(
        Prompt([ConversationHistory()]), {"history": answered}, budget=100
    )
    sent = [(m.tool_call_id, m.text) for m in rendered.messages if m.role == "tool"]
    expected = [(m["action_call_id"], m["content"]) for m in row["expected"]["output"]]
    assert sent == [result for result in expected if result[1]]
    assert len([m for m in rendered.messages if m.tool_calls]) == len(sent)


def minus_two_is_refused(row: Row) -> None:
    with pytest.raises(InvalidBudgetError) as caught:
        to_section(row["input"]["section"])
    assert caught.value.value == -2
    if row["input"]["render"]:
        spec = {**row["input"]["section"], "tokens": -1}
        rendered = render(row, Prompt([to_section(spec)]))
        assert output_of(rendered) == expected_output(row)
        assert rendered.token_count == row["expected"]["length"]


def the_section_cuts_chunks(row: Row) -> None:
    budget = row["input"]["max_tokens"]
    section = DataSourceSection(text_source(row["input"]["data_source"]), tokens=1.0)
    rendered = Renderer(tokenizer=ENCODING).render(Prompt([section]), budget=budget)
    assert rendered.messages[0].text == row["expected"]["output"]
    assert rendered.token_count == row["expected"]["length"] <= budget


PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAADIAAAAyCAIAAACRXR/mAAAAI0lEQVR4nO3BMQEAAADCoPVP"
    "bQsvoAAAAAAAAAAAAAAAAAAA3gZFPAABHLHQ+wAAAABJRU5ErkJggg=="
)


def an_image_costs_what_the_model_says(row: Row) -> None:
    """The size is unknown, so it is the most that an image can cost; the data stay unchanged."""
    memory = dict(row["input"]["memory"])
    words = memory.get("temp.input", "")
    (file,) = next(v for k, v in memory.items() if k.startswith("temp.input") and k != "temp.input")
    data = file.get("content_base64")
    image = ImagePart(PNG if data is None else f"data:{file['content_type']};base64,{data}")
    prompt = Prompt([UserInput(files="files", name="input")])
    values = {"input": words, "files": [image]}
    renderer = Renderer("gpt-4o")
    with pytest.raises(BudgetExceededError) as caught:
        renderer.render(prompt, values, budget=row["input"]["max_tokens"])

    rendered = renderer.render(prompt, values, budget=caught.value.needed)
    assert rendered.token_count == caught.value.needed > 85
    (message,) = rendered.messages
    assert message.content == ((TextPart(words), image) if words else (image,))


def has_other_names(row: Row) -> None:
    attrs = row["expected"]["attrs"]
    section = UserInput(attrs["input_variable"], attrs["files_variable"])
    assert (section.variable, section.files) == (attrs["input_variable"], attrs["files_variable"])
    assert (UserInput().variable, UserInput().files) == ("input", None)


def is_whole_or_refused(row: Row) -> None:
    is_refused(row)
    section = UserInput(tokens=Tokens(row["expected"]["length"]))
    assert output_of(render(row, Prompt([section]))) == expected_output(row)


def is_whole_or_left_out(row: Row) -> None:
    rendered = render(row)
    assert (rendered.text, rendered.layout.placements[0].outcome) == ("", "dropped")

    spec = {**row["input"]["section"], "tokens": 1.0}
    assert output_of(render(row, Prompt([to_section(spec)]))) == row["expected"]["output"]


def is_not_shipped(row: Row) -> None:
    with pytest.raises(DefinitionError, match="bundled"):
        Renderer(tokenizer="gpt3")


def does_not_decode(row: Row) -> None:
    tokenizer = as_tokenizer(ENCODING)
    assert not hasattr(tokenizer, "decode")
    text = row["expected"]["text"]
    ids = row["input"].get("decode")
    assert tokenizer.count(text) == (2 if ids is None else len(ids))


def renders_as(text: str) -> Check:
    """Make a check of the text of a value."""

    def check(row: Row) -> None:
        value = row["input"]["value"]
        if "$date" in value:
            value = date.fromisoformat(value["$date"])
        else:
            value = {name: item for name, item in value.items() if name != "$as_json"}
        assert Template("<<$value>>").render({"value": value}) == text

    return check


def gets_its_fraction(row: Row) -> None:
    (budget,) = row["input"]["max_tokens"]
    section = TextSection("one two three four five six", tokens=row["input"]["tokens"])
    rendered = Renderer(tokenizer=ENCODING).render(Prompt([section]), budget=budget)
    assert rendered.token_count == row["input"]["tokens"] * budget


def stays_a_field(row: Row) -> None:
    given = {**row["input"]["message"], "role": "user"}
    message = to_message(given)
    assert message.name == given.get("name")
    if isinstance(given["content"], str):
        assert message.text == given["content"]
    else:
        texts = [part["text"] for part in given["content"] if part["type"] == "text"]
        assert [p.text for p in message.content or () if isinstance(p, TextPart)] == texts
        assert len(message.content or ()) == len(given["content"])


def stands_oldest_first(row: Row) -> None:
    memory = to_memory(row)
    before = [dict(message) for message in memory.get("history")]
    assert render(row).text == (
        "system: you are a unit test bot\nuser: hi\nassistant: hi, how may I assist you?"
    )
    assert memory.get("history") == before


def is_not_quoted(row: Row) -> None:
    rendered = render(row)
    assert output_of(rendered) == row["expected"]["output"].replace('"', "")
    assert rendered.token_count == 9
