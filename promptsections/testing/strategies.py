"""Hypothesis strategies: budgets, messages, histories, templates, sections, prompts, memories.

The only module that imports Hypothesis, which imports it through an entry point; so
`st.from_type(Prompt)` and the like work as soon as the package is installed. Everything that is
drawn reads from memory what `memories()` has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from promptsections.blocks import Chunk
from promptsections.budgets import Auto, Budget, Rest, Share, Tokens
from promptsections.messages import Message, Role, ToolCall
from promptsections.prompt import Prompt
from promptsections.sections import (
    AssistantMessage,
    ConversationHistory,
    DataSourceSection,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    MemorySection,
    PromptSection,
    SystemMessage,
    TextSection,
    UserInput,
    UserMessage,
)
from promptsections.solver import Join, Kind, Track
from promptsections.templates import Template, escape
from promptsections.testing.fakes import FakeSource
from promptsections.tokens import Truncate

VARIABLES = ("input", "user.name", "facts", "note")
"""Paths that every memory of `memories()` holds."""

_ALPHABET = st.characters(codec="utf-8", exclude_categories=["Cs"])
_WORDS = ("one", "two.", "Three!", "don't", "naïve", "字", "42", "a,", "{x}", "<b>", "Desig", "n")


def texts(*, max_words: int = 20) -> SearchStrategy[str]:
    """Texts: mostly words and white space, sometimes anything, sometimes empty."""
    gaps = st.sampled_from([" ", " ", " ", "\n", "  ", ", "])
    pairs = st.lists(st.tuples(st.sampled_from(_WORDS), gaps), min_size=1, max_size=max_words)
    words = pairs.map(lambda found: "".join(word + gap for word, gap in found).strip())
    return st.one_of(words, words, words, st.text(_ALPHABET, max_size=max_words * 2))


# --- budgets and tracks ---------------------------------------------------------------------------


@st.composite
def _limits(draw: DrawFn, most: int) -> dict[str, int | None]:
    at_least = draw(st.none() | st.integers(1, most))
    at_most = draw(st.none() | st.integers(at_least or 1, 2 * most))
    return {"at_least": at_least, "at_most": at_most}


@st.composite
def section_budgets(
    draw: DrawFn, *, most: int = 40, kinds: Sequence[type[Budget]] = (Auto, Tokens, Share, Rest)
) -> Budget:
    """Budgets, sometimes with a reservation and a ceiling.

    Args:
        draw: Hypothesis passes it.
        most: Tokens that limits are about.
        kinds: What is drawn; by default all four.
    """
    nothing: dict[str, int | None] = {}
    limits = draw(st.just(nothing) | _limits(most))
    fractions = st.fractions(0, 1, max_denominator=10).filter(bool)
    kind = draw(st.sampled_from(kinds))
    if kind is Share:
        return Share(draw(fractions), **limits)
    if kind is Rest:
        return Rest(draw(fractions | st.integers(1, 5)), **limits)
    if kind is Tokens:
        return Tokens(draw(st.integers(limits.get("at_least") or 1, 2 * most)), **limits)
    return Auto(**limits)


def total_budgets(minimum: int = 1, *, more: int = 200) -> SearchStrategy[int]:
    """Budgets of a whole render, in tokens, from a minimum on: it, just above it, and far above."""
    return st.one_of(
        st.integers(minimum, minimum + 8),
        st.integers(minimum, minimum + more),
        st.sampled_from([minimum + 10 * more]),
    )


_WEIGHTS = st.tuples(st.integers(1, 12), st.integers(1, 12))
_FRACTIONS = _WEIGHTS.map(lambda pair: (min(pair), max(pair)))


@st.composite
def tracks(draw: DrawFn, *, number: int = 0, bonds: Sequence[int | None] = (None,)) -> Track:
    """Sections as the solver sees them.

    Args:
        draw: Hypothesis passes it.
        number: Its id.
        bonds: What it may be bound to.
    """
    kinds: tuple[Kind, ...] = get_args(Kind)
    kind = draw(st.sampled_from(kinds))
    weights = {"content": st.just((1, 1)), "share": _FRACTIONS, "rest": _WEIGHTS}
    return Track(
        number,
        kind,
        draw(weights[kind]),
        draw(st.none() | st.integers(1, 30)),
        draw(st.booleans()),
        draw(st.integers(-1, 1)),
        draw(st.sampled_from(bonds)),
    )


@st.composite
def joins(draw: DrawFn, *, most: int = 6, depth: int = 2, bonds: int = 0) -> Join:
    """Trees of tracks, numbered from 0 in document order.

    Args:
        draw: Hypothesis passes it.
        most: Children of a join at most.
        depth: Levels of joins in it at most.
        bonds: How many bonds there are to draw from.
    """
    numbers = iter(range(1_000))
    bound = (None, *range(bonds)) if bonds else (None,)

    def level(left: int) -> Join:
        inner = [
            level(left - 1)
            if left and draw(st.integers(0, 3)) == 0
            else draw(tracks(number=next(numbers), bonds=bound))
            for _ in range(draw(st.integers(0, most)))
        ]
        separator, wrapper = draw(st.integers(0, 2)), draw(st.integers(0, 3))
        return Join(
            tuple(inner),
            separator,
            wrapper if left < depth else 0,
            draw(st.booleans()),
            draw(st.integers(-1, 1)),
        )

    return level(depth)


# --- messages -------------------------------------------------------------------------------------


@st.composite
def templates(draw: DrawFn) -> Template:
    """Templates that read what `memories()` has."""
    pieces = draw(
        st.lists(
            texts(max_words=4).map(escape)
            | st.sampled_from(VARIABLES).map(lambda name: f"<<${name}>>"),
            max_size=4,
        )
    )
    return Template(" ".join(pieces))


def messages(*, roles: Sequence[Role] = ("system", "user", "assistant")) -> SearchStrategy[Message]:
    """Messages with text, of these roles."""
    return st.builds(Message, st.sampled_from(roles), texts())


@st.composite
def _step(draw: DrawFn, number: int) -> list[Message]:
    """An assistant message; with calls, their results follow."""
    calls = [
        ToolCall(f"c{number}-{index}", draw(st.sampled_from(["search", "add"])), {"q": index})
        for index in range(draw(st.sampled_from([0, 0, 1, 2])))
    ]
    text = draw(texts(max_words=6))
    head = Message("assistant", None if calls and not text else text, tool_calls=calls)
    results = [Message("tool", draw(texts(max_words=6)), tool_call_id=call.id) for call in calls]
    return [head, *draw(st.permutations(results))]


@st.composite
def histories(draw: DrawFn, *, valid: bool = True, max_turns: int = 5) -> list[Message]:
    """Conversations, oldest first: user turns, answers, tool calls with their results.

    Args:
        draw: Hypothesis passes it.
        valid: Whether a provider would take all of it; otherwise messages may be missing, doubled
            or moved, as in what has been cut or merged elsewhere.
        max_turns: User turns at most.
    """
    found = draw(st.lists(messages(roles=["system", "developer"]), max_size=1))
    number = 0
    for _ in range(draw(st.integers(1, max_turns) | st.just(0))):
        found.append(Message("user", draw(texts(max_words=8))))
        for _ in range(draw(st.integers(0, 2))):
            number += 1
            found += draw(_step(number))
    if not valid and found:
        for _ in range(draw(st.integers(1, 3))):
            place = draw(st.integers(0, len(found) - 1)) if found else 0
            match draw(st.sampled_from(["lose", "double", "swap"])):
                case "lose":
                    del found[place : place + 1]
                case "double":
                    found[place:place] = found[place : place + 1]
                case _:
                    found[place : place + 2] = reversed(found[place : place + 2])
    return found


# --- sections -------------------------------------------------------------------------------------


def _cuts() -> SearchStrategy[Truncate]:
    return st.builds(
        Truncate,
        keep=st.sampled_from(["start", "end", "middle"]),
        boundary=st.sampled_from(["word", "line", "sentence", "grapheme"]),
        marker=st.sampled_from(["", "…", " [cut]"]),
    )


@st.composite
def _common(draw: DrawFn, *, required: bool | None = None) -> dict[str, Any]:
    """Fields that every section has; those that are not drawn keep their defaults."""
    choices: dict[str, SearchStrategy[Any]] = {
        "tokens": section_budgets(),
        "required": st.booleans() if required is None else st.just(required),
        "priority": st.sampled_from([0, 1, -1]),
        "when_over": st.none() | _cuts(),
        "separator": st.sampled_from(["\n", " ", "\n\n", ""]),
        "text_prefix": st.sampled_from(["", "user: ", "Facts:\n"]),
    }
    taken = draw(st.sets(st.sampled_from(["priority", "when_over", "separator", "text_prefix"])))
    usual = {"required"} if draw(st.integers(0, 3)) == 0 else {"required", "tokens"}
    return {name: draw(choices[name]) for name in choices if name in taken | usual}


_SPEAKERS: tuple[Role, ...] = ("system", "user", "assistant")
_ROLES: SearchStrategy[Role] = st.sampled_from(_SPEAKERS)


@st.composite
def sections(draw: DrawFn, *, required: bool | None = None) -> PromptSection:
    """Sections of every kind that stand alone, with any budget.

    Args:
        draw: Hypothesis passes it.
        required: Whether they are required; by default either.
    """
    common = draw(_common(required=required))
    kind = draw(st.sampled_from(["text", "text", "template", "input", "memory", "history", "data"]))
    match kind:
        case "text":
            return TextSection(draw(texts()), draw(_ROLES), **common)
        case "template":
            made = draw(st.sampled_from([SystemMessage, UserMessage, AssistantMessage]))
            return made(draw(templates()), **common)
        case "input":
            return UserInput(**common)
        case "memory":
            return MemorySection(
                draw(st.sampled_from(VARIABLES)),
                tag=draw(st.sampled_from([None, "facts"])),
                format=draw(st.sampled_from(["json", "yaml", "bullets"])),
                **common,
            )
        case "history":
            return ConversationHistory(
                max_messages=draw(st.none() | st.integers(1, 6)),
                start_on=draw(st.sampled_from(["user", "any"])),
                keep_system=draw(st.booleans()),
                trim_step=draw(_TRIM_STEPS),
                **common,
            )
        case _:
            scored = st.builds(Chunk, texts(), score=st.none() | st.integers(0, 3))
            return DataSourceSection(
                FakeSource(draw(st.lists(scored, max_size=4))),
                order=draw(st.sampled_from(["source", "relevance", "given"])),
                attribution=draw(st.sampled_from([None, "[{source}] "])),
                tag=draw(st.sampled_from([None, "found"])),
                trim_step=draw(_TRIM_STEPS),
                **common,
            )


_TRIM_STEPS = st.none() | st.integers(1, 40)


@st.composite
def _calls(draw: DrawFn, number: int) -> list[PromptSection]:
    """A call and its result, as two sections."""
    call = FunctionCallMessage(ToolCall(f"call-{number}", "search", {"q": 1}), **draw(_common()))
    result = FunctionResponseMessage(f"call-{number}", draw(texts()), **draw(_common()))
    return [call, result]


def _children(draw: DrawFn, most: int, depth: int, number: list[int]) -> list[PromptSection]:
    found: list[PromptSection] = []
    for _ in range(draw(st.integers(1, most) | st.integers(0, most))):
        what = draw(st.integers(0, 9))
        if what == 0:
            number[0] += 1
            found += draw(_calls(number[0]))
        elif what <= 2 and depth:
            children = _children(draw, 3, depth - 1, number)
            role: Literal["system", "user"] | None = draw(st.sampled_from([None, None, "system"]))
            budget = draw(st.just(Auto()) | section_budgets(most=80))
            found.append(
                GroupSection(
                    children,
                    role,
                    required=draw(st.booleans()),
                    priority=draw(st.sampled_from([0, 0, 1])),
                    separator=draw(st.sampled_from(["\n\n", " ", ""])),
                    tokens=budget,
                )
            )
        else:
            found.append(draw(sections()))
    return found


@st.composite
def prompts(draw: DrawFn, *, max_sections: int = 5, depth: int = 2) -> Prompt:
    """Prompts: sections of every kind, calls with results, and groups in groups.

    Args:
        draw: Hypothesis passes it.
        max_sections: Sections beside each other at most.
        depth: Levels of groups in the prompt at most.
    """
    children = _children(draw, max_sections, depth, [0])
    return Prompt(children, separator=draw(st.sampled_from(["\n\n", "\n", " "])))


@st.composite
def memories(draw: DrawFn, *, valid: bool = True) -> Mapping[str, Any]:
    """Memories with `VARIABLES` and a `history`.

    Args:
        draw: Hypothesis passes it.
        valid: Whether a provider would take the history as it is.
    """
    return {
        "input": draw(texts()),
        "user": {"name": draw(texts(max_words=2))},
        "facts": draw(st.lists(texts(max_words=3), max_size=3)),
        "note": draw(st.none() | texts()),
        "history": draw(histories(valid=valid)),
    }


def _register() -> None:
    """Let `st.from_type` find the strategies."""
    for kind in (Auto, Tokens, Share, Rest):
        st.register_type_strategy(kind, section_budgets(kinds=[kind]))
    st.register_type_strategy(Truncate, _cuts())
    st.register_type_strategy(Message, messages())
    st.register_type_strategy(Template, templates())
    st.register_type_strategy(PromptSection, sections())
    st.register_type_strategy(GroupSection, prompts())
    st.register_type_strategy(Prompt, prompts())
    st.register_type_strategy(Track, tracks())
    st.register_type_strategy(Join, joins())


_register()
