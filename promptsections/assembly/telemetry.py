"""What a gateway tells about its calls: log records, and spans where OpenTelemetry is installed.

Attribute names are those of OpenTelemetry's semantic conventions for GenAI 0.1.0; what they have no
name for stands under `promptsections.`. No content is ever told.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from promptsections.layout import Layout

_log = logging.getLogger("promptsections")


class Span(Protocol):
    """The part of a span that is used here."""

    def set_attribute(self, key: str, value: Any, /) -> None:
        """Say something about the call."""
        ...

    def add_event(self, name: str, /, attributes: Mapping[str, Any]) -> None:
        """Say that something happened."""
        ...


class _NoSpan:
    def set_attribute(self, key: str, value: Any, /) -> None:
        """Say it to nobody."""

    def add_event(self, name: str, /, attributes: Mapping[str, Any]) -> None:
        """Say it to nobody."""


@contextmanager
def span_of(purpose: str, goal_id: str | None) -> Generator[Span]:
    """Open a span for one call; of an exception that leaves it, its type is recorded there.

    Not its message: that may quote the answer.
    """
    try:
        from opentelemetry import trace  # optional, and only who calls models pays for it
    except ImportError:
        yield _NoSpan()
        return
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.prompt.name": purpose}
    if goal_id is not None:
        attributes["gen_ai.conversation.id"] = goal_id
    tracer = trace.get_tracer("promptsections")
    with tracer.start_as_current_span(
        f"chat {purpose}",
        kind=trace.SpanKind.CLIENT,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise


def tell_layout(span: Span, layout: Layout) -> None:
    """Tell how large the context is, and what was cut, left out or failed."""
    span.set_attribute("promptsections.token_count", layout.token_count)
    span.set_attribute("promptsections.budget", layout.budget)
    lost = [p for p in layout.walk() if not p.children and p.outcome not in ("whole", "empty")]
    span.set_attribute("gen_ai.conversation.compacted", bool(lost))
    for placement in lost:
        span.add_event(
            "promptsections.section",
            {
                "promptsections.section.name": placement.path,
                "promptsections.section.tokens": placement.used,
                "promptsections.section.status": placement.outcome,
                "promptsections.section.reason": str(placement.reason),
            },
        )


def tell_call(span: Span, told: Mapping[str, Any]) -> None:
    """Tell of a call: `gen_ai.…` attributes, and one log record; a warning if it failed."""
    known = {name: value for name, value in told.items() if value is not None}
    for name, value in known.items():
        span.set_attribute(name, value)
    _log.log(
        logging.WARNING if "error.type" in known else logging.INFO,
        "%s",
        " ".join(f"{name.removeprefix('gen_ai.')}={value}" for name, value in known.items()),
        extra={"promptsections": known},
    )
