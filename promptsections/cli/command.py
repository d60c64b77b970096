"""What runs when somebody types `promptsections`, and how it ends.

Only the module of the command that is asked for is loaded, so that help comes at once. It knows no
prompts.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated

import typer

from promptsections import __version__
from promptsections.cli import streams
from promptsections.cli.failures import BUG, CLOSED, Failed, as_failure
from promptsections.errors import PromptSectionsError

COMMANDS = {
    "render": "Render a prompt: messages that fit, or a provider's request.",
    "explain": "Show what every section gets of a budget, and why.",
    "check": "Look for mistakes in prompt files without rendering them.",
    "count": "Count the tokens of files.",
    "diff": "Compare two prompts, or one prompt with two memories.",
    "models": "List the models that are known.",
    "schema": "Print the JSON Schema of prompt files, for editors.",
    "new": "Write a starter prompt with a test.",
}
"""Name of each command → what help says of it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; `docs/reference/command.md` lists them."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    streams.prepare()
    with _remarks():
        try:
            code = _run(words)
            streams.flush()
        except (Failed, PromptSectionsError) as error:
            return _fail(error, words)
        except streams.Closed:
            streams.abandon()
            return CLOSED
        except Exception:
            streams.write_error(traceback.format_exc())
            streams.write_error("promptsections: this is our mistake, not yours; please report it")
            return BUG
    return code


def _run(words: list[str]) -> int:
    command = typer.main.get_command(_application(words))
    try:
        command(args=words, prog_name="promptsections")
    except SystemExit as done:  # the way every command ends
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    return 0


class _Remarks(logging.Handler):
    """Writes what the library logs, such as a section that failed, as a line on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        streams.write_error(f"promptsections: {record.getMessage()}")


@contextmanager
def _remarks() -> Generator[None]:
    logger, handler = logging.getLogger("promptsections"), _Remarks()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _application(words: Sequence[str]) -> typer.Typer:
    """Declare all commands; those that are not asked for by name only."""
    app = typer.Typer(
        help="Lay out LLM prompts in a token budget.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_common)
    completing = "_PROMPTSECTIONS_COMPLETE" in os.environ  # the words are not in `words` then
    for name, text in COMMANDS.items():
        wanted = completing or name in words
        run = import_module(f"promptsections.cli.{name}").run if wanted else _not_asked_for
        app.command(name, help=text, short_help=text)(run)
    return app


def _not_asked_for() -> None:
    """Stand for a command in the list of commands."""


def _version(wanted: bool) -> None:
    if wanted:
        streams.write(f"promptsections {__version__}\n")
        raise typer.Exit


def _common(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error too.")
    ] = False,
) -> None:
    """Take the options that stand before the name of a command."""


def _fail(error: Exception, words: Sequence[str]) -> int:
    failure = error if isinstance(error, Failed) else as_failure(error)
    if "--debug" in words:
        streams.write_error("".join(traceback.format_exception(failure.__cause__ or error)))
    streams.write_error(str(failure))
    try:
        if "--json" in words:
            streams.write_json({"error": failure.facts})
        streams.flush()
    except (Failed, streams.Closed):  # where nothing can be written, the code has to do
        streams.abandon()
    return failure.exit_code
