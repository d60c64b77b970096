"""Slots, purposes, and the catalog that has them: what a context is made of, and for which call.

Values only: it knows no sources, no sections and no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import isfinite
from types import MappingProxyType
from typing import Any, Final, Literal, TypeGuard, TypeVar, get_args

from attrs import Attribute, field, frozen

from promptsections.assembly.formatters import Formatter
from promptsections.assembly.shares import OverFull, Percent, check_shares, frozen_shares
from promptsections.errors import DefinitionError, DuplicateNameError
from promptsections.markup import XmlElement
from promptsections.sections import Stability
from promptsections.templates.suggestions import did_you_mean, suggest

Layer = Literal["hot", "warm", "cold", "archival"]
"""How quickly the content of a slot changes, from every turn to hardly ever."""

STABILITY: Final[Mapping[Layer, Stability]] = {
    "hot": "turn",
    "warm": "turn",
    "cold": "session",
    "archival": "session",
}
"""What a prompt cache may take of a layer for granted."""

OnFailure = Literal["raise", "skip", "default"]
"""What becomes of a slot whose source fails."""

T = TypeVar("T")


def _words(value: Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _one_of(choices: tuple[str, ...]) -> Any:
    def check(owner: Any, attribute: Attribute[Any], value: object) -> None:
        if value not in choices:
            listed = ", ".join(map(repr, choices))
            raise DefinitionError(
                f"{owner.name!r}: {attribute.name}={value!r} must be one of {listed}"
            )

    return check


@frozen
class Slot:
    """A place in a context: where its content comes from, and how it is written."""

    name: str
    category: str = field(kw_only=True)
    """Whose share of the budget it is counted in."""
    formatter: Formatter = field(kw_only=True, eq=False)
    """From what the source returns to text."""
    source: str = field(default="", kw_only=True)
    """Name of its source; by default the slot's own."""
    tag: str | None = field(default="", kw_only=True)
    """Name of the XML element around its text; by default the slot's own, `None` for none."""
    priority: int = field(default=0, kw_only=True)
    """Higher is kept first, in its category and across categories."""
    layer: Layer = field(default="warm", kw_only=True, validator=_one_of(get_args(Layer)))
    on_failure: OnFailure = field(
        default="skip", kw_only=True, validator=_one_of(get_args(OnFailure))
    )
    """`"raise"`: the whole context fails. `"skip"`: the slot is left out, logged, and stands in the
    layout as failed. `"default"`: `default` is said instead, and a note tells."""
    default: str = field(default="", kw_only=True)
    context_keys: tuple[str, ...] = field(default=(), kw_only=True, converter=_words)
    """Keys of the additional context that its source reads; the first that is there wins."""

    def __attrs_post_init__(self) -> None:
        _check_name("slot", self.name)
        _check_name(f"category (of slot {self.name!r})", self.category)
        if not callable(self.formatter):
            raise DefinitionError(
                f"slot {self.name!r}: formatter={self.formatter!r} must be a function that makes a "
                "text of what the source returns"
            )
        if not _is_number(self.priority):
            raise DefinitionError(f"slot {self.name!r}: priority={self.priority!r} is no number")
        object.__setattr__(self, "source", self.source or self.name)
        if self.tag is not None:
            object.__setattr__(self, "tag", XmlElement(self.tag or self.name).tag)


@frozen
class Purpose:
    """What a call is for: its slots, shares and settings."""

    name: str
    slots: tuple[str, ...] = field(converter=_words)
    """Names of slots, in the order in which they stand."""
    system_prompt: str = field(kw_only=True)
    shares: Mapping[str, Percent] = field(
        factory=dict[str, Percent], kw_only=True, hash=False, converter=frozen_shares
    )
    """Category → percent of the budget; replaces single shares of the catalog."""
    max_output_tokens: int | None = field(default=None, kw_only=True)
    temperature: float | None = field(default=None, kw_only=True)
    response_model: Any = field(default=None, kw_only=True)
    """A pydantic model that answers have, or any type that pydantic validates; `None`: text."""

    def __attrs_post_init__(self) -> None:
        _check_name("purpose", self.name)
        if len(set(self.slots)) < len(self.slots):
            raise DuplicateNameError(f"purpose {self.name!r} names a slot twice", name=self.name)
        if not isinstance(self.system_prompt, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(
                f"purpose {self.name!r}: system_prompt={self.system_prompt!r} must be a text"
            )
        check_settings(f"purpose {self.name!r}", self.max_output_tokens, self.temperature)


def check_settings(owner: str, max_output_tokens: object, temperature: object) -> None:
    """Check the settings of a call.

    Raises:
        DefinitionError: a limit is no whole number from 0 on, or a temperature no number from 0 on.
    """
    limit = max_output_tokens
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise DefinitionError(f"{owner}: max_output_tokens={limit!r} must be 0 or more, or None")
    heat = temperature
    if heat is not None and not (_is_number(heat) and heat >= 0):
        raise DefinitionError(f"{owner}: temperature={heat!r} must be 0 or more, or None")


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _check_name(kind: str, name: object) -> None:
    if not isinstance(name, str) or not name or "/" in name:
        raise DefinitionError(f"the name of a {kind} must be a text without '/', not {name!r}")


def _by_name(values: Iterable[T]) -> Mapping[str, T]:
    found: dict[str, T] = {}
    for value in values:
        name: str = getattr(value, "name", "")
        if name in found:
            raise DuplicateNameError(f"{name!r} is there twice", name=name)
        found[name] = value
    return MappingProxyType(found)


def _slots(values: Iterable[Slot]) -> Mapping[str, Slot]:
    return _by_name(values)


def _purposes(values: Iterable[Purpose]) -> Mapping[str, Purpose]:
    return _by_name(values)


@frozen(kw_only=True)
class Catalog:
    """Slots and purposes by name; immutable, `extended` makes a larger one.

    Raises:
        DefinitionError: a purpose names a slot or category that there is not, its shares add up to
            too much, or one of its slots stands in a category without a share.
        DuplicateNameError: a name is there twice.
    """

    slots: Mapping[str, Slot] = field(converter=_slots, hash=False)
    purposes: Mapping[str, Purpose] = field(converter=_purposes, hash=False)
    shares: Mapping[str, Percent] = field(hash=False, converter=frozen_shares)
    """Category → percent, for purposes that say nothing else."""
    over_full: OverFull = "error"
    """What becomes of shares that add up to more than 100 %."""

    def __attrs_post_init__(self) -> None:
        check_shares(self.shares, over_full=self.over_full)
        for slot in self.slots.values():
            if slot.category not in self.shares:
                near = did_you_mean(slot.category, suggest(slot.category, self.shares))
                raise DefinitionError(
                    f"slot {slot.name!r}: category {slot.category!r} has no share{near}"
                )
        for purpose in self.purposes.values():
            for name in purpose.slots:
                self.slot(name)
            self.exact_shares(purpose)

    def extended(self, slots: Iterable[Slot] = (), purposes: Iterable[Purpose] = ()) -> Catalog:
        """Return a catalog with more; what has a name that is taken takes its place."""
        return Catalog(
            slots={**self.slots, **_by_name(slots)}.values(),
            purposes={**self.purposes, **_by_name(purposes)}.values(),
            shares=self.shares,
            over_full=self.over_full,
        )

    def slot(self, name: str) -> Slot:
        """Return a slot.

        Raises:
            DefinitionError: there is none of that name.
        """
        return _found("slot", name, self.slots)

    def purpose(self, name: str) -> Purpose:
        """Return a purpose.

        Raises:
            DefinitionError: there is none of that name.
        """
        return _found("purpose", name, self.purposes)

    def shares_of(
        self, purpose: Purpose, overrides: Mapping[str, Percent] | None = None
    ) -> Mapping[str, Percent]:
        """Return the shares of a purpose: overrides of the call, its own, the catalog's.

        Raises:
            DefinitionError: if a share is for a category that there is not.
        """
        shares = {**purpose.shares, **(overrides or {})}
        for category in shares:
            if category not in self.shares:
                near = did_you_mean(category, suggest(category, self.shares))
                raise DefinitionError(
                    f"purpose {purpose.name!r}: there is no category {category!r}{near}"
                )
        return {**self.shares, **shares}

    def exact_shares(
        self, purpose: Purpose, overrides: Mapping[str, Percent] | None = None
    ) -> Mapping[str, Fraction]:
        """Return the shares of a purpose as exact fractions of the whole.

        Raises:
            DefinitionError: they add up to too much, one is no percentage or for a category that
                there is not, or a slot of the purpose stands in a category with 0 %.
        """
        owner = f"purpose {purpose.name!r}"
        shares = self.shares_of(purpose, overrides)
        exact = check_shares(shares, over_full=self.over_full, owner=owner)
        for name in purpose.slots:
            category = self.slot(name).category
            if not exact[category]:
                raise DefinitionError(
                    f"{owner}: slot {name!r} stands in category {category!r}, which has 0 %: give "
                    "it a share, or leave the slot out of the purpose"
                )
        return exact


def _found(kind: str, name: str, known: Mapping[str, T]) -> T:
    try:
        return known[name]
    except KeyError:
        near = did_you_mean(name, suggest(name, known))
        raise DefinitionError(f"there is no {kind} {name!r}{near}") from None
