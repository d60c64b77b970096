"""`Finding`: one mistake of a prompt file, with a stable code and its place; plain data."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from attrs import field, frozen

from promptsections.config.prompt_file import Place, PromptFile

Severity = Literal["error", "warning"]
"""An error cannot work; a warning works, but hardly as it is meant."""


class Code(StrEnum):
    """What was found; the values are stable."""

    MISSING_FILE = "missing_file"
    """The prompt, or a file that it names, does not exist."""
    INVALID_FILE = "invalid_file"
    """The file cannot be read as a prompt."""
    UNDEFINED_VARIABLE = "undefined_variable"
    """A section reads what the declared memory does not have."""
    UNKNOWN_FUNCTION = "unknown_function"
    """A template calls a function that is not declared."""
    UNKNOWN_MODEL = "unknown_model"
    """No profile is known for the model."""
    BUDGET_OVER_WINDOW = "budget_over_window"
    """Budget and reserve are more than the model takes, or the reserve leaves nothing."""
    BUDGET_TOO_SMALL = "budget_too_small"
    """What is always required does not fit the budget, or a section not its own limit."""
    LIMIT_OVER_BUDGET = "limit_over_budget"
    """A section reserves, or may get, more than the whole budget."""
    NEVER_SENT = "never_sent"
    """An optional section is larger than its own limit, so it is always left out."""
    SHARES_OVER_WHOLE = "shares_over_whole"
    """Shares beside each other ask for more than the whole, or leave nothing to a rest."""
    SHARE_BELOW_RESERVATION = "share_below_reservation"
    """The fraction of a section is less than what it reserves, so it says nothing."""
    VOLATILE_BEFORE_STABLE = "volatile_before_stable"
    """Text that changes often stands before text that does not, which is then never cached."""


_WARNINGS = {
    Code.LIMIT_OVER_BUDGET,
    Code.NEVER_SENT,
    Code.SHARES_OVER_WHOLE,
    Code.SHARE_BELOW_RESERVATION,
    Code.VOLATILE_BEFORE_STABLE,
}


@frozen
class Finding:
    """One mistake."""

    code: Code
    path: str
    """Path of the section; `""` for the whole prompt."""
    message: str
    place: Place | None = field(default=None)
    """Where it is written."""

    @property
    def severity(self) -> Severity:
        """Whether it cannot work, or hardly works as it is meant."""
        return "warning" if self.code in _WARNINGS else "error"


def finding(
    file: PromptFile, code: Code, path: str, message: str, keys: Iterable[str] = ()
) -> Finding:
    """Make a finding about a section, with its place in the file.

    Args:
        file: The prompt file.
        code: What was found.
        path: Path of the section; `""` for the whole prompt.
        message: What is wrong.
        keys: Keys of the document that it is about; the first that is written is the place.
    """
    named = (file.keys[key] for key in keys if key in file.keys)
    place = file.places.get(path) or next(named, None)
    if place is None and file.path is not None:
        place = Place(file.path)
    return Finding(code, path, message, place)
