"""Conversations that are whole, or broken in every way, and what must hold of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from promptsections import ImagePart, Message, TextPart, ToolCall
from promptsections.counting import Counter, Lines
from promptsections.profiles import ModelProfile
from promptsections.providers.pairing import check_order
from promptsections.tokens import CallableTokenizer, as_tokenizer, cached

WORDS = CallableTokenizer("words", lambda text: len(text.split()))
SHRINKING = CallableTokenizer("shrinking", lambda text: sum(divmod(len(text.split()), 5)))
"""Counts a text lower than parts of it."""
O200K = cached(as_tokenizer("o200k_base"))


def plain(tokenizer: CallableTokenizer = WORDS) -> Counter:
    """Count the text of messages and nothing else."""
    profile = ModelProfile.plain(tokenizer)
    return Counter(profile, profile.tokenizer())


def _counters() -> Iterator[Counter]:
    labels = {"user": "user: ", "assistant": "assistant: ", "tool": "tool {name}: "}
    for tokenizer in (WORDS, SHRINKING, O200K):
        framed = ModelProfile(name="chat", encoding=tokenizer)
        bare = ModelProfile.plain(tokenizer)
        yield Counter(framed, framed.tokenizer())
        yield Counter(bare, bare.tokenizer())
        yield Counter(bare, bare.tokenizer(), Lines(prefix="Before:\n", labels=labels))


COUNTERS = list(_counters())


def user(text: str = "u") -> Message:
    return Message("user", text)


def answer(text: str = "a") -> Message:
    return Message("assistant", text)


def system(text: str = "s") -> Message:
    return Message("system", text)


def call(*ids: str) -> Message:
    return Message("assistant", None, tool_calls=[ToolCall(name, f"f{name}") for name in ids])


def result(call_id: str | None, text: str = "r") -> Message:
    return Message("tool", text, tool_call_id=call_id)


def steps(*names: str, words: int = 3) -> list[Message]:
    """Make a step of each name, whose result has so many words that begin with it."""
    return [
        message
        for name in names
        for message in (call(name), result(name, " ".join(f"{name}{n}" for n in range(words))))
    ]


texts = st.sampled_from(["", "a", "b c", "Desig", "n d e f", "23 456", "long " * 30])
ids = st.sampled_from(["c1", "c2", "", None])
contents = texts | st.lists(
    texts.map(TextPart) | st.just(ImagePart("https://example.com/x.png")), max_size=3
)
anything = st.one_of(
    st.builds(Message, st.sampled_from(["user", "user", "assistant", "system"]), texts),
    st.builds(
        Message,
        st.just("assistant"),
        st.none() | texts,
        tool_calls=st.lists(
            st.builds(ToolCall, st.sampled_from(["c1", "c2", "c3", ""]), st.just("f")),
            min_size=1,
            max_size=3,
        ),
    ),
    st.builds(Message, st.just("tool"), contents, tool_call_id=ids),
    # What no role has a place for:
    st.builds(
        Message,
        st.sampled_from(["user", "assistant", "system", "tool"]),
        texts,
        tool_calls=st.just([ToolCall("c1", "f")]) | st.just([]),
        tool_call_id=ids,
    ),
)
loops = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=3, unique=True), texts
    )
).map(
    lambda drawn: [
        message
        for names, text in drawn
        for message in (call(*names), *(result(name, text + name) for name in names))
    ]
)
exchanges = st.builds(
    lambda text, loop, said: [user(text), *loop, *said],
    texts,
    loops,
    st.just([]) | st.just([answer("done")]),
)
whole = st.builds(
    lambda leading, found: [*leading, *(message for part in found for message in part)],
    st.just([]) | st.just([system("rules")]),
    st.lists(exchanges, max_size=4),
)
any_list = whole | st.lists(anything, max_size=14)


def check_sendable(messages: Sequence[Message]) -> None:
    """Check what providers ask of the order: a user begins, each call is answered once."""
    check_order(messages)
    spoken = [message for message in messages if message.role != "system"]
    if spoken:
        assert spoken[0].role == "user"
