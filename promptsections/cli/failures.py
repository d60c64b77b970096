"""How a command fails: one line on stderr, and an exit code that scripts can rely on.

It knows the errors of the library, no commands and no files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from promptsections.errors import (
    BudgetExceededError,
    ConfigError,
    ProviderError,
    UndefinedVariableError,
    UnknownFunctionError,
    UnknownModelError,
)

FINDINGS = 1
"""A check found something; two things differ."""
INVALID = 3
"""A prompt, a memory or another input is missing or wrong. (2 is typer's: a wrong command line.)"""
TOO_LARGE = 4
"""What is required does not fit."""
UNSUPPORTED = 5
"""The provider's format cannot express it."""
BUG = 70
"""A mistake of the command itself; EX_SOFTWARE of sysexits.h."""
CLOSED = 141
"""Whoever read the output stopped; what a shell reports for SIGPIPE."""


class Failed(Exception):  # noqa: N818  it never leaves the command
    """Ends a command with a line for people and facts for machines."""

    def __init__(
        self, message: str, exit_code: int = INVALID, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.facts: Mapping[str, Any] = facts or {"kind": "Failed", "message": message}


def as_failure(error: Exception, where: str = "") -> Failed:
    """Turn an error of the library into the end of a command.

    Args:
        error: what was raised.
        where: `file:line` of the section that it is about, if that is known.
    """
    text = str(error)
    if isinstance(error, UnknownFunctionError):
        text += f"; give it a text: --function {error.name}=…"
    if isinstance(error, UndefinedVariableError):
        text += f"; give it a value: --var {error.name}=…"
    if isinstance(error, UnknownModelError):  # its own advice is for programs
        near = f"; near it: {', '.join(error.suggestions)}" if error.suggestions else ""
        text = f"no model {error.name!r} is known{near}; `promptsections models` lists them all"
    prefix = f"{where}: " if where else ""
    if not where and not isinstance(error, ConfigError):  # which says itself where
        prefix = "promptsections: "
    facts: dict[str, Any] = {"kind": type(error).__name__, "message": text}
    section: str | None = getattr(error, "section", None)
    if section is not None:
        facts["section"] = section
    if where:
        facts["place"] = where
    if isinstance(error, BudgetExceededError):
        facts |= {"budget": error.budget, "needed": error.needed, "floors": error.floors}
    failure = Failed(f"{prefix}{text}", _code_of(error), facts)
    failure.__cause__ = error
    return failure


def _code_of(error: Exception) -> int:
    match error:
        case BudgetExceededError():
            return TOO_LARGE
        case ProviderError():
            return UNSUPPORTED
        case _:
            return INVALID
