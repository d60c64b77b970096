"""What images cost, and how their size is read."""

from __future__ import annotations

import base64
import math
import struct

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from promptsections.errors import UnsupportedContentError
from promptsections.messages import ImagePart
from promptsections.profiles import (
    MODELS,
    CropImages,
    FlatImages,
    GridImages,
    ImageRule,
    NoImages,
    PatchImages,
    PatchLimit,
    TileImages,
)
from promptsections.profiles.images import depends_on_size, image_size, image_tokens

GPT_4O = TileImages(85, 170)
PATCHES = PatchImages(100, high=PatchLimit(1_536))
NEWER = PatchImages(
    120,
    high=PatchLimit(2_500, longest=2_048),
    low=PatchLimit(256, longest=512),
    original=PatchLimit(10_000, longest=6_000),
)
OLD_CLAUDE = GridImages(28, longest=1_568, most=1_568)
NEW_CLAUDE = GridImages(28, longest=2_576, most=4_784)
GEMINI_2 = CropImages(258)
GEMINI_3 = FlatImages(1_120)

pixels = st.integers(1, 20_000)
rules = st.sampled_from(
    sorted({profile.images for profile in MODELS.values()} - {NoImages()}, key=repr)
)
details = st.sampled_from([None, "auto", "low", "high", "original"])


def image(width: int | None, height: int | None, detail: str | None = None) -> ImagePart:
    return ImagePart("https://example.com/x", width=width, height=height, detail=detail)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "size", "detail", "tokens"),
    [
        # OpenAI's guide works these out.
        (GPT_4O, (1024, 1024), "high", 765),
        (GPT_4O, (2048, 4096), "high", 1105),
        (GPT_4O, (4096, 8192), "low", 85),
        (PATCHES, (1024, 1024), "high", 1024),
        (PATCHES, (1800, 2400), "high", 1452),
        (GPT_4O, (512, 512), None, 255),
        (GPT_4O, (1, 1), "auto", 255),
        (GPT_4O, (100_000, 1), "high", 85 + 4 * 170),
        (PATCHES, (2400, 1800), None, 1452),
        (PATCHES, (1, 1_000_000), None, 1_536),
        (NEWER, (4000, 4000), "high", 3_000),
        (NEWER, (4000, 2000), "high", math.ceil(64 * 32 * 1.2)),
        (NEWER, (4000, 4000), "low", math.ceil(256 * 1.2)),
        (PatchImages(162, high=PatchLimit(1_536)), (32, 32), None, 2),
        (FlatImages(7), (9, 9), "low", 7),
        # Anthropic's guide counts 1,296 for a million pixels.
        (OLD_CLAUDE, (1000, 1000), None, 1_296),
        (OLD_CLAUDE, (28, 29), "low", 2),
        (OLD_CLAUDE, (4000, 3000), None, 1_568),
        (NEW_CLAUDE, (4000, 3000), None, 4_784),
        (NEW_CLAUDE, (10_000, 10), None, 92),
        (GridImages(28, longest=1_540, row=1), (1540, 1540), None, 56 * 55),
        (GridImages(32, longest=81_920, most=2_560, extra=6), (64, 64), None, 10),
        (GEMINI_2, (384, 384), None, 258),
        # Google's guide cuts 960 x 540 into squares of 360: six.
        (GEMINI_2, (960, 540), None, 6 * 258),
        (GEMINI_2, (385, 10), None, 2 * 258),
        (GEMINI_2, (4000, 4000), None, 16 * 258),
        (GEMINI_3, (5000, 5000), None, 1_120),
        (GEMINI_3, (5, 5), "low", 1_120),
    ],
)
def test_images_cost_what_is_published(
    rule: ImageRule, size: tuple[int, int], detail: str | None, tokens: int
) -> None:
    assert image_tokens(rule, image(*size, detail)) == tokens


@pytest.mark.parametrize(
    ("rule", "tokens"),
    [
        (GPT_4O, 85 + 8 * 170),
        (PATCHES, 1_536),
        (NEWER, 12_000),
        (FlatImages(3), 3),
        (OLD_CLAUDE, 1_568),
        (GridImages(28, longest=1_540, row=1), 3_080),
        (GEMINI_2, 6_192),
    ],
)
def test_an_image_of_unknown_size_costs_the_most(rule: ImageRule, tokens: int) -> None:
    assert image_tokens(rule, image(None, None)) == tokens


@given(rules, pixels, pixels, details)
def test_no_image_costs_more_than_one_of_unknown_size(
    rule: ImageRule, width: int, height: int, detail: str | None
) -> None:
    """What is charged for an unknown size is an upper bound for every size."""
    assert (
        0
        < image_tokens(rule, image(width, height, detail))
        <= image_tokens(rule, image(None, None, detail))
    )


@given(rules, pixels, pixels, details)
def test_turning_an_image_changes_nothing(
    rule: ImageRule, width: int, height: int, detail: str | None
) -> None:
    """Width and height are treated alike, except where each row has an end."""
    rule = evolve(rule, row=0) if isinstance(rule, GridImages) else rule

    assert image_tokens(rule, image(width, height, detail)) == image_tokens(
        rule, image(height, width, detail)
    )


@given(st.integers(1, 1_230), st.integers(1, 1_230))
def test_patches_within_the_limit_are_counted_as_they_are(width: int, height: int) -> None:
    """An image that needs no shrinking costs one token for each patch begun."""
    patches = math.ceil(width / 32) * math.ceil(height / 32)

    assert image_tokens(PATCHES, image(width, height)) == min(patches, 1_536)


def test_a_model_without_eyes_refuses_images() -> None:
    with pytest.raises(UnsupportedContentError, match="reads no images"):
        image_tokens(NoImages(), image(1, 1))


def test_the_size_matters_only_where_the_rule_asks_for_it() -> None:
    some, low = image(None, None), image(None, None, "low")

    assert [depends_on_size(GPT_4O, i) for i in (some, low)] == [True, False]
    assert [depends_on_size(PATCHES, i) for i in (some, low)] == [True, True]
    assert [depends_on_size(GEMINI_2, i) for i in (some, low)] == [True, True]
    assert depends_on_size(OLD_CLAUDE, some)
    assert not depends_on_size(FlatImages(1), some)
    assert not depends_on_size(NoImages(), some)


# --- sizes --------------------------------------------------------------------------------------


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x06"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0"


def jpeg(width: int, height: int, *, camera_data: int = 10) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", camera_data + 2) + b"\0" * camera_data
    tables = b"\xff\xff\xc4" + struct.pack(">H", 4) + b"\0\0"  # with a fill byte before the marker
    frame = b"\xff\xc0" + struct.pack(">HBHH", 17, 8, height, width) + b"\3" * 10
    return b"\xff\xd8" + exif + tables + frame


def webp(kind: bytes, width: int, height: int) -> bytes:
    match kind:
        case b"VP8X":
            body = (
                b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
            )
        case b"VP8L":
            body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + b"\0" * 8
        case _:
            body = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height)
    return b"RIFF\0\0\0\0WEBP" + kind + b"\0\0\0\0" + body


def data_url(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


WRITERS = [
    png,
    gif,
    jpeg,
    lambda w, h: webp(b"VP8X", w, h),
    lambda w, h: webp(b"VP8L", w, h),
    lambda w, h: webp(b"VP8 ", w, h),
]


@given(st.sampled_from(WRITERS), st.integers(1, 16_383), st.integers(1, 16_383), st.binary())
def test_a_data_url_shows_its_size(writer: object, width: int, height: int, pixels: bytes) -> None:
    """The size in the header of a PNG, GIF, JPEG or WebP is the size that is used."""
    url = data_url(writer(width, height) + pixels)  # type: ignore[operator]

    assert image_size(ImagePart(url)) == (width, height)


@given(st.binary(max_size=200) | st.sampled_from(WRITERS).map(lambda w: w(5, 5)[:20]))
def test_a_broken_image_has_no_size_and_is_no_error(data: bytes) -> None:
    """Whatever stands behind `base64,`, the answer is a size in pixels or none."""
    size = image_size(ImagePart(data_url(data)))

    assert size is None or min(size) > 0


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/x.png",
        "data:image/svg+xml,<svg/>",
        "data:image/png;base64",
        "data:image/png;base64,not base64 at all",
        "data:image/png;base64,é",
        data_url(png(0, 4)),
        data_url(webp(b"ALPH", 3, 4)),
        data_url(jpeg(3, 4)[:12]),
        data_url(b"\xff\xd8\xff\xd9" + b"\0" * 20),
    ],
)
def test_a_size_that_cannot_be_read_is_unknown(url: str) -> None:
    assert image_size(ImagePart(url)) is None


def test_a_jpeg_with_much_camera_data_still_shows_its_size() -> None:
    assert image_size(ImagePart(data_url(jpeg(640, 480, camera_data=65_000)))) == (640, 480)


def test_a_declared_size_wins() -> None:
    assert image_size(ImagePart(data_url(png(3, 4)), width=10, height=20)) == (10, 20)
    assert image_size(ImagePart(data_url(png(3, 4)), width=10)) == (3, 4)
