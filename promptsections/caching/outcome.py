"""What a finished layout means for the provider's cache: plan, prefixes, remarks.

It puts the other modules of this package together and knows no payload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from promptsections.caching.plan import CachePlan, Mark, Planner, cache_key
from promptsections.caching.policy import CachePolicy
from promptsections.caching.prefixes import USUAL_MINIMUM, prefixes, volatile_before_stable
from promptsections.caching.stretches import outline
from promptsections.layout import Prefix, ResolvedContent
from promptsections.layout.compose import Piece
from promptsections.messages import Message
from promptsections.notes import Note


@frozen
class CacheOutcome:
    """What is said about caching beside a layout."""

    plan: CachePlan | None = None
    """`None` if nobody decided anything."""
    prefixes: tuple[Prefix, ...] = ()
    notes: tuple[Note, ...] = ()


def cache_outcome(
    policy: CachePolicy | None,
    scope: str | None,
    content: ResolvedContent,
    pieces: Mapping[str, Piece],
    messages: Sequence[Message],
) -> CacheOutcome:
    """Plan the cache of a finished layout.

    Args:
        policy: what the operator decided.
        scope: what stands for the tenant, if tenants are kept apart.
        content: what was laid out.
        pieces: what each section sends.
        messages: what is sent.
    """
    if policy is None:
        return CacheOutcome()
    rule = policy.rule or content.profile.cache
    explicit = rule is not None and rule.marks > 0 and rule.key == "prompt_cache_key"
    if not policy.prompt_caching:
        return CacheOutcome(CachePlan(explicit=explicit))
    tools_tokens = content.base - content.profile.reply_priming
    found = outline(content.root, pieces, content.counter)
    known = prefixes(found.stretches, content.tools, tools_tokens)
    minimum = USUAL_MINIMUM if rule is None else rule.minimum
    notes = list(volatile_before_stable(found.stretches, minimum))
    if rule is None:
        detail = (
            f"nothing is known of a prompt cache of {content.profile.name!r}, so nothing is asked "
            "of it: pass CachePolicy(rule=CacheRule(…))"
        )
        return CacheOutcome(CachePlan(), known, (*notes, Note("cache_unknown", "", detail)))
    marks: tuple[Mark, ...] = ()
    if rule.marks and content.profile.form == "messages":
        planner = Planner(
            policy,
            rule,
            found,
            messages,
            lambda message: content.counter.cost((message,)),
            tools_tokens,
        )
        marks = planner.marks()
        notes += planner.notes
    # Tenants that are kept apart share no static prefix: the line in front is a tenant's.
    fingerprint = known[0 if scope is None else 1].fingerprint
    key = scope if rule.key == "cache_salt" else cache_key(scope, fingerprint)
    plan = CachePlan(marks=marks, field=rule.key, key=key if rule.key else None, explicit=explicit)
    return CacheOutcome(plan, known, tuple(notes))
