"""The laws of a layout as asserts, for tests of anybody's prompts.

They know no test framework and need no Hypothesis. Each raises an `AssertionError` that names what
is broken, the section and the numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import accumulate

from promptsections.errors import BudgetExceededError, ProviderError
from promptsections.layout import Placement, Reason
from promptsections.messages import Message
from promptsections.places import is_plain_group
from promptsections.profiles import ModelProfile, find_profile
from promptsections.prompt import Prompt
from promptsections.providers.pairing import check_order
from promptsections.rendered import RenderedPrompt, Resolved, lay_out
from promptsections.renderer import Renderer
from promptsections.sections import GroupSection
from promptsections.tokens import CachedTokenizer, Tokenizer, as_tokenizer

_REASONS: Mapping[str, frozenset[Reason]] = {
    "whole": frozenset({Reason.FITS}),
    "cut": frozenset({Reason.OWN_LIMIT, Reason.SHARE, Reason.REST, Reason.NO_ROOM}),
    "dropped": frozenset({Reason.NO_ROOM, Reason.GROUP_DROPPED, Reason.CALL_DROPPED}),
    "empty": frozenset({Reason.EMPTY, Reason.MISSING}),
    "failed": frozenset({Reason.FAILED, Reason.TIMEOUT}),
}


def recount(rendered: RenderedPrompt, profile: ModelProfile | None = None) -> int:
    """Count what is sent anew, by the profile's formula, without anything that was remembered.

    Args:
        rendered: What a render returned.
        profile: What it was counted for; by default that of its model's name.

    Returns:
        Tokens in all, tools and reply priming included.

    Raises:
        UnknownModelError: if the model is not known by name; pass `renderer.profile`.
    """
    profile = find_profile(rendered.model) if profile is None else profile
    tokenizer = _uncached(profile)
    base = profile.base_tokens(rendered.tools, tokenizer)
    if rendered.form == "text":
        return base + tokenizer.count(rendered.text)
    return base + sum(_cost(message, profile, tokenizer) for message in rendered.messages)


def _uncached(profile: ModelProfile) -> Tokenizer:
    tokenizer = as_tokenizer(profile.encoding)
    return tokenizer.tokenizer if isinstance(tokenizer, CachedTokenizer) else tokenizer


def _cost(message: Message, profile: ModelProfile, tokenizer: Tokenizer) -> int:
    return profile.content_tokens(message, tokenizer) + profile.framing_tokens(message, tokenizer)


def assert_fits(
    rendered: RenderedPrompt, budget: int | None = None, *, profile: ModelProfile | None = None
) -> None:
    """Assert law 1: `token_count` is at most the budget, and what a recount of the payload gives.

    Args:
        rendered: What a render returned.
        budget: In tokens; by default the one that it was laid out for.
        profile: What it was counted for; by default that of its model's name.
    """
    budget = rendered.layout.budget if budget is None else budget
    count = rendered.token_count
    assert count <= budget, f"never over: {count} tokens are sent in a budget of {budget}"
    counted = recount(rendered, profile)
    assert counted == count, (
        f"never over: token_count is {count}, but what is sent counts {counted} tokens"
    )


def assert_required_kept(rendered: RenderedPrompt) -> None:
    """Assert law 2: what is required is there, wherever the group it stands in is."""
    _assert_demanded(rendered.layout.placements, "the prompt")
    for placement in rendered.layout.walk():
        if placement.kept:
            _assert_demanded(placement.children, f"group {placement.path!r}")
            assert placement.given >= placement.floor, (
                f"required means required: {placement.path!r} is given {placement.given} tokens, "
                f"less than its floor of {placement.floor}"
            )


def _assert_demanded(children: tuple[Placement, ...], where: str) -> None:
    for child in children:
        assert child.kept or not _demands(child), (
            f"required means required: {child.path!r} is required and has content, but is left "
            f"out of {where}: {child.message}"
        )


def _demands(placement: Placement) -> bool:
    """Whether a section must be sent with what stands around it; a group if anything in it must."""
    if not placement.required or placement.outcome in ("empty", "failed"):
        return False
    return any(map(_demands, placement.children)) if placement.children else True


def assert_in_order(rendered: RenderedPrompt, prompt: Prompt, profile: ModelProfile) -> None:
    """Assert law 6: what is sent stands in the order of the document.

    Sizes tell which messages belong to which section. In a text form only the order of the
    placements can be told.
    """
    expected = list(_paths(prompt, ""))
    placed = [placement.path for placement in rendered.layout.walk()]
    assert placed == expected, f"the author's order: {placed} instead of {expected}"
    if rendered.form == "text":
        return
    tokenizer = _uncached(profile)
    parts = [part.used for part in _sent_apart(prompt, rendered.layout.placements)]
    costs = [_cost(message, profile, tokenizer) for message in rendered.messages]
    ends = {0, *accumulate(costs)}
    assert sum(parts) == sum(costs) and ends.issuperset(accumulate(parts)), (  # noqa: PT018
        f"the author's order: sections of {parts} tokens are not messages of {costs} tokens in turn"
    )


def _paths(group: GroupSection, within: str) -> Iterator[str]:
    for name, section in zip(group.names, group.sections, strict=True):
        yield within + name
        if isinstance(section, GroupSection) and is_plain_group(section):
            yield from _paths(section, f"{within}{name}/")


def _sent_apart(group: GroupSection, placements: tuple[Placement, ...]) -> Iterator[Placement]:
    """Yield what is sent in messages of its own: sections, and groups that are one message."""
    for section, placement in zip(group.sections, placements, strict=True):
        joins = isinstance(section, GroupSection) and is_plain_group(section)
        if joins and isinstance(section, GroupSection) and section.role is None:
            yield from _sent_apart(section, placement.children)
        elif placement.used:
            yield placement


def assert_exchanges_whole(rendered: RenderedPrompt) -> None:
    """Assert law 7: every call is answered, by results right after it; no provider refuses it."""
    if rendered.form == "text":
        return
    try:
        check_order(rendered.messages)
    except ProviderError as error:
        raise AssertionError(f"exchanges are atoms: {error}") from None


def assert_nothing_silent(rendered: RenderedPrompt) -> None:
    """Assert law 10: whatever did not come out whole has a reason, and the layout is plain data."""
    layout = rendered.layout
    for placement in layout.walk():
        path, outcome, reason = placement.path, placement.outcome, placement.reason
        assert reason in _REASONS[outcome], f"nothing silent: {path!r} is {outcome}, for {reason!r}"
        assert placement.message, f"nothing silent: {path!r} is {outcome}, and no words say why"
        assert placement.kept or not placement.used, (
            f"nothing silent: {path!r} is {outcome} and takes {placement.used} tokens"
        )
        assert outcome != "failed" or placement.error or placement.children, (
            f"nothing silent: {path!r} failed without an error"
        )
    estimated = any(note.code == "estimated" for note in layout.notes)
    assert layout.exact != estimated, (
        f"nothing silent: exact is {layout.exact}, notes are {layout.notes}"
    )
    json.dumps(layout.to_dict(), allow_nan=False)


def assert_same_twice(
    renderer: Renderer, prompt: Prompt, memory: object = None, budget: int | None = None
) -> None:
    """Assert law 9: the same input gives the same bytes."""
    first, second = (_bytes(renderer, prompt, memory, budget) for _ in range(2))
    assert first == second, f"same input, same bytes: {first!r} and then {second!r}"


def _bytes(renderer: Renderer, prompt: Prompt, memory: object, budget: int | None) -> str:
    try:
        rendered = renderer.render(prompt, memory, budget=budget)
    except BudgetExceededError as error:
        return f"{error} {error.floors}"
    layout = json.dumps(rendered.layout.to_dict())
    return f"{rendered.messages!r} {rendered.tools!r} {layout}"


def assert_minimum_budget(resolved: Resolved) -> None:
    """Assert law 2: a layout succeeds exactly from `minimum_budget()` on, and the error says so."""
    try:
        minimum = resolved.minimum_budget()
    except BudgetExceededError:  # a floor above its own ceiling, which no budget helps
        _assert_raises(resolved, resolved.budget)
        return
    if minimum > 1:
        error = _assert_raises(resolved, minimum - 1)
        assert error.needed == minimum, (
            f"required means required: the error says that {error.needed} tokens are needed, "
            f"minimum_budget() that {minimum} are"
        )
    if minimum <= resolved.budget or not resolved.unread:
        lay_out(resolved, minimum)


def _assert_raises(resolved: Resolved, budget: int) -> BudgetExceededError:
    try:
        rendered = lay_out(resolved, budget)
    except BudgetExceededError as error:
        return error
    raise AssertionError(
        f"required means required: {rendered.token_count} tokens are laid out in {budget}, which "
        "is below minimum_budget()"
    )
