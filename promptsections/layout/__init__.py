"""Lay out resolved content in a token budget: what goes in, how it is divided, what came of it."""

from promptsections.layout.engine import Engine, engine_for
from promptsections.layout.origins import Origin, origins
from promptsections.layout.placement import (
    Layout,
    Outcome,
    Placement,
    Prefix,
    Reason,
    describe_budget,
)
from promptsections.layout.report import Reporter
from promptsections.layout.resolved import (
    Failure,
    ResolvedContent,
    ResolvedGroup,
    ResolvedNode,
    ResolvedSection,
)
from promptsections.layout.weight import is_light

__all__ = [
    "Engine",
    "Failure",
    "Layout",
    "Origin",
    "Outcome",
    "Placement",
    "Prefix",
    "Reason",
    "Reporter",
    "ResolvedContent",
    "ResolvedGroup",
    "ResolvedNode",
    "ResolvedSection",
    "describe_budget",
    "engine_for",
    "is_light",
    "origins",
]
