"""A prompt of any format is opened by its path alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptsections import ConfigError
from promptsections.config import open_prompt

OURS = "sections:\n- kind: text\n  text: Hi\n"
FILES = {
    "a.yaml": (OURS, "promptsections"),
    "a.prompty": ("Hi", "prompty"),
    "kernel.yaml": ("name: k\ntemplate: Hi", "semantic_kernel"),
    "kernel.YML": ("template: Hi\ntemplate_format: handlebars", "semantic_kernel"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_are_told_by_name_and_content(tmp_path: Path, name: str) -> None:
    text, kind = FILES[name]
    (tmp_path / name).write_text(text, encoding="utf-8")

    file = open_prompt(tmp_path / name)
    assert file.format == kind
    assert file.prompt.sections


def test_folders_are_told_by_their_settings(tmp_path: Path) -> None:
    (tmp_path / "skprompt.txt").write_text("Hi", encoding="utf-8")
    config = tmp_path / "config.json"

    config.write_text('{"augmentation": {"data_sources": {"docs": 100}}}', encoding="utf-8")
    file = open_prompt(tmp_path)
    assert file.format == "teams_ai"
    assert [note.code for note in file.notes] == ["sources_missing"]

    config.write_text('{"execution_settings": {}}', encoding="utf-8")
    assert open_prompt(str(tmp_path)).format == "semantic_kernel"

    (tmp_path / "prompt.yaml").write_text(OURS, encoding="utf-8")
    assert open_prompt(tmp_path).format == "promptsections"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.txt", "Hi", "invalid"),
        ("a.yaml", "template: [", "invalid"),
        ("a.yaml", "- template", "invalid"),
        ("none.yaml", None, "missing"),
        ("none.prompty", None, "missing"),
        ("none", None, "missing"),
    ],
)
def test_what_cannot_be_opened_is_an_error(
    tmp_path: Path, name: str, text: str | None, kind: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        open_prompt(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert caught.value.kind == kind


def test_a_folder_without_a_prompt_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        open_prompt(tmp_path)

    assert caught.value.kind == "missing"
    assert str(tmp_path) in str(caught.value)
    assert "prompt.yaml" in str(caught.value)
    assert "skprompt.txt" in str(caught.value)
