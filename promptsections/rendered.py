"""From resolved content to messages that fit: `Resolved`, `lay_out()` and `RenderedPrompt`.

Everything after resolve: no I/O, no randomness, no global; the clock is read for timings alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Literal

from attrs import evolve, field, frozen

from promptsections.budgets import total_budget
from promptsections.caching import CachePlan, CachePolicy, cache_outcome
from promptsections.errors import BudgetExceededError, DefinitionError, LayoutError
from promptsections.explain import explain
from promptsections.layout import (
    Layout,
    Origin,
    Placement,
    Reporter,
    ResolvedContent,
    engine_for,
    origins,
)
from promptsections.messages import Message, Tool
from promptsections.notes import Note
from promptsections.summaries.summary import Summary
from promptsections.tokens import hybrid_of

_NO_TIMES: Mapping[str, float] = MappingProxyType({})
NO_SUMMARIES: Mapping[str, Summary] = MappingProxyType({})


@frozen(kw_only=True)
class Resolved(ResolvedContent):
    """All content of a prompt, for one model; lay it out at any number of budgets."""

    caching: CachePolicy | None = None
    """What the operator decided about the provider's cache; `None` is nothing."""
    tenant_scope: str | None = None
    """What stands for the tenant, where tenants are kept apart: a hash, never the id."""
    summaries: Mapping[str, Summary] = NO_SUMMARIES
    """What sections that summarize are to find in memory next time."""
    seconds: float = field(default=0.0, eq=False)
    """How long it took to resolve."""

    def minimum_budget(self) -> int:
        """Return the smallest budget, in tokens, at which `lay_out` succeeds.

        Raises:
            BudgetExceededError: if a required section needs more than its own limit allows.
        """
        engine = engine_for(self, self.budget)
        return max(1, self.base + engine.at_floors(None).tokens)


@frozen(kw_only=True)
class RenderedPrompt:
    """What a render returns; immutable."""

    messages: tuple[Message, ...]
    """What is sent, in order; a text form has its text in one system message."""
    tools: tuple[Tool, ...] = ()
    layout: Layout
    """What happened to every section, and why."""
    origins: tuple[Origin, ...] = ()
    """Which section each message comes from; empty for a text."""
    cache_plan: CachePlan | None = None
    """What a request says to the provider's cache; `None` without a cache policy."""
    summaries: Mapping[str, Summary] = NO_SUMMARIES
    """What sections that summarize are to find in memory next time, by their paths: store it under
    `summaries`."""
    form: Literal["messages", "text"] = "messages"
    model: str = ""
    """Name of the profile that it was counted for."""
    timings: Mapping[str, float] = field(default=_NO_TIMES, eq=False)
    """Phase → seconds; no part of the layout, so that equal inputs give equal layouts."""
    cached: bool = field(default=False, eq=False)
    """Whether it was kept from an earlier render, by `Renderer(cache=…)`."""

    @property
    def token_count(self) -> int:
        """Tokens in all, framing, reply priming and tools included; never above the budget."""
        return self.layout.token_count

    @property
    def exact(self) -> bool:
        """Whether `token_count` follows the published formula throughout; notes say where not."""
        return self.layout.exact

    @property
    def text(self) -> str:
        """The prompt as one text.

        Raises:
            LayoutError: if it was rendered as messages.
        """
        if self.form != "text":
            raise LayoutError(
                'this prompt was rendered as messages: use Renderer(…, output="text") for a text'
            )
        return self.messages[0].text if self.messages else ""

    def turn(self) -> tuple[Message, ...]:
        """Return the messages of this turn as they are sent: store them, then the answer.

        These are the ones behind the history; in a prompt without one, those from the first user
        message on. What was found for this turn is among them. If a memory holds them as they are,
        the next prompt begins with this one byte for byte, and the provider's cache knows it.

        Raises:
            LayoutError: if it was rendered as a text.
        """
        if self.form == "text":
            raise LayoutError(
                "a text has no messages to store: render as messages, or store what the user wrote"
            )
        start, at = None, 0
        for origin in self.origins:
            at += origin.messages
            start = at if origin.is_history else start
        if start is None:
            roles = [message.role for message in self.messages]
            start = roles.index("user") if "user" in roles else len(roles)
        return self.messages[start:]

    def explain(self) -> str:
        """Return the layout as a table for people."""
        return explain(self.layout)


def lay_out(resolved: Resolved, budget: int | None = None) -> RenderedPrompt:
    """Lay out resolved content in a budget.

    Args:
        resolved: What `Renderer.resolve()` returned.
        budget: Tokens; by default those that it was resolved for.

    Returns:
        Messages whose `token_count` is at most the budget.

    Raises:
        BudgetExceededError: exactly if the budget is below `resolved.minimum_budget()`.
        LayoutError: if a block breaks its promises, or something was read only as far as a smaller
            budget allows.
        InvalidBudgetError: if the budget is no whole number of tokens above 0.
    """
    started = perf_counter()
    if not isinstance(resolved, Resolved):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(
            f"lay_out needs what Renderer.resolve() returns, not {type(resolved).__name__}"
        )
    tokens = resolved.budget if budget is None else total_budget(budget)
    if tokens > resolved.budget and resolved.unread:
        unread = ", ".join(map(repr, resolved.unread))
        raise LayoutError(
            f"{unread} was read only as far as {resolved.budget} tokens need: "
            f"resolve again with budget={tokens}"
        )
    return _by_estimate(resolved, tokens, started) or _lay_out(resolved, tokens, started)


def _by_estimate(resolved: Resolved, tokens: int, started: float) -> RenderedPrompt | None:
    """Lay out by estimates, if that is allowed and certain to send everything.

    A bound is never less than an exact count. So what is whole by the bound is whole by exact
    counts too: the same messages, however they are counted.
    """
    hybrid = hybrid_of(resolved.tokenizer)
    bound = None if hybrid is None else hybrid.bound
    if hybrid is None or bound is None:
        return None
    found = None
    for tokenizer in (bound, hybrid.estimate):
        try:
            found = _lay_out(evolve(resolved, tokenizer=tokenizer), tokens, started)
        except BudgetExceededError:
            return None
        if not all(map(_is_all, found.layout.placements)):
            return None
    return found


def _is_all(placement: Placement) -> bool:
    """Whether nothing was left out of a section for lack of room."""
    return placement.outcome not in ("cut", "dropped") and all(map(_is_all, placement.children))


def _lay_out(resolved: Resolved, tokens: int, started: float) -> RenderedPrompt:
    engine = engine_for(resolved, tokens)
    composed = engine.run()
    reporter = Reporter(engine)
    cache = cache_outcome(
        resolved.caching, resolved.tenant_scope, resolved, engine.pieces, composed.messages
    )
    estimates = tuple(
        Note("estimated", "", reason)
        for reason in resolved.profile.estimates(
            composed.messages, resolved.tools, resolved.tokenizer
        )
    )
    layout = Layout(
        budget=tokens,
        base=resolved.base,
        reserved=resolved.reserved if tokens == resolved.budget else 0,
        token_count=resolved.base + composed.tokens,
        exact=not estimates,
        space=reporter.space,
        placements=reporter.placements(),
        notes=resolved.notes + reporter.notes() + cache.notes + estimates,
        prefixes=cache.prefixes,
    )
    return RenderedPrompt(
        messages=composed.messages,
        tools=resolved.tools,
        layout=layout,
        origins=() if resolved.profile.form == "text" else origins(resolved.root, engine.pieces),
        cache_plan=cache.plan,
        summaries=resolved.summaries,
        form=resolved.profile.form,
        model=resolved.profile.name,
        timings={"resolve": resolved.seconds, "lay_out": perf_counter() - started},
    )
