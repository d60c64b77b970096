"""All laws at once: of one prompt, at any number of budgets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from promptsections._run import run_on_loop
from promptsections.errors import BudgetExceededError, NeedsEventLoopError
from promptsections.prompt import Prompt
from promptsections.rendered import Resolved, lay_out
from promptsections.renderer import Renderer
from promptsections.testing.asserts import (
    assert_exchanges_whole,
    assert_fits,
    assert_in_order,
    assert_minimum_budget,
    assert_nothing_silent,
    assert_required_kept,
)
from promptsections.testing.waste import assert_no_waste
from promptsections.tokens import joints_of


def assert_laws(
    renderer: Renderer,
    prompt: Prompt,
    memory: object = None,
    budgets: Iterable[int] = (),
    *,
    context: Any = None,
) -> None:
    """Assert everything that a layout promises, of one prompt at these budgets.

    The prompt is resolved for each budget. A budget below what is required must be refused, with an
    error that names the minimum. Sections that must be awaited run on an event loop of their own.

    Args:
        renderer: What renders it.
        prompt: The prompt.
        memory: What it reads.
        budgets: In tokens, one layout each; none is the model's own budget.
        context: What the framework passes through.

    Raises:
        AssertionError: the law that is broken, where, and the numbers.
    """
    tried: list[int | None] = [*budgets]
    for budget in tried or [None]:
        resolved = resolve_anyhow(renderer, prompt, memory, budget, context)
        assert_minimum_budget(resolved)
        try:
            rendered = lay_out(resolved)
        except BudgetExceededError:
            continue
        assert_fits(rendered, budget, profile=renderer.profile)
        assert_required_kept(rendered)
        assert_in_order(rendered, prompt, renderer.profile)
        assert_exchanges_whole(rendered)
        assert_nothing_silent(rendered)
        assert lay_out(resolved) == rendered, "same input, same bytes: a second layout differs"
        if renderer.profile.form == "messages" or joints_of(resolved.tokenizer) == "strong":
            assert_no_waste(resolved)  # by sums, which a text that is only counted whole has not


def resolve_anyhow(
    renderer: Renderer, prompt: Prompt, memory: object, budget: int | None, context: Any
) -> Resolved:
    """Resolve a prompt, on an event loop if something in it must be awaited."""
    try:
        return renderer.resolve(prompt, memory, budget=budget, context=context)
    except NeedsEventLoopError:
        return run_on_loop(
            lambda: renderer.aresolve(prompt, memory, budget=budget, context=context)
        )
