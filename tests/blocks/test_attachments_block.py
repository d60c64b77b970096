"""Words with images and files: what is left out, in which order, and that none is ever parted."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from block_laws import ALL, UNBOUNDED, WORDS, check_sizes, cuts, texts
from hypothesis import given
from hypothesis import strategies as st

from promptsections import Prompt, Renderer, SystemMessage, UserInput
from promptsections.blocks import Attachment, AttachmentsBlock
from promptsections.counting import Counter, Lines
from promptsections.errors import BudgetExceededError, DefinitionError
from promptsections.layout import Reason
from promptsections.measurement import Measurement
from promptsections.messages import FilePart, ImagePart, Message, TextPart
from promptsections.profiles import FlatImages, ModelProfile
from promptsections.tokens import Truncate

PLAIN = ModelProfile.plain(WORDS)
PROFILE = evolve(PLAIN, images=FlatImages(10))
COUNTER = Counter(PROFILE, PROFILE.tokenizer())
IMAGES = tuple(ImagePart(f"https://example.org/{n}.png") for n in range(3))


def file(tokens: int, priority: int | None = None, name: str | None = None) -> Attachment:
    return Attachment(FilePart(file_id="f", tokens=tokens, filename=name), priority=priority)


def block(text: str, *attachments: Attachment, cut: Truncate | None = None) -> AttachmentsBlock:
    return AttachmentsBlock(text, attachments, cut=cut)


@pytest.mark.parametrize(
    ("size", "text", "files"),
    [
        (1, "one", 0),
        (2, "one two", 0),
        (3, "one two three", 0),
        (12, "one two three", 0),
        (13, "one two three", 1),
        (23, "one two three", 2),
        (99, "one two three", 2),
    ],
)
def test_attachments_are_left_out_before_words_are_cut(size: int, text: str, files: int) -> None:
    images = [Attachment(image, priority=0) for image in IMAGES[:2]]
    placed = block("one two three", *images, cut=Truncate()).place(COUNTER, size)

    (message,) = placed.messages
    assert message.text == text
    assert (placed.items, placed.omitted) == (("0", "1")[:files], 2 - files)
    assert message.content == (text if not files else (TextPart(text), *IMAGES[:files]))


@pytest.mark.parametrize(
    ("size", "kept"),
    [
        (1, []),
        (10, []),
        (11, ["small"]),
        (15, ["small"]),
        (16, ["medium"]),
        (20, ["medium"]),
        (21, ["best"]),
        (31, ["best", "small"]),
        (36, ["best", "medium"]),
        (45, ["best", "medium"]),
        (46, ["small", "best", "medium"]),
    ],
)
def test_the_highest_priority_is_kept_and_what_does_not_fit_stops_no_other(
    size: int, kept: list[str]
) -> None:
    placed = block("word", file(10, 1, "small"), file(20, 9, "best"), file(15, 5, "medium")).place(
        COUNTER, size
    )

    assert set(placed.items) == set(kept)
    assert placed.omitted == 3 - len(kept)


def test_attachments_are_sent_in_the_order_they_were_given() -> None:
    attached = block("word", file(1, 1, "a"), file(1, 9, "b"), file(1, None, "c"))

    assert attached.place(COUNTER, 3).items == ("b", "c")
    assert attached.place(COUNTER, 4).items == ("a", "b", "c")


def test_what_has_no_priority_goes_along_with_the_words_or_nothing_does() -> None:
    attached = block("one two three", file(10), file(5, 0), cut=Truncate())

    assert attached.measure(COUNTER, UNBOUNDED) == Measurement(13, 18)
    assert attached.place(COUNTER, 13).items == ("0",)
    assert attached.place(COUNTER, 18).items == ("0", "1")


def test_without_words_the_cheapest_attachment_is_the_floor() -> None:
    attached = block("", file(10, 2), file(4, 1))

    assert attached.measure(COUNTER, UNBOUNDED) == Measurement(4, 14)
    assert attached.measure(COUNTER, 3) == Measurement(4, 4)
    assert attached.place(COUNTER, 4).items == ("1",)
    assert attached.place(COUNTER, 13).items == ("0",)


def test_nothing_is_nothing() -> None:
    assert block("").measure(COUNTER, UNBOUNDED) == Measurement(0, 0)
    assert block("").fit(COUNTER, 5) == ()


def test_words_alone_are_a_plain_message() -> None:
    assert block("one two").fit(COUNTER, 5) == (Message("user", "one two"),)


def test_text_beside_the_words_counts_as_text() -> None:
    attached = AttachmentsBlock("word", [Attachment(TextPart("a b c"), priority=0), IMAGES[0]])

    assert attached.measure(COUNTER, UNBOUNDED) == Measurement(11, 14)


def test_an_attachment_may_have_a_name_of_its_own() -> None:
    named = Attachment(IMAGES[0], name="map")

    assert block("", named, file(1, name="x.pdf")).place(COUNTER, 99).items == ("map", "x.pdf")


@pytest.mark.parametrize("priority", [True, "high", 1.5])
def test_a_priority_is_a_whole_number(priority: Any) -> None:
    with pytest.raises(DefinitionError, match="must be a whole number"):
        Attachment(IMAGES[0], priority=priority)


parts = st.one_of(
    st.sampled_from(IMAGES),
    st.builds(TextPart, st.text("ab ", max_size=8)),
    st.builds(lambda tokens: FilePart(file_id="f", tokens=tokens), st.integers(0, 30)),
)
attachments = st.lists(
    st.builds(Attachment, parts, priority=st.none() | st.integers(-2, 2)), max_size=4
)


@given(texts, attachments, st.none() | cuts, st.sampled_from(ALL), st.integers(0, 80))
def test_sizes_keep_what_a_block_promises(
    text: str, attached: list[Attachment], cut: Truncate | None, counter: Counter, size: int
) -> None:
    """At every size it takes at most the size and at least the floor, and all of it if it fits."""
    check_sizes(AttachmentsBlock(text, attached, cut=cut), counter, size)


@given(texts, attachments, st.integers(0, 80), st.integers(0, 20))
def test_more_room_never_loses_what_ranks_highest(
    text: str, attached: list[Attachment], size: int, more: int
) -> None:
    """In rank order, the first attachment to differ is one that the larger size has more."""
    one = AttachmentsBlock(text, attached)
    floor = one.measure(COUNTER, UNBOUNDED).floor
    less, larger = (set(one.place(COUNTER, floor + n).items) for n in (size, size + more))
    rank = sorted(range(len(attached)), key=lambda n: (-(attached[n].priority or 0), n))

    for place in rank:
        if (str(place) in less) != (str(place) in larger):
            assert str(place) in larger
            break
    assert one.measure(COUNTER, UNBOUNDED).floor <= COUNTER.cost(one.fit(COUNTER, floor + size))


@given(texts, attachments, st.integers(0, 80))
def test_every_attachment_is_sent_whole_or_not_at_all(
    text: str, attached: list[Attachment], size: int
) -> None:
    """What is sent are the very parts that were given, in their order, after all of the words."""
    one = AttachmentsBlock(text, attached)
    floor = one.measure(COUNTER, UNBOUNDED).floor
    placed = one.place(COUNTER, floor + size)
    sent = [
        part for m in placed.messages for part in (m.content or ()) if not isinstance(part, str)
    ]
    words = [TextPart(one.text)] if one.text and sent else []

    assert sent == words + [attached[int(place)].part for place in placed.items]
    assert len(placed.items) + placed.omitted == len(attached)


# --- as a section -------------------------------------------------------------------------------

RENDERER = Renderer(PROFILE)
PICTURES = [
    {"type": "image_url", "image_url": {"url": "https://x/0.png"}, "priority": 1},
    {"type": "image_url", "image_url": {"url": "https://x/1.png"}, "priority": 2},
]


def render(section: UserInput, files: Any, budget: int) -> Any:
    memory = {"input": "What is this?", "files": files}
    return RENDERER.render(Prompt([SystemMessage("Look."), section]), memory, budget=budget)


def test_pictures_of_low_priority_are_left_out_and_reported() -> None:
    rendered = render(UserInput(files="files"), PICTURES, 20)

    assert rendered.token_count == 14
    assert [part.url for part in rendered.messages[1].content[1:]] == ["https://x/1.png"]
    placement = rendered.layout["user_input"]
    assert (placement.outcome, placement.reason) == ("cut", Reason.NO_ROOM)
    assert (placement.items, placement.omitted) == (("1",), 1)


def test_pictures_without_a_priority_are_sent_or_an_error_says_so() -> None:
    with pytest.raises(BudgetExceededError, match="'user_input' 23"):
        render(UserInput(files="files"), IMAGES[:2], 20)

    assert len(render(UserInput(files="files"), IMAGES[:2], 24).messages[1].content) == 3


def test_all_pictures_may_be_declared_to_be_dropped() -> None:
    rendered = render(UserInput(files="files", files_required=False), IMAGES, 20)

    assert rendered.layout["user_input"].items == ("0",)
    assert rendered.layout["user_input"].omitted == 2


def test_pictures_go_first_where_words_may_be_cut_unless_they_must_stay() -> None:
    memory = {"input": "What is this?", "files": IMAGES[:1]}
    cut = Prompt([UserInput(files="files", tokens=10)])
    kept = Prompt([UserInput(files="files", files_required=True, tokens=10)])

    assert RENDERER.render(cut, memory, budget=99).layout["user_input"].omitted == 1
    with pytest.raises(BudgetExceededError):
        RENDERER.render(kept, memory, budget=99)


def test_attachments_in_memory_keep_what_they_declare() -> None:
    files = [Attachment(IMAGES[0], name="map"), Attachment(IMAGES[1], priority=3, name="photo")]

    assert render(UserInput(files="files"), files, 23).layout["user_input"].items == ("map",)
    assert render(UserInput(files="files"), files, 24).layout["user_input"].items == (
        "map",
        "photo",
    )


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ("x.png", "must be a list of parts"),
        ({"type": "text"}, "must be a list of parts"),
        ([7], "int is no part"),
        ([{**PICTURES[0], "priority": "high"}], "must be a whole number"),
    ],
)
def test_files_that_are_none_are_an_error(files: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        render(UserInput(files="files"), files, 99)


def test_files_required_is_yes_or_no() -> None:
    with pytest.raises(DefinitionError, match="files_required='no'"):
        UserInput(files_required="no")  # type: ignore[arg-type]


def test_attachments_are_priced_in_the_order_in_which_they_are_sent() -> None:
    profile = ModelProfile.plain("cl100k_base", form="text")
    counter = Counter(profile, profile.tokenizer(), Lines(prefix="so", separator=" "))
    image = ImagePart("https://example.org/0.png")
    attached = [Attachment(image, priority=0), Attachment(TextPart(" ")), image, image]
    block = AttachmentsBlock("0" * 13, attached)

    assert [counter.cost(block.fit(counter, tokens)) for tokens in (12, 13, 14)] == [11, 11, 14]
