"""How much of a model's window a prompt may have, and how much is kept for the answer.

It knows three numbers of a model and nothing else.
"""

from __future__ import annotations

from typing import Protocol

from promptsections.errors import InvalidBudgetError


class Limits(Protocol):
    """What a profile says of its window, in tokens."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def context_window(self) -> int | None:
        """Input and output together."""
        ...

    @property
    def max_output_tokens(self) -> int | None:
        """Output alone."""
        ...

    @property
    def max_input_tokens(self) -> int | None:
        """Input alone."""
        ...


def input_budget(model: Limits, reserve: int | None, max_output_tokens: int | None) -> int:
    """Return how many tokens a prompt may have: the window without the answer's reserve.

    Raises:
        InvalidBudgetError: if there is no window, or the reserve leaves nothing of it.
    """
    window = model.context_window
    if window is None:
        raise InvalidBudgetError(
            f"{model.name!r} has no context window, so a budget is required: pass budget=<tokens>",
            value=None,
        )
    named = "max_output_tokens" if reserve is None else "reserve_output_tokens"
    if reserve is None:
        reserve = answer_reserve(model, max_output_tokens)
    check_whole(named, reserve, least=0)
    if reserve >= window:
        raise InvalidBudgetError(
            f"{named}={reserve} leaves nothing of the context window of {model.name!r}, "
            f"{window} tokens: reserve less",
            value=reserve,
        )
    return min(window - reserve, model.max_input_tokens or window)


def answer_reserve(model: Limits, max_output_tokens: int | None) -> int:
    """Return how many tokens are kept for the answer, if nobody says how many.

    A limit of the model that leaves nothing of its window is no limit, and no reason to render
    nothing; one that the call names is.
    """
    limit, window = model.max_output_tokens, model.context_window
    if max_output_tokens is not None:
        check_whole("max_output_tokens", max_output_tokens, least=1)
        return max_output_tokens if limit is None else min(limit, max_output_tokens)
    if window is None:
        return limit or 0
    return limit if limit is not None and limit < window else window // 4


def check_whole(name: str, value: object, *, least: int) -> None:
    """Raise `InvalidBudgetError` unless a value is a whole number of tokens."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidBudgetError(
            f"{name}={value!r}: a whole number of tokens is needed, at least {least}", value=value
        )
