"""`PromptFolder`: found by name, read once, never outside of its directory."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import ConfigError, TemplateSection
from promptsections.config import PromptFile, PromptFolder


def write(root: Path, name: str, text: str = "Hi") -> Path:
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "skprompt.txt").write_text(text, encoding="utf-8")
    (folder / "config.json").write_text("{}", encoding="utf-8")
    return folder


def text_of(file: PromptFile) -> str:
    template = file.prompt.sections[0].sections[0]
    assert isinstance(template, TemplateSection)
    return template.template.source


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    write(tmp_path, "secret", "SECRET")
    root = tmp_path / "prompts"
    for name in ("chat", "bots/lights", "empty"):
        write(root, name, name)
    (root / "empty" / "skprompt.txt").unlink()
    return root


def test_prompts_are_found_by_name(prompts: Path) -> None:
    folder = PromptFolder(prompts)

    assert folder.names == ("bots/lights", "chat")
    assert list(folder) == ["bots/lights", "chat"]
    assert len(folder) == 2
    assert "chat" in folder
    assert "empty" not in folder
    assert "none" not in folder
    assert text_of(folder["chat"]) == "chat"
    assert folder["bots/lights"].name == "lights"
    assert folder.get("chat") is folder["chat"]
    assert folder.get("none") is None
    assert folder.get("none", folder["chat"]) is folder["chat"]
    assert repr(folder) == f"PromptFolder({str(prompts)!r})"


def test_what_is_missing_is_told_with_its_path(prompts: Path) -> None:
    folder = PromptFolder(prompts)

    with pytest.raises(ConfigError, match="no such folder") as caught:
        folder["none"]
    assert (caught.value.kind, caught.value.path) == ("missing", str(prompts / "none"))

    with pytest.raises(ConfigError, match="does not exist") as caught:
        folder["empty"]
    assert (caught.value.kind, caught.value.path) == (
        "missing", str(prompts / "empty" / "skprompt.txt")
    )  # fmt: skip

    with pytest.raises(ConfigError, match="no such folder of prompts") as caught:
        PromptFolder(prompts / "none")
    assert caught.value.path == str(prompts / "none")


HOSTILE = [
    "../secret",
    "/etc/passwd",
    "a/../../secret",
    "..\\secret",
    "chat/../../secret",
    "C:\\secret",
    "C:secret",
    "\\\\server\\share",
    "//server/share",
    ".",
    "..",
    "",
    " ",
    "chat/",
    "/chat",
    "CON",
    "nul.txt",
    "bots/com1",
    "LPT¹",
    "chat\0",
    "cha\nt",
    "chat:stream",
    ".. /secret",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_lead_out_are_refused(prompts: Path, name: str) -> None:
    folder = PromptFolder(prompts)

    for ask in (folder.__getitem__, folder.__contains__, folder.get):
        with pytest.raises(ConfigError) as caught:
            ask(name)
        assert caught.value.kind == "invalid"
        assert "SECRET" not in str(caught.value)


@given(st.lists(st.sampled_from(["..", ".", "secret", "chat", "/", "\\", "\0", "C:", " "])))
def test_no_name_reaches_a_prompt_outside(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
):
    """Whatever it is made of."""
    root = tmp_path_factory.getbasetemp() / "hostile"
    if not root.exists():
        write(root, "secret", "SECRET")
        write(root / "prompts", "chat", "chat")
    try:
        found = PromptFolder(root / "prompts")["".join(parts)]
    except ConfigError:
        return
    assert text_of(found) == "chat"


def test_links_that_lead_out_are_refused_and_not_listed(prompts: Path) -> None:
    (prompts / "link").symlink_to(prompts.parent / "secret")
    (prompts / "inner").symlink_to(prompts / "chat")
    write(prompts, "a:b")
    folder = PromptFolder(prompts)

    with pytest.raises(ConfigError, match="through a link"):
        folder["link"]
    assert {"link", "a:b"}.isdisjoint(folder.names)
    assert text_of(folder["inner"]) == "chat"


def test_a_relative_directory_is_found_once(prompts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(prompts.parent)
    folder = PromptFolder("prompts")
    monkeypatch.chdir("/")

    assert text_of(folder["chat"]) == "chat"
    assert folder.directory == prompts
    with pytest.raises(ConfigError, match=f"{os.sep}prompts: there is no such folder of prompts"):
        PromptFolder("prompts")


def test_a_prompt_is_read_once(prompts: Path) -> None:
    folder = PromptFolder(prompts)
    first = folder["chat"]
    write(prompts, "chat", "changed")

    assert folder["chat"] is first


def test_a_prompt_is_read_again_when_a_file_changed(prompts: Path) -> None:
    folder = PromptFolder(prompts, reload=True)
    first = folder["chat"]
    assert folder["chat"] is first

    write(prompts, "chat", "other")
    assert text_of(folder["chat"]) == "other"

    actions = prompts / "chat" / "actions.json"
    actions.write_text("[", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"actions\.json"):
        folder["chat"]
    actions.unlink()
    assert text_of(folder["chat"]) == "other"

    (prompts / "chat" / "config.json").unlink()
    with pytest.raises(ConfigError) as caught:
        folder["chat"]
    assert caught.value.kind == "missing"


def test_a_change_of_the_same_size_is_seen(prompts: Path) -> None:
    folder = PromptFolder(prompts, reload=True)
    assert text_of(folder["chat"]) == "chat"
    file = prompts / "chat" / "skprompt.txt"
    file.write_text("tahc", encoding="utf-8")
    os.utime(file, ns=(1, 1))

    assert text_of(folder["chat"]) == "tahc"


def test_options_are_those_of_reading(prompts: Path) -> None:
    folder = PromptFolder(prompts, role="developer", input_tokens=50)

    assert folder["chat"].prompt.sections[0].role == "developer"


def test_threads_may_share_it(prompts: Path) -> None:
    folder = PromptFolder(prompts, reload=True)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(folder.__getitem__, ["chat", "bots/lights"] * 50))
    assert {text_of(file) for file in found} == {"chat", "bots/lights"}
