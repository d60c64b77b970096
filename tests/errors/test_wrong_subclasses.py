"""Sections of one's own that are written wrongly: told at once, with what to write instead."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from promptsections import (
    Block,
    Budget,
    DefinitionError,
    InvalidBudgetError,
    LayoutError,
    Measurement,
    Message,
    Prompt,
    PromptSection,
    Renderer,
    ResolutionError,
    Scope,
    Share,
    TextSection,
    lay_out,
)
from promptsections.counting import Counter


def render(*sections: PromptSection, budget: int = 100) -> Any:
    return Renderer(tokenizer=lambda text: len(text.split())).render(
        Prompt(sections), budget=budget
    )


class Plain(PromptSection):
    """No fields of its own, so it needs no decorator."""

    def resolve(self, scope: Scope, /) -> str:
        return "plain"


def test_a_class_without_fields_needs_no_decorator() -> None:
    assert render(Plain(required=False, tokens=5)).messages == (Message("system", "plain"),)


def test_a_forgotten_decorator_is_told() -> None:
    class Persona(PromptSection):
        mood: str

        def resolve(self, scope: Scope, /) -> str:
            return self.mood

    with pytest.raises(DefinitionError, match=r"Persona declares mood.*@attrs\.frozen.*Persona"):
        Persona(mood="calm")  # type: ignore[call-arg]


def test_a_dataclass_is_told() -> None:
    @dataclasses.dataclass
    class Persona(PromptSection):
        mood: str = "calm"

        def resolve(self, scope: Scope, /) -> str:
            return self.mood

    with pytest.raises(DefinitionError, match=r"Persona is a dataclass: write @attrs\.frozen"):
        Persona()


def test_an_own_init_is_told() -> None:
    class Persona(PromptSection):
        def __init__(self, mood: str) -> None:
            self.mood = mood

        def resolve(self, scope: Scope, /) -> str:
            return self.mood

    with pytest.raises(DefinitionError, match=r"Persona has an __init__.*@attrs\.frozen"):
        Persona("calm")


def test_a_missing_resolve_is_told() -> None:
    @attrs.frozen
    class Persona(PromptSection):
        mood: str

    with pytest.raises(DefinitionError, match=r"Persona must define resolve\(self, scope\)"):
        Persona("calm")
    with pytest.raises(DefinitionError, match="PromptSection must define resolve"):
        PromptSection()


@pytest.mark.parametrize(
    ("name", "value"), [("tokens", 300), ("required", False), ("priority", 2), ("timeout", 1.0)]
)
def test_a_default_without_a_type_is_told(name: str, value: Any) -> None:
    with pytest.raises(DefinitionError, match=rf"Persona sets {name} = .*without a type.*{name}:"):
        type("Persona", (Plain,), {name: value})


def test_a_decorated_class_tells_it_too() -> None:
    with pytest.raises(DefinitionError, match="Persona sets role = 'user' without a type"):

        @attrs.frozen
        class Persona(TextSection):
            role = "user"  # type: ignore[assignment]


def test_a_default_with_a_type_is_taken_in_its_short_form() -> None:
    @attrs.frozen
    class Persona(PromptSection):
        mood: str
        tokens: Any = attrs.field(default=0.5, kw_only=True)
        required: bool = attrs.field(default=False, kw_only=True)

        def resolve(self, scope: Scope, /) -> str:
            return self.mood

    placement = render(Persona("calm")).layout["persona"]

    assert placement.budget == Share(0.5)
    assert not placement.required


def test_a_bad_default_is_told_when_a_prompt_is_made() -> None:
    @attrs.frozen
    class Persona(PromptSection):
        tokens: Budget = 1  # type: ignore[assignment]

        def resolve(self, scope: Scope, /) -> str:
            return "calm"

    with pytest.raises(InvalidBudgetError, match=r"'persona'.*Tokens") as caught:
        Prompt([Persona()])
    assert caught.value.section == "persona"


def test_resolve_without_a_scope_is_told() -> None:
    class Persona(PromptSection):
        def resolve(self) -> str:  # type: ignore[override]
            return "calm"

    with pytest.raises(ResolutionError, match=r"'persona'.*TypeError.*resolve") as caught:
        render(Persona())
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_subclass_of_a_section_needs_no_decorator_either() -> None:
    class Loud(TextSection):
        def resolve(self, scope: Scope, /) -> Any:
            return self.text.upper()

    assert render(Loud("hi")).layout["loud"].used == 1
    assert render(Loud("hi")).messages[0].text == "HI"


# --- blocks that break their promises -------------------------------------------------------------


@attrs.frozen
class Odd:
    """A block that measures and fits whatever it is told to."""

    floor: int
    natural: int
    size: int
    answer: Any = None

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        return Measurement(self.floor, self.natural)

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        return [Message("user", "w " * self.size)] if self.answer is None else self.answer


@attrs.frozen
class Brings(PromptSection):
    block: Any

    def resolve(self, scope: Scope, /) -> Block:
        return self.block


@pytest.mark.parametrize(
    ("block", "says"),
    [
        (Odd(5, 3, 1), r"Odd\.measure\(\) answered floor=5, natural=3"),
        (Odd(-1, 3, 1), r"floor=-1"),
        (Odd(3, 5, 9), r"Odd\.fit\(\) was given 5 tokens and took 9"),
        (Odd(3, 5, 1), r"took 1; at least its floor of 3"),
        (Odd(3, 5, 0, answer=[]), r"took 0"),
        (Odd(3, 5, 0, answer=["w w w"]), r"fit\(\) returned str among its messages"),
    ],
)
def test_a_block_that_breaks_a_promise_is_named(block: Any, says: str) -> None:
    with pytest.raises(LayoutError, match=says) as caught:
        render(TextSection("a b"), Brings(block, name="mine"))

    assert caught.value.section == "mine"
    assert "'mine'" in str(caught.value)


def test_a_block_that_measures_something_else_is_named() -> None:
    class Wrong(Odd):
        def measure(self, counter: Counter, at_most: int, /) -> Any:
            return 5

    with pytest.raises(LayoutError, match=r"'mine'.*Wrong\.measure\(\) answered int.*Measurement"):
        render(Brings(Wrong(1, 1, 1), name="mine"))


def test_what_a_block_itself_raises_is_not_hidden() -> None:
    class Broken(Odd):
        def fit(self, counter: Counter, tokens: int, /) -> Any:
            raise ZeroDivisionError("inside")

    resolved = Renderer(tokenizer=len).resolve(Prompt([Brings(Broken(1, 1, 1))]), budget=9)
    with pytest.raises(ZeroDivisionError, match="inside"):
        lay_out(resolved)
