"""Prompt folders of Teams AI: settings, sections, turns, and everything that may be wrong."""

from __future__ import annotations

import json
import locale
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from promptsections import (
    Auto,
    BudgetExceededError,
    ConfigError,
    DefinitionError,
    ImagePart,
    Message,
    NewestFirst,
    Prompt,
    Renderer,
    Rest,
    Scope,
    ScopedMemory,
    Share,
    TextPart,
    TextSection,
    Tokens,
    UndefinedVariableError,
)
from promptsections.config import TEAMS_AI_KINDS, PromptFile, dumps, loads, read_folder
from promptsections.testing.tokenizers import WordTokenizer

RENDERER = Renderer(tokenizer="cl100k_base")
ACTIONS = [
    {"name": "on", "description": "Lights on", "parameters": {"type": "object", "properties": {}}},
    {"name": "off"},
]


def write(root: Path, name: str = "chat", **files: object) -> Path:
    """Write a folder; `config` and `actions` as JSON, a text or bytes as they are."""
    folder = root / name
    folder.mkdir(exist_ok=True)
    contents: Mapping[str, object] = {"text": "Hi", "config": {}, **files}
    names = {"text": "skprompt.txt", "config": "config.json", "actions": "actions.json"}
    for key, content in contents.items():
        if content is None:
            continue
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        (folder / names[key]).write_bytes(data)
    return folder


def search(query: str, scope: Scope) -> list[str]:
    """Return a page about what was asked."""
    return [f"page on {query}"]


def texts(file: PromptFile, memory: object) -> list[tuple[str, str]]:
    rendered = RENDERER.render(file.prompt, memory, budget=10_000)
    return [(message.role, message.text) for message in rendered.messages]


# --- settings -------------------------------------------------------------------------------------


def test_the_defaults_are_those_of_teams_ai(tmp_path: Path) -> None:
    file = read_folder(write(tmp_path))

    assert (file.name, file.format, file.path) == ("chat", "teams_ai", tmp_path / "chat")
    assert (file.description, file.model) == (None, None)
    assert (file.budget, file.reserve_output_tokens) == (2048, 150)
    assert file.options == {
        "max_tokens": 150, "temperature": 0, "top_p": 0, "presence_penalty": 0,
        "frequency_penalty": 0,
    }  # fmt: skip
    assert file.prompt.names == ("instructions", "history", "input")
    assert file.notes == ()


def test_the_settings_are_taken_over(tmp_path: Path) -> None:
    completion = {
        "model": "gpt-4o",
        "completion_type": "chat",
        "max_input_tokens": 3000,
        "max_tokens": 500,
        "temperature": 0.7,
        "stop_sequences": ["END"],
        "tool_choice": "required",
        "parallel_tool_calls": False,
    }
    config = {"schema": 1.1, "type": "completion", "description": "d", "completion": completion}
    file = read_folder(write(tmp_path, config=config))

    assert (file.description, file.model) == ("d", "gpt-4o")
    assert (file.budget, file.reserve_output_tokens) == (3000, 500)
    assert file.options["max_tokens"] == 500
    assert file.options["temperature"] == 0.7
    assert file.options["stop_sequences"] == ["END"]
    assert file.options["tool_choice"] == "required"
    assert file.options["parallel_tool_calls"] is False


@pytest.mark.parametrize(
    ("config", "model"),
    [
        ({"schema": 1, "default_backends": ["a", "b"], "completion": {"model": "c"}}, "a"),
        ({"default_backends": ["a"]}, "a"),
        ({"schema": 1, "default_backends": [], "completion": {"model": "c"}}, "c"),
        ({"schema": 1.1, "default_backends": ["a"], "completion": {"model": "c"}}, "c"),
    ],
)
def test_schema_1_names_its_model_elsewhere(tmp_path: Path, config: object, model: str) -> None:
    assert read_folder(write(tmp_path, config=config)).model == model


def test_sections_may_be_switched_off(tmp_path: Path) -> None:
    config = {"completion": {"include_history": False, "include_input": False}}

    assert read_folder(write(tmp_path, config=config)).prompt.names == ("instructions",)


def test_what_is_not_taken_over_is_noted(tmp_path: Path) -> None:
    config = {
        "schema": 2,
        "type": "image",
        "vendor": {"x": 1},
        "completion": {"completion_type": "text", "data_sources": [{"type": "azure"}]},
    }
    notes = read_folder(write(tmp_path, config=config, actions=ACTIONS)).notes

    assert [(note.code, note.path) for note in notes] == [
        ("unknown_key", "vendor"),
        ("unknown_key", "schema"),
        ("unknown_key", "type"),
        ("key_left_out", "completion.completion_type"),
        ("key_left_out", "completion.data_sources"),
        ("tools_left_out", "actions.json"),
    ]


def test_a_completion_type_that_nobody_knows_is_noted(tmp_path: Path) -> None:
    config = {"schema": 1.1, "completion": {"completion_type": "chatt"}}

    (note,) = read_folder(write(tmp_path, config=config)).notes

    assert (note.code, note.path) == ("unknown_key", "completion.completion_type")
    assert "'chatt' is read as chat" in note.detail


# --- sections -------------------------------------------------------------------------------------


TURN = {
    "conversation": {"chat_history": [Message("user", "a"), Message("assistant", "b")], "x": "X"},
    "temp": {"input": "Q"},
}


def test_the_order_is_that_of_teams_ai_or_one_for_caches(tmp_path: Path) -> None:
    config = {"augmentation": {"augmentation_type": "sequence", "data_sources": {"docs": 100}}}
    folder = write(tmp_path, text="Is {{$conversation.x}}.", config=config, actions=ACTIONS)
    given = {"docs": search}

    first = texts(read_folder(folder, data_sources=given), ScopedMemory(TURN))
    second = texts(read_folder(folder, data_sources=given, order="cache"), ScopedMemory(TURN))

    assert [role for role, _ in first] == ["system", "user", "assistant", "user"]
    assert first[0][1].startswith('Is X.\n\npage on Q\n\n{"actions":{"on":')
    assert first[1:] == [("user", "a"), ("assistant", "b"), ("user", "Q")]
    assert second[0][1] == first[0][1].replace("page on Q\n\n", "")
    assert second[1:] == [
        ("user", "a"), ("assistant", "b"), ("system", "page on Q"), ("user", "Q")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "budget"),
    [
        (1200, Tokens(1200)),
        (0.3, Share(0.3)),
        (1, Rest()),
        (1.0, Rest()),
        (-1, Auto()),
        (None, Auto()),
    ],
)
def test_data_sources_get_the_budget_that_is_written(
    tmp_path: Path, written: object, budget: object
) -> None:
    config = {"augmentation": {"data_sources": {"docs": written}}}
    file = read_folder(write(tmp_path, config=config), data_sources={"docs": search})

    assert file.prompt.sections[0].sections[1].budget == budget


def test_a_share_of_a_data_source_is_a_share(tmp_path: Path) -> None:
    config = {
        "completion": {"include_history": False, "include_input": False},
        "augmentation": {"data_sources": {"docs": 0.3}},
    }
    file = read_folder(
        write(tmp_path, text="x", config=config),
        data_sources={"docs": lambda query, scope: ["w " * 1000]},
    )
    rendered = Renderer(tokenizer=WordTokenizer()).render(file.prompt, {}, budget=101)

    assert rendered.messages[0].text.split().count("w") == 30


def test_a_data_source_does_not_replace_the_prompt(tmp_path: Path) -> None:
    config = {"augmentation": {"data_sources": {"docs": 1200}}}
    file = read_folder(
        write(tmp_path, text="Answer only in rhymes", config=config),
        data_sources={"docs": lambda query, scope: ["DOC TEXT"]},
    )

    assert texts(file, {}) == [("system", "Answer only in rhymes\n\nDOC TEXT")]


def test_missing_data_sources_may_be_empty(tmp_path: Path) -> None:
    config = {"augmentation": {"data_sources": {"docs": 1200}}}
    file = read_folder(write(tmp_path, config=config), missing_sources="empty")

    assert texts(file, {"input": "Q"}) == [("system", "Hi"), ("user", "Q")]
    assert [(note.code, note.path) for note in file.notes] == [("sources_missing", "docs")]


@pytest.mark.parametrize(
    "memory",
    [
        {"input": "Q"},
        {"temp": {"input": "Q"}},
        {"temp.input": "Q"},
        ScopedMemory({"temp": {"input": "Q"}}),
    ],
)
def test_the_input_is_found_with_scopes_and_without(tmp_path: Path, memory: object) -> None:
    config = {"augmentation": {"data_sources": {"docs": 100}}}
    file = read_folder(write(tmp_path, config=config), data_sources={"docs": search})

    assert texts(file, memory) == [("system", "Hi\n\npage on Q"), ("user", "Q")]


def test_a_turn_without_input_has_none(tmp_path: Path) -> None:
    file = read_folder(write(tmp_path))
    rendered = RENDERER.render(file.prompt, {}, budget=100)

    assert [message.text for message in rendered.messages] == ["Hi"]
    assert rendered.layout["input"].reason == "missing"


def test_input_that_does_not_fit_is_never_dropped(tmp_path: Path) -> None:
    prompt = read_folder(write(tmp_path)).prompt
    words = "word " * 50

    assert RENDERER.render(prompt, {"input": words}, budget=60).messages[-1].text == words
    with pytest.raises(BudgetExceededError):
        RENDERER.render(prompt, {"input": words}, budget=40)
    with pytest.raises(DefinitionError):
        read_folder(write(tmp_path), input_tokens=-2)


@dataclass
class InputFile:
    """As Teams AI has it."""

    content: bytes
    content_type: str
    content_url: str | None = None


@pytest.mark.parametrize(
    "file",
    [
        InputFile(b"\x01\x02", "image/png"),
        {"content_type": "image/png", "content": b"\x01\x02"},
        {"content_type": "image/png", "content": "AQI="},
        {"content_type": "image/png", "content": "data:image/png;base64,AQI="},
        ImagePart("data:image/png;base64,AQI="),
    ],
)
def test_images_go_with_the_input(tmp_path: Path, file: object) -> None:
    prompt = read_folder(write(tmp_path, config={"completion": {"include_images": True}})).prompt
    other = {"content_type": "application/pdf", "content": b"x"}
    image = ImagePart("data:image/png;base64,AQI=")
    renderer = Renderer("gpt-4o")

    for turn, expected in (
        ({"input": "Q", "input_files": [file, other]}, (TextPart("Q"), image)),
        ({"input_files": [file]}, (image,)),
        ({"input": "Q"}, "Q"),
    ):
        memory = ScopedMemory({"temp": turn})
        assert renderer.render(prompt, memory, budget=9000).messages[-1].content == expected


# --- augmentations --------------------------------------------------------------------------------


def augmented(tmp_path: Path, kind: str, **options: Any) -> PromptFile:
    config = {"augmentation": {"augmentation_type": kind}}
    return read_folder(write(tmp_path, config=config, actions=ACTIONS), **options)


@pytest.mark.parametrize(
    ("kind", "names", "form"),
    [
        ("monologue", ["on", "off", "SAY"], '{"thoughts":{"thought":'),
        ("sequence", ["on", "off"], '{"type":"plan","commands":['),
    ],
)
def test_actions_are_listed_with_the_form_of_the_answer(
    tmp_path: Path, kind: str, names: list[str], form: str
) -> None:
    file = augmented(tmp_path, kind)
    text = texts(file, {})[0][1]
    listed = json.loads(text.split("\n\n")[1])["actions"]

    assert list(listed) == names
    assert listed["on"]["description"] == "Lights on"
    assert listed["off"] == {"parameters": {"type": "object", "properties": {}}}
    assert form in text
    assert file.prompt.tools == ()


def test_actions_are_tools(tmp_path: Path) -> None:
    file = augmented(tmp_path, "tools")

    assert [(tool.name, tool.description) for tool in file.prompt.tools] == [
        ("on", "Lights on"), ("off", "")
    ]  # fmt: skip
    assert texts(file, {}) == [("system", "Hi")]


def test_augmentations_may_be_ones_own(tmp_path: Path) -> None:
    def mine(actions: Any) -> TextSection:
        return TextSection(f"I can {', '.join(action.name for action in actions)}.")

    file = augmented(tmp_path, "mine", augmentations={"mine": mine})
    assert texts(file, {}) == [("system", "Hi\n\nI can on, off.")]

    file = augmented(tmp_path, "sequence", augmentations={"sequence": mine})
    assert texts(file, {}) == [("system", "Hi\n\nI can on, off.")]


CALLS = [{"id": "c1", "type": "function", "function": {"name": "on", "arguments": "{}"}}]
UNDER_WAY = [
    {"role": "user", "content": "On"},
    {"role": "assistant", "content": None, "action_calls": CALLS},
]


@pytest.mark.parametrize("has_history", [True, False])
def test_results_stand_behind_their_calls(tmp_path: Path, has_history: bool) -> None:
    config = {
        "completion": {"include_history": has_history},
        "augmentation": {"augmentation_type": "tools"},
    }
    file = read_folder(write(tmp_path, config=config, actions=ACTIONS))
    scope = "conversation" if has_history else "temp"
    state: dict[str, Any] = {"conversation": {}, "temp": {"action_outputs": {"c1": {"ok": True}}}}
    state[scope]["chat_history"] = UNDER_WAY
    rendered = RENDERER.render(file.prompt, ScopedMemory(state), budget=500)

    assert [(m.role, m.text) for m in rendered.messages] == [
        ("system", "Hi"), ("user", "On"), ("assistant", ""), ("tool", '{"ok":true}')
    ]  # fmt: skip
    assert rendered.messages[-1].tool_call_id == "c1"


@pytest.mark.parametrize(
    "history",
    [[], [{"role": "user", "content": "On"}], NewestFirst(lambda: [Message("user", "On")])],
)
def test_results_without_calls_are_not_sent(tmp_path: Path, history: object) -> None:
    file = augmented(tmp_path, "tools")
    state = {"conversation": {"chat_history": history}, "temp": {"action_outputs": {"c1": "x"}}}

    assert all(role != "tool" for role, _ in texts(file, ScopedMemory(state)))


def test_a_result_that_is_not_there_yet_leaves_its_call_out(tmp_path: Path) -> None:
    file = augmented(tmp_path, "tools")
    state = {"conversation": {"chat_history": UNDER_WAY}, "temp": {"action_outputs": {"c2": "x"}}}

    assert texts(file, ScopedMemory(state)) == [("system", "Hi"), ("user", "On")]


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["none", "tools", "monologue", "sequence"])
@pytest.mark.parametrize("order", ["teams_ai", "cache"])
def test_a_folder_can_be_written_in_our_format(tmp_path: Path, kind: str, order: str) -> None:
    config = {"augmentation": {"augmentation_type": kind, "data_sources": {"docs": 0.3}}}
    folder = write(tmp_path, text="Hi {{$n}}", config=config, actions=ACTIONS)
    file = read_folder(folder, missing_sources="empty", order=order)
    again = loads(dumps(file, kinds=TEAMS_AI_KINDS), kinds=TEAMS_AI_KINDS)

    assert again.prompt.sections == file.prompt.sections
    assert again.prompt.tools == file.prompt.tools
    assert (again.budget, again.options) == (file.budget, file.options)


def test_options_of_the_prompt_manager(tmp_path: Path) -> None:
    file = read_folder(
        write(tmp_path),
        role="developer",
        history_tokens=1,
        input_tokens=50,
        delimiters=("<<", ">>"),
    )
    group, history, words = file.prompt.sections

    assert (group.role, history.budget, words.budget) == ("developer", Rest(), Tokens(50))
    assert texts(file, {}) == [("developer", "Hi")]


def test_a_role_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="role"):
        read_folder(write(tmp_path), role="")


# --- files ----------------------------------------------------------------------------------------


def test_byte_order_marks_line_ends_and_other_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locale, "getpreferredencoding", lambda *_: "cp1252")
    folder = write(
        tmp_path,
        name="grüße",
        text=b"\xef\xbb\xbfHi {{$n}}\r\n" + "Schön 🧠".encode(),
        config=b"\xef\xbb\xbf{}\r\n",
    )
    file = read_folder(folder)

    assert file.name == "grüße"
    assert texts(file, {"n": "A"}) == [("system", "Hi A\nSchön 🧠")]


def test_other_delimiters(tmp_path: Path) -> None:
    folder = write(tmp_path, text=bytes.fromhex("efbbbf4869203c3c246e3e3e"), config="\ufeff{}")

    assert texts(read_folder(folder, delimiters=("<<", ">>")), {"n": "A"}) == [("system", "Hi A")]


def test_a_missing_variable_is_an_error(tmp_path: Path) -> None:
    file = read_folder(write(tmp_path, text="Hi {{$nobody}}"))

    with pytest.raises(UndefinedVariableError, match="nobody"):
        texts(file, {})


def test_a_missing_folder_a_missing_file_and_a_wrong_one_are_told_apart(tmp_path: Path) -> None:
    cases = {
        "none": (None, "missing", "none", "no such folder"),
        "no_text": ({"text": None}, "missing", "no_text/skprompt.txt", "does not exist"),
        "no_config": ({"config": None}, "missing", "no_config/config.json", "does not exist"),
        "bad": ({"config": '{"a": 1,\n}'}, "invalid", "bad/config.json", ":2: this is no JSON"),
    }
    for name, (files, kind, path, words) in cases.items():
        folder = tmp_path / name if files is None else write(tmp_path, name, **files)
        with pytest.raises(ConfigError) as caught:
            read_folder(folder)
        assert caught.value.kind == kind
        assert caught.value.path == str(tmp_path / path)
        assert str(tmp_path / path) in str(caught.value)
        assert words in str(caught.value)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(ConfigError, match="is no folder"):
        read_folder(tmp_path / "file")


WRONG: Mapping[str, tuple[Mapping[str, object], str, str]] = {
    "a comma in the actions": (
        {"actions": '[{"name": "f",]'},
        "actions.json:1: ",
        "this is no JSON",
    ),
    "actions that are no list": ({"actions": {}}, "actions.json:1: ", "a list of actions"),
    "an action that is no table": ({"actions": ["f"]}, "actions.json:1: ", "a table"),
    "an action without a name": ({"actions": [{}]}, "actions.json:1: [0]: ", "needs a name"),
    "parameters": ({"actions": [{"name": "f", "parameters": []}]}, "[0].parameters", "a table"),
    "a number that JSON has not": (
        {"config": '{"completion":{"top_p":NaN}}'},
        "config.json:1",
        "NaN",
    ),
    "a misspelt key": (
        {"config": '{\n"completion": {\n"max_input_token": 2000}}'},
        "config.json:3: completion.max_input_token: ",
        "did you mean 'max_input_tokens'",
    ),
    "a misspelt table": ({"config": {"augmentaton": {}}}, "augmentaton", "'augmentation'"),
    "a text for a number": (
        {"config": {"completion": {"max_tokens": "9"}}},
        "max_tokens",
        "a number",
    ),
    "a budget of half a token": (
        {"config": {"completion": {"max_input_tokens": 1.5}}},
        "max_input_tokens",
        "whole number",
    ),
    "no budget": ({"config": {"completion": {"max_input_tokens": 0}}}, "tokens", "at least 1"),
    "a text for a flag": (
        {"config": {"completion": {"include_history": "false"}}},
        "include_history",
        "true or false",
    ),
    "a list for a text": ({"config": {"description": []}}, "description", "a text, not a list"),
    "a number for a text": ({"config": {"description": 7}}, "description", "a text, not 7"),
    "a list for a table": ({"config": {"completion": []}}, "completion", "a table"),
    "a list": ({"config": []}, "config.json:1: ", "a table of keys and values"),
    "backends": ({"config": {"default_backends": [{}]}}, "default_backends[0]", "a text"),
    "two actions of one name": ({"actions": [ACTIONS[1]] * 2}, "actions.json:1: [1]: ", "'off'"),
    "no backends": ({"config": {"default_backends": "a"}}, "default_backends", "a list"),
    "an augmentation": (
        {"config": {"augmentation": {"augmentation_type": "monolog"}}},
        "augmentation.augmentation_type",
        "did you mean 'monologue'",
    ),
    "sources in a list": (
        {"config": {"augmentation": {"data_sources": ["a"]}}},
        "augmentation.data_sources",
        "a table",
    ),
    "a source that is not there": (
        {"config": {"augmentation": {"data_sources": {"a": 9}}}},
        "augmentation.data_sources.a",
        "data source 'a' not found for prompt 'chat', and none",
    ),
    "a source without tokens": (
        {"config": {"augmentation": {"data_sources": {"docs": 0}}}},
        "data_sources.docs",
        "0",
    ),
    "a prompt of Semantic Kernel": (
        {"config": {"input_variables": []}},
        "input_variables",
        "read_semantic_kernel",
    ),
    "a template": ({"text": "a\n{{$x y}}"}, "skprompt.txt:2: ", "nothing but white space"),
    "no UTF-8": ({"text": b"a\n\xff"}, "skprompt.txt:2: ", "no UTF-8"),
    "UTF-16": ({"config": "{}".encode("utf-16")}, "config.json", "UTF-16"),
    "depth": ({"config": "[" * 100_000 + "]" * 100_000}, "config.json", "deep"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, name: str) -> None:
    files, place, words = WRONG[name]
    folder = write(tmp_path, **files)
    given = {} if "not there" in name else {"docs": search}

    with pytest.raises(ConfigError) as caught:
        read_folder(folder, data_sources=given)
    assert caught.value.kind == "invalid"
    assert place in str(caught.value)
    assert words in str(caught.value)
    assert str(folder) in str(caught.value)


def test_a_data_source_that_cannot_be_called_is_refused(tmp_path: Path) -> None:
    config = {"augmentation": {"data_sources": {"docs": 9}}}

    with pytest.raises(ConfigError, match="must be a function of query and scope"):
        read_folder(write(tmp_path, config=config), data_sources={"docs": 7})


@pytest.mark.parametrize("order", ["teams_ai", "cache"])
def test_data_sources_may_have_any_name(tmp_path: Path, order: str) -> None:
    names = ["a/b", "a-b", "", "template", "actions", "input", "history", "ü 1"]
    config = {
        "augmentation": {
            "augmentation_type": "sequence", "data_sources": dict.fromkeys(names, 100)
        }
    }  # fmt: skip
    folder = write(tmp_path, config=config)
    file = read_folder(folder, data_sources=dict.fromkeys(names, search), order=order)

    assert sum("page on Q" in text for _, text in texts(file, {"input": "Q"})) in (1, 8)
    paths = ("instructions/ü 1", "instructions/a-b") if order == "teams_ai" else ("ü 1", "a-b")
    assert set(paths) <= file.places.keys()


def test_known_sources_are_named(tmp_path: Path) -> None:
    config = {"augmentation": {"data_sources": {"dcs": 9}}}

    with pytest.raises(ConfigError, match="given are 'docs'"):
        read_folder(write(tmp_path, config=config), data_sources={"docs": search})


def test_a_file_that_is_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("SECRET", encoding="utf-8")
    folder = write(tmp_path, text=None)
    (folder / "skprompt.txt").symlink_to(tmp_path / "secret.txt")

    with pytest.raises(ConfigError, match="leads out of the folder through a link"):
        read_folder(folder)


def test_places_are_where_sections_are_written(tmp_path: Path) -> None:
    config = '{\n"augmentation": {\n"data_sources": {\n"docs": 100}}}'
    folder = write(tmp_path, config=config)

    for order, path in (("teams_ai", "instructions/docs"), ("cache", "docs")):
        file = read_folder(folder, data_sources={"docs": search}, order=order)
        assert str(file.places[path]) == f"{folder / 'config.json'}:4"
        assert str(file.places["instructions/template"]) == f"{folder / 'skprompt.txt'}:1"
        assert isinstance(file.prompt, Prompt)
