"""Loading executes nothing, reads nothing outside the folder, and ends soon."""

from __future__ import annotations

import builtins
import io
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from promptsections import ConfigError, DefinitionError
from promptsections.config import load, loads, read_data
from promptsections.config.document import Syntax
from promptsections.config.files import inside

BOMB = "".join(
    f"{name}: &{name} [{','.join([what] * 9)}]\n"
    for name, what in zip("abcdefgh", ["x", "*a", "*b", "*c", "*d", "*e", "*f", "*g"], strict=True)
)
NAMES = [
    "../secret.txt",
    "a/../../secret.txt",
    "/etc/passwd",
    "..\\secret.txt",
    "texts\\..\\..\\secret.txt",
    "C:/secret.txt",
    "C:secret.txt",
    "\\\\host\\share\\x",
    "//host/share/x",
    "",
    " ",
    ".",
    "..",
    "a//b",
    "texts/",
    "con",
    "NUL",
    "nul.txt",
    "texts/COM1.md",
    "lpt¹",
    "aux .txt",
    "file.txt:stream",
    "a\nb",
    "a\x00b",
    ".. /secret.txt",
    "link.txt",
    "folder/secret.txt",
    "loop",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with links that lead out of it, and a secret beside it."""
    (tmp_path / "secret.txt").write_text("SECRET")
    inside = tmp_path / "prompts"
    (inside / "texts").mkdir(parents=True)
    (inside / "texts" / "fine.md").write_text("fine")
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    (inside / "folder").symlink_to(tmp_path)
    (inside / "loop").symlink_to(inside / "loop")
    (inside / "good.md").symlink_to(inside / "texts" / "fine.md")
    os.mkfifo(inside / "pipe")
    return inside


def naming(name: str) -> str:
    written = "".join(f"\\u{ord(c):04x}" for c in name)
    return f'sections: [{{kind: text, text: {{file: "{written}"}}}}]'


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_leads_out_of_the_folder_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loads(naming(name), folder=folder)

    assert caught.value.kind == "invalid"
    assert "SECRET" not in str(caught.value)


def test_links_inside_of_the_folder_are_followed(folder: Path) -> None:
    section = loads(naming("good.md"), folder=folder).prompt.sections[0]

    assert section.text == "fine"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["texts", "pipe", "none"])
def test_what_is_no_file_is_missing(folder: Path, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loads(naming(name), folder=folder)

    assert caught.value.kind == "missing"


@given(
    st.lists(
        st.sampled_from(
            ["..", ".", "/", "\\", "texts", "folder", "link.txt", "secret.txt", "C:", " "]
        ),
        max_size=6,
    ).map("".join)
    | st.text(max_size=8)
)
@example("folder/secret.txt")
def test_no_name_reads_a_file_outside(folder_of_all: Path, name: str) -> None:
    """Whatever name is tried, no file outside the folder is opened."""
    opened: list[Path] = []
    before = Path.read_bytes

    def spy(path: Path) -> bytes:
        opened.append(path.resolve())
        return before(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_bytes", spy)
        try:
            loads(
                naming(
                    "".join(c for c in name if ord(c) < 0x10000 and not 0xD800 <= ord(c) < 0xE000)
                ),
                folder=folder_of_all,
            )
        except ConfigError as error:
            said = str(error)
        else:
            said = ""
    assert "SECRET" not in said
    assert all(path.is_relative_to(folder_of_all.resolve()) for path in opened)


@pytest.fixture(scope="module")
def folder_of_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("root")
    (root / "secret.txt").write_text("SECRET")
    inside = root / "prompts"
    (inside / "texts").mkdir(parents=True)
    (inside / "link.txt").symlink_to(root / "secret.txt")
    (inside / "folder").symlink_to(root)
    return inside


# --- tags, anchors, depth -------------------------------------------------------------------------

TAGS = [
    "!!python/object/apply:os.system ['touch PWNED']",
    "!!python/name:os.system",
    "!!python/object/new:os.system [x]",
    "!!python/module:os",
    "!<tag:yaml.org,2002:python/name:os.system> ''",
    "!include /etc/passwd",
    "!env HOME",
    "!!binary aGk=",
    "!!timestamp 2024-01-01",
    "!!int '3'",
    "!!map {a: b}",
]


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("text", ["memory: {{a: {0} }}", "name: {0}", "{0}", "? {0}\n: x", "- {0}"])
def test_no_tag_is_obeyed(
    tag: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError, match=r"the tag .* is not obeyed"):
        loads(text.format(tag))

    assert not (tmp_path / "PWNED").exists()


def test_anchors_that_explode_are_refused_at_once() -> None:
    for read in (loads, lambda text: read_data(text, ".yaml")):
        with pytest.raises(ConfigError, match="anchors repeat more than 1,000,000 characters"):
            read(BOMB)
    long = "memory: {a: &a '" + "x" * 10_000 + "', b: [" + "*a," * 200 + "]}"
    with pytest.raises(ConfigError, match="document is too large"):
        loads(long)
    with pytest.raises(ConfigError, match="stands inside of what it repeats"):
        loads("memory: &a {b: [*a]}")


def test_anchors_and_merges_within_bounds_are_followed() -> None:
    found = loads(
        "sections:\n"
        "- &base {kind: text, text: a, role: user}\n"
        "- {<<: *base, text: b}\n"
        "- {<<: [{required: no}, *base], text: c}\n"
        "memory: {x: &x [1], y: *x, '<<': quoted}\n"
    )

    assert [s.text for s in found.prompt.sections] == ["a", "b", "c"]  # type: ignore[attr-defined]
    assert {s.role for s in found.prompt.sections} == {"user"}  # type: ignore[attr-defined]
    assert not found.prompt.sections[2].required
    assert found.memory == {"x": [1], "y": [1], "<<": "quoted"}


@pytest.mark.parametrize("syntax", ["yaml", "json", "toml"])
@pytest.mark.parametrize("opening", ["[", '{"a":', "{a="])
def test_depth_is_bounded(syntax: Syntax, opening: str) -> None:
    start = "a = " if syntax == "toml" else ""

    with pytest.raises(ConfigError):
        loads(start + opening * 100_000, format=syntax)
    with pytest.raises(ConfigError, match=r"nest more than 300 deep|nesting depth"):
        loads(start + "[" * 310 + "]" * 310, format=syntax)
    with pytest.raises(ConfigError):
        loads(start + "[" * 5_000 + "]" * 5_000, format=syntax)
    with pytest.raises(ConfigError):
        read_data(start + opening * 100_000, f".{syntax}")


@pytest.mark.parametrize("syntax", ["yaml", "json"])
def test_groups_nest_as_deep_as_a_prompt_allows_and_no_deeper(syntax: Syntax) -> None:
    def nested(levels: int) -> str:
        group = '{"kind": "group", "sections": ['
        return '{"sections": [' + group * levels + "]}" * levels + "]}"

    assert loads(nested(99), format=syntax).prompt.depth == 100
    with pytest.raises(DefinitionError, match="groups nest 101 deep"):
        loads(nested(100), format=syntax)


@given(st.text(max_size=60), st.sampled_from(["yaml", "json", "toml"]))
@example("a: !!python/name:os.system", "yaml")
def test_any_text_is_read_or_refused(text: str, syntax: Syntax) -> None:
    """No text leads to any other error, opens a file or imports anything."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a file was opened")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "open", refuse)
        patch.setattr(io, "open", refuse)
        with suppress(ConfigError):
            loads(text, format=syntax)


YAML_PIECES = [
    "a",
    ": ",
    "\n",
    "  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "&a",
    "*a",
    "!!str ",
    "|",
    ">",
    "'",
    '"',
    "#",
    "<<",
    "? ",
    "---\n",
    "...",
    "%",
    "sections",
    "kind",
    "text",
    "\t",
    "~",
    "1.10",
]


@given(st.lists(st.sampled_from(YAML_PIECES), max_size=25).map("".join))
def test_anything_like_yaml_is_read_or_refused(text: str) -> None:
    """YAML in pieces never leads to any other error."""
    for read in (loads, lambda document: read_data(document, ".yaml")):
        with suppress(ConfigError):
            read(text)


def test_a_huge_file_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("promptsections.config.files.MAX_BYTES", 10)
    file = tmp_path / "prompt.yaml"
    file.write_text("sections: []\n")

    with pytest.raises(ConfigError, match="is larger than 10 bytes"):
        load(file)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/etc/passwd", "is absolute"),
        ("C:\\secret.txt", "is absolute"),
        (".", "is the folder itself"),
        ("./.", "is the folder itself"),
        ("../secret.txt", "leads out of the folder:"),
        ("texts//a.txt", "is no name of a file"),
    ],
)
def test_a_name_that_is_refused_says_why(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        inside(tmp_path, name)

    assert why in str(caught.value)
