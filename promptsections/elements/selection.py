"""Which elements are said: criteria, then order, caps and conflicts; every refusal with a reason.

Pure: equal inputs give equal selections in every process. It knows no sections and no layout.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log
from random import Random
from typing import Any, Final, Literal, get_args

from attrs import evolve, field, frozen

from promptsections.elements.criteria import values_in
from promptsections.elements.element import Element, texts
from promptsections.errors import DefinitionError

PriorityStrategy = Literal["highest_first", "weighted_random", "persona_preference"]
ConflictStrategy = Literal["skip", "merge", "error"]

RefusalCode = Literal[
    "element_not_applicable", "element_over_cap", "element_conflict", "element_merged"
]
"""Why an element is not said by itself; codes of notes in a layout."""


@frozen(kw_only=True)
class ElementRules:
    """How many elements are said, and which of them."""

    total: int | None = None
    """The most in all."""
    per_type: Mapping[str, int] = field(factory=dict[str, int], hash=False)
    """Type → the most of it."""
    default_per_type: int | None = None
    """The most of every other type."""
    priority_strategy: PriorityStrategy = "highest_first"
    """`"highest_first"`: by priority, equals as given. `"weighted_random"`: by lot, a priority of n
    has n + 1 tickets, one of 0 or less has one. `"persona_preference"`: by `preferences`, then by
    priority."""
    preferences: Mapping[str, int] = field(factory=dict[str, int], hash=False)
    """Id or type → preference, higher first; an id wins over a type, others have 0."""
    seed: int | str = 0
    """What the lots are drawn from; the same seed draws the same."""
    conflict_strategy: ConflictStrategy = "skip"
    """`"skip"`: what contradicts something chosen before it is left out. `"merge"`: texts of one
    type become one text; others are left out. `"error"`: an error."""

    def __attrs_post_init__(self) -> None:
        caps = {"total": self.total, "default_per_type": self.default_per_type, **self.per_type}
        for name, cap in caps.items():
            if cap is not None and (isinstance(cap, bool) or not isinstance(cap, int) or cap < 0):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise DefinitionError(f"{name}={cap!r} must be a whole number of elements, or None")
        for name, preference in self.preferences.items():
            if isinstance(preference, bool) or not isinstance(preference, int):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise DefinitionError(f"preferences: {name}={preference!r} must be a whole number")
        for name, choices in (
            ("priority_strategy", get_args(PriorityStrategy)),
            ("conflict_strategy", get_args(ConflictStrategy)),
        ):
            if getattr(self, name) not in choices:
                listed = ", ".join(map(repr, choices))
                raise DefinitionError(f"{name}={getattr(self, name)!r} must be one of {listed}")

    def cap_of(self, type_: str) -> int | None:
        """Return the most elements of a type."""
        return self.per_type.get(type_, self.default_per_type)


@frozen
class Refusal:
    """An element that is not said by itself."""

    element: Element
    code: RefusalCode
    detail: str


@frozen(kw_only=True)
class ElementSelection:
    """What is said, and what is not."""

    chosen: tuple[Element, ...]
    """In the order in which they were chosen."""
    refused: tuple[Refusal, ...]
    """In the order in which they were given."""


def select_elements(
    elements: Sequence[Element],
    circumstances: Mapping[str, Any] | None = None,
    *,
    memory: object = None,
    rules: ElementRules | None = None,
) -> ElementSelection:
    """Choose elements.

    Args:
        elements: All there are, in the author's order; ids may repeat.
        circumstances: What is the case: mood, language, …
        memory: What criteria on memory read.
        rules: Caps, order and conflicts.

    Raises:
        DefinitionError: two that apply contradict each other, and the rules say so is an error.
    """
    rules = rules or ElementRules()
    given = circumstances or {}
    values = values_in(given, memory)
    refused: dict[int, Refusal] = {}
    applicable: list[tuple[int, Element]] = []
    for at, element in enumerate(elements):
        if element.applies(given, values):
            applicable.append((at, element))
        else:
            refused[at] = Refusal(element, "element_not_applicable", "its criteria do not hold")
    chosen: dict[int, Element] = {}
    counts: Counter[str] = Counter()
    for at, element in sorted(applicable, key=_ORDERS[rules.priority_strategy](rules)):
        refusal = _conflict(element, chosen, rules) or _over_cap(element, counts, rules)
        if refusal is not None:
            refused[at] = refusal
            continue
        chosen[at] = element
        counts[element.type] += 1
    return ElementSelection(
        chosen=tuple(chosen.values()), refused=tuple(refused[at] for at in sorted(refused))
    )


def _over_cap(element: Element, counts: Counter[str], rules: ElementRules) -> Refusal | None:
    cap = rules.cap_of(element.type)
    if cap is not None and counts[element.type] >= cap:
        return Refusal(element, "element_over_cap", f"at most {cap} of type {element.type!r}")
    if rules.total is not None and counts.total() >= rules.total:
        return Refusal(element, "element_over_cap", f"at most {rules.total} in all")
    return None


def _conflict(element: Element, chosen: dict[int, Element], rules: ElementRules) -> Refusal | None:
    """Say what to do with an element that contradicts a chosen one; merge it into that one."""
    rivals = [(place, other) for place, other in chosen.items() if element.contradicts(other)]
    if not rivals:
        return None
    place, rival = rivals[0]
    if rules.conflict_strategy == "error":
        raise DefinitionError(
            f"elements {rival.id!r} and {element.id!r} both apply and contradict each other"
        )
    mergeable = len(rivals) == 1 and rival.type == element.type and texts((rival, element))
    if rules.conflict_strategy == "merge" and mergeable:
        chosen[place] = evolve(
            rival,
            content=f"{rival.content}\n{element.content}",
            conflicts=tuple(dict.fromkeys((*rival.conflicts, *element.conflicts, element.id))),
        )
        return Refusal(element, "element_merged", f"its text is added to {rival.id!r}")
    return Refusal(element, "element_conflict", f"it contradicts {rival.id!r}")


# --- in which order -------------------------------------------------------------------------------

_Key = Callable[[tuple[int, Element]], tuple[float, ...]]


def _by_priority(_: ElementRules) -> _Key:
    return lambda item: (-item[1].priority,)


def _by_lot(rules: ElementRules) -> _Key:
    """Draw without replacement, with weights (Efraimidis and Spirakis, 2006: key u^(1/w))."""

    def key(item: tuple[int, Element]) -> tuple[float, ...]:
        at, element = item
        drawn = Random(f"{rules.seed}/{at}/{element.id}").random()
        return (-log(max(drawn, 5e-324)) / (max(element.priority, 0) + 1),)

    return key


def _by_preference(rules: ElementRules) -> _Key:
    def key(item: tuple[int, Element]) -> tuple[float, ...]:
        element = item[1]
        preference = rules.preferences.get(element.id, rules.preferences.get(element.type, 0))
        return (-preference, -element.priority)

    return key


_ORDERS: Final[Mapping[PriorityStrategy, Callable[[ElementRules], _Key]]] = {
    "highest_first": _by_priority,
    "weighted_random": _by_lot,
    "persona_preference": _by_preference,
}
