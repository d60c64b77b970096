"""What a section says about trimming in steps, and what comes of it in a render.

It knows no section by name.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from promptsections.blocks.trimming import read_trim, step_of
from promptsections.scope import Scope
from promptsections.sections.stability import Stability

TrimTo = float | Literal["by_caching"] | None
"""The part of what a section may have that is kept when something is left out."""
KEPT = Fraction(7, 10)
"""That part where the renderer's caching is on and a section says nothing: a prompt is then filled
to about 0.85 in the mean. `python -m benchmarks.cache` compares it with others."""


def check_trims(trim_to: TrimTo, trim_step: int | None) -> None:
    """Raise a `DefinitionError` if this says nothing that can be done."""
    read_trim(None if trim_to == "by_caching" else trim_to, trim_step)


def trim_step_in(
    scope: Scope, trim_to: TrimTo, trim_step: int | None, stability: Stability
) -> int | None:
    """Return how many tokens a section leaves out at once, or `None` for no more than needed.

    What changes with every turn anyway is trimmed in steps only if the section says so.
    """
    if trim_to == "by_caching":
        lasts = scope.caching and stability != "turn"
        trim_to = float(KEPT) if lasts and trim_step is None else None
    part, step = read_trim(trim_to, trim_step)
    return step_of(part, step, scope.available)
