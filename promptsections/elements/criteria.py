"""Criteria: when an element applies, as plain data or as a function.

```python
{"mood": "happy"}                                    # equal
{"conversation_signals": ["stuck", "angry"]}         # holds all of them
{"task_hint": "cod"}                                 # holds this text
{"turns": {"at_least": 3, "below": 10}}              # numbers
{"language": {"any": ["de", "de-CH"]}}               # one of them
{"memory": {"user.tier": "gold"}}                    # values of memory, by path
{"any_of": [{"mood": "sad"}, {"none_of": [{"language": "en"}]}]}
```

All keys of one mapping must hold. They are read once, so that a key nobody knows is an error when
the element is made. It knows no elements and no sections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan
from typing import Any, Final, cast

from attrs import frozen

from promptsections.errors import DefinitionError
from promptsections.memory import MISSING, lookup
from promptsections.templates.suggestions import did_you_mean, suggest

FIELDS: Final = (
    "mood",
    "user_skill_level",
    "task_hint",
    "task_complexity",
    "language",
    "conversation_signals",
    "turns",
)
"""What circumstances say unless one declares more."""

CONTAINED: Final = frozenset({"task_hint", "conversation_signals"})
"""Fields of which a bare value says what they hold, not what they are equal to."""

Values = Callable[[str, str], object]
"""Reads a value: of `"circumstances"` or `"memory"`, by path; `MISSING` if there is none."""

Predicate = Callable[[Mapping[str, Any]], bool]
"""From the circumstances to whether an element applies."""


@frozen
class Comparison:
    """One value and what is asked of it."""

    place: str
    """`"circumstances"` or `"memory"`."""
    path: str
    operator: str
    wanted: object

    def holds(self, values: Values) -> bool:
        """Say whether it is so; of a missing value only what asks for nothing is true."""
        value = values(self.place, self.path)
        if self.operator == "exists":
            return (value is not MISSING and value is not None) is self.wanted
        if value is MISSING or value is None:
            return self.operator == "none" or (self.operator == "all" and self.wanted == ())
        return _OPERATORS[self.operator](value, self.wanted)


@frozen
class Combination:
    """Conditions joined by `all_of`, `any_of` or `none_of`."""

    join: str
    conditions: tuple[Condition, ...]

    def holds(self, values: Values) -> bool:
        """Say whether it is so."""
        found = (condition.holds(values) for condition in self.conditions)
        if self.join == "all_of":
            return all(found)
        return any(found) is (self.join == "any_of")


Condition = Comparison | Combination


def read_criteria(criteria: Mapping[str, Any], fields: Iterable[str] = FIELDS) -> Condition:
    """Read criteria that are data.

    Args:
        criteria: As in the examples above.
        fields: The names that circumstances have.

    Raises:
        DefinitionError: a key or operator is not known, or a value is of the wrong type.
    """
    known = tuple(fields)
    return Combination("all_of", tuple(_condition(key, v, known) for key, v in criteria.items()))


def _condition(key: str, value: Any, fields: Sequence[str]) -> Condition:
    if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"criteria: {key!r} is no name of a field")
    if key in _JOINS:
        if not isinstance(value, list | tuple):
            raise DefinitionError(f"criteria: {key!r} needs a list of criteria")
        return Combination(
            key,
            tuple(_inner(each, key, fields) for each in cast("Sequence[object]", value)),
        )
    if key == "memory":
        if not isinstance(value, Mapping):
            raise DefinitionError("criteria: 'memory' needs a mapping from paths to values")
        paths = cast("Mapping[str, Any]", value)
        tests = (test for path, v in paths.items() for test in _tests("memory", path, v))
        return Combination("all_of", tuple(tests))
    if key not in fields:
        near = suggest(key, (*fields, *_JOINS, "memory"))
        raise DefinitionError(
            f"criteria: {key!r} is not known{did_you_mean(key, near)}; declare fields of your own "
            "with fields=…"
        )
    return Combination("all_of", tuple(_tests("circumstances", key, value)))


def _inner(value: object, key: str, fields: Sequence[str]) -> Condition:
    if not isinstance(value, Mapping):
        raise DefinitionError(f"criteria: {key!r} needs a list of criteria")
    return read_criteria(cast("Mapping[str, Any]", value), fields)


def _tests(place: str, path: str, value: Any) -> Iterable[Comparison]:
    if not isinstance(value, Mapping):
        if isinstance(value, list | tuple):
            return (Comparison(place, path, "all", tuple(cast("Sequence[object]", value))),)
        bare = "contains" if place == "circumstances" and path in CONTAINED else "equals"
        return (Comparison(place, path, bare, value),)
    asked = cast("Mapping[str, Any]", value)
    if not asked:
        raise DefinitionError(f"criteria: {path!r} asks for nothing: name an operator and a value")
    return tuple(
        Comparison(place, path, name, _operand(path, name, v)) for name, v in asked.items()
    )


def _operand(path: str, operator: str, value: Any) -> object:
    if operator not in _OPERATORS and operator != "exists":
        near = suggest(str(operator), (*_OPERATORS, "exists"))
        raise DefinitionError(
            f"criteria: {path!r} has the operator {operator!r}, which is not known"
            f"{did_you_mean(str(operator), near)}"
        )
    if operator in ("any", "all", "none"):
        if not isinstance(value, list | tuple):
            raise DefinitionError(f"criteria: {operator!r} of {path!r} needs a list")
        return tuple(cast("Sequence[object]", value))
    if operator in _NUMERIC and not _is_number(value):
        raise DefinitionError(f"criteria: {operator!r} of {path!r} needs a number, not {value!r}")
    if operator == "exists" and not isinstance(value, bool):
        raise DefinitionError(f"criteria: 'exists' of {path!r} needs true or false")
    return value


# --- operators ------------------------------------------------------------------------------------


def _equals(value: object, wanted: object) -> bool:
    return value == wanted and isinstance(value, bool) is isinstance(wanted, bool)


def _contains(value: object, wanted: object) -> bool:
    """Whether a text holds a text, or a list an item."""
    if isinstance(value, str):
        return isinstance(wanted, str) and wanted in value
    return any(_equals(item, wanted) for item in _items(value))


def _all(value: object, wanted: object) -> bool:
    return all(_contains_item(value, item) for item in _items(wanted))


def _any(value: object, wanted: object) -> bool:
    return any(_contains_item(value, item) for item in _items(wanted))


def _contains_item(value: object, item: object) -> bool:
    """Whether a list holds an item, or a single value is it."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return _equals(value, item)
    return any(_equals(each, item) for each in cast("Iterable[object]", value))


def _items(value: object) -> Iterable[object]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return ()
    return cast("Iterable[object]", value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not isnan(value)


def _number(compare: Callable[[float, float], bool]) -> Callable[[object, object], bool]:
    def compared(value: object, wanted: object) -> bool:
        return _is_number(value) and compare(cast("float", value), cast("float", wanted))

    return compared


_OPERATORS: Final[Mapping[str, Callable[[object, object], bool]]] = {
    "equals": _equals,
    "contains": _contains,
    "all": _all,
    "any": _any,
    "none": lambda value, wanted: not _any(value, wanted),
    "at_least": _number(lambda a, b: a >= b),
    "at_most": _number(lambda a, b: a <= b),
    "above": _number(lambda a, b: a > b),
    "below": _number(lambda a, b: a < b),
}
_NUMERIC: Final = ("at_least", "at_most", "above", "below")
_JOINS: Final = ("all_of", "any_of", "none_of")


def values_in(circumstances: Mapping[str, Any], memory: object) -> Values:
    """Return where criteria read: circumstances by name, memory by path."""

    def read(place: str, path: str) -> object:
        if place == "memory":
            return lookup(memory, path)
        return circumstances.get(path, MISSING)

    return read
