"""Everything in the documentation that can be run or compared with the code, is.

Blocks of a page run in order, in a folder of its own that holds the examples. Python blocks share
a namespace; a text block right after one is what it prints. A block with a file name after its
language is written to that file. Lines of console blocks that begin with `$ ` are commands, those
below what they print; a line `…` stands for any lines.
"""

from __future__ import annotations

import ast
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import get_args

import attrs
import pytest

import promptsections
from promptsections import PromptSection, Reason
from promptsections.cli import failures
from promptsections.cli.command import COMMANDS
from promptsections.config.findings import Code, Finding
from promptsections.elements.selection import RefusalCode
from promptsections.layout import Layout, Placement, describe_budget
from promptsections.retrieval.choosing import ChunkRefusalCode

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@attrs.frozen
class Block:
    """One piece of code of a page."""

    language: str
    file: str
    """Where it is written to; `""` for nowhere."""
    code: str
    line: int
    """Of its first line, from 1."""
    prints: str | None
    """What the page says that it prints."""


def blocks(page: str) -> Iterator[Block]:
    """Yield the code of a page."""
    fences = list(FENCE.finditer(page))
    for fence, after in zip_longest(fences, fences[1:]):
        file = fence[0].partition("\n")[0].removeprefix(f"```{fence[1]}").strip()
        follows = after is not None and not page[fence.end() : after.start()].strip()
        prints = after[2] if after is not None and follows and after[1] == "text" else None
        line = page.count("\n", 0, fence.start(2)) + 1
        yield Block(fence[1], file, fence[2], line, prints)


@pytest.mark.parametrize("page", sorted(PAGES), ids=name_of)
def test_the_code_of_a_page_runs(
    page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.file:
            (tmp_path / block.file).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            run_python(block, module, page)
        elif block.language == "console":
            run_commands(block, page)


def run_python(block: Block, module: ModuleType, page: Path) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed):
        code = "\n" * (block.line - 1) + block.code
        exec(compile(code, str(page), "exec"), module.__dict__)
    if block.prints is not None:
        assert without_blanks(printed.getvalue()) == without_blanks(block.prints), (
            f"{name_of(page)}, line {block.line}, prints:\n{printed.getvalue()}"
        )


def run_commands(block: Block, page: Path) -> None:
    """Run the commands of a console, and compare what they print."""
    script = f'{shlex.quote(sys.executable)} -m promptsections "$@"'
    for told in re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]:
        words, _, expected = re.sub(r"\\\n", " ", told).partition("\n")
        done = subprocess.run(
            ["bash", "-c", f"promptsections() {{ {script}; }}; {words}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
            encoding="utf-8",
        )
        assert prints(done.stdout, expected), (
            f"{name_of(page)}, line {block.line}: {words} prints:\n{done.stdout}"
        )


def prints(printed: str, expected: str) -> bool:
    """Say whether lines are as expected; `…` stands for any."""
    pattern = "\n".join(
        r"(?:.*\n)*?.*" if line == "…" else re.escape(line) for line in without_blanks(expected)
    )
    return re.fullmatch(pattern, "\n".join(without_blanks(printed))) is not None


def without_blanks(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


@pytest.mark.parametrize("page", sorted(PAGES), ids=name_of)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]

    assert [link for link in links if not leads_somewhere(link, page)] == []


def leads_somewhere(link: str, page: Path) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not anchor:
        return target.exists()
    return target.exists() and anchor in anchors(target.read_text(encoding="utf-8"))


def anchors(text: str) -> set[str]:
    """Return what headings are called in links."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def test_every_page_is_linked_from_the_index() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")

    linked = {(DOCS / target).resolve() for target in re.findall(r"\]\(([^)#\s]+)\)", index)}

    assert [
        name_of(p) for p in DOCS.rglob("*.md") if p.name != "index.md" and p not in linked
    ] == []


# --- pages that repeat what the code says -------------------------------------------------------


def test_the_tree_of_errors_is_the_one_of_the_module() -> None:
    module = ast.parse((ROOT / "promptsections" / "errors.py").read_text(encoding="utf-8"))

    assert tree_in(page("reference/errors.md")) == tree_in(ast.get_docstring(module) or "")


def test_the_tree_of_errors_is_the_one_of_the_classes() -> None:
    errors = {
        name: value.__mro__[1]
        for name, value in public_names().items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    drawn = re.findall(r"(\w+(?:Error))\b", tree_in(page("reference/errors.md")))

    assert set(drawn) - {"ValueError"} == set(errors)


def test_the_reasons_are_those_of_the_code() -> None:
    expected = [str(reason) for reason in Reason]

    assert first_column(page("reference/layout.md"), "Reasons") == expected
    assert first_column(page("reference/sections.md"), "Reasons") == expected


@pytest.mark.parametrize("kind", [Placement, Layout])
def test_the_fields_of_a_layout_are_those_of_the_code(kind: type) -> None:
    fields = [field.name for field in attrs.fields(kind)]

    assert first_column(page("reference/layout.md"), f"`{kind.__name__}`") == fields


def test_the_codes_of_notes_are_those_of_the_code() -> None:
    package = ROOT / "promptsections"
    sources = [p for p in package.rglob("*.py") if "providers" not in p.parts]
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    used = set(re.findall(r"(?:\bNote|\b_note\w*|\.note|\.add)\(\s*\"(\w+)\"", text))

    listed = set(first_column(page("reference/layout.md"), "Notes"))

    assert listed == (used | set(get_args(RefusalCode)) | set(get_args(ChunkRefusalCode))) - {
        "unknown_function"
    }


def test_every_section_is_listed_with_its_fields() -> None:
    rows = table(page("reference/sections.md"), "All sections")
    listed = {row[0].strip("`"): row[1:] for row in rows}
    common = {field.name for field in attrs.fields(PromptSection)}

    for name, section in public_sections().items():
        fields, tokens, required = listed.pop(name)
        own = [f.name for f in attrs.fields(section) if f.init and f.name not in common]
        assert re.findall(r"`(\w+)", fields)[: len(own)] == own, name
        defaults = {f.name: f.default for f in attrs.fields(section)}
        assert tokens == describe_budget(promptsections.to_budget(defaults["tokens"])), name
        assert required == ("yes" if defaults["required"] else "no"), name

    assert listed == {}


def test_the_common_fields_are_those_of_the_code() -> None:
    fields = {field.name for field in attrs.fields(PromptSection)}

    assert set(first_column(page("reference/sections.md"), "Fields of every section")) == fields


def test_the_findings_are_those_of_the_code() -> None:
    rows = table(page("reference/command.md"), "`check`")

    assert [(row[0].strip("`"), row[1]) for row in rows] == [
        (code.value, Finding(code, "", "").severity) for code in Code
    ]


def test_the_commands_and_their_options_are_those_of_the_code() -> None:
    text = page("reference/command.md")
    shared = set(re.findall(r"`(--[a-z]+)", section_of(text, "Inputs")))

    assert re.findall(r"^\| \[`(\w+)`\]\(#(?:\w+)\) \|", text, re.MULTILINE) == list(COMMANDS)
    for name in COMMANDS:
        parameters = inspect.signature(import_module(f"promptsections.cli.{name}").run).parameters
        options = {f"--{word}" for word in parameters if word not in ARGUMENTS} - {"--prompt"}
        own = section_of(text, f"`{name}`")
        listed = set(re.findall(r"`(--[a-z]+)", own)) | {"--json"}
        assert options <= listed | shared, name
        assert listed - {"--prompt"} <= options, name


ARGUMENTS = {"prompts", "files", "before", "after", "directory", "pattern"}


def test_the_exit_codes_are_those_of_the_code() -> None:
    listed = {int(row[0]) for row in table(page("reference/command.md"), "Exit codes")}
    own = {value for name, value in vars(failures).items() if name.isupper()}

    assert listed == own | {0, 2, 130}


def section_of(text: str, heading: str) -> str:
    """Return what stands below a heading, down to the next one of its level."""
    return re.split(r"^## ", text.partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0]


def test_the_layers_are_those_that_are_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        contract
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    text = page("explanation/architecture.md")

    drawn = FENCE.search(text, text.index("## Layers"))

    assert drawn is not None
    assert drawn[2].split("\n")[:-1] == [layer.strip("()") for layer in contract["layers"]]


def public_names() -> dict[str, object]:
    return {name: getattr(promptsections, name) for name in promptsections.__all__}


def public_sections() -> dict[str, type[PromptSection]]:
    return {
        name: value
        for name, value in public_names().items()
        if isinstance(value, type) and issubclass(value, PromptSection)
        if value is not PromptSection
    }


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def tree_in(text: str) -> str:
    found = re.search(r"```\w*\n(PromptSectionsError\n.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


def table(text: str, heading: str) -> list[list[str]]:
    """Return the rows of the first table below a heading, without its head."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    lines = re.search(r"(?:^\|.*\n?)+", found[1], re.MULTILINE)
    assert lines is not None, heading
    rows = [re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in lines[0].splitlines()]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def first_column(text: str, heading: str) -> list[str]:
    return [name for row in table(text, heading) for name in re.findall(r"`([^`]+)`", row[0])]
