"""The command `promptsections`: prompts in a terminal, in a pipe, in CI.

One module a command; whatever a command prints, the library has computed.
"""

from promptsections.cli.command import main

__all__ = ["main"]
