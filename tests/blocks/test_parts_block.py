"""Words with images: what is left out, and in which order."""

from __future__ import annotations

import pytest
from attrs import evolve
from block_laws import UNBOUNDED, WORDS, check_sizes
from hypothesis import given
from hypothesis import strategies as st

from promptsections.blocks import PartsBlock, TextBlock
from promptsections.counting import Counter
from promptsections.measurement import Measurement
from promptsections.messages import ImagePart, Message, TextPart
from promptsections.profiles import FlatImages, ModelProfile
from promptsections.tokens import Truncate

PLAIN = ModelProfile.plain(WORDS)
PROFILE = evolve(PLAIN, images=FlatImages(10))
COUNTER = Counter(PROFILE, PROFILE.tokenizer())
IMAGES = tuple(ImagePart(f"https://example.org/{n}.png") for n in range(3))


def block(text: str, files: int) -> PartsBlock:
    return PartsBlock(TextBlock(text, Message("user"), cut=Truncate()), IMAGES[:files])


@pytest.mark.parametrize(
    ("size", "text", "files"),
    [(1, "one", 0), (2, "one two", 0), (3, "one two three", 0), (12, "one two three", 0),
     (13, "one two three", 1), (23, "one two three", 2), (99, "one two three", 2)],
)  # fmt: skip
def test_files_are_left_out_from_the_last_and_then_the_text_is_cut(size, text, files):
    placed = block("one two three", 2).place(COUNTER, size)

    (message,) = placed.messages
    assert message.text == text
    assert placed.omitted == 2 - files
    assert message.content == (text if not files else (TextPart(text), *IMAGES[:files]))


def test_without_words_the_first_file_is_the_floor():
    assert block("", 2).measure(COUNTER, UNBOUNDED) == Measurement(10, 20)
    assert block("", 2).measure(COUNTER, 5) == Measurement(6, 6)
    assert block("", 2).fit(COUNTER, 19) == (Message("user", IMAGES[:1]),)


@given(st.text("ab. ", max_size=30), st.integers(1, 3), st.integers(0, 60))
def test_sizes_keep_what_a_block_promises(text, files, size):
    """At every size it takes at most the size and at least the floor, and all of it if it fits."""
    check_sizes(block(text, files), COUNTER, size)
