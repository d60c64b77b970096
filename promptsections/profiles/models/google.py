"""Google's models. Their tokenizer does not come with this package: counts are estimates."""

from __future__ import annotations

import re
from fractions import Fraction

from promptsections.profiles.caching import CacheRule
from promptsections.profiles.images import CropImages, FlatImages, ImageRule
from promptsections.profiles.media import MediaRule
from promptsections.profiles.models.vendor import CACHE, WINDOW, Vendor, source
from promptsections.profiles.profile import ModelProfile
from promptsections.profiles.tools import JsonToolRule
from promptsections.tokens import BundledTokenizer, ScaledTokenizer

_TEXT_TOKENS = ScaledTokenizer(BundledTokenizer("o200k_base"), Fraction("1.4"))
_TEXT = (
    "text: o200k_base and two fifths; Google says 4 characters for a token, o200k_base has 4.7 on "
    "English, and digits count one by one"
)
_OVERHEAD = "messages: OpenAI's numbers with the margin; tools: their JSON; neither is published"
_CROPS = "images: Google Cloud's guide to image understanding, tiles of 258, read 2026-11"
_LEVELS = (
    "images: Google's guide to media resolution, read 2026-11: 1,120 unless a request asks for "
    "280, 560 or 2,240"
)
_MEDIA = "audio: 32 tokens a second, Google's guide to tokens, read 2026-11; files: estimate"

# 32 tokens a second, of 32 kbit/s, or of 16 bit at 8 kHz. A page of a PDF costs what an image
# costs (258; 560 since Gemini 3) and its text; pages of text take about 3,000 bytes.
_OLD_MEDIA = MediaRule(wav_bytes=500, audio_bytes=125, page_bytes=3_000, page_tokens=258)
_NEW_MEDIA = MediaRule(wav_bytes=500, audio_bytes=125, page_bytes=3_000, page_tokens=560)
_ANY_SIZE = FlatImages(1_120)


def _gemini(
    name: str, output: int, images: ImageRule, cache: CacheRule, *notes: str, disputed: bool = False
) -> ModelProfile:
    return ModelProfile(
        name=name,
        encoding=_TEXT_TOKENS,
        context_window=1_048_576,
        max_output_tokens=output,
        images=images,
        media=_OLD_MEDIA if isinstance(images, CropImages) else _NEW_MEDIA,
        tools=JsonToolRule(),
        cache=cache,
        system="leading",
        providers=("gemini",),
        overhead_is_estimate=True,
        images_are_estimate=disputed,
        source=source(WINDOW, _TEXT, _OVERHEAD, *notes, _MEDIA, CACHE),
    )


def _gemini_2(name: str) -> ModelProfile:
    return _gemini(name, 65_536, CropImages(258), CacheRule(minimum=2_048, read=0.1), _CROPS)


def _gemini_3(name: str) -> ModelProfile:
    return _gemini(name, 65_536, _ANY_SIZE, CacheRule(minimum=4_096, read=0.1), _LEVELS)


def _gemini_4(name: str) -> ModelProfile:
    return _gemini(
        name, 1_048_576, _ANY_SIZE, CacheRule(minimum=4_096, read=0.05),
        f"{_LEVELS}, for Gemini 3; nothing is known of Gemini 4", disputed=True,
    )  # fmt: skip


def _gemma(name: str) -> ModelProfile:
    return ModelProfile(
        name=name,
        encoding=_TEXT_TOKENS,
        context_window=131_072,
        images=FlatImages(260),
        tools=JsonToolRule(),
        system="leading",
        providers=("gemini", "openai", "ollama"),
        overhead_is_estimate=True,
        source=source(
            WINDOW, _TEXT, _OVERHEAD,
            "images: 256 tokens and 4 around them, Gemma 3's technical report (2025-03)",
        ),
    )  # fmt: skip


_MODELS = (
    _gemini_2("gemini-2.5-pro"),
    _gemini_2("gemini-2.5-flash"),
    _gemini_2("gemini-2.5-flash-lite"),
    _gemini_3("gemini-3-pro"),
    _gemini_3("gemini-3-flash"),
    _gemini_3("gemini-3.1-pro"),
    _gemini_3("gemini-3.1-flash-lite"),
    _gemini_3("gemini-3.5-flash"),
    _gemini_3("gemini-3.5-flash-lite"),
    _gemini_3("gemini-3.6-flash"),
    _gemini_3("gemini-3.7-flash"),
    _gemini_3("gemini-3.8-flash"),
    _gemini_4("gemini-4-argon"),
    _gemini_4("gemini-4-hydrogen"),
    _gemma("gemma-3-4b"),
    _gemma("gemma-3-12b"),
    _gemma("gemma-3-27b"),
)

GOOGLE = Vendor(
    name="google",
    models=_MODELS,
    aliases={f"{model.name}-it": model.name for model in _MODELS if "gemma" in model.name},
    dated=re.compile(r"(gem.+?)(?:-00\d|-latest|-(?:preview|exp)(?:-\d\d-\d\d(?:\d\d)?)?)"),
)
"""Gemini and Gemma."""
