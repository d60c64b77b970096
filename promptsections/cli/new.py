"""`promptsections new`: a prompt to begin with, that renders, checks and has a test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from promptsections.cli import streams
from promptsections.cli.failures import Failed
from promptsections.cli.options import JsonOption

PROMPT = """\
name: assistant
model: gpt-4o
budget: 2000

variables:                 # what renders have in memory
  company: string
  customer:
    type: object
    properties:
      name: {type: string}
  history: array
  input: string

sections:
  - kind: system_message
    name: instructions
    template: {file: instructions.txt}
    stability: tenant      # <<$company>> is the same for all customers of one company

  - kind: memory
    name: customer
    variable: customer
    tag: customer
    stability: session

  - kind: conversation_history

  - kind: user_input

memory:                    # a sample, so that it renders as it stands
  company: Fjell
  customer: {name: Ana}
  history: []
  input: Hello!
"""

INSTRUCTIONS = """\
You help customers of <<$company>>. Answer in two sentences at most.
"""

TURN = """\
{
  "company": "Fjell",
  "customer": {"name": "Ana", "orders": ["A-1042"]},
  "history": [
    {"role": "user", "content": "Do the trail shoes run small?"},
    {"role": "assistant", "content": "They do. Most people take half a size more."}
  ],
  "input": "And the jackets?"
}
"""

TEST = '''\
"""The prompt is sound, and fits from its smallest budget on."""

import json
from pathlib import Path

from promptsections import Renderer
from promptsections.config import open_prompt
from promptsections.config.checks import check_file
from promptsections.testing import assert_laws

HERE = Path(__file__).parent
FILE = open_prompt(HERE / "prompt.yaml")
TURN = json.loads((HERE / "turn.json").read_text(encoding="utf-8"))


def test_nothing_is_found():
    assert check_file(FILE) == ()


def test_it_fits_from_its_minimum_on():
    renderer = Renderer(FILE.model)
    least = renderer.resolve(FILE.prompt, TURN, budget=FILE.budget).minimum_budget()

    assert_laws(renderer, FILE.prompt, TURN, budgets=[least, least + 40, FILE.budget])


def test_the_customer_is_kept_whole():
    rendered = Renderer(FILE.model).render(FILE.prompt, TURN, budget=FILE.budget)

    assert rendered.layout["customer"].outcome == "whole"
'''

FILES = {
    "prompt.yaml": PROMPT,
    "instructions.txt": INSTRUCTIONS,
    "turn.json": TURN,
    "test_prompt.py": TEST,
}
"""Name → content of what is written."""


def run(
    *,
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to; it is made if it is not there.")
    ],
    json: JsonOption = False,
) -> None:
    """Write the files of a starter prompt; never over others."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken = [name for name in FILES if (directory / name).exists()]
        if taken:
            raise Failed(f"{directory}: {', '.join(taken)} is there already: name another folder")
        for name, text in FILES.items():
            with (directory / name).open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise Failed(f"{directory}: {error.strerror or error}") from error
    written = [(directory / name).as_posix() for name in FILES]
    if json:
        streams.write_json({"written": written})
        return
    prompt, turn = directory / "prompt.yaml", directory / "turn.json"
    streams.write("".join(f"wrote {name}\n" for name in written))
    streams.write(f"\ntry: promptsections render {prompt} --memory {turn} --explain\n")
    streams.write(f"     promptsections check {prompt} && pytest {directory}\n")
