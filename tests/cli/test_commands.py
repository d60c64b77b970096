"""What commands print, and how they end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import PROMPT, TURN, Command, environment

from promptsections import Prompt, Renderer, SystemMessage, find_profile
from promptsections.cli import command as command_module
from promptsections.cli.new import FILES
from promptsections.config import json_schema
from promptsections.profiles import MODELS

X = "sections:\n  - {kind: template, template: '<<$x>>'}\n"
FUNCTION = "sections:\n  - {kind: template, template: '<<today>> <<price shoes size=38>>'}\n"


# --- render -------------------------------------------------------------------------------------


def test_render_writes_messages_that_fit_and_why(command: Command) -> None:
    done = command("render", PROMPT, "--memory", TURN, "--budget", "1200", "--explain")

    assert done.code == 0
    assert done.text.startswith("── system ──\nYou are the support assistant of Fjell")
    assert '── assistant ──\n[call order_status {"order":"A-1077"}]\n' in done.text
    assert "\nabout 1153 of 1200 tokens, 43 of them before the first message\n" in done.text
    assert done.errors == ""


@pytest.mark.parametrize(
    ("format_", "keys"),
    [
        ("openai", {"model", "messages", "tools"}),
        ("responses", {"model", "input", "tools"}),
        ("anthropic", {"model", "system", "messages", "tools"}),
        ("gemini", {"model", "systemInstruction", "contents", "tools"}),
        ("bedrock", {"modelId", "system", "messages", "toolConfig"}),
    ],
)
def test_render_writes_the_request_of_a_provider(
    command: Command, format_: str, keys: set[str]
) -> None:
    done = command("render", PROMPT, "-m", TURN, "-b", "600", "--format", format_, "--explain")

    assert done.code == 0
    assert done.json.keys() == keys
    assert "of 600 tokens" in done.errors  # beside the data, not in it


def test_render_as_text_is_counted_as_text(command: Command) -> None:
    done = command("render", PROMPT, "-m", TURN, "-b", "300", "--format", "text", "--explain")

    assert "\nuser: My trail shoes are too small." in done.text
    assert "of 300 tokens" in done.errors


def test_render_as_json_has_it_all(command: Command) -> None:
    data = command("render", PROMPT, "-b", "500", "--json", "--explain").json

    assert data["model"] == "gpt-4o"
    assert data["token_count"] == data["layout"]["token_count"] <= 500
    assert data["exact"] is False
    assert data["request"]["messages"][-1] == {"role": "user", "content": "How do exchanges work?"}


def test_what_the_file_says_is_the_default(command: Command) -> None:
    assert command("render", PROMPT, "--json").json["layout"]["budget"] == 4000
    assert command("render", PROMPT, "--json", "--model", "gpt-4").json["model"] == "gpt-4"


def test_a_model_without_a_budget_has_its_window(
    command: Command, prompt: Callable[[str], str]
) -> None:
    done = command("render", prompt(X), "--var", "x=1", "--model", "gpt-4", "--json")

    assert done.json["layout"]["budget"] == find_profile("gpt-4").input_budget()


def test_a_prompt_without_model_and_budget_is_whole(
    command: Command, prompt: Callable[[str], str]
) -> None:
    done = command("render", prompt(X), "--var", "x=" + "long " * 5_000)

    assert len(done.text) == 25_001
    assert done.errors == "promptsections: no model: counting text alone, as o200k_base does\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["k=a=b", "e="], "[a=b][]"),
        (["k:=true", 'e:=[1, {"a": null}]'], '[true][[1,{"a":null}]]'),
        (["k=1.10", "e:=1.10"], "[1.10][1.1]"),
        (["k=first", "k=last", "e= "], "[last][ ]"),
        (["k=<<$e>>", "e=\"'"], "[<<$e>>][\"']"),
    ],
)
def test_variables_of_the_command_line(
    command: Command, prompt: Callable[[str], str], words: list[str], text: str
) -> None:
    path = prompt("sections:\n  - {kind: template, template: '[<<$k>>][<<$e>>]'}\n")

    done = command("render", path, *(part for word in words for part in ("--var", word)))

    assert done.text == f"{text}\n"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("a.b.c=1", {"a": {"b": {"c": "1"}, "list": [{"n": 0}, [5]]}}),
        ("a.list.0.n=1", {"a": {"b": {}, "list": [{"n": "1"}, [5]]}}),
        ("a.list.1.0=6", {"a": {"b": {}, "list": [{"n": 0}, ["6"]]}}),
        ("a.list.0:=null", {"a": {"b": {}, "list": [None, [5]]}}),
        ("new.deep=1", {"a": {"b": {}, "list": [{"n": 0}, [5]]}, "new": {"deep": "1"}}),
    ],
)  # fmt: skip
def test_variables_at_a_path(
    command: Command, prompt: Callable[..., str], word: str, value: Any
) -> None:
    path = prompt("sections: [{kind: template, template: '<<$a>> <<$new>>'}]\n")
    memory = prompt('{"a": {"b": {}, "list": [{"n": 0}, [5]]}, "new": {}}', "m.json")
    expected = {"new": {}} | value
    template = SystemMessage("<<$a>> <<$new>>")
    rendered = Renderer(tokenizer="o200k_base").render(Prompt([template]), expected, budget=99)

    done = command("render", path, "--memory", memory, "--var", word)

    assert done.text == f"{rendered.messages[0].text}\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--var", "x"], "--var 'x': write NAME=TEXT, or NAME:=JSON"),
        (["--var", "=x"], "write NAME=TEXT"),
        (["--var", "x:=[1"], "--var x: no JSON"),
        (["--var", "x=1", "--var", "x.y=2"], "--var x.y: 'x' is of type str and has no parts"),
        (["--var", "x:=[[1]]", "--var", "x.0.0.z=2"], "'0' is of type int and has no parts"),
        (["--var", "x:=[1]", "--var", "x.1=2"], "'1' is no index of a list of 1"),
        (["--function", "today"], "--function 'today': write NAME=TEXT"),
    ],
)
def test_options_that_say_nothing_are_wrong_usage(
    command: Command, prompt: Callable[[str], str], words: list[str], says: str
) -> None:
    done = command("render", prompt(X), *words)

    assert done.code == 2
    assert says in done.errors


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"x": "1.10"}', "m.json"),
        ("x: 1.10\n", "m.yaml"),
        ("\ufeffx: 1.10\r\n", "m.yml"),
        ('x = "1.10"\n', "m.toml"),
    ],
)
def test_memory_comes_in_any_format(
    command: Command, prompt: Callable[..., str], text: str, name: str
) -> None:
    assert command("render", prompt(X), "--memory", prompt(text, name)).text == "1.10\n"


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("[1]", "m.json", "memory must be an object at the top, not list"),
        ("{'x': 1}", "m.json", "m.json:1: "),
        ("x: 1", "m.txt", ".txt"),
        ("[" * 100_000, "m.json", "m.json"),
    ],
)
def test_memory_that_is_none_is_an_error(
    command: Command, prompt: Callable[..., str], text: str, name: str, says: str
) -> None:
    done = command("render", prompt(X), "--memory", prompt(text, name))

    assert done.code == 3
    assert says in done.errors


def test_memory_replaces_the_sample(command: Command, prompt: Callable[..., str]) -> None:
    path, memory = prompt("memory: {x: sample}\n" + X), prompt("{}", "m.json")

    assert command("render", path).text == "sample\n"
    assert command("render", path, "--var", "x=other").text == "other\n"
    done = command("render", path, "--memory", memory)
    assert done.code == 3
    assert "prompt.yaml:3: section 'template': variable 'x' (line 1, column 1)" in done.errors


def test_memory_leaves_the_defaults_of_other_formats(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "ask.prompty"
    file.write_text(
        "---\nname: ask\ninputs:\n  tone:\n    type: string\n    default: kind\n"
        "  who:\n    type: string\n---\nsystem:\nBe {{tone}} to {{who}}.\n",
        encoding="utf-8",
    )
    memory = tmp_path / "memory.json"
    memory.write_text('{"who": "Ann"}', encoding="utf-8")

    done = command("render", str(file), "--memory", str(memory))

    assert "Be kind to Ann." in done.text


def test_functions_are_texts_on_a_terminal(command: Command, prompt: Callable[[str], str]) -> None:
    path = prompt(FUNCTION)

    missing = command("render", path, "--function", "today=Monday")
    done = command("render", path, "-f", "today=Monday", "-f", "price:=12.5")

    assert missing.code == 3
    assert "prompt.yaml:2: section 'template': function 'price'" in missing.errors
    assert "give it a text: --function price=…" in missing.errors
    assert done.text == "Monday 12.5\n"


def test_a_variable_without_a_value_is_asked_for(
    command: Command, prompt: Callable[[str], str]
) -> None:
    done = command("render", prompt(X))

    assert done.code == 3
    assert "'x' (line 1, column 1) is not in memory" in done.errors
    assert done.errors.endswith("; give it a value: --var x=…\n")


def test_what_does_not_fit_says_who_needs_what(command: Command) -> None:
    done = command("render", PROMPT, "--budget", "100", "--json")

    assert done.code == 4
    assert "needs at least 132" in done.errors
    error = done.json["error"]
    assert error["kind"] == "BudgetExceededError"
    assert (error["budget"], error["needed"]) == (100, 132)
    assert error["floors"]["instructions"] == 65


def test_what_a_provider_cannot_express_has_its_own_code(
    command: Command, prompt: Callable[[str], str]
) -> None:
    path = prompt("model: claude-opus-4-6\nsections: [{kind: system_message, template: Hi}]\n")

    done = command("render", path, "--format", "anthropic")

    assert done.code == 5, done
    assert done.errors.startswith("promptsections: ")


def test_media_are_named(command: Command, prompt: Callable[..., str]) -> None:
    path = prompt("sections: [{kind: user_input, files: files}]\n")
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    memory = prompt(json.dumps({"input": "What is this?", "files": [image]}), "m.json")

    assert command("render", path, "--memory", memory).text == "What is this?\n[image]\n"


def test_a_section_that_fails_is_left_out_and_named(
    command: Command, prompt: Callable[..., str]
) -> None:
    sections = "  - {kind: text, text: Hi}\n  - {kind: memory, variable: m, format: yaml}\n"
    path = prompt(f"sections:\n{sections}")
    memory = prompt('{"m": ' + '{"a": ' * 60 + "1" + "}" * 61, "m.json")

    done = command("render", path, "--memory", memory)

    assert done.text == "Hi\n"
    assert "promptsections: left out: section 'memory': 'm' is nested more than" in done.errors
    assert "Traceback" not in done.errors


def test_folders_of_teams_ai_render_and_check(command: Command, tmp_path: Path) -> None:
    (tmp_path / "skprompt.txt").write_text("Hello {{$name}}, it is {{weather}}.")
    completion = {"model": "gpt-4o", "max_input_tokens": 500}
    sources = {"data_sources": {"docs": 100}}
    (tmp_path / "config.json").write_text(
        json.dumps({"schema": 1.1, "completion": completion, "augmentation": sources})
    )
    words = ("render", str(tmp_path), "--var", "name=Ana", "--var", "input=Hi")

    done = command(*words, "--function", "weather=sunny")
    missing = command(*words)

    assert done.text == "── system ──\nHello Ana, it is sunny.\n\n── user ──\nHi\n"
    assert "note sources_missing (docs): no such data source was given" in done.errors
    assert missing.code == 3
    assert "skprompt.txt:1: section 'instructions/template': function 'weather'" in missing.errors
    checked = command("check", str(tmp_path))
    assert checked.code == 0
    assert "note sources_missing (docs): no such data source was given" in checked.errors


# --- explain ------------------------------------------------------------------------------------


def test_explain_shows_bars_totals_and_what_more_would_buy(command: Command) -> None:
    done = command("explain", PROMPT, "--memory", TURN, "--budget", "600")
    lines = done.text.splitlines()

    assert lines[0].split() == [
        "section", "budget", "floor", "natural", "given", "used", "of", "600", "outcome", "why"
    ]  # fmt: skip
    assert any(line.startswith("conversation?") and "████████░░" in line for line in lines)
    assert "about 552 of 600 tokens, 43 of them before the first message" in lines
    assert "at least 147 tokens are needed" in lines
    assert lines[-1] == (
        "100 more tokens would buy: example 0 → 62 (dropped → whole), "
        "conversation 237 → 317 (4 fewer left out)"
    )


def test_more_tokens_may_buy_nothing(command: Command, prompt: Callable[[str], str]) -> None:
    path = prompt(X)

    enough = command("explain", path, "--var", "x=1", "--budget", "50")
    window = command("explain", path, "--var", "x=1", "--model", "gpt-4", "--budget", "8192")

    assert enough.text.endswith("100 more tokens would buy: nothing\n")
    assert window.text.endswith("100 more tokens are more than the model takes\n")


def test_more_tokens_may_buy_the_rest_of_a_text(
    command: Command, prompt: Callable[[str], str]
) -> None:
    path = prompt("sections: [{kind: template, template: '<<$x>>', tokens: rest}]\n")

    done = command("explain", path, "--var", "x=" + "word " * 300, "--budget", "120")

    assert done.text.endswith("100 more tokens would buy: template 120 → 220 (cut)\n")


def test_explain_as_json(command: Command) -> None:
    data = command("explain", PROMPT, "-m", TURN, "-b", "600", "--json").json

    assert data["minimum_budget"] == 147
    assert data["layout"]["budget"] == 600
    changes = {change["path"]: change for change in data["next"]["changes"]}
    assert changes["example"]["before"]["outcome"] == "dropped"
    assert changes["example"]["after"] == {
        "used": 62, "outcome": "whole", "reason": "fits", "omitted": 0
    }  # fmt: skip


def test_budgets_stand_side_by_side(command: Command) -> None:
    done = command("explain", PROMPT, "-m", TURN, "--budgets", "100,600,4000,400000")
    rows = {line[:29].strip(): line[29:].split("  ") for line in done.text.splitlines()}

    assert [cell.strip() for cell in rows["in all"] if cell] == [
        "needs 147", "552", "2338", "more than the window"
    ]  # fmt: skip
    assert [cell.strip() for cell in rows["conversation?"] if cell] == ["237 cut", "1896 whole"]


def test_budgets_as_json(command: Command) -> None:
    few, enough = command("explain", PROMPT, "--budgets", "100,600", "--json").json["budgets"]

    assert (few["budget"], few["error"]["needed"]) == (100, 132)
    assert enough["layout"]["budget"] == 600


def test_no_budget_may_be_enough(command: Command) -> None:
    done = command("explain", PROMPT, "--budgets", "10,20")

    assert done.code == 0
    assert done.text.splitlines()[-1].split() == ["in", "all", "needs", "132", "needs", "132"]


@pytest.mark.parametrize("budgets", ["", "a", "1,0", "-5", "1;2"])
def test_budgets_must_be_numbers(command: Command, budgets: str) -> None:
    assert command("explain", PROMPT, "--budgets", budgets).code == 2


def test_other_errors_are_errors_at_every_budget(
    command: Command, prompt: Callable[[str], str]
) -> None:
    assert command("explain", prompt(X), "--budgets", "10,20").code == 3


# --- diff ---------------------------------------------------------------------------------------


def test_the_same_twice_is_no_difference(command: Command) -> None:
    done = command("diff", PROMPT, PROMPT)

    assert (done.code, done.out, done.err) == (0, b"", b"")


def test_two_memories_part_at_a_byte(command: Command, prompt: Callable[..., str]) -> None:
    changed = Path(TURN).read_text(encoding="utf-8").replace("too small", "too large")

    done = command("diff", "--prompt", PROMPT, TURN, prompt(changed, "turn.json"), "-b", "600")

    assert done.code == 1
    first, old, new = done.text.splitlines()
    assert first.startswith(
        "the first 2476 of 2546 bytes are the same; then, in message 16 (user, 'user_input'):"
    )
    assert "trail shoes are too small" in old
    assert "trail shoes are too large" in new


def test_two_prompts_differ_in_their_layouts(command: Command, prompt: Callable[..., str]) -> None:
    one = prompt("sections: [{kind: text, name: a, text: Hi}]\n", "one.yaml")
    two = prompt(
        "sections: [{kind: text, name: a, text: Hi}, {kind: text, name: b, text: You}]\n",
        "two.yaml",
    )

    done = command("diff", one, two, "--json")
    people = command("diff", one, two)

    assert done.code == 1
    assert done.json["same"] is False
    assert done.json["layout"] == ["+ b: whole 1 (fits)", "total 1 → 2 tokens"]
    assert (done.json["first"]["message"], done.json["first"]["section"]) == (1, "b")
    assert people.text.startswith("+ b: whole 1 (fits)\ntotal 1 → 2 tokens\nthe first ")


def test_tools_come_before_messages(command: Command, prompt: Callable[..., str]) -> None:
    text = "sections: [{kind: text, text: Hi}]\ntools: [{name: %s, description: Look}]\n"
    one, two = prompt(text % "look_up", "one.yaml"), prompt(text % "look_at", "two.yaml")

    done = command("diff", one, two)

    assert done.code == 1
    assert "bytes are the same; then, in the definitions of tools:\n" in done.text


# --- count, models, schema, new -----------------------------------------------------------------


def test_count_adds_files_up(command: Command, prompt: Callable[..., str]) -> None:
    one, two = prompt("Hello", "one.txt"), prompt("Hello world, hello!\r\n", "two.txt")

    done = command("count", one, two)

    assert done.text == f"1 {one}\n5 {two}\n6 in all\n"
    assert command("count", one).text == "1\n"


def test_count_as_a_model_does(command: Command, prompt: Callable[..., str]) -> None:
    path = prompt("Hello world", "one.txt")

    done = command("count", path, "--model", "claude-sonnet-4-5")
    data = command("count", path, "--model", "gpt-4", "--json").json

    assert done.text == "3\n"
    assert done.errors == "promptsections: about, as o200k_base*6/5 estimates\n"
    assert data == {
        "tokens": 2,
        "tokenizer": "cl100k_base",
        "exact": True,
        "files": [{"file": path, "tokens": 2, "characters": 11}],
    }


def test_count_takes_encodings_and_no_others(command: Command, prompt: Callable[..., str]) -> None:
    path = prompt("Hello", "one.txt")

    assert command("count", path, "--encoding", "cl100k_base").text == "1\n"
    assert command("count", path, "--encoding", "klingon").code == 3
    assert command("count", path, "--model", "klingon").code == 3
    assert command("count", path, "--model", "gpt-4o", "--encoding", "o200k_base").code == 2


def test_a_model_that_nobody_knows_is_answered_with_names(command: Command) -> None:
    done = command("render", PROMPT, "--model", "gpt-4oo", "--json")

    assert done.code == 3
    assert "no model 'gpt-4oo' is known; near it: gpt-4o" in done.errors
    assert "`promptsections models`" in done.errors
    assert done.json["error"]["kind"] == "UnknownModelError"
    assert "near it" not in command("render", PROMPT, "--model", "klingon").errors


@pytest.mark.parametrize(
    ("word", "remark"),
    [
        ("custmer.name=Ana", "--var custmer.name: the variable is not declared; did you mean 'cu"),
        ("customer.name=Ana", ""),
        ("input=Hi", ""),
        ("history:=[]", ""),
    ],
)
def test_a_variable_that_is_not_declared_is_remarked_on(
    command: Command, prompt: Callable[..., str], word: str, remark: str
) -> None:
    path = prompt(
        "model: gpt-4o\nvariables: [customer.name]\nmemory: {customer: {name: Bo}}\n"
        "sections: [{kind: system_message, template: 'Hi <<$customer.name>>'}]\n"
    )

    done = command("render", path, "--var", word)

    assert done.code == 0
    assert remark in done.errors
    assert bool(done.errors) == bool(remark)


@pytest.mark.parametrize("name", ["gone.txt", ".", "nul\0"])
def test_count_says_what_it_cannot_read(command: Command, name: str, tmp_path: Path) -> None:
    done = command("count", str(tmp_path / name))

    assert done.code == 3
    assert str(tmp_path) in done.errors


def test_models_are_those_that_are_known(command: Command) -> None:
    lines = command("models").text.splitlines()

    assert [line.split()[0] for line in lines[2:]] == list(MODELS)
    assert "128,000" in next(line for line in lines if line.startswith("gpt-4o "))


def test_models_by_a_word(command: Command) -> None:
    data = command("models", "SONNET", "--json").json

    assert {model["name"] for model in data} == {name for name in MODELS if "sonnet" in name}
    assert data[0]["context_window"] >= 200_000
    assert command("models", "klingon").code == 1


def test_the_schema_is_the_one_of_the_library(command: Command) -> None:
    assert command("schema").json == json_schema()
    assert command("schema", "--json").json == json_schema()


def test_a_new_prompt_renders_checks_and_passes_its_test(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "bot"

    done = command("new", str(folder))
    rendered = command("render", str(folder / "prompt.yaml"), "-m", str(folder / "turn.json"))
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        capture_output=True,
        cwd=folder,
        env=environment(PYTHONUTF8="1"),
    )

    assert done.code == 0
    assert f"wrote {(folder / 'prompt.yaml').as_posix()}\n" in done.text
    assert rendered.text.endswith("── user ──\nAnd the jackets?\n")
    assert command("check", "--strict", str(folder / "prompt.yaml")).code == 0
    assert tests.returncode == 0, tests.stdout.decode()


def test_new_writes_over_nothing(command: Command, tmp_path: Path) -> None:
    (tmp_path / "turn.json").write_text("mine")

    done = command("new", str(tmp_path))

    assert done.code == 3
    assert "turn.json is there already" in done.errors
    assert [path.name for path in tmp_path.iterdir()] == ["turn.json"]
    assert (tmp_path / "turn.json").read_text() == "mine"
    assert command("new", str(tmp_path / "turn.json" / "deeper")).code == 3


def test_new_as_json(command: Command, tmp_path: Path) -> None:
    written = command("new", str(tmp_path / "bot"), "--json").json["written"]

    assert [Path(name).name for name in written] == list(FILES)


# --- how commands end ---------------------------------------------------------------------------


def test_every_command_is_listed_and_explained(command: Command) -> None:
    listed = command("--help").text

    for name, text in command_module.COMMANDS.items():
        assert name in listed
        done = command(name, "--help")
        assert done.code == 0
        assert "--json" in done.text
        assert text.split()[0] in done.text


@pytest.mark.parametrize("words", [(), ("klingon",), ("render",), ("render", PROMPT, "--klingon")])
def test_a_wrong_command_line_ends_in_2(command: Command, words: tuple[str, ...]) -> None:
    assert command(*words).code == 2


def test_the_version(command: Command) -> None:
    assert command("--version").text == "promptsections 0.1.0\n"


def test_errors_are_lines_unless_one_debugs(command: Command, tmp_path: Path) -> None:
    path = str(tmp_path / "gone.yaml")

    short, long = command("render", path), command("--debug", "render", path)

    assert short.code == long.code == 3
    assert short.errors == f"{path} does not exist\n"
    assert "Traceback" in long.errors
    assert long.errors.endswith(short.errors)


def test_a_mistake_of_the_command_says_so(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_module, "_application", lambda _: 1 / 0)

    done = command("models")

    assert done.code == 70
    assert "ZeroDivisionError" in done.errors
    assert "please report it" in done.errors


def test_completion_knows_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "promptsections"],
        capture_output=True,
        env=environment(
            _PROMPTSECTIONS_COMPLETE="complete_bash",
            COMP_WORDS="promptsections render --bud",
            COMP_CWORD="2",
        ),
    )

    assert done.stdout.split() == [b"--budget"]
