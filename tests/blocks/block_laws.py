"""What every block promises, checked for one block, one counter and some sizes."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from hypothesis import strategies as st

from promptsections.blocks import Block
from promptsections.counting import Counter, Lines
from promptsections.messages import Message
from promptsections.profiles import ModelProfile
from promptsections.tokens import CallableTokenizer, Tokenizer, Truncate, as_tokenizer, cached

UNBOUNDED = 10**9

LABELS = MappingProxyType({"user": "user: ", "assistant": "assistant: ", "tool": "tool {name}: "})

WORDS = CallableTokenizer("words", lambda text: len(text.split()))
CHARACTERS = CallableTokenizer("characters", len)
ADDING_CHARACTERS = CallableTokenizer("adding characters", len, joints="strong")
CL100K = cached(as_tokenizer("cl100k_base"))


def shrinking(text: str) -> int:
    """Count a text lower than parts of it: a run of five words is one token."""
    runs, left = divmod(len(text.split()), 5)
    return runs + left


SHRINKING = CallableTokenizer("shrinking", shrinking)


def counters(*tokenizers: Tokenizer) -> list[Counter]:
    """Make the counters of these tokenizers: framed, plain, in a group's message, in a text."""
    made: list[Counter] = []
    for tokenizer in tokenizers:
        plain = ModelProfile.plain(tokenizer)
        chat = ModelProfile(name="chat", encoding=tokenizer)
        labelled = Lines(prefix="Before:\n", labels=LABELS)
        run_on = Lines(prefix="so", separator=" ")
        made += [
            Counter(profile, profile.tokenizer(), lines)
            for profile, lines in (
                (chat, None),
                (plain, None),
                (plain, labelled),
                (ModelProfile.plain(tokenizer, form="text"), run_on),
            )
        ]
    return made


HONEST = counters(WORDS, CHARACTERS, ADDING_CHARACTERS, CL100K)
"""Those where more text never costs less, but for a token or two at a joint."""
ALL = [*HONEST, *counters(SHRINKING)]

texts = st.one_of(
    st.text("ab 1.\n", max_size=60),
    st.text(max_size=20),
    st.lists(st.sampled_from(["Desig", "n", "one", "two.", "Three!", "\n", "字", " ", "12", "345"]))
    .map(" ".join),
)  # fmt: skip
cuts = st.builds(
    Truncate,
    keep=st.sampled_from(["start", "end", "middle"]),
    boundary=st.sampled_from(["word", "grapheme", "line", "sentence"]),
    marker=st.sampled_from(["", "…", " [cut]"]),
)


def plain_words(tokenizer: Tokenizer = WORDS) -> Counter:
    """Count the text of messages and nothing else."""
    profile = ModelProfile.plain(tokenizer)
    return Counter(profile, profile.tokenizer())


def check_sizes(block: Block, counter: Counter, size: int) -> Sequence[Message]:
    """Check what holds of a block at a size with any tokenizer; return what it sends there."""
    floor, natural = block.measure(counter, UNBOUNDED)
    bounded = block.measure(counter, size)
    assert 0 <= floor <= natural
    assert bounded == (min(floor, size + 1), min(natural, size + 1))

    given = max(floor, size)
    sent = block.fit(counter, given)
    assert min(floor, given) <= counter.cost(sent) <= given
    if given >= natural:
        assert list(sent) == list(block.fit(counter, UNBOUNDED))
    return sent


def amount(messages: Sequence[Message], cut: Truncate | None) -> int:
    """Measure how much is sent, in characters and messages, without marks of what was cut."""
    marker = cut.marker if cut is not None else ""
    return sum(1 + len(message.text.replace(marker, "")) for message in messages)
