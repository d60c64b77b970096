"""`Summarize`: how a section says its content in fewer words where it is over its budget.

It knows no block.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, get_args

from attrs import Attribute, field, frozen

from promptsections.errors import DefinitionError
from promptsections.summaries.extractive import ExtractiveSummarizer
from promptsections.summaries.summarizer import Quality, Summarizer
from promptsections.tokens import Truncate


def _check_callable(_: object, __: object, value: object) -> None:
    if not callable(value) or isinstance(value, type):
        raise DefinitionError(
            f"Summarize: summarizer={value!r} must be a function of a SummaryRequest that gives a "
            "text, plain or async"
        )


def _check_ratio(_: object, attribute: Attribute[Any], value: object) -> None:
    is_number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    if value is None and attribute.default is None:
        return
    if not is_number or not 0 < value <= 1:  # type: ignore[operator]
        raise DefinitionError(
            f"Summarize: {attribute.name}={value!r} must be a part of the section's budget, above "
            "0 and at most 1"
        )


def _check_count(_: object, attribute: Attribute[Any], value: object) -> None:
    least = 0 if attribute.name == "retries" else 1
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise DefinitionError(
            f"Summarize: {attribute.name}={value!r} must be a whole number, {least} or more"
        )


def _check_text(_: object, attribute: Attribute[Any], value: object) -> None:
    if not isinstance(value, str):
        raise DefinitionError(f"Summarize: {attribute.name}={value!r} must be a text")


def _check_quality(_: object, __: object, value: object) -> None:
    if value not in get_args(Quality):
        raise DefinitionError(
            f"Summarize: quality={value!r} must be one of {', '.join(get_args(Quality))}"
        )


def _check_otherwise(_: object, __: object, value: object) -> None:
    if not isinstance(value, Truncate):
        raise DefinitionError(f"Summarize: otherwise={value!r} must be Truncate(…)")


@frozen
class Summarize:
    """As `when_over` of a section: say in fewer words what does not fit.

    Ratios are of the most tokens that the section could be given, so it should have a budget.
    """

    summarizer: Summarizer = field(factory=ExtractiveSummarizer, validator=_check_callable)
    trigger: float | None = field(default=None, kw_only=True, validator=_check_ratio)
    """The ratio above which it is summarized; by default 0.85 for a conversation, otherwise 1."""
    target: float | None = field(default=None, kw_only=True, validator=_check_ratio)
    """The ratio that a summary may have; by default 0.1 for a conversation, otherwise 1."""
    keep: float = field(default=0.2, kw_only=True, validator=_check_ratio)
    """Of a conversation: the ratio of newest exchanges that are left as they are when a summary is
    written. What lies between `keep` and `trigger` is how seldom that happens."""
    at_least: int = field(default=64, kw_only=True, validator=_check_count)
    """The least tokens that a summary is asked to have, whatever the ratio says."""
    quality: Quality = field(default="balanced", kw_only=True, validator=_check_quality)
    """Passed on to the summarizer."""
    retries: int = field(default=1, kw_only=True, validator=_check_count)
    """How often it is asked again for less if its answer is empty or too long; then that is cut."""
    otherwise: Truncate = field(default=Truncate(), kw_only=True, validator=_check_otherwise)
    """How text gives way where there is no summary, or no room for all of it."""
    heading: str = field(
        default="Summary of the earlier conversation:", kw_only=True, validator=_check_text
    )
    """The first line of the message that holds the summary of a conversation."""
    variable: str = field(default="summaries", kw_only=True, validator=_check_text)
    """Path in memory of the `rendered.summaries` of the last render."""


summarize = Summarize
"""The same, as a verb: `when_over=summarize()`."""
