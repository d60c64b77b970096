"""Budgets of a prompt file that cannot work out, whatever content comes.

It lays out what is the same in every render, and otherwise only adds up numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from attrs import evolve

from promptsections.budgets import Auto, Budget, Rest, Share
from promptsections.checking import walk
from promptsections.config.findings import Code, Finding, finding
from promptsections.config.prompt_file import PromptFile
from promptsections.errors import BudgetExceededError, InvalidBudgetError, UnknownModelError
from promptsections.layout import describe_budget
from promptsections.profiles import ModelProfile, find_profile
from promptsections.prompt import Prompt
from promptsections.renderer import Renderer
from promptsections.sections import GroupSection, PromptSection, TemplateSection, TextSection

_PLENTY = 1 << 40


def check_budgets(file: PromptFile, model: str | None, budget: int | None) -> Iterator[Finding]:
    """Yield a finding for each budget that cannot be kept.

    Args:
        file: The prompt and what its file says beside it.
        model: Name of the model that it is rendered for, if one is known.
        budget: Tokens of input; by default those of the model's window.
    """
    try:
        profile = find_profile(model) if model is not None else None
    except UnknownModelError as error:
        yield finding(file, Code.UNKNOWN_MODEL, "", str(error), _keys(file, model, None))
        profile = None
    wrong = _over_window(profile, budget, file.reserve_output_tokens) if profile else None
    if wrong:
        yield finding(file, Code.BUDGET_OVER_WINDOW, "", wrong, _keys(file, model, budget))
    elif budget is None and profile is not None and profile.context_window is not None:
        budget = profile.input_budget(file.reserve_output_tokens)
    yield from _too_small(file, profile, budget, _keys(file, model, budget))
    for path, section in walk(file.prompt):
        yield from _limits(file, path, section, budget)
    for path, members in _containers(file.prompt):
        yield from _shares(file, path, [member.budget for member in members])


def _keys(file: PromptFile, model: str | None, budget: int | None) -> list[str]:
    """Return the keys that say what the whole prompt may have, where nothing else was given."""
    ours = [
        ("budget", budget is not None and budget == file.budget),
        ("reserve_output_tokens", budget is None),
        ("model", model == file.model),
    ]
    return [key for key, counts in ours if counts]


def _over_window(profile: ModelProfile, budget: int | None, reserve: int | None) -> str | None:
    """Say why a budget can never fit the model, or `None`."""
    window = profile.context_window
    if window is None:
        return None
    if budget is None:
        try:
            profile.input_budget(reserve)
        except InvalidBudgetError as error:
            return str(error)
        return None
    if budget + (reserve or 0) > window:
        answer = f" and {reserve} for the answer" if reserve else ""
        return (
            f"budget {budget}{answer} is more than the context window of {profile.name!r}, "
            f"{window} tokens"
        )
    if profile.max_input_tokens is not None and budget > profile.max_input_tokens:
        return (
            f"budget {budget} is more input than {profile.name!r} takes, {profile.max_input_tokens}"
        )
    return None


# --- what is the same in every render -----------------------------------------------------------


def _too_small(
    file: PromptFile, profile: ModelProfile | None, budget: int | None, keys: Sequence[str]
) -> Iterator[Finding]:
    """Lay out all that is fixed and required: it must fit, the limits of its sections included."""
    renderer = Renderer(profile) if profile else Renderer(tokenizer="o200k_base")
    renderer = evolve(
        renderer,
        model=evolve(renderer.profile, context_window=None, max_input_tokens=None),
        tokenizer=None,
    )
    for path, section in walk(file.prompt):
        wrong = _over_own_limit(renderer, section)
        if wrong:
            code = Code.BUDGET_TOO_SMALL if section.required else Code.NEVER_SENT
            yield finding(file, code, path, wrong)
            if section.required:
                return
    fixed = evolve(file.prompt, sections=_fixed(file.prompt), tools=file.prompt.all_tools())
    try:
        needed = renderer.resolve(fixed, budget=_PLENTY).minimum_budget()
    except BudgetExceededError as error:  # a group that is smaller than what it requires
        yield finding(file, Code.BUDGET_TOO_SMALL, error.section or "", str(error))
        return
    if budget is not None and needed > budget:
        what = "fixed text" + (" and tools" if fixed.tools else "")
        message = f"what is always sent ({what}) needs {needed} tokens, the budget is {budget}"
        yield finding(file, Code.BUDGET_TOO_SMALL, "", message, keys)


def _over_own_limit(renderer: Renderer, section: PromptSection) -> str | None:
    ceiling = section.budget.ceiling
    if ceiling is None or not is_fixed(section):
        return None
    alone = Prompt([evolve(section, required=True)])
    try:
        renderer.resolve(alone, budget=_PLENTY).minimum_budget()
    except BudgetExceededError as error:
        (floor,) = error.floors.values()
        return f"it is {floor} tokens at its smallest, and may have {ceiling}"
    return None


def is_fixed(section: PromptSection) -> bool:
    """Say whether a section says the same in every render."""
    match section:
        case TextSection():
            return type(section) is TextSection
        case TemplateSection():
            template = section.template
            own = type(section).resolve is not TemplateSection.resolve
            return not own and not template.variables and not template.functions
        case _:
            return False


def _fixed(group: GroupSection) -> list[PromptSection]:
    """Return what of a group is required and fixed, groups in it included."""
    found: list[PromptSection] = []
    for name, section in zip(group.names, group.sections, strict=True):
        if not section.required:
            continue
        if isinstance(section, GroupSection) and type(section).resolve is GroupSection.resolve:
            inner = _fixed(section)
            if inner:
                found.append(evolve(section, sections=inner, name=name))
        elif is_fixed(section):
            found.append(evolve(section, name=name))
    return found


# --- numbers beside each other ------------------------------------------------------------------


def _limits(
    file: PromptFile, path: str, section: PromptSection, budget: int | None
) -> Iterator[Finding]:
    own = section.budget
    shown = describe_budget(own)
    limit = max(own.at_least or 0, own.ceiling or 0)
    if budget is not None and limit > budget:
        message = f"{shown}: {limit} tokens are more than the whole budget, {budget}"
        yield finding(file, Code.LIMIT_OVER_BUDGET, path, message)
    if isinstance(own, Share) and own.at_least is not None and budget is not None:
        most = int(own.fraction * budget)
        if most < own.at_least <= budget:
            message = (
                f"{shown}: of a budget of {budget} the share is at most {most} tokens, so only the "
                f"{own.at_least} that are reserved count"
            )
            yield finding(file, Code.SHARE_BELOW_RESERVATION, path, message)


def _containers(prompt: Prompt) -> Iterator[tuple[str, Sequence[PromptSection]]]:
    """Yield what divides tokens, with the members that it divides them between.

    Groups without a budget only join: what stands in them stands beside what is around them.
    """
    waiting: list[tuple[str, GroupSection]] = [("", prompt)]
    while waiting:
        path, container = waiting.pop(0)
        members: list[PromptSection] = []
        for inner, section in _members(container, path):
            members.append(section)
            if isinstance(section, GroupSection):
                waiting.append((inner, section))
        yield path, members


def _members(group: GroupSection, path: str) -> Iterator[tuple[str, PromptSection]]:
    for name, section in zip(group.names, group.sections, strict=True):
        inner = f"{path}/{name}" if path else name
        if isinstance(section, GroupSection) and section.budget == Auto():
            yield from _members(section, inner)
        else:
            yield inner, section


def _shares(file: PromptFile, path: str, budgets: Sequence[Budget]) -> Iterator[Finding]:
    fractions = [budget.fraction for budget in budgets if isinstance(budget, Share)]
    rests = sum(isinstance(budget, Rest) for budget in budgets)
    whole = sum(fractions, Fraction(0))
    percent = f"{float(whole * 100):g}%"
    if whole > 1:
        message = f"shares beside each other make {percent} of what is left: all get less"
        yield finding(file, Code.SHARES_OVER_WHOLE, path, message, ["sections"])
    elif whole == 1 and rests:
        message = "shares beside each other make 100%: they leave nothing to the rest beside them"
        yield finding(file, Code.SHARES_OVER_WHOLE, path, message, ["sections"])
