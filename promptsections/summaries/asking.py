"""Ask a summarizer, count what it answers, and say what is wrong with it.

It knows no block.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

from attrs import evolve, frozen

from promptsections.errors import NeedsEventLoopError
from promptsections.scope import Scope, is_async
from promptsections.summaries.summarize import Summarize
from promptsections.summaries.summarizer import Summarizer, SummaryRequest
from promptsections.tokens import Tokenizer, truncate
from promptsections.unicode import well_formed

_log = logging.getLogger("promptsections")

Within = Callable[[Callable[[], Awaitable[str]]], Awaitable[str]]
"""Awaits a call for as long as the section may take."""


@frozen
class Answer:
    """A summary that fits its target."""

    text: str
    tokens: int
    was_cut: bool


async def ask(
    how: Summarize, request: SummaryRequest, source_tokens: int, scope: Scope, within: Within
) -> Answer | None:
    """Ask for a summary; `None` if there is none that can be used, which is noted.

    An answer that is empty or too long is asked for again, with a lower target; then it is cut.

    Args:
        how: the summarizer, and how often it is asked.
        request: what is to be said.
        source_tokens: tokens of what it tells; a summary that is no shorter is of no use.
        scope: the section's.
        within: limits how long an answer may take.

    Raises:
        NeedsEventLoopError: the summarizer must be awaited, and nothing may wait; not started.
    """
    asked, problem, best = request, "", ""
    while asked.attempt <= how.retries + 1:
        try:
            text = well_formed(await within(partial(_call, how.summarizer, asked, scope)))
        except NeedsEventLoopError:
            raise
        except Exception as error:
            _log.warning("%s is not summarized: %s", scope.path, error, exc_info=True)
            _failed(scope, f"the summarizer raised {type(error).__name__}: {error}")
            return None
        text = text.strip()
        tokens = request.count(text)
        if text and tokens <= request.target and tokens < source_tokens:
            return Answer(text, tokens, was_cut=False)
        problem = (
            f"a summary of {tokens} tokens is no shorter than the {source_tokens} that it tells"
            if text
            else "the summary is empty"
        )
        best = text if 0 < tokens < source_tokens else best
        lower = request.target * request.target // max(tokens, request.target + 1)
        asked = evolve(asked, attempt=asked.attempt + 1, target=max(1, lower))
    answer = _cut(best, request.target, scope.counter.tokenizer)
    if answer is None:
        _failed(scope, problem)
    return answer


def _cut(text: str, target: int, tokenizer: Tokenizer) -> Answer | None:
    cut = truncate(text, target, tokenizer=tokenizer, boundary="sentence")
    return Answer(cut, tokenizer.count(cut), was_cut=True) if cut.strip() else None


def _failed(scope: Scope, problem: str) -> None:
    scope.note("summary_failed", f"it is cut instead: {problem}")


async def _call(summarizer: Summarizer, request: SummaryRequest, scope: Scope) -> str:
    waits = is_async(summarizer) or bool(getattr(summarizer, "is_async", False))
    if waits and not scope.may_await:
        raise _must_wait(summarizer)
    if waits:
        found: Any = summarizer(request)
    else:
        found = await scope.in_thread(lambda: cast("object", summarizer(request)))
    if inspect.isawaitable(found):
        if not scope.may_await:
            if inspect.iscoroutine(found):
                found.close()
            raise _must_wait(summarizer)
        found = await found
    if not isinstance(found, str):
        kind = type(cast("object", found)).__name__
        raise TypeError(f"a summary must be a text, not {kind}")
    return found


def _must_wait(summarizer: object) -> NeedsEventLoopError:
    name = getattr(summarizer, "__qualname__", type(summarizer).__name__)
    return NeedsEventLoopError(
        f"the summarizer {name} must be awaited, and render() does not wait: "
        "write `await ….arender(…)`"
    )
