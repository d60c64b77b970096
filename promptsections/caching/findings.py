"""Look at a prompt before anything runs: what will keep its stable text out of the cache.

It resolves nothing; of texts that are known it may say how long they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from promptsections.caching.order import in_cache_order, rank_of
from promptsections.caching.policy import CachePolicy
from promptsections.caching.prefixes import USUAL_MINIMUM, volatile_note
from promptsections.notes import Note
from promptsections.prompt import Prompt
from promptsections.sections import (
    CacheBreakpoint,
    Declared,
    GroupSection,
    PromptSection,
    Stability,
    TemplateSection,
    TextSection,
)
from promptsections.sections.stability import NOTHING_DECLARED
from promptsections.templates import Template
from promptsections.templates.nodes import Text
from promptsections.tokens import Tokenizer


def stability_of(section: PromptSection, policy: CachePolicy | None = None) -> Stability:
    """Return how long the content of a section stays the same, as far as it can be known before.

    Args:
        section: any section; of a group, the least stable one in it counts.
        policy: says what is declared of memory and functions.
    """
    return section.how_stable(NOTHING_DECLARED if policy is None else policy.declared)


def findings(
    prompt: Prompt, policy: CachePolicy | None = None, tokenizer: Tokenizer | None = None
) -> tuple[Note, ...]:
    """Return a `volatile_before_stable` for each section that stands before more stable ones.

    Sections that change with every turn are always named; others only where the texts behind them
    are known to be long enough to be cached.

    Args:
        prompt: the sections.
        policy: says what is declared of memory and functions.
        tokenizer: counts the texts that are known; without one, no sizes are given.
    """
    declared = NOTHING_DECLARED if policy is None else policy.declared
    leaves = list(_leaves(prompt, "", prompt.stability, declared, tokenizer))
    minimum = policy.rule.minimum if policy is not None and policy.rule else USUAL_MINIMUM
    found: list[Note] = []
    for place, leaf in enumerate(leaves):
        behind = [other for other in leaves[place + 1 :] if other.rank < leaf.rank]
        stable = sum(other.tokens for other in behind)
        if behind and (leaf.stability == "turn" or stable >= minimum):
            paths = [other.path for other in behind]
            found.append(volatile_note(leaf.path, leaf.tokens, stable, paths, leaf.stability))
    return tuple(found)


@frozen
class _Leaf:
    path: str
    stability: Stability
    rank: float
    tokens: int
    """Of what is known of its text; 0 if nothing is."""


def _leaves(
    group: GroupSection,
    path: str,
    said: Stability | None,
    declared: Declared,
    tokenizer: Tokenizer | None,
) -> Iterator[_Leaf]:
    """Yield what says something, in the order in which it is sent."""
    for place in in_cache_order(group, declared):
        section, name = group.sections[place], group.names[place]
        here = f"{path}/{name}" if path else name
        stability = section.stability or said
        if isinstance(section, GroupSection):
            yield from _leaves(section, here, stability, declared, tokenizer)
        elif not isinstance(section, CacheBreakpoint):
            own = stability or section.how_stable(declared)
            tokens = 0 if tokenizer is None else tokenizer.count(_known_text(section))
            yield _Leaf(here, own, rank_of(section, own), tokens)


def _known_text(section: PromptSection) -> str:
    if isinstance(section, TextSection):
        return section.text
    return _literal(section.template) if isinstance(section, TemplateSection) else ""


def _literal(template: Template) -> str:
    return "".join(node.text for node in template.nodes if isinstance(node, Text))
