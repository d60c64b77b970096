"""Traces of memory in words: what was remembered, how old it is, how sure one may be of it.

Pure text; the time of the call is given. It knows no sections and no tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any, cast

from attrs import Attribute, field, fields_dict, frozen

from promptsections.errors import DefinitionError
from promptsections.unicode import well_formed


def _date(value: object) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise DefinitionError(
                f"Trace: created={value!r} is no date: write it as ISO 8601 has it"
            ) from None
    if not isinstance(value, datetime):
        raise DefinitionError(f"Trace: created={value!r} must be a datetime, or None")
    return _aware(value)


def _aware(date: datetime) -> datetime:
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


def _names(values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise DefinitionError(f"Trace: {values!r} must be a list of texts")
    return tuple(map(well_formed, values))


def _check_number(_: object, attribute: Attribute[Any], value: object) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not is_number and not (value is None and attribute.default is None):
        raise DefinitionError(f"Trace: {attribute.name}={value!r} must be a finite number")


def _check_text(_: object, attribute: Attribute[Any], value: object) -> None:
    if not isinstance(value, str):
        raise DefinitionError(f"Trace: {attribute.name}={value!r} must be a text")


@frozen
class Trace:
    """Something that is remembered, with what is known of it."""

    content: str = field(validator=_check_text)
    kind: str = field(default="semantic", kw_only=True, validator=_check_text)
    id: str | None = field(default=None, kw_only=True)
    """Names it in the layout."""
    created: datetime | None = field(default=None, kw_only=True, converter=_date)
    """When it was made; a naive time is UTC, a text is read as ISO 8601."""
    confidence: float = field(default=1.0, kw_only=True, validator=_check_number)
    """From 0 to 1."""
    relevance: float | None = field(default=None, kw_only=True, validator=_check_number)
    """How well it matches what is asked; `None` where it was not asked for: the confidence."""
    tags: tuple[str, ...] = field(default=(), kw_only=True, converter=_names)
    links: tuple[str, ...] = field(default=(), kw_only=True, converter=_names)
    """Ids of other traces that it belongs with."""
    entities: tuple[str, ...] = field(default=(), kw_only=True, converter=_names)
    """Who and what it is about."""
    valence: float = field(default=0.0, kw_only=True, validator=_check_number)
    """From -1, bad, to 1, good."""
    intensity: float = field(default=0.0, kw_only=True, validator=_check_number)
    """How strongly it was felt, from 0 to 1."""
    mood: str = field(default="", kw_only=True, validator=_check_text)


def to_trace(value: object) -> Trace:
    """Read a trace, or a mapping with its fields.

    Raises:
        DefinitionError: if it is neither, or has a field that no trace has.
    """
    if isinstance(value, Trace):
        return value
    if not isinstance(value, Mapping):
        raise DefinitionError(
            f"{type(value).__name__} is no memory: pass a text, a Trace or a mapping of its fields"
        )
    given = cast("Mapping[str, Any]", value)
    known = fields_dict(Trace)
    unknown = [str(name) for name in given if name not in known]
    if unknown or "content" not in given:
        problem = f"has no {', '.join(unknown)}" if unknown else "needs content"
        raise DefinitionError(f"a trace {problem}: its fields are {', '.join(known)}")
    return Trace(**given)


TraceStyle = Callable[[Trace, datetime], str]
"""`style(trace, now)` → how the trace is said; `Bullets`, `Prose`, `Valence`, or any function."""


def age_words(created: datetime, now: datetime) -> str:
    """Say how long ago something was: just now, 5m ago, 5h ago, 6d ago, 2w ago."""
    seconds = (_aware(now) - _aware(created)) // timedelta(seconds=1)
    for size, most, unit in _UNITS:
        if seconds < most:
            return f"{seconds // size}{unit} ago" if unit else "just now"
    return f"{seconds // _WEEK}w ago"


_MINUTE, _HOUR, _DAY, _WEEK = 60, 3_600, 86_400, 604_800
_UNITS = ((1, _MINUTE, ""), (_MINUTE, _HOUR, "m"), (_HOUR, _DAY, "h"), (_DAY, _WEEK, "d"))
"""Seconds of a unit, below how many seconds it is used, how it is written."""


def confidence_word(confidence: float) -> str:
    """Say how sure one may be: high above 0.8, moderate above 0.5, low otherwise."""
    return "high" if confidence > 0.8 else "moderate" if confidence > 0.5 else "low"


def _check_limit(style: object, attribute: Attribute[Any], value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise DefinitionError(
            f"{type(style).__name__}: {attribute.name}={value!r} must be 1 character or more"
        )


@frozen
class Bullets:
    """A line with all facts: `- [semantic] Tea, no milk (5h ago | high confidence | …)`."""

    limit: int = field(default=300, validator=_check_limit)
    """The most characters of the content."""

    def __call__(self, trace: Trace, now: datetime) -> str:
        """Say the trace."""
        relevance = trace.confidence if trace.relevance is None else trace.relevance
        facts = [
            *([] if trace.created is None else [age_words(trace.created, now)]),
            f"{confidence_word(trace.confidence)} confidence",
            f"relevance: {relevance:.2f}",
            *([f"tags: {', '.join(trace.tags[:3])}"] if trace.tags else []),
        ]
        return f"- [{trace.kind}] {trace.content[: self.limit]} ({' | '.join(facts)})"


@frozen
class Prose:
    """As one would tell it: `5h ago: Tea, no milk [linked to 2 other memories]`."""

    limit: int = field(default=350, validator=_check_limit)
    """The most characters of the content."""

    def __call__(self, trace: Trace, now: datetime) -> str:
        """Say the trace."""
        said = _dated(trace, now) + trace.content[: self.limit]
        if trace.links:
            said += f" [linked to {len(trace.links)} other memories]"
        if trace.entities:
            said += f" (involves: {', '.join(trace.entities[:3])})"
        return said


@frozen
class Valence:
    """How it was felt first: `(+) 5h ago: Tea, no milk [strongly felt, mood: joy]`."""

    limit: int = field(default=300, validator=_check_limit)
    """The most characters of the content."""

    def __call__(self, trace: Trace, now: datetime) -> str:
        """Say the trace."""
        mark = "+" if trace.valence > 0.3 else "-" if trace.valence < -0.3 else "~"
        felt = [
            *(["strongly felt"] if trace.intensity > 0.6 else []),
            *([f"mood: {trace.mood}"] if trace.intensity > 0.3 and trace.mood else []),
        ]
        feeling = f" [{', '.join(felt)}]" if felt else ""
        return f"({mark}) {_dated(trace, now)}{trace.content[: self.limit]}{feeling}"


def _dated(trace: Trace, now: datetime) -> str:
    return "" if trace.created is None else f"{age_words(trace.created, now)}: "


def style_for(
    *, structured: float = 0.5, narrative: float = 0.5, emotional: float = 0.5
) -> TraceStyle:
    """Return the style of the strongest trait of a personality; of equals, the first."""
    traits: tuple[tuple[float, TraceStyle], ...] = (
        (structured, Bullets()),
        (narrative, Prose()),
        (emotional, Valence()),
    )
    return max(traits, key=lambda trait: trait[0])[1]
