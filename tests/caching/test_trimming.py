"""A history that is trimmed in steps begins at the same message for many turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    CachePolicy,
    Chunk,
    ConversationHistory,
    DataSourceSection,
    DefinitionError,
    ImagePart,
    InvalidHistoryError,
    Message,
    NewestFirst,
    Prompt,
    RenderedPrompt,
    Renderer,
    SystemMessage,
    TextPart,
    ToolCall,
    UserInput,
)
from promptsections.blocks import HistoryBlock, ItemsBlock
from promptsections.blocks.trimming import Beginning, choose, weight
from promptsections.counting import Counter
from promptsections.profiles import ModelProfile
from promptsections.tokens import CallableTokenizer, TiktokenTokenizer

WORDS = ModelProfile.plain(CallableTokenizer("words", lambda text: len(text.split())))
COUNTER = Counter(WORDS, WORDS.tokenizer())
CACHING = CachePolicy(prompt_caching=True, share_prompt_cache_across_tenants=True)
ON = Renderer("gpt-4o", caching=CACHING)
OFF = Renderer("gpt-4o")


def words(count: int, name: str) -> str:
    return " ".join(f"{name}{number}" for number in range(count))


def turn(number: int, user: int = 10, assistant: int = 10) -> list[Message]:
    return [
        Message("user", words(user, f"u{number}w")),
        Message("assistant", words(assistant, f"a{number}w")),
    ]


def beginnings(block: HistoryBlock, room: int) -> tuple[Message, ...]:
    return tuple(block.fit(COUNTER, room))


def changes(sent: Sequence[tuple[Message, ...]]) -> int:
    """Count how often what is sent does not begin with what was sent before."""
    return sum(after[: len(before)] != before for before, after in pairwise(sent))


def test_the_first_message_changes_seldom() -> None:
    """Twelve turns of 20 tokens in 100, low water at 60: plain trimming changes it 7 times."""
    history: list[Message] = []
    plain: list[tuple[Message, ...]] = []
    stepped: list[tuple[Message, ...]] = []
    for number in range(12):
        history += turn(number)
        plain.append(beginnings(HistoryBlock(list(history)), 100))
        stepped.append(beginnings(HistoryBlock(list(history), trim_step=40), 100))

    assert changes(plain) == 7
    assert changes(stepped) <= 4
    assert all(COUNTER.cost(sent) <= 100 for sent in stepped)


sizes = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=20, max_size=60)


@given(sizes, st.integers(250, 600), st.integers(50, 300), st.integers(0, 400))
def test_appending_moves_the_beginning_seldom_and_never_back(
    drawn: list[tuple[int, int]], room: int, step: int, earlier: int
) -> None:
    """The kept messages only grow at their end, but where a cell is left out, for good."""
    history: list[Message] = []
    sent: list[tuple[Message, ...]] = []
    first: list[int] = []
    for number, (user, assistant) in enumerate(drawn):
        history += turn(number, user, assistant)
        block = HistoryBlock(list(history), trim_step=step, earlier=earlier)
        sent.append(beginnings(block, room))
        first.append(len(history) - len(sent[-1]))

    assert first == sorted(first)
    moves = changes(sent)
    assert moves == len(set(first)) - 1
    # A cell of words like these is at least a third of what it is meant to be, but for messages
    # that are larger; half a step where a step is more than half the room.
    appended = COUNTER.cost(history)
    assert moves <= 2 + 6 * appended / min(step, room // 2)


@given(sizes, st.integers(250, 600), st.integers(50, 300))
def test_what_is_sent_follows_from_the_conversation_alone(
    drawn: list[tuple[int, int]], room: int, step: int
) -> None:
    """Dicts or messages, a list or a store, in one go or after other renders: the same."""
    history = [message for number, (u, a) in enumerate(drawn) for message in turn(number, u, a)]
    dicts = [{"role": message.role, "content": message.text} for message in history]
    block = HistoryBlock(history, trim_step=step)
    HistoryBlock(history[:-4], trim_step=step).fit(COUNTER, room)

    assert HistoryBlock(dicts, trim_step=step).fit(COUNTER, room) == block.fit(COUNTER, room)
    assert len(block.fit(COUNTER, room)) <= len(HistoryBlock(history).fit(COUNTER, room))


def test_no_more_than_a_step_or_so_is_left_free() -> None:
    history = [message for number in range(200) for message in turn(number)]
    for end in range(40, 400, 2):
        sent = HistoryBlock(history[:end], trim_step=150).fit(COUNTER, 500)
        assert 500 - 1.5 * 150 <= COUNTER.cost(sent) <= 500


def test_a_step_of_more_than_the_room_leaves_a_quarter_of_it_at_least() -> None:
    history = [message for number in range(200) for message in turn(number)]
    kept = [
        COUNTER.cost(HistoryBlock(history[:end], trim_step=5_000).fit(COUNTER, 500))
        for end in range(100, 400, 2)
    ]

    assert min(kept) >= 125


def test_messages_of_many_bytes_and_few_tokens_are_trimmed_in_smaller_cells() -> None:
    history = [
        Message(role, f"{number}" + "x" * 2_000 + " y" * 9)
        for number in range(200)
        for role in ("user", "assistant")
    ]
    sent = [
        beginnings(HistoryBlock(history[:end], trim_step=100), 300) for end in range(60, 400, 2)
    ]

    assert all(COUNTER.cost(each) >= 150 for each in sent)
    assert changes(sent) < len(sent) / 2


# --- what stays ---------------------------------------------------------------------------------


def test_leading_system_messages_and_pinned_ones_stay() -> None:
    def is_pinned(message: Message) -> bool:
        return message.text.startswith("u3w")

    history = [Message("system", "rules"), *(m for n in range(60) for m in turn(n))]
    block = HistoryBlock(history, trim_step=60, pinned=is_pinned)

    sent = block.fit(COUNTER, 200)

    assert sent[0] == history[0]
    assert sent[1:3] == tuple(turn(3))
    assert sent[-1] == history[-1]


def test_an_agent_loop_begins_at_the_same_step_for_many_steps() -> None:
    """The turn under way stays, and its steps are left out a cell at a time, with a marker."""
    loop: list[Message] = [Message("user", "do it")]
    sent: list[tuple[Message, ...]] = []
    plain: list[tuple[Message, ...]] = []
    for number in range(40):
        loop.append(Message("assistant", None, tool_calls=[ToolCall(f"c{number}", "look", "{}")]))
        loop.append(Message("tool", words(20, f"r{number}w"), tool_call_id=f"c{number}"))
        options: dict[str, Any] = {"omission_marker": "{n} omitted", "max_result_tokens": 10}
        plain.append(beginnings(HistoryBlock(list(loop), **options), 200))
        sent.append(beginnings(HistoryBlock(list(loop), trim_step=80, **options), 200))

    assert all(each[0] == loop[0] for each in sent)
    assert all(COUNTER.cost(each) <= 200 for each in sent)
    assert changes(sent) * 2 < changes(plain)


def test_max_messages_are_left_out_in_steps_too() -> None:
    history = [message for number in range(60) for message in turn(number)]
    sent = [
        beginnings(HistoryBlock(history[:end], trim_step=80, max_messages=20), 10_000)
        for end in range(30, 120, 2)
    ]

    assert all(10 <= len(each) <= 20 for each in sent)
    assert changes(sent) <= len(sent) / 3


# --- how much is read ---------------------------------------------------------------------------


class Meter:
    """The real tokenizer, with a record of how much it reads."""

    name = "metered"
    exact = True
    joints = "strong"

    def __init__(self) -> None:
        self.characters = 0
        self._inner = TiktokenTokenizer("o200k_base")

    def count(self, text: str, /) -> int:
        self.characters += len(text)
        return self._inner.count(text)


class Listed(Sequence[dict[str, Any]]):
    """A million messages, and which of them were looked at."""

    def __init__(self) -> None:
        self.read: set[int] = set()

    def __len__(self) -> int:
        return 1_000_100

    def __getitem__(self, index: Any) -> Any:
        self.read.add(index)
        role = "assistant" if index % 2 else "user"
        return {"role": role, "content": f"This is message {index} of a long conversation."}


@pytest.mark.parametrize("stored", [True, False], ids=["a store", "a sequence"])
def test_of_a_million_messages_a_block_is_weighed_and_what_fits_is_counted(stored: bool) -> None:
    listed, meter = Listed(), Meter()

    def newest_first() -> Iterator[Any]:
        return (listed[at] for at in reversed(range(len(listed))))

    store = NewestFirst(newest_first, total=len(listed))
    prompt = Prompt([ConversationHistory(trim_to=0.7), UserInput()])
    rendered = Renderer("gpt-4o", tokenizer=meter).render(
        prompt, {"history": store if stored else listed, "input": "Go on."}, budget=2_000
    )

    fits = 2_000 // 14
    assert len(listed.read) <= fits + 256 + 4
    assert meter.characters <= (fits + 4) * 52
    placement = rendered.layout["conversation_history"]
    assert placement.omitted == len(listed) - len(rendered.messages) + 1
    assert placement.omitted_is_exact


def test_a_store_that_says_how_much_it_holds_is_sent_as_a_list_is() -> None:
    history = [message for number in range(300) for message in turn(number)]
    prompt = Prompt([ConversationHistory(omission_marker="{n} earlier messages"), UserInput()])
    for end in range(100, 600, 34):
        part = history[:end]
        store = NewestFirst(partial(reversed, part), total=len(part))
        sent = [
            ON.render(prompt, {"history": value, "input": "Go on."}, budget=1_000).messages
            for value in (part, store)
        ]
        assert sent[0] == sent[1]
        assert f"{end - len(sent[0]) + 2} earlier messages" in {m.text for m in sent[0]}


def test_a_store_that_does_not_say_so_is_trimmed_plainly_and_noted() -> None:
    history = [message for number in range(100) for message in turn(number)]
    prompt = Prompt([ConversationHistory(), UserInput()])
    memory = {"history": NewestFirst(lambda: reversed(history)), "input": "Go on."}

    rendered = ON.render(prompt, memory, budget=500)

    plain = OFF.render(prompt, memory, budget=500)
    assert rendered.messages == plain.messages
    assert [note.code for note in rendered.layout.notes] == ["trim_needs_total"]


def test_a_store_with_fewer_messages_than_were_read_is_an_error() -> None:
    history = [message for number in range(100) for message in turn(number)]
    memory = {"history": NewestFirst(lambda: reversed(history), total=3), "input": "Go on."}

    with pytest.raises(InvalidHistoryError, match=r"total=3 messages, but \d+ were read"):
        ON.render(Prompt([ConversationHistory(required=True), UserInput()]), memory, budget=500)


# --- sections and renderers ---------------------------------------------------------------------


def chat(renderer: Renderer, section: ConversationHistory, turns: int = 40) -> list[RenderedPrompt]:
    prompt = Prompt([SystemMessage("Be brief."), section, UserInput()])
    history: list[Message] = []
    found: list[RenderedPrompt] = []
    for number in range(turns):
        memory = {"history": history, "input": words(10, f"u{number}w")}
        found.append(renderer.render(prompt, memory, budget=1_000))
        history = history + turn(number)
    return found


def moved(found: Sequence[RenderedPrompt]) -> int:
    return changes([rendered.messages for rendered in found])


def test_steps_are_the_default_where_the_renderer_asks_for_the_cache() -> None:
    off = Renderer(
        "gpt-4o",
        caching=CachePolicy(prompt_caching=False, share_prompt_cache_across_tenants=True),
    )
    plain = moved(chat(OFF, ConversationHistory()))

    assert plain > 20
    assert moved(chat(ON, ConversationHistory())) <= plain / 3
    assert moved(chat(OFF, ConversationHistory(trim_to=0.7))) <= plain / 3
    assert moved(chat(OFF, ConversationHistory(trim_step=300))) <= plain / 3
    for renderer, section in [
        (off, ConversationHistory()),
        (ON, ConversationHistory(trim_to=None)),
        (ON, ConversationHistory(stability="turn")),
    ]:
        assert moved(chat(renderer, section)) == plain


def test_a_layout_says_where_a_trimmed_history_begins_and_what_is_free() -> None:
    rendered = chat(ON, ConversationHistory())[-1]

    placement = rendered.layout["conversation_history"]
    (note,) = rendered.layout.notes
    assert (note.code, note.path) == ("trimmed", "conversation_history")
    assert f"message {placement.omitted}," in note.detail
    assert placement.outcome == "cut"


@pytest.mark.parametrize(
    "wrong",
    [
        {"trim_to": 0}, {"trim_to": 1}, {"trim_to": 1.5}, {"trim_to": True}, {"trim_to": "70%"},
        {"trim_to": float("nan")}, {"trim_step": 0}, {"trim_step": 1.5}, {"trim_step": True},
        {"trim_to": 0.5, "trim_step": 10},
    ],
)  # fmt: skip
def test_a_mark_without_meaning_is_an_error_when_the_section_is_made(wrong: Any) -> None:
    name = next(iter(wrong))
    with pytest.raises(DefinitionError, match=f"{name}="):
        ConversationHistory(**wrong)
    with pytest.raises(DefinitionError, match=f"{name}="):
        DataSourceSection(lambda _query, _scope: [], **wrong)


@pytest.mark.parametrize("total", [-1, True, 1.5, "7"])
def test_a_total_that_is_no_number_of_messages_is_an_error(total: Any) -> None:
    with pytest.raises(DefinitionError, match="total="):
        NewestFirst(list, total=total)


# --- chunks -------------------------------------------------------------------------------------


def test_chunks_stay_the_same_while_the_room_changes_a_little() -> None:
    chunks = [Chunk(words(10, f"c{number}w")) for number in range(30)]
    block = ItemsBlock(chunks, separator="\n", trim_step=50)

    numbers = [len(block.place(COUNTER, room).items) for room in range(10, 300)]

    assert numbers == sorted(numbers)
    assert set(numbers) == {1, 5, 10, 15, 20, 25}
    assert len(block.place(COUNTER, 300).items) == 30


def test_a_source_is_trimmed_in_steps_where_it_stays_the_same() -> None:
    notes = [words(10, f"n{number}w") for number in range(100)]

    def sent(room: int, **options: Any) -> int:
        section = DataSourceSection(lambda _query, _scope: notes, tokens=0.5, **options)
        prompt = Prompt([section, UserInput()])
        memory = {"input": words(room, "i")}
        return len(ON.render(prompt, memory, budget=2_000).layout["data_source"].items)

    rooms = range(10, 230, 20)
    assert len({sent(room) for room in rooms}) > 3  # asked anew with every turn
    assert len({sent(room, stability="session") for room in rooms}) <= 2
    assert len({sent(room, trim_step=300) for room in rooms}) <= 2
    assert len({sent(room, stability="session", trim_to=None) for room in rooms}) > 3


def test_a_chunk_step_without_meaning_is_an_error() -> None:
    with pytest.raises(DefinitionError, match="trim_step=0"):
        ItemsBlock(["a"], trim_step=0)


# --- how messages are weighed -------------------------------------------------------------------


def test_messages_are_weighed_by_all_that_is_sent_of_them() -> None:
    image = ImagePart("https://example.com/x.png")
    call = ToolCall("c1", "look", '{"q":"ö"}')

    assert weight(Message("user", "aö€")) == 1 + 2 + 3
    assert weight(Message("assistant", None, tool_calls=[call])) == 4 + 10
    assert weight(Message("user", [TextPart("ab"), image])) == weight(Message("user", [image])) + 2
    assert weight(Message("user", [image])) > 1_000


def test_where_nothing_has_a_weight_a_history_is_trimmed_as_needed() -> None:
    """Empty messages that a profile charges for: there are no cells to begin at."""
    profile = ModelProfile(name="framed", encoding=COUNTER.tokenizer, tokens_per_message=1)
    counter = Counter(profile, profile.tokenizer())
    history = [Message(role, "") for _ in range(50) for role in ("user", "assistant")]
    block = HistoryBlock(history, trim_step=2)

    assert counter.cost(block.fit(counter, 20)) == 20
    found = [Beginning(units=9, cost=9, place=10, before=9)]
    assert choose(found, 10, 4, lambda _: 0) is None
    assert choose([], 10, 4, lambda _: 0) is None
