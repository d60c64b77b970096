"""OpenAI's models. Their vocabularies come with this package: text is counted exactly."""

from __future__ import annotations

import re
from typing import Final

from promptsections.profiles.caching import CacheRule, Lifetime
from promptsections.profiles.images import (
    ImageRule,
    NoImages,
    PatchImages,
    PatchLimit,
    TileImages,
)
from promptsections.profiles.models.vendor import CACHE, WINDOW, Vendor, source
from promptsections.profiles.profile import ModelProfile
from promptsections.profiles.tools import ToolRule

_COOKBOOK = (
    "messages: openai-cookbook How_to_count_tokens_with_tiktoken, compared there with the API"
)
_SAME = "messages: the cookbook's formula for gpt-4o, as langchain PR #38710 (2026-07) applies it"
_TILES = "images: OpenAI's guide to images and vision, tiles, read 2026-11"
_PATCHES = "images: OpenAI's guide to images and vision, patches, read 2026-11"
_LITELLM = "images: litellm 1.110.2, patches, read 2026-11-30"

_OLD_TOOLS = ToolRule(function=10)
_GPT_4O = TileImages(85, 170)
_GPT_5 = TileImages(70, 140)
_O_SERIES = TileImages(75, 150)


def _patches(percent: int) -> PatchImages:
    return PatchImages(percent, high=PatchLimit(1_536))


_HIGH = PatchLimit(2_500, longest=2_048)
_LOW = PatchLimit(256, longest=512)
_ORIGINAL = PatchLimit(10_000, longest=6_000)

_KEY: Final = "prompt_cache_key"
# Before GPT-5.6 prefixes are found without marks, and writing them is free.
_HALF = CacheRule(minimum=1_024, read=0.5, key=_KEY)
_QUARTER = CacheRule(minimum=1_024, read=0.25, key=_KEY)
_TENTH = CacheRule(minimum=1_024, read=0.1, key=_KEY)


def _marked(read: float) -> CacheRule:
    """Return the rule since GPT-5.6: a prefix is found exactly where this request marks it."""
    lifetimes = (Lifetime("30m", 1_800, 1.25), Lifetime("12h", 43_200, 2.5))
    return CacheRule(minimum=1_024, read=read, lifetimes=lifetimes, marks=4, lookback=0, key=_KEY)


def _profile(
    name: str, window: int, output: int, images: ImageRule, *notes: str,
    cache: CacheRule | None = None, encoding: str = "o200k_base", checked: bool = False,
    disputed: bool = False, inputs: int | None = None, priming: int = 3,
) -> ModelProfile:  # fmt: skip
    return ModelProfile(
        name=name,
        encoding=encoding,
        context_window=window,
        max_output_tokens=output,
        max_input_tokens=inputs,
        reply_priming=priming,
        images=images,
        tools=_OLD_TOOLS if encoding == "cl100k_base" else ToolRule(),
        cache=cache,
        overhead_is_estimate=not checked,
        images_are_estimate=disputed,
        source=source(
            WINDOW, _COOKBOOK if checked else _SAME, *notes, *((CACHE,) if cache else ())
        ),
    )


def _old(name: str, window: int, output: int, images: ImageRule, *notes: str) -> ModelProfile:
    """Declare a model of the gpt-4 family, which counts with cl100k_base."""
    return _profile(name, window, output, images, *notes, encoding="cl100k_base", checked=True)


def _reasoning(name: str, images: ImageRule, *notes: str, disputed: bool = False) -> ModelProfile:
    """Declare a model of the gpt-5 family: 400,000 tokens, of which 272,000 may be input."""
    return _profile(
        name, 400_000, 128_000, images, *notes, cache=_TENTH, disputed=disputed, inputs=272_000
    )


def _largest(
    name: str, images: ImageRule, note: str, *, read: float = 0.1, disputed: bool = False
) -> ModelProfile:
    """Declare a model since gpt-5.6: 1,050,000 tokens, of which 922,000 may be input."""
    return _profile(
        name, 1_050_000, 128_000, images, note,
        cache=_marked(read), disputed=disputed, inputs=922_000,
    )  # fmt: skip


_DISPUTED_5_2 = f"{_LITELLM}; it says 6,144 patches in one place and 2,500 in another"
_DISPUTED_5_4 = (
    f"{_LITELLM} has 1.2 and 2,500 patches, other code 1.62 (mini) or 2.46 (nano) and 1,536; "
    "the dearer number of each is used"
)
_UNKNOWN_SMALL = f"{_LITELLM}, with 2.46, the dearest factor of any model; its own is not known"
_UNKNOWN_CODEX = "images: those of the model that it is made from; its own are not known"
_HARMONY = "messages: and 96 for the system message that the harmony format writes"
_SIGHT = PatchImages(120, high=_HIGH, low=_LOW, original=_ORIGINAL)
_DEAR_SIGHT = PatchImages(246, high=_HIGH, original=_ORIGINAL)

OPENAI = Vendor(
    name="openai",
    models=(
        _old("gpt-3.5-turbo", 16_385, 4_096, NoImages()),
        _old(
            "gpt-4", 8_192, 8_192, NoImages(),
            "output: OpenAI's page of the model; litellm has 4,096",
        ),
        _old("gpt-4-turbo", 128_000, 4_096, _GPT_4O, _TILES),
        _profile("gpt-4o", 128_000, 16_384, _GPT_4O, _TILES, cache=_HALF, checked=True),
        _profile("gpt-4o-2024-05-13", 128_000, 4_096, _GPT_4O, _TILES, checked=True),
        _profile(
            "gpt-4o-mini", 128_000, 16_384, TileImages(2_833, 5_667), _TILES,
            cache=_HALF, checked=True,
        ),
        _profile(
            "gpt-4.1", 1_047_576, 32_768, _GPT_4O,
            "images: tiles, as measured in community.openai.com 1262691; documented as patches",
            cache=_QUARTER,
        ),
        _profile(
            "gpt-4.1-mini", 1_047_576, 32_768, _patches(162),
            f"{_PATCHES}; litellm 1.110.2 allows 6,144 patches", cache=_QUARTER, disputed=True,
        ),
        _profile("gpt-4.1-nano", 1_047_576, 32_768, _patches(246), _PATCHES, cache=_QUARTER),
        _profile("o1", 200_000, 100_000, _O_SERIES, _TILES, cache=_HALF),
        _profile("o1-pro", 200_000, 100_000, _O_SERIES, _TILES),
        _profile("o3", 200_000, 100_000, _O_SERIES, _TILES, cache=_QUARTER),
        _profile("o3-mini", 200_000, 100_000, NoImages(), cache=_HALF),
        _profile("o4-mini", 200_000, 100_000, _patches(172), _PATCHES, cache=_QUARTER),
        _reasoning("gpt-5", _GPT_5, _TILES),
        _reasoning("gpt-5-mini", _patches(162), _PATCHES),
        _reasoning("gpt-5-nano", _patches(246), _PATCHES),
        _reasoning("gpt-5-codex", _GPT_5, _UNKNOWN_CODEX, disputed=True),
        _profile(
            "gpt-5-chat", 128_000, 16_384, _GPT_5, _UNKNOWN_CODEX, cache=_TENTH, disputed=True
        ),
        _reasoning("gpt-5.1", _GPT_5, _TILES),
        _reasoning("gpt-5.1-codex", _GPT_5, _UNKNOWN_CODEX, disputed=True),
        _reasoning(
            "gpt-5.2", PatchImages(120, high=PatchLimit(6_144, 2_048)), _DISPUTED_5_2,
            disputed=True,
        ),
        _profile(
            "gpt-5.4", 1_050_000, 128_000, PatchImages(120, high=_HIGH, original=_ORIGINAL),
            _LITELLM, cache=_TENTH,
        ),
        _reasoning("gpt-5.4-mini", PatchImages(162, high=_HIGH), _DISPUTED_5_4, disputed=True),
        _reasoning("gpt-5.4-nano", PatchImages(246, high=_HIGH), _DISPUTED_5_4, disputed=True),
        _profile("gpt-5.5", 1_050_000, 128_000, _SIGHT, _LITELLM, cache=_TENTH),
        _largest("gpt-5.6", _SIGHT, _LITELLM),
        _largest("gpt-5.6-sol", _DEAR_SIGHT, _UNKNOWN_SMALL, disputed=True),
        _largest("gpt-5.6-terra", _DEAR_SIGHT, _UNKNOWN_SMALL, disputed=True),
        _largest("gpt-5.6-luna", _DEAR_SIGHT, _UNKNOWN_SMALL, disputed=True),
        _largest("gpt-6-astra", _SIGHT, _LITELLM),
        _largest("gpt-6-sol", _DEAR_SIGHT, _UNKNOWN_SMALL, disputed=True),
        _largest("gpt-6-luna", _DEAR_SIGHT, _UNKNOWN_SMALL, disputed=True),
        _largest("gpt-6.1-sol", _DEAR_SIGHT, _UNKNOWN_SMALL, read=0.05, disputed=True),
        _largest("gpt-6.1-terra", _DEAR_SIGHT, _UNKNOWN_SMALL, read=0.05, disputed=True),
        _profile("gpt-oss-120b", 131_072, 65_536, NoImages(), _HARMONY, priming=96),
        _profile("gpt-oss-20b", 131_072, 65_536, NoImages(), _HARMONY, priming=96),
    ),
    aliases={
        "gpt-35-turbo": "gpt-3.5-turbo",  # Azure allows no dot in a name
        "gpt-3.5-turbo-0125": "gpt-3.5-turbo",
        "gpt-3.5-turbo-1106": "gpt-3.5-turbo",
        "gpt-4-0613": "gpt-4",
        "gpt-4-0314": "gpt-4",
        "gpt-4-turbo-preview": "gpt-4-turbo",
        "gpt-4-0125-preview": "gpt-4-turbo",
        "gpt-4-1106-preview": "gpt-4-turbo",
        "gpt-5-chat-latest": "gpt-5-chat",
    },
    # Short dates are listed one by one: windows differed by date.
    dated=re.compile(r"(.+)-20\d\d-\d\d-\d\d"),
)  # fmt: skip
"""GPT, the o series and the open weights."""
