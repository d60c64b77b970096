"""Every command in a process of its own, under the encodings that consoles have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PROMPT, ROOT, TURN, environment, run

X = "sections:\n  - {kind: template, template: '<<$x>>'}\n"


@pytest.fixture(scope="module")
def x(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("x") / "x.yaml"
    path.write_text(X, encoding="utf-8")
    return str(path)


COMMANDS = [
    ("render", PROMPT, "--memory", TURN, "--budget", "1200", "--explain"),
    ("render", PROMPT, "--memory", TURN, "--budget", "600", "--format", "openai", "--explain"),
    ("explain", PROMPT, "--memory", TURN, "--budget", "600"),
    ("explain", PROMPT, "--memory", TURN, "--budgets", "100,600,4000,400000"),
    ("check", PROMPT, "--strict"),
    ("count", str(ROOT / "README.md")),
    ("diff", "--prompt", PROMPT, TURN, TURN),
    ("models",),
    ("schema",),
    ("render", "--help"),
]
CP1252 = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
CONSOLES = [
    {"PYTHONUTF8": "1"},
    CP1252,
    {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp437:strict"},
    {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:1] + words[2:]))
def test_every_command_works_on_a_console_of_windows(words: tuple[str, ...]) -> None:
    done = run(*words, **CP1252)

    assert done.code == 0, done.errors
    assert b"Traceback" not in done.err
    assert done.out or words[0] in ("check", "diff")


def test_new_works_where_characters_are_few(tmp_path: Path) -> None:
    done = run("new", "bot", cwd=tmp_path, PYTHONIOENCODING="ascii")

    assert done.code == 0
    assert (tmp_path / "bot" / "prompt.yaml").is_file()


def test_what_a_console_lacks_is_escaped(x: str) -> None:
    done = run("render", x, "--var", "x=🧠 naïve →", **CP1252, LC_ALL="C.UTF-8")

    assert done.code == 0
    assert done.out.decode("cp1252").strip() == "\\U0001f9e0 naïve \\u2192"


@pytest.mark.parametrize("console", CONSOLES, ids=str)
def test_json_is_the_same_data_on_every_console(x: str, console: dict[str, str]) -> None:
    done = run("render", x, "--var", 'x:="🧠 naïve → \\ud83e"', "--json", **console)

    assert done.json["request"]["messages"][0]["content"] == "🧠 naïve → \ufffd"


def test_arguments_are_characters_whatever_the_locale(x: str) -> None:
    done = run("render", x, "--var", "x=naïve 🧠", "--json", LC_ALL="C", PYTHONCOERCECLOCALE="0")

    assert done.json["request"]["messages"][0]["content"] == "naïve 🧠"


@pytest.mark.skipif(sys.platform == "win32", reason="words are no bytes there")
def test_bytes_that_are_no_characters_do_no_harm(x: str) -> None:
    words = [b"-m", b"promptsections", b"render", x.encode(), b"--var", b"x=a\xffb"]
    done = subprocess.run(
        [sys.executable.encode(), *words], capture_output=True, env=environment(), cwd=ROOT
    )

    assert done.returncode == 0
    assert done.stdout.decode() == "a\ufffdb\n"


@pytest.mark.parametrize("bytes_", [b"\xef\xbb\xbfHello", "Hello".encode("utf-16"), b"Hello"])
def test_marks_of_encodings_are_no_text(bytes_: bytes) -> None:
    assert run("count", "-", stdin=bytes_).text == "1\n"


def test_input_that_is_no_text_is_an_error() -> None:
    done = run("count", stdin=b"abc\xff")

    assert done.code == 3
    assert done.errors == ("standard input: no UTF-8 text: byte at offset 3; save it as UTF-8\n")


def test_memory_comes_through_a_pipe(x: str) -> None:
    done = run("render", x, "--memory", "-", stdin=b'\xef\xbb\xbf{"x": "piped"}\r\n')

    assert done.text == "piped\n"


def test_a_reader_that_stops_is_no_error(x: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "promptsections", "schema"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()

    errors = process.stderr.read()
    process.stderr.close()

    assert process.wait() == 141
    assert errors == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_an_output_that_is_full_is_an_error() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "promptsections", "schema", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            cwd=ROOT,
        )

    assert done.returncode == 3
    assert b"the output cannot be written: No space left on device" in done.stderr


def test_no_colours_without_a_terminal() -> None:
    done = run("explain", PROMPT, PYTHONUTF8="1", FORCE_COLOR="1", TERM="xterm-256color")

    assert b"\x1b" not in done.out


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("changes", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_on_a_terminal(changes: dict[str, str], coloured: bool) -> None:
    shown = on_a_terminal("explain", PROMPT, **changes)

    assert ("\x1b[32m" in shown) is coloured
    assert "fits" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_narrow_terminal_cuts_no_number() -> None:
    shown = on_a_terminal("explain", PROMPT, COLUMNS="40", NO_COLOR="1")

    assert "instructions                 auto          65       65     65    65" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_long_work_shows_on_a_terminal_how_far_it_is(tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    big.write_text("A line of text that is counted, again and again.\n" * 100_000)

    shown = on_a_terminal("count", str(big))

    assert "MB" in shown
    assert shown.rstrip().endswith("1200000") or "1100000" in shown


def on_a_terminal(*words: str, **changes: str) -> str:
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "promptsections", *words],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment(PYTHONUTF8="1", TERM="xterm-256color", **{"COLUMNS": "140"} | changes),
        cwd=ROOT,
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                read = os.read(ours, 65_536)
            except OSError:  # Linux says so at the end
                break
            if not read:
                break
            shown += read
        os.close(ours)
    assert process.returncode == 0, shown.decode()
    return shown.decode()


def test_help_loads_no_prompts_and_no_vocabulary() -> None:
    code = (
        "import sys; from promptsections.cli import main; main(['--help']); "
        "print(*(m for m in ('tiktoken', 'pydantic', 'yaml', 'promptsections.renderer', "
        "'promptsections.cli.render') if m in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment())

    assert done.stderr.strip() == b""
