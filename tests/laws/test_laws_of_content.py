"""Laws 6 to 8 and 10 of a layout: what is sent, in which order, and what is said about it."""

from __future__ import annotations

from itertools import count, pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from law_setups import RENDERERS, Setup, setups

from promptsections import (
    BudgetExceededError,
    Chunk,
    ConversationHistory,
    DataSourceSection,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    LayoutError,
    MemorySection,
    Message,
    Prompt,
    PromptSection,
    RenderedPrompt,
    SystemMessage,
    Template,
    TextSection,
    ToolCall,
    UserInput,
    lay_out,
)
from promptsections.testing import (
    FakeSource,
    assert_exchanges_whole,
    assert_in_order,
    assert_nothing_silent,
)
from promptsections.testing.strategies import section_budgets, sections
from promptsections.unicode import well_formed

MORE = st.integers(0, 15) | st.integers(0, 120)


def rendered_at(setup: Setup, more: int) -> RenderedPrompt:
    """Lay a prompt out in so many tokens more than it needs."""
    resolved = setup.resolved()
    try:
        return lay_out(resolved, resolved.minimum_budget() + more)
    except BudgetExceededError:
        assume(condition=False)
        raise


# --- law 6 ----------------------------------------------------------------------------------------


@st.composite
def numbered_prompts(draw: st.DrawFn) -> Prompt:
    """Prompts of numbered words: every word is larger than those before it in the document."""
    numbers = count(1_000)

    def group(depth: int) -> list[PromptSection]:
        found: list[PromptSection] = []
        for _ in range(draw(st.integers(1, 4))):
            fields = {
                "required": draw(st.booleans()),
                "priority": draw(st.sampled_from([0, 0, 1])),
                "tokens": draw(section_budgets()),
            }
            words = [str(next(numbers)) for _ in range(draw(st.integers(1, 8)))]
            match draw(st.integers(0, 5)):
                case 0 if depth:
                    role = draw(st.sampled_from([None, "system"]))
                    found.append(GroupSection(group(depth - 1), role, **fields))
                case 1:
                    source = FakeSource([Chunk(word) for word in words])
                    found.append(DataSourceSection(source, **fields))
                case _:
                    found.append(TextSection(" ".join(words), **fields))
        return found

    return Prompt(group(2))


@given(setups(drawn=numbered_prompts()), MORE)
def test_law_06_order_is_the_authors(setup: Setup, more: int) -> None:
    """What is sent stands in the order of the document, in messages and in a text."""
    rendered = rendered_at(setup, more)

    pieces = " ".join(message.text for message in rendered.messages).split()
    words = [piece for piece in pieces if len(piece) == 4]  # a word may itself be cut
    assert words == sorted(set(words))


@given(setups(valid=False), MORE)
def test_law_06_messages_stand_where_their_sections_do(setup: Setup, more: int) -> None:
    """Messages come in the order of the sections that send them."""
    assert_in_order(rendered_at(setup, more), setup.prompt, setup.renderer.profile)


# --- law 7 ----------------------------------------------------------------------------------------


@given(setups(valid=False), MORE)
def test_law_07_exchanges_are_atoms(setup: Setup, more: int) -> None:
    """Every call that is sent is answered right after it, however broken the history is."""
    assert_exchanges_whole(rendered_at(setup, more))


@given(setups(), MORE)
def test_law_07_a_call_and_its_result_come_together(setup: Setup, more: int) -> None:
    """Of two sections that hold a call and its result both are sent, or none.

    In a text an empty result is nothing, and so is not sent with its call.
    """
    placements = list(rendered_at(setup, more).layout.walk())
    for call, result in pairwise(placements):
        if call.kind.startswith("function_call") and result.kind.startswith("function_response"):
            assert call.kept == result.kept or result.outcome == "empty"


@given(st.lists(st.sampled_from("uat"), max_size=8), st.integers(1, 60))
def test_law_07_a_history_keeps_its_newest_turns_without_a_hole(
    shape: list[str], room: int
) -> None:
    """What is sent of a history is its end, but for steps left out of the exchange under way."""
    roles = {"u": "user", "a": "assistant", "t": "assistant"}
    history = [Message(roles[role], f"{role}{at} x") for at, role in enumerate(shape)]
    resolved = RENDERERS["words"].resolve(
        Prompt([ConversationHistory()]), {"history": history}, budget=room
    )
    assume(room >= resolved.minimum_budget())
    sent = lay_out(resolved).messages

    under_way = bool(shape) and shape[-1] == "u"
    assert sent == tuple(history[len(history) - len(sent) :])
    assert not sent or sent[0].role == "user"
    assert sent or not under_way


# --- law 8 ----------------------------------------------------------------------------------------

ANY_TEXT = st.text(max_size=30) | st.text("<>$\\'{}%x ", max_size=30)


@given(ANY_TEXT)
def test_law_08_values_are_never_parsed(value: str) -> None:
    """A value comes out of a template as it went in; lone surrogates leave as U+FFFD."""
    assert Template("<<$x>>").render({"x": value}) == well_formed(value)


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_law_08_nothing_that_is_data_is_parsed(value: str, turn: str, chunk: str) -> None:
    """Values, the user's words, history and chunks are sent as they are."""
    assume(value.strip() and turn and chunk and turn != value)
    prompt = Prompt(
        [
            SystemMessage("<<$x>>"),
            MemorySection("x"),
            DataSourceSection(FakeSource([chunk]), tokens=1.0),
            ConversationHistory(),
            UserInput("x"),
        ]
    )
    memory = {"x": value, "history": [Message("user", turn), Message("assistant", turn)]}

    sent = RENDERERS["characters"].render(prompt, memory, budget=10_000).messages

    texts = [value, value, chunk, turn, turn, value]
    assert [message.text for message in sent] == [well_formed(text) for text in texts]


# --- law 10 ---------------------------------------------------------------------------------------


@st.composite
def failing_prompts(draw: st.DrawFn) -> Prompt:
    """Prompts in which some sources raise and some variables are missing."""
    troubles = st.one_of(
        st.just(DataSourceSection(FakeSource(error=OSError("down")))),
        st.just(MemorySection("no.such.thing")),
        st.just(UserInput("nothing", required=False)),
        sections(),
    )
    return Prompt(draw(st.lists(troubles, max_size=5)))


@given(setups(valid=False), MORE)
def test_law_10_nothing_silent(setup: Setup, more: int) -> None:
    """Every section has an outcome, a reason in the code and in words; all is plain data."""
    assert_nothing_silent(rendered_at(setup, more))


@given(setups(drawn=failing_prompts()), MORE)
def test_law_10_failures_are_told(setup: Setup, more: int) -> None:
    """A source that raised has its error in the layout, a missing variable its name."""
    rendered = rendered_at(setup, more)

    assert_nothing_silent(rendered)
    for section, placement in zip(setup.prompt.sections, rendered.layout.placements, strict=True):
        if isinstance(section, DataSourceSection) and section.source.error is not None:
            assert (placement.outcome, placement.error) == ("failed", "OSError: down")
        elif isinstance(section, MemorySection) and section.variable == "no.such.thing":
            assert (placement.outcome, placement.reason) == ("empty", "missing")
            assert "no.such.thing" in placement.message


@given(setups(valid=False), MORE)
def test_law_10_what_is_left_out_is_told(setup: Setup, more: int) -> None:
    """Whatever is in a larger layout and not in this one is cut or dropped here, by its name."""
    rendered = rendered_at(setup, more)
    everything = lay_out(setup.resolved())

    for placement in rendered.layout.walk():
        if everything.layout[placement.path].used > placement.used:
            assert placement.outcome in ("cut", "dropped")


def test_law_10_a_parted_call_is_refused() -> None:
    """An order that parts a required call from its result is an error, not a reordering."""
    call = FunctionCallMessage(ToolCall("c1", "search", "{}"))
    result = FunctionResponseMessage("c1", "found")
    resolved = RENDERERS["words"].resolve(Prompt([call, TextSection("a"), result]), budget=99)

    with pytest.raises(LayoutError, match="'c1'"):
        lay_out(resolved)
