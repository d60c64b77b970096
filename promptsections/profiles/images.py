"""What an image costs, in tokens, as a model's provider publishes it.

Pure arithmetic on sizes in pixels. The only bytes ever looked at are the first ones of a `data:`
URL, to learn the size; nothing is fetched, and base64 is never read as text.
"""

from __future__ import annotations

import base64
import binascii
from math import isqrt
from typing import assert_never

from attrs import frozen

from promptsections.errors import UnsupportedContentError
from promptsections.messages import ImagePart


@frozen
class FlatImages:
    """Every image costs the same, whatever its size and detail."""

    tokens: int


@frozen
class NoImages:
    """The model reads no images: a message with one is an error."""


@frozen
class TileImages:
    """OpenAI's tiles: a base, and so much for each 512-pixel tile of the image, shrunk.

    The image is shrunk to fit 2048 x 2048, then until its short side is at most 768; with
    `detail="low"` it costs the base alone.
    """

    base: int
    tile: int


@frozen
class PatchLimit:
    """How far an image is shrunk before its patches are counted."""

    patches: int
    """At most so many patches of 32 x 32 pixels."""
    longest: int | None = None
    """At most so many pixels on the long side; `None` for any."""


@frozen
class PatchImages:
    """OpenAI's patches: patches of 32 x 32 pixels, within a limit, times a factor."""

    percent: int
    """The factor, in hundredths: 162 means 1.62 tokens for each patch."""
    high: PatchLimit
    low: PatchLimit | None = None
    """With `detail="low"`; `None` if it makes no difference."""
    original: PatchLimit | None = None
    """With `detail="original"`, or where the model may choose; `None` if it has no such detail."""


@frozen
class GridImages:
    """A token for each square of a grid over the image, after shrinking.

    The image is shrunk until its long side is `longest`, then as far as `most` tokens demand.
    """

    side: int
    """Width and height of a square, in pixels."""
    longest: int
    """At most so many pixels on the long side."""
    most: int | None = None
    """At most so many tokens; `None` for as many as the long side allows."""
    row: int = 0
    """Tokens that end each row."""
    extra: int = 0
    """Tokens around an image."""


@frozen
class CropImages:
    """Gemini's tiles: small images are one tile, larger ones are cut into several.

    An image of at most 384 pixels each way is one tile. A larger one is shrunk to fit
    3072 x 3072 and cut into squares of its short side divided by 1.5, but of at least 256 and at
    most 768 pixels.
    """

    tile: int


ImageRule = FlatImages | NoImages | TileImages | PatchImages | GridImages | CropImages


def image_tokens(rule: ImageRule, image: ImagePart) -> int:
    """Return what an image costs, in tokens; of an unknown size, the most one can cost.

    Sources: OpenAI's guide to images and vision, "Calculating costs"; Anthropic's guide to vision;
    Google's guide to image understanding on Vertex AI.

    Raises:
        UnsupportedContentError: if the model reads no images.
    """
    match rule:
        case FlatImages(tokens=tokens):
            return tokens
        case NoImages():
            raise UnsupportedContentError(
                "this model reads no images: leave the image out or choose a model that does"
            )
        case TileImages():
            return _tile_tokens(rule, image)
        case PatchImages():
            return _patch_tokens(rule, image)
        case GridImages():
            return _grid_tokens(rule, image)
        case CropImages():
            return rule.tile * _crops(image)
        case _:
            assert_never(rule)


def depends_on_size(rule: ImageRule, image: ImagePart) -> bool:
    """Tell whether the size of this image, in pixels, makes a difference to what it costs."""
    match rule:
        case FlatImages() | NoImages():
            return False
        case TileImages():
            return image.detail != "low"
        case PatchImages() | GridImages() | CropImages():
            return True
        case _:
            assert_never(rule)


# --- formulas -----------------------------------------------------------------------------------

MOST_TILES = 8
"""768 x 2048 pixels: what the longest image that is allowed is shrunk to."""


def _tile_tokens(rule: TileImages, image: ImagePart) -> int:
    if image.detail == "low":
        return rule.base
    size = image_size(image)
    return rule.base + rule.tile * (MOST_TILES if size is None else _tiles(*size))


def _tiles(width: int, height: int) -> int:
    # The scale is the smallest of 1, 2048 / long and 768 / short, as a fraction, so that no
    # rounding of floats adds a tile.
    short, long = sorted((width, height))
    above, below = 1, 1
    if long > 2048:
        above, below = 2048, long
    if short * above > 768 * below:
        above, below = 768, short
    return _ceil(width * above, 512 * below) * _ceil(height * above, 512 * below)


def _patch_tokens(rule: PatchImages, image: ImagePart) -> int:
    match image.detail:
        case "low":
            limit = rule.low or rule.high
        case "high":
            limit = rule.high
        case _:
            limit = rule.original or rule.high
    size = image_size(image)
    patches = limit.patches if size is None else _patches(limit, *size)
    return _ceil(patches * rule.percent, 100)


def _patches(limit: PatchLimit, width: int, height: int) -> int:
    if limit.longest is not None:
        width, height = _shrunk((width, height), limit.longest)
    patches = _ceil(width, 32) * _ceil(height, 32)
    if patches <= limit.patches:
        return patches
    # Published with floats: shrink to the area of all patches, then further until one side is
    # whole patches. In integers: floor(sqrt(x)) is isqrt(floor(x)).
    wide = max(1, isqrt(limit.patches * width // height))
    tall = max(1, isqrt(limit.patches * height // width))
    if wide * height <= tall * width:
        tall = _ceil(height * wide, width)
    else:
        wide = _ceil(width * tall, height)
    return min(limit.patches, wide * tall)


def _grid_tokens(rule: GridImages, image: ImagePart) -> int:
    width, height = _shrunk(image_size(image) or (rule.longest, rule.longest), rule.longest)
    wide, tall = _ceil(width, rule.side), _ceil(height, rule.side)
    tokens = (wide + rule.row) * tall
    # How the provider rounds when it shrinks further is not published; it stays below its limit.
    return rule.extra + (tokens if rule.most is None else min(tokens, rule.most))


MOST_CROPS = 24
"""3072 x 384 pixels, in squares of 256: no image that is allowed has more."""


def _crops(image: ImagePart) -> int:
    size = image_size(image)
    if size is None:
        return MOST_CROPS
    if max(size) <= 384:
        return 1
    width, height = _shrunk(size, 3_072)
    square = min(max(min(width, height) * 2 // 3, 256), 768)
    return _ceil(width, square) * _ceil(height, square)


def _shrunk(size: tuple[int, int], longest: int) -> tuple[int, int]:
    width, height = size
    long = max(width, height)
    if long <= longest:
        return size
    return _ceil(width * longest, long), _ceil(height * longest, long)


def _ceil(above: int, below: int) -> int:
    return -(-above // below)


# --- sizes --------------------------------------------------------------------------------------

HEADER_CHARACTERS = 131_072
"""How much of a `data:` URL is looked at: a JPEG may hold 64 KiB of camera data before its size."""


def image_size(image: ImagePart) -> tuple[int, int] | None:
    """Return width and height in pixels: as declared, else as a `data:` URL shows; else `None`."""
    width, height = image.width, image.height
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        return width, height
    size = _size_in_header(_first_bytes(image.url))
    return size if size is not None and min(size) > 0 else None


def _first_bytes(url: str) -> bytes:
    comma = url.find(",", 0, 256)
    if not url.startswith("data:") or comma < 0 or not url[:comma].endswith(";base64"):
        return b""
    text = url[comma + 1 : comma + 1 + HEADER_CHARACTERS].rstrip("=")
    whole = len(text) - len(text) % 4
    try:
        return base64.b64decode(text[:whole], validate=True)
    except (binascii.Error, ValueError):
        return b""


def _size_in_header(data: bytes) -> tuple[int, int] | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if data.startswith(b"\xff\xd8"):
        return _jpeg_size(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp_size(data)
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # fill bytes may stand before a marker
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return (
                int.from_bytes(data[24:27], "little") + 1,
                int.from_bytes(data[27:30], "little") + 1,
            )
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            return (
                int.from_bytes(data[26:28], "little") & 0x3FFF,
                int.from_bytes(data[28:30], "little") & 0x3FFF,
            )
        case _:
            return None
