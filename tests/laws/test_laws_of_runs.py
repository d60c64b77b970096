"""Laws 9, 11 and 12 of a layout: what a run depends on, shares and reads."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from functools import partial
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st
from law_setups import RENDERERS, Setup, setups

from promptsections import (
    Budget,
    BudgetExceededError,
    ConversationHistory,
    DataSourceSection,
    GroupSection,
    Prompt,
    PromptSection,
    RenderedPrompt,
    Renderer,
    TextSection,
    Tokenizer,
    lay_out,
)
from promptsections.testing import (
    CharacterTokenizer,
    FakeSource,
    FakeStore,
    ReadingTokenizer,
    WordTokenizer,
    assert_same_twice,
)
from promptsections.testing.strategies import section_budgets, total_budgets
from promptsections.tokens import TiktokenTokenizer


def outcome(setup: Setup, budget: int) -> RenderedPrompt | str:
    """Render a prompt, or say why it cannot be."""
    try:
        return setup.renderer.render(setup.prompt, setup.memory, budget=budget)
    except BudgetExceededError as error:
        return str(error)


# --- law 9 ----------------------------------------------------------------------------------------


@given(setups(valid=False), total_budgets())
def test_law_09_same_input_same_bytes(setup: Setup, budget: int) -> None:
    """Two renders, and one of a pickled copy of the prompt and the memory, are equal."""
    assert_same_twice(setup.renderer, setup.prompt, setup.memory, budget)
    prompt, memory = pickle.loads(pickle.dumps((setup.prompt, setup.memory)))

    expected = outcome(setup, budget)

    assert outcome(Setup(setup.renderer, prompt, memory), budget) == expected


def test_law_09_whatever_the_hash_seed() -> None:
    """Processes with different hash seeds render the same bytes."""
    script = Path(__file__).with_name("hashed.py")
    running = [
        subprocess.Popen(
            [sys.executable, str(script)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1", "4711")
    ]
    digests = {process.communicate()[0] for process in running}

    assert all(process.returncode == 0 for process in running)
    assert len(digests) == 1


# --- law 11 ---------------------------------------------------------------------------------------


@given(setups(valid=False), st.lists(st.integers(1, 200), min_size=4, max_size=8))
def test_law_11_one_prompt_serves_many_threads(setup: Setup, budgets: list[int]) -> None:
    """Renders at once, of one prompt with one renderer, give what they give one by one."""
    expected = [outcome(setup, budget) for budget in budgets]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(partial(outcome, setup), budgets)) == expected


@given(setups(valid=False), st.integers(1, 200))
def test_law_11_a_resolved_prompt_serves_many_layouts(setup: Setup, budget: int) -> None:
    """What was laid out before, at other budgets, changes no layout."""
    resolved, fresh = setup.resolved(), setup.resolved()
    for other in (budget + 50, max(1, budget // 2)):
        with suppress(BudgetExceededError):
            lay_out(resolved, other)
    with suppress(BudgetExceededError):
        expected = lay_out(fresh, budget)
        assert lay_out(resolved, budget) == expected


@given(setups(valid=False), st.integers(1, 200))
def test_law_11_inputs_are_never_modified(setup: Setup, budget: int) -> None:
    """Prompt and memory are after a render what they were before."""
    memory, prompt = deepcopy(setup.memory), pickle.loads(pickle.dumps(setup.prompt))
    outcome(setup, budget)
    assert setup.memory == memory
    assert setup.prompt == prompt


# --- law 12 ---------------------------------------------------------------------------------------

SENTENCE = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. "
"""57 characters, 8 words, about 12 tokens."""
LONG = SENTENCE * 20_000
"""More than a million characters."""


Outline = list[tuple[str, Budget, bool]]
"""Kind, budget, and whether it is required, of sections far larger than any budget here."""

OUTLINES = st.lists(
    st.tuples(
        st.sampled_from(["text", "chunks", "history", "group"]),
        section_budgets(most=300),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


def large_section(kind: str, tokens: Budget, required: bool) -> PromptSection:
    match kind:
        case "text":
            return TextSection(LONG, tokens=tokens, required=required)
        case "chunks":
            source = FakeSource([SENTENCE * 2] * 5_000)
            return DataSourceSection(source, tokens=tokens, required=required)
        case "history":
            return ConversationHistory(tokens=tokens, required=required)
        case _:
            children = [TextSection(LONG, tokens=1.0), ConversationHistory()]
            return GroupSection(children, tokens=tokens, required=required)


def read_by(outline: Outline, tokenizer: Tokenizer, output: str, budget: int) -> tuple[int, int]:
    """Return the characters that were read, and those that all sections could be given."""
    prompt = Prompt([large_section(*entry) for entry in outline])
    reading = ReadingTokenizer(tokenizer)
    renderer = Renderer(tokenizer=reading, output=output)
    history = [
        {"role": role, "content": SENTENCE * 2}
        for _ in range(5_000)
        for role in ("user", "assistant")
    ]
    try:
        renderer.render(prompt, {"history": history}, budget=budget)
    except BudgetExceededError:  # it says how much is needed, and so measures without a bound
        assume(condition=False)
    sections = sum(len(getattr(section, "sections", "1")) for section in prompt.sections)
    return reading.characters, sections * budget * len(SENTENCE) // tokenizer.count(SENTENCE)


@given(
    OUTLINES,
    st.sampled_from([CharacterTokenizer(), TiktokenTokenizer("o200k_base")]),
    st.sampled_from(["messages", "text"]),
    st.integers(10, 3_000),
)
def test_law_12_pays_for_what_is_sent(
    outline: Outline, tokenizer: Tokenizer, output: str, budget: int
) -> None:
    """Of contents of a million characters no more is read than a few times what could be sent.

    Of each section: the first steps of a search, then what it was given or the room that refused
    it, and one unit; in a group with a budget once more.
    """
    read, given_at_most = read_by(outline, tokenizer, output, budget)

    assert read <= 5_000 * len(outline) + 12 * given_at_most


@given(OUTLINES, st.sampled_from(["messages", "text"]), st.integers(10, 500))
def test_law_12_a_tokenizer_that_promises_nothing_reads_more(
    outline: Outline, output: str, budget: int
) -> None:
    """Joined texts are counted anew for it, some tens of times, but never all of a content."""
    read, given_at_most = read_by(outline, WordTokenizer(), output, budget)

    assert read <= 20_000 * len(outline) + 40 * given_at_most


@given(st.integers(20, 2_000))
def test_law_12_a_store_is_read_no_further_than_what_fits(budget: int) -> None:
    """A history that a store hands out is read as far as it fits, and one exchange more."""
    turns = [
        {"role": role, "content": SENTENCE.strip()}
        for _ in range(2_000)
        for role in ("user", "assistant")
    ]
    store = FakeStore(turns)
    rendered = RENDERERS["words"].render(
        Prompt([ConversationHistory()]), {"history": store.newest_first()}, budget=budget
    )

    assert len(store.handed_out) <= len(rendered.messages) + 2
    assert rendered.token_count > budget - 2 * 8
