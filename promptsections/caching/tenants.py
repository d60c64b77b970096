"""Keep tenants apart in a cache that they share: a line that belongs to one of them opens a prompt.

It knows hashes of tenants, never their ids.
"""

from __future__ import annotations

from attrs import evolve

from promptsections.blocks import TextBlock
from promptsections.budgets import Auto
from promptsections.counting import Lines
from promptsections.layout import ResolvedGroup, ResolvedSection
from promptsections.messages import Message

SCOPE = "tenant_scope"
"""Name and kind of the section that holds the line."""


def scoped(root: ResolvedGroup, scope: str) -> ResolvedGroup:
    """Put the line that scopes a prompt to a tenant in front: a required section like any other.

    Args:
        root: the prompt.
        scope: what `CachePolicy.scope_of` returned.
    """
    names = {child.name for child in root.children}
    name = SCOPE
    while name in names:
        name += "_"
    line = ResolvedSection(
        path=name,
        name=name,
        kind=SCOPE,
        required=True,
        priority=0,
        budget=Auto(),
        lines=Lines(),
        block=TextBlock(scope_line(scope), Message("system")),
        stability="tenant",
    )
    return evolve(root, children=(line, *root.children))


def scope_line(scope: str) -> str:
    """Write the line that opens the stable text of a tenant; it tells a model nothing."""
    return f"Cache scope: {scope}"
