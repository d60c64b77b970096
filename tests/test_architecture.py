"""The shape of the package: what an import loads, what is public, how long a module may be."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import promptsections
from promptsections import errors

PACKAGE = Path(promptsections.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
HEAVY = [
    "tiktoken",
    "regex",
    "anyio",
    "trio",
    "asyncio",
    "pydantic",
    "hypothesis",
    "openai",
    "numpy",
]


def loaded_by(statement: str) -> set[str]:
    """Return which of the heavy packages a statement loads in a fresh interpreter."""
    code = f"import sys\n{statement}\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=PACKAGE.parent,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import promptsections") == set()


def test_rendering_without_a_loop_needs_no_loop_and_no_vocabulary() -> None:
    render = (
        "import promptsections as p\n"
        "p.Renderer(tokenizer=len).render(p.Prompt([p.TextSection('x')]), budget=9)"
    )

    assert loaded_by(render) == set()


OPTIONAL = sorted(
    {f"promptsections.providers.{name}" for _, name, _ in pkgutil.iter_modules(
        [str(PACKAGE / "providers")])}
    | {"promptsections.testing", "promptsections.tokens", "promptsections.blocks"}
)  # fmt: skip


@pytest.mark.parametrize("module", OPTIONAL)
def test_each_submodule_can_be_imported_alone(module: str) -> None:
    assert loaded_by(f"import {module}") == set()


def test_only_strategies_need_hypothesis() -> None:
    assert "hypothesis" in loaded_by("import promptsections.testing.strategies")


def test_all_is_sorted_complete_and_true() -> None:
    public = promptsections.__all__

    assert public == sorted(public)
    assert len(public) == len(set(public))
    assert all(hasattr(promptsections, name) for name in public)
    assert set(public) <= set(dir(promptsections))
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = promptsections.Nothing  # type: ignore[attr-defined]


def test_type_checkers_see_what_is_loaded_on_use() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    listed = next(node for node in stub.body if isinstance(node, ast.Assign)).value

    assert ast.literal_eval(listed) == promptsections.__all__
    assert homes.keys() == set(promptsections.__all__) - {"__version__"}
    for name, home in homes.items():
        assert home is not None
        assert getattr(importlib.import_module(home), name) is getattr(promptsections, name)


def test_importing_the_package_loads_nothing_but_itself() -> None:
    code = "import sys, promptsections; print(*(m for m in sys.modules if 'promptsections.' in m))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout

    assert not printed.strip()


@pytest.mark.parametrize("package", ["blocks", "tokens", "templates", "sections", "profiles"])
def test_all_of_a_subpackage_is_true(package: str) -> None:
    module = importlib.import_module(f"promptsections.{package}")

    assert len(module.__all__) == len(set(module.__all__))
    assert all(hasattr(module, name) for name in module.__all__)


def error_classes() -> dict[str, type[Exception]]:
    return {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type)
        and issubclass(value, errors.PromptSectionsError)
        and not name.startswith("_")
    }


def test_every_error_is_public() -> None:
    assert error_classes().keys() <= set(promptsections.__all__)


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    drawn: dict[str, str | None] = {}
    branch: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"([│ ├└─]*)([A-Z]\w+Error)", line)
        if found is None:
            continue
        depth = len(found[1]) // 4
        drawn[found[2]] = branch[depth - 1] if depth else None
        branch[depth:] = [found[2]]

    def parent(kind: type[Exception]) -> str | None:
        bases = [base for base in kind.__mro__[1:] if base.__name__ in error_classes()]
        return bases[0].__name__ if bases else None

    assert drawn == {name: parent(kind) for name, kind in error_classes().items()}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_can_be_read_in_one_go(path: Path) -> None:
    source = path.read_text("utf-8")
    tree = ast.parse(source)

    assert len(source.splitlines()) <= 400
    assert ast.get_docstring(tree), "a module says what it is for"
    too_long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1}"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and _lines_of_code(node) > 45
    ]
    assert too_long == []


def _lines_of_code(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count lines of a function without its signature and docstring."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_of_our_own_stand_at_the_top(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    hidden = [
        node.lineno
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
        for node in ast.walk(outer)
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("promptsections"))
        or (
            isinstance(node, ast.Import)
            and any(alias.name.startswith("promptsections") for alias in node.names)
        )
    ]

    assert hidden == []
