"""Mistral's models. Their tokenizer does not come with this package: counts are estimates."""

from __future__ import annotations

import re
from fractions import Fraction

from promptsections.profiles.caching import CacheRule
from promptsections.profiles.images import GridImages, ImageRule, NoImages
from promptsections.profiles.models.vendor import CACHE, WINDOW, Vendor, source
from promptsections.profiles.profile import ModelProfile
from promptsections.profiles.tools import JsonToolRule
from promptsections.tokens import BundledTokenizer, ScaledTokenizer

_TEXT_TOKENS = ScaledTokenizer(BundledTokenizer("o200k_base"), Fraction("1.5"))
_TEXT = (
    "text: o200k_base and a half; Tekken of mistral-common 1.13.1 took 1.15 times as many on "
    "English, 1.43 on Chinese, 1.32 on JSON, measured 2026-12"
)
_OVERHEAD = "messages: OpenAI's numbers with the margin; tools: their JSON; neither is published"
_IMAGES = "images: the encoder of mistral-common 1.13.1 with the sizes of Mistral Small 3.1"
_PIXTRAL = "images: the encoder of mistral-common 1.13.1 with the sizes of its tekken_240911.json"
_ORDER = "system: the validator of mistral-common 1.13.1, read 2026-12"

_NEW_IMAGES = GridImages(28, longest=1_540, row=1)
_PIXTRAL_IMAGES = GridImages(16, longest=1_024, row=1)


def _mistral(
    name: str, window: int, images: ImageRule, *notes: str, disputed: bool = False
) -> ModelProfile:
    return ModelProfile(
        name=name,
        encoding=_TEXT_TOKENS,
        context_window=window,
        max_output_tokens=window,
        images=images,
        tools=JsonToolRule(),
        # The provider names no shortest prefix, so the one of most others is taken.
        cache=CacheRule(minimum=1_024, read=0.1, key="prompt_cache_key"),
        system="leading_and_after_user",
        providers=("mistral", "bedrock", "ollama"),
        overhead_is_estimate=True,
        images_are_estimate=disputed,
        source=source(WINDOW, _TEXT, _OVERHEAD, _ORDER, *notes, CACHE),
    )


def _sighted(name: str, window: int = 262_144) -> ModelProfile:
    return _mistral(name, window, _NEW_IMAGES, _IMAGES, disputed=True)


MISTRAL = Vendor(
    name="mistral",
    models=(
        _sighted("mistral-large-4", 1_048_576),
        _sighted("mistral-large-3"),
        _sighted("mistral-medium-3.5"),
        _sighted("mistral-small-4"),
        _sighted("magistral-medium"),
        _sighted("magistral-small"),
        _sighted("ministral-14b"),
        _sighted("ministral-8b"),
        _sighted("ministral-3b", 131_072),
        _mistral("pixtral-large", 128_000, _PIXTRAL_IMAGES, _PIXTRAL, disputed=True),
        _mistral("mistral-large-2", 128_000, NoImages()),
        _mistral("codestral", 128_000, NoImages()),
        _mistral("devstral-medium", 256_000, NoImages()),
        _mistral("devstral-small", 256_000, NoImages()),
        _mistral("open-mistral-nemo", 128_000, NoImages()),
    ),
    aliases={
        "mistral-large": "mistral-large-3",
        "mistral-large-latest": "mistral-large-3",
        "mistral-large-2512": "mistral-large-3",
        "mistral-large-3-675b-instruct": "mistral-large-3",
        "mistral-large-4-0": "mistral-large-4",
        "mistral-large-2407": "mistral-large-2",
        "mistral-large-2411": "mistral-large-2",
        "mistral-medium": "mistral-medium-3.5",
        "mistral-medium-latest": "mistral-medium-3.5",
        "mistral-medium-2604": "mistral-medium-3.5",
        "mistral-medium-3-5": "mistral-medium-3.5",
        "mistral-small-latest": "mistral-small-4",
        "mistral-small-2603": "mistral-small-4",
        "devstral": "devstral-small",
        "ministral-3-14b": "ministral-14b",
        "ministral-3-8b": "ministral-8b",
        "ministral-3-3b": "ministral-3b",
    },
    # A date is year and month; of the families above that changed by date, each is listed.
    dated=re.compile(
        r"((?:ministral|codestral|devstral|magistral|pixtral|open).*?)-(?:2\d{3}|latest)"
    ),
)
"""Mistral, Ministral, Magistral, Codestral, Devstral and Pixtral."""
