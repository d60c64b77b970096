"""What of speed is certain: how much is read, counted and asked, never how long it takes."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import overload

import pytest
from attrs import define, field, frozen

from benchmarks.subjects import Meter, make_history, make_prompt, ours, plain_loop, sent
from benchmarks.workload import (
    BUDGETS,
    CHUNK_TOKENS,
    CHUNKS,
    HISTORY_SIZES,
    QUESTION_TOKENS,
    SYSTEM_TOKENS,
    TURN_TOKENS,
    make_workload,
)
from promptsections import (
    Content,
    ConversationHistory,
    Counter,
    DataSourceSection,
    GroupSection,
    Measurement,
    Message,
    MessageLike,
    Prompt,
    PromptSection,
    Renderer,
    Scope,
    TextSection,
    UserInput,
)
from promptsections.tokens import CachedTokenizer, TiktokenTokenizer

SMALL, LARGE = BUDGETS
UNIT = 2_000
"""Characters that no unit of the workload exceeds: a user's turn with its answer."""


# --- the workload -------------------------------------------------------------------------------


def test_texts_of_the_workload_have_the_sizes_that_it_names() -> None:
    count = TiktokenTokenizer().count

    workload = make_workload(10_000)

    assert count(workload.system) == SYSTEM_TOKENS
    sizes = [count(chunk) for chunk in workload.chunks]
    assert (min(sizes), max(sizes), len(sizes)) == (*CHUNK_TOKENS, CHUNKS)
    assert count(workload.question) == QUESTION_TOKENS
    sizes = [count(turn.text) for turn in workload.history]
    assert (min(sizes), max(sizes), len(sizes)) == (*TURN_TOKENS, HISTORY_SIZES[-1])
    assert 49 < sum(sizes) / len(sizes) < 51


def test_no_more_history_is_made_up_than_there_is() -> None:
    with pytest.raises(ValueError, match="has 10,000 messages, not 10,001"):
        make_workload(10_001)


def test_longer_history_only_has_older_messages_more() -> None:
    short, long = make_workload(10), make_workload(100)

    assert long.history[-10:] == short.history
    assert long[0::3] == short[0::3]


# --- what a render reads ------------------------------------------------------------------------


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("history", [10, 100, 1_000])
def test_cold_render_reads_what_it_sends_and_one_unit_of_each_cut_section(
    history: int, budget: int
) -> None:
    workload, meter = make_workload(history), Meter()

    messages = sent(ours(workload, budget, meter)())

    assert meter.characters <= 1.05 * messages.characters + UNIT


@pytest.mark.parametrize("budget", BUDGETS)
def test_warm_render_asks_the_tokenizer_nothing(budget: int) -> None:
    meter = Meter()
    run = ours(make_workload(300), budget, meter)
    run()
    cold = meter.calls

    run()

    assert meter.calls == cold


def test_warm_render_of_dicts_asks_the_tokenizer_nothing() -> None:
    meter = Meter()
    run = ours(make_workload(300), SMALL, meter, dicts=True)
    run()
    cold = meter.calls

    run()

    assert meter.calls == cold


def test_work_does_not_depend_on_how_long_the_history_is() -> None:
    meters = {size: Meter() for size in (100, 1_000, 3_000)}

    for size, meter in meters.items():
        ours(make_workload(size), SMALL, meter)()

    work = {(meter.calls, meter.characters) for meter in meters.values()}
    assert len(work) == 1


def test_plain_loop_sends_as_much_as_we_do() -> None:
    workload = make_workload(300)

    loop, mine = sent(plain_loop(workload, SMALL)()), sent(ours(workload, SMALL)())

    assert abs(loop.messages - mine.messages) <= 2  # it parts turns from their answers
    assert abs(loop.characters - mine.characters) <= UNIT


class Watched(Sequence[MessageLike]):
    """A history that notes which of its messages were asked for."""

    def __init__(self, messages: Sequence[MessageLike]) -> None:
        self.messages = messages
        self.touched: list[int] = []

    def __len__(self) -> int:
        return len(self.messages)

    @overload
    def __getitem__(self, index: int) -> MessageLike: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[MessageLike]: ...
    def __getitem__(self, index: int | slice) -> MessageLike | Sequence[MessageLike]:
        assert isinstance(index, int), "a slice would copy"
        self.touched.append(index)
        return self.messages[index]


def test_no_older_message_is_touched_than_one_exchange_beyond_what_is_sent() -> None:
    touched: dict[int, list[int]] = {}
    for size in (100, 10_000):
        workload = make_workload(size)
        history = Watched(make_history(workload))
        memory = {"history": history, "input": workload.question}

        rendered = Renderer("gpt-4o").render(make_prompt(workload), memory, budget=SMALL)

        kept = len(rendered.messages) - 3
        oldest = {index for index in history.touched if index}  # the first may be a system message
        assert min(oldest) >= size - kept - 3
        assert len(history.touched) <= kept + 4
        touched[size] = [size - index for index in history.touched if index]
    assert touched[100] == touched[10_000]


# --- nothing grows ------------------------------------------------------------------------------


def test_nothing_is_left_behind_by_a_render() -> None:
    workload = make_workload(100)
    runs = [ours(workload, SMALL), ours(workload, SMALL, dicts=True)]

    def render(times: int) -> int:
        for _ in range(times):
            for run in runs:
                run()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = render(10)
        after = render(100)
    finally:
        tracemalloc.stop()

    assert after - before < 20_000  # bytes; one render alone takes five times as much


# --- nothing is quadratic -----------------------------------------------------------------------


@define
class Tally:
    """Counts what a layout asks of blocks."""

    measured: int = 0
    fitted: int = 0


@frozen
class Asked:
    """A text that is sent whole, and notes what it is asked."""

    text: str
    tally: Tally

    def measure(self, counter: Counter, at_most: int, /) -> Measurement:
        self.tally.measured += 1
        size = min(counter.cost(self.fit(counter, at_most)), at_most + 1)
        return Measurement(size, size)

    def fit(self, counter: Counter, tokens: int, /) -> Sequence[Message]:
        self.tally.fitted += 1
        return (Message("system", self.text),)


@frozen
class AskedSection(PromptSection):
    text: str
    tally: Tally = field(factory=Tally, eq=False)

    def resolve(self, scope: Scope, /) -> Content:
        return Asked(self.text, self.tally)


def asked_in_all(sections: int, budget: int) -> tuple[Tally, Meter]:
    tally, meter = Tally(), Meter()
    prompt = Prompt(
        [
            AskedSection(
                f"section number {number} says this", tally, required=False, priority=number % 7
            )
            for number in range(sections)
        ]
    )
    Renderer("gpt-4o", tokenizer=CachedTokenizer(meter)).render(prompt, {}, budget=budget)
    return tally, meter


@pytest.mark.parametrize("budget", [100, 1_500, 100_000])
def test_many_optional_sections_are_asked_a_few_times_each(budget: int) -> None:
    tally, meter = asked_in_all(300, budget)

    assert tally.measured <= 4 * 300
    assert tally.fitted - tally.measured <= 2 * 300
    assert meter.calls <= 300 + 10


def nested(depth: int, tally: Tally) -> PromptSection:
    section: PromptSection = AskedSection("the innermost section", tally)
    for level in range(depth):
        beside = AskedSection(f"beside level {level}", tally, required=False)
        section = GroupSection([section, beside], tokens=5_000, required=True)
    return section


def test_nested_groups_with_budgets_ask_linearly() -> None:
    asked: dict[int, int] = {}
    for depth in (15, 60):
        tally = Tally()
        Renderer("gpt-4o").render(Prompt([nested(depth, tally)]), {}, budget=4_000)
        asked[depth] = tally.measured + tally.fitted

    assert asked[60] <= 4.5 * asked[15]


def test_ten_thousand_chunks_are_read_no_further_than_they_fit() -> None:
    chunks = [f"chunk number {number} of many" for number in range(10_000)]
    meter = Meter()
    prompt = Prompt([DataSourceSection(lambda _query, _scope: chunks), UserInput()])

    rendered = Renderer("gpt-4o", tokenizer=CachedTokenizer(meter)).render(
        prompt, {"input": "Which?"}, budget=1_000
    )

    found = len(rendered.layout["data_source"].items)
    assert 30 < found < 60
    assert meter.calls <= 2 * found + 10


@pytest.mark.parametrize("tokens", [500, 0.5])
def test_of_a_text_of_a_million_characters_little_more_is_read_than_is_sent(
    tokens: int | float,
) -> None:
    text = "a few words that say little. " * 36_000
    meter = Meter()
    prompt = Prompt([TextSection(text, tokens=tokens), UserInput()])

    rendered = Renderer("gpt-4o", tokenizer=CachedTokenizer(meter)).render(
        prompt, {"input": "What does it say?"}, budget=1_000
    )

    assert rendered.layout["text"].outcome == "cut"
    assert meter.characters <= 3 * len(rendered.messages[0].text)
    assert meter.calls <= 40


def turns() -> Iterator[dict[str, str]]:
    for number in range(2_000):
        yield {"role": "user", "content": f"question {number}"}
        yield {"role": "assistant", "content": f"answer {number}"}


def test_one_new_turn_costs_what_the_new_turn_costs() -> None:
    """The tokenizer reads the new messages, although all others move."""
    meter = Meter()
    renderer = Renderer("gpt-4o", tokenizer=CachedTokenizer(meter))
    prompt = Prompt([ConversationHistory(), UserInput()])
    history = list(turns())
    renderer.render(prompt, {"history": history, "input": "First?"}, budget=10_000)
    before = meter.calls

    history += [
        {"role": "user", "content": "First?"},
        {"role": "assistant", "content": "An answer never heard before."},
    ]
    renderer.render(prompt, {"history": history, "input": "And then?"}, budget=10_000)

    assert meter.calls - before <= 3
