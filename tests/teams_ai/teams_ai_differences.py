"""Where our results deliberately differ from Teams AI's, why, and what they are instead.

`DIFFERENCES` is the only such list: a case that is not in it must give what Teams AI gives. The
page "Coming from Teams AI" has each code, and a test holds the two together.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

import pytest
from attrs import frozen
from teams_ai_cases import (
    ENCODING,
    ROWS,
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
    ScopedMemory,
    Template,
    TemplateSyntaxError,
    TextPart,
    TextSection,
    Tokens,
    ToolCall,
    UndefinedVariableError,
    UnknownFunctionError,
    UserInput,
    to_message,
)
from promptsections.tokens import as_tokenizer

Check = Callable[[Row], None]
"""Asserts what we do with a case."""


@frozen
class Difference:
    """One deliberate difference and the cases that show it."""

    code: str
    reason: str
    cases: Mapping[str, Check | None]
    """Number of a case → what holds instead; `None` where there is nothing of ours to call."""


def each(check: Check | None, numbers: str) -> dict[str, Check | None]:
    return dict.fromkeys(numbers.split(), check)


# --- what holds instead -------------------------------------------------------------------------


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


def functions_are_a_mapping(row: Row) -> None:
    function = {"test": lambda *arguments: "found"}
    assert Renderer(tokenizer=ENCODING, functions=function).functions["test"]() == "found"
    assert Template("<<test>>").render(functions=function) == "found"
    with pytest.raises(UnknownFunctionError):
        Template("<<test>>").render(functions={})


def reads_a_chain_of_mappings(row: Row) -> None:
    """A fork is a `ChainMap`: what is set goes into its first mapping, reads see both."""
    scopes: dict[str, ChainMap[str, Any]] = {}
    for path, value in row["input"]["parent"].items():
        scope, name = path.split(".")
        scopes[scope] = ChainMap({}, {name: value})
    memory = ScopedMemory(scopes)
    results: list[object] = []
    for operation, path, *values in row["input"]["ops"]:
        scope, name = path.split(".") if "." in path else ("temp", path)
        own = scopes.setdefault(scope, ChainMap({})).maps[0]
        match operation:
            case "set":
                (own[name],) = values
            case "delete":
                own.pop(name, None)
            case "has":
                results.append(memory.get(path, row) is not row)
            case _:
                results.append(memory.get(path))
    assert results == row["expected"]["results"]


def paths_are_of_any_depth(row: Row) -> None:
    (operation,) = row["input"]["ops"]
    path = operation[1]
    value: object = 7
    for part in reversed(path.split(".")):
        value = {part: value}
    assert Template(f"<<${path}>>").render(value) == "7"


def wraps_a_state_object(row: Row) -> None:
    """Teams AI's `TurnState` knows `has(path)` and `get(path)`, of two parts; so does this one."""
    (stored,) = row["input"]["storage"].values()

    class State:
        def has(self, path: str) -> bool:
            return path.removeprefix("conversation.") in stored

        def get(self, path: str) -> object:
            return stored.get(path.removeprefix("conversation."))

    memory = ScopedMemory(State())
    missing = object()
    if "has" in row["input"]:
        found = [memory.get(path, missing) is not missing for path in row["input"]["has"]]
    else:
        found = [memory.get(path) for path in row["input"]["get"]]
    assert found == row["expected"]["results"]


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


# --- the table ----------------------------------------------------------------------------------

DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "never-over",
        "Nothing over the budget is sent. Where what is required does not fit, the render is "
        "refused with BudgetExceededError; Teams AI returns the long prompt with a flag.",
        each(
            is_refused,
            "K004 K008 K016 K017 K018 K022 K026 K052 K054 K069 K070 K072 K073 K086 K090 K098 K099 "
            "K100 K104 K108 K133 K135 K148 K149 K151 K152 K265 K267 K276 K292 K316 K318 K398 K434 "
            "K436 K034 K040 K116 K121 K280 K286 K048 K129 K430",
        ),
    ),
    Difference(
        "cut-to-fit",
        "A section with a number or a fraction is cut to what it is given, and both of two shares "
        "shrink before one is dropped. Teams AI cuts only sections with a number, to that number.",
        {
            **each(is_cut_to(["Hello"], 1), "K044 K125 K426"),
            "K268": is_cut_to("Hello World Teams-AI", 5),
            "K269": is_cut_to("Hello World Teams-AI", 5),
            "K270": is_cut_to("Hello", 1),
            "K297": returned_messages_are_cut_to(["Hello World!"], 3),
            "K298": returned_messages_are_cut_to(["Hello World"], 2),
            "K329": is_cut_to(["test"], 1),
        },
    ),
    Difference(
        "whole-words",
        "Text is cut between words, so that no half name is sent. Teams AI cuts between tokens.",
        each(is_cut_to("Hello World!", 3), "K293"),
    ),
    Difference(
        "fractions",
        "0.5 is a half of what the sections of a fixed size leave. Teams AI offers all of it to "
        "every section with a fraction.",
        each(gets_its_fraction, "K295"),
    ),
    Difference(
        "whole-exchanges",
        "A history sends whole exchanges and begins with a user turn: no answer without its "
        "question, no result without its call. Teams AI cuts between any two messages.",
        {
            **each(keeps_no_half_exchange, "K031 K037 K113 K118 K281 K287"),
            **each(begins_with_the_user, "K035 K285"),
        },
    ),
    Difference(
        "history-order",
        "The text of a history is oldest first with a label on every line, and reading it changes "
        "nothing. C# renders the newest first and reverses the stored list.",
        each(stands_oldest_first, "K399"),
    ),
    Difference(
        "groups-keep-messages",
        'GroupSection has no role by default and keeps the messages apart; with role="system" it '
        "is one message, as in Teams AI.",
        {
            **each(is_one_message_with_a_role, "K021 K023 K024 K103 K105 K106 K275"),
            **each(has_attributes_but(role=None), "K273"),
        },
    ),
    Difference(
        "auto-is-whole",
        "A section of its content's size (-1) is sent whole, or left out if it is optional, or "
        "refused. To have it cut, give it a number, a fraction or when_over=Truncate().",
        {
            **each(is_whole_or_refused, "K350"),
            **each(is_whole_or_left_out, "K393 K412"),
        },
    ),
    Difference(
        "counted-whole",
        "The finished text is counted. Teams AI adds up prefix, parts and separators, which may "
        "be more or less than the text has.",
        {**each(has_length(4), "K076 K082"), "K279": has_length(35), "K291": has_length(6)},
    ),
    Difference(
        "no-gpt3-vocabulary",
        "The vocabularies of today's models are shipped, not GPT-3's: another one is passed as a "
        "tiktoken.Encoding. Promptrix counts with GPT-3's.",
        {
            **each(has_length(3), "K091 K092 K096 K109 K110"),
            **each(has_length(6), "K094"),
            **each(has_length(7), "K117"),
            **each(has_length(4), "K155 K161"),
            **each(is_not_shipped, "K205 K206 K261 K262"),
        },
    ),
    Difference(
        "no-decode",
        "A tokenizer counts; nothing here turns ids into text, since cutting by ids breaks "
        "characters.",
        each(does_not_decode, "K204 K375"),
    ),
    Difference(
        "image-costs",
        "An image costs what the model's rule says. Teams AI counts 85 tokens for each.",
        each(an_image_costs_what_the_model_says, "K174 K351 K352 K353 K354 K415"),
    ),
    Difference(
        "empty-placeholder",
        "An empty placeholder is a syntax error with its position, when the section is written.",
        each(is_a_syntax_error, "K063 K142 K326 K443"),
    ),
    Difference(
        "missing-is-an-error",
        "A variable that memory does not hold is an error that suggests what was meant; "
        'Renderer(undefined="empty") renders nothing and notes it.',
        {
            **each(is_undefined_or_empty, "K321"),
            **each(is_undefined, "K348"),
            **each(a_missing_value_is_an_error, "K213 K221"),
        },
    ),
    Difference(
        "plain-strings",
        "A string comes out as it is. C# puts variables that are strings into quotes.",
        each(is_not_quoted, "K405 K406"),
    ),
    Difference(
        "always-json",
        "Mappings and lists are compact JSON, whatever they hold. Teams AI takes YAML where that "
        "has fewer tokens.",
        {
            **each(renders_as('{"a":1}'), "K210 K218"),
            **each(renders_as('{"key":"value","key2":[1,2,3]}'), "K380 K381"),
        },
    ),
    Difference(
        "dates",
        "A date is a date, 2021-01-01; only a datetime has a time.",
        each(renders_as("2021-01-01"), "K212 K220"),
    ),
    Difference(
        "tool-calls",
        "A call is a ToolCall with an id, sent as tool_calls and counted. Teams AI sends the old "
        "function_call, which we read.",
        {
            **each(is_a_tool_call, "K162 K163 K340 K341 K342 K413"),
            **each(an_old_call_is_read, "K302"),
        },
    ),
    Difference(
        "tool-results",
        "A result has the role tool and its call's id, is counted, and stands right behind its "
        "call or is not sent: a history keeps the two together. There is no section that joins "
        "calls and outputs from two places in memory.",
        {
            **each(is_a_tool_result, "K164 K165 K343 K344 K345 K414"),
            **each(outputs_stand_behind_their_calls, "K356 K357 K407 K408 K409 K410"),
            **each(None, "K355"),
        },
    ),
    Difference(
        "message-fields",
        "A name is a field and parts stay parts; neither is written into the text.",
        each(stays_a_field, "K300 K301 K396"),
    ),
    Difference(
        "negative-tokens",
        "-1 is the only negative number with a meaning; others are InvalidBudgetError.",
        each(minus_two_is_refused, "K166 K167"),
    ),
    Difference(
        "sources-return-chunks",
        "A data source returns ranked chunks and is not told how to cut them: the section keeps as "
        "many as fit.",
        each(the_section_cuts_chunks, "K169 K170 K338 K339"),
    ),
    Difference(
        "sources-are-optional",
        "A data source may be left out by default, with a share of 0.3; Teams AI requires it.",
        each(has_attributes_but(required=False), "K336"),
    ),
    Difference(
        "other-names",
        "UserInput(variable, files) is Teams AI's UserInputMessage(input_variable, "
        "files_variable); files are read only where they are named. Prefixes of a history keep "
        "their colon, which the Python port of Promptrix lost.",
        {
            **each(has_other_names, "K346 K347"),
            **each(
                has_attributes_but(user_prefix="user: ", assistant_prefix="assistant: "), "K421"
            ),
        },
    ),
    Difference(
        "no-registry",
        "Functions are a mapping that is passed to Renderer; there is nothing to register in.",
        each(
            functions_are_a_mapping, "K240 K241 K242 K243 K244 K245 K246 K247 K446 K447 K448 K449"
        ),
    ),
    Difference(
        "memory-is-read",
        "Memory is any mapping, or anything with get(path, default), read by paths of any depth "
        "and never changed. A ChainMap is a fork; state and its storage belong to the bot.",
        {
            **each(
                reads_a_chain_of_mappings,
                "K224 K225 K226 K227 K228 K229 K230 K231 K232 K233 K234 K235 K236 K237 K238 K239",
            ),
            **each(paths_are_of_any_depth, "K223"),
            **each(wraps_a_state_object, "K387 K388"),
            **each(
                None,
                "K250 K251 K252 K253 K254 K255 K256 K257 K258 K259 K260 K383 K384 K385 K386 K389 "
                "K390 K391 K451 K452 K453 K454 K455 K456 K457 K458 K459 K460 K461",
            ),
        },
    ),
    Difference(
        "no-prompt-manager",
        "A prompt is a value that is written in code and passed around: there is no manager, and "
        "nothing to add to it.",
        each(None, " ".join(sorted(k for k, r in ROWS.items() if r["area"] == "prompt_manager"))),
    ),
)
