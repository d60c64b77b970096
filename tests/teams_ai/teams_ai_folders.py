"""Cases of Teams AI's prompt manager: their folders, written to disk and read by us."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from teams_ai_cases import ENCODING, Row

from promptsections import ConfigError, DefinitionError, Renderer, Scope, ScopedMemory
from promptsections.config import PromptFile, PromptFolder
from promptsections.prompt import Prompt

MISSING = {
    "missingConfig": "config.json",
    "no_config": "config.json",
    "missingPrompt": "skprompt.txt",
    "no_prompt": "skprompt.txt",
}
OPTIONS = (
    "max_tokens",
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "stop_sequences",
)
NOT_THERE = ("not_found", "notFound", "does_not_exist")
CREATE_LIST = {
    "name": "createList",
    "description": "Creates a new list with an optional set of initial items",
    "parameters": {
        "type": "object",
        "properties": {
            "list": {"type": "string"},
            "items": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["list"],
    },
}


def name_of(row: Row) -> str:
    """Return the name of the prompt that a case asks for."""
    (name,) = re.findall(r"(?i)(?:get_?|has_?)prompt\('(\w+)'\)", row["input"]["call"])
    return name


def config_of(row: Row) -> Mapping[str, Any]:
    """Return the settings of a case; where it shows none, those that it is named after."""
    data = row["input"]
    config = dict(data.get("config.json") or data.get("config") or {})
    kind = row["expected"].get("config.augmentation.augmentation_type")
    if kind is not None:
        config["augmentation"] = {"augmentation_type": kind}
    if "monologue" in "".join(data.get("files", ())):
        config["augmentation"] = {"augmentation_type": "monologue"}
    return config


@contextmanager
def written(row: Row) -> Iterator[Path]:
    """Write the folder of a case."""
    with TemporaryDirectory() as root:
        name = name_of(row)
        folder = Path(root) / name
        if name not in NOT_THERE:
            folder.mkdir()
            files = {
                "config.json": json.dumps(config_of(row)),
                "skprompt.txt": row["input"].get("skprompt.txt", "test prompt"),
                "actions.json": json.dumps([CREATE_LIST]),
            }
            for file in files.keys() - {MISSING.get(name)}:
                (folder / file).write_text(files[file], encoding="utf-8")
        yield Path(root)


def search(query: str, scope: Scope) -> list[str]:
    """Find what was asked."""
    return [f"found {query}"]


def load(row: Row, **options: Any) -> PromptFile:
    with written(row) as root:
        has_source = (
            "data_source" in row["input"]["call"] or "addDataSource" in row["input"]["call"]
        )
        names = config_of(row).get("augmentation", {}).get("data_sources", ())
        given = dict.fromkeys(names, search) if has_source or row["id"] == "K371" else {}
        return PromptFolder(root, data_sources=given, **options)[name_of(row)]


def shape(prompt: Prompt) -> list[str]:
    """Write the sections of a prompt with Teams AI's names for them."""
    return [_NAMES[name.partition("/")[0]] for name in prompt.names]


_NAMES = {
    "instructions": "GroupSection",
    "history": "ConversationHistorySection",
    "input": "UserMessage",
}


def loads_the_same(row: Row) -> None:
    """Assert that a folder gives here what it gives in Teams AI."""
    expected = row["expected"]
    if "result" in expected:
        with written(row) as root:
            assert (name_of(row) in PromptFolder(root)) is expected["result"]
        return
    if "error" in expected:
        is_refused_with_its_file(row)
        return
    file = load(row)
    renders(file)
    if "sections" in expected:
        assert shape(file.prompt)[:2] == [s.partition("[")[0] for s in expected["sections"]][:2]
        assert file.prompt.sections[2].files == "temp.input_files"
    if "config.augmentation.augmentation_type" in expected:
        kind = expected["config.augmentation.augmentation_type"]
        assert bool(file.prompt.tools) is (kind == "tools")
        assert ("actions" in file.prompt.sections[0].names) is (kind == "sequence")
    if "config.completion.model" in expected:
        assert file.model == expected["config.completion.model"]


def renders(file: PromptFile) -> list[str]:
    """Render a folder with a turn in Teams AI's scopes; return the texts."""
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    memory = ScopedMemory({
        "conversation": {f"{file.name}_history": history}, "temp": {"input": "lights on"}
    })  # fmt: skip
    rendered = Renderer(tokenizer=ENCODING).render(file.prompt, memory, budget=file.budget)
    texts = [message.text for message in rendered.messages]
    assert texts[0].startswith("test prompt")
    assert texts[1:] == ["Hi", "Hello", "lights on"]
    return texts


def is_refused_with_its_file(row: Row) -> None:
    """What is missing, what is wrong and what is asked for by a wrong name are told apart."""
    name = name_of(row)
    options = row["input"].get("options", {})
    if options.get("role") == "":
        with pytest.raises(DefinitionError, match="role"), written({**row, "input": {
            **row["input"], "call": "getPrompt('there')"
        }}) as root:  # fmt: skip
            PromptFolder(root, role="")["there"]
    with pytest.raises(ConfigError) as caught:
        load(row)
    path = str(Path(name) / MISSING[name]) if name in MISSING else name
    is_missing = name in MISSING or name in NOT_THERE
    assert caught.value.kind == ("missing" if is_missing else "invalid")
    assert path in caught.value.path
    assert caught.value.path in str(caught.value)
    sources = config_of(row).get("augmentation", {}).get("data_sources", {})
    if sources:
        assert "augmentation.data_sources" in str(caught.value)
    if isinstance(sources, dict):
        assert all(f"data source {source!r} not found" in str(caught.value) for source in sources)


def lists_the_actions_once(row: Row) -> None:
    """The sections are those of Teams AI; the actions are those of the file, and SAY."""
    file = load(row)
    group, history, words = file.prompt.sections

    assert group.names == ("template", "teams-ai", "actions")
    assert history.variable == "conversation.happy_path_history"
    assert words.variable == "temp.input"
    listed = json.loads(group.sections[2].text.partition("\n")[0])["actions"]
    assert list(listed) == ["createList", "SAY"]
    assert listed["createList"]["parameters"] == CREATE_LIST["parameters"]
    assert file.prompt.tools == ()
    completion = row["input"]["config.json"]["completion"]
    assert (file.budget, file.reserve_output_tokens) == (2800, 1000)
    assert (file.model, file.description) == (completion["model"], "test config")
    assert file.options == {key: completion[key] for key in OPTIONS}
    assert "found lights on" in renders(file)[0]


def results_stand_before_the_input(row: Row) -> None:
    """The results that wait are sent behind their calls; the words of the user come after them."""
    file = load(row)
    assert [tool.name for tool in file.prompt.tools] == ["createList"]
    assert shape(file.prompt) == row["expected"]["sections"][:3]
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "createList", "arguments": "{}"}}
    ]
    history = [
        {"role": "user", "content": "Make a list"},
        {"role": "assistant", "content": None, "action_calls": calls},
    ]
    memory = ScopedMemory({
        "conversation": {"tools_history": history},
        "temp": {"action_outputs": {"c1": "made"}, "input": "and now?"},
    })  # fmt: skip
    rendered = Renderer(tokenizer=ENCODING).render(file.prompt, memory, budget=file.budget)
    roles = [message.role for message in rendered.messages]
    assert roles == ["system", "user", "assistant", "tool", "user"]
