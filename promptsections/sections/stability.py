"""How long the content of a section stays the same, and what is declared of what it reads.

It knows no sections, no layouts and no cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, get_args

from attrs import frozen

from promptsections.templates import Node, Template, functions_of, variables_of

Stability = Literal["static", "tenant", "session", "turn"]
"""How long a section's content stays the same."""

STABILITIES: tuple[Stability, ...] = get_args(Stability)
"""From what stays the longest to what changes with every turn."""

RANK: Mapping[Stability, int] = {stability: rank for rank, stability in enumerate(STABILITIES)}

GROWS = RANK["session"] + 0.5
"""Rank of a history: it stays the same and grows, so what belongs to a session stands before it."""

_NOTHING: Mapping[str, Stability] = MappingProxyType({})


def least_stable(found: Iterable[Stability]) -> Stability:
    """Return the one that changes most often; of nothing, `static`."""
    rank = max((RANK[stability] for stability in found), default=0)
    return STABILITIES[rank]


@frozen
class Declared:
    """How long values in memory and results of functions stay the same.

    What is not declared may change with every turn.
    """

    variables: Mapping[str, Stability] = _NOTHING
    """Path in memory → its stability; a path stands for all below it, the longest one wins."""
    functions: Mapping[str, Stability] = _NOTHING

    def variable(self, path: str) -> Stability:
        """Return how long a value in memory stays the same."""
        while path:
            if path in self.variables:
                return self.variables[path]
            path = path.rpartition(".")[0]
        return "turn"

    def template(self, template: Template) -> Stability:
        """Return the stability of the least stable thing that a template reads."""
        return "static" if template.is_fixed else self.nodes(template.nodes)

    def nodes(self, nodes: Sequence[Node]) -> Stability:
        """Return the same of a part of a template."""
        variables = map(self.variable, variables_of(nodes))
        return least_stable(
            [*variables, *(self.functions.get(name, "turn") for name in functions_of(nodes))]
        )


NOTHING_DECLARED = Declared()
