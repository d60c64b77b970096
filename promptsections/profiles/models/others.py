"""Models of xAI, Cohere and Amazon.

Their vocabularies do not come with this package: counts are estimates with a margin.
"""

from __future__ import annotations

import re
from fractions import Fraction

from promptsections.profiles.caching import CacheRule, Lifetime
from promptsections.profiles.images import FlatImages, ImageRule, NoImages
from promptsections.profiles.models.vendor import CACHE, WINDOW, Vendor, source
from promptsections.profiles.profile import ModelProfile, SystemRule
from promptsections.profiles.tools import JsonToolRule
from promptsections.tokens import BundledTokenizer, ScaledTokenizer

_TEXT_TOKENS = ScaledTokenizer(BundledTokenizer("o200k_base"), Fraction("1.5"))
_TEXT = "text: o200k_base and a half; the vocabulary was not compared"
_TOOLS = "tools: their JSON, an estimate"
_OVERHEAD = "messages: OpenAI's numbers with the margin"


def _other(
    name: str, window: int, output: int, images: ImageRule, *notes: str, priming: int = 3,
    tool_prompt: int = 0, cache: CacheRule | None = None, system: SystemRule = "leading",
    providers: tuple[str, ...] = ("openai",), overhead: str = _OVERHEAD,
) -> ModelProfile:  # fmt: skip
    return ModelProfile(
        name=name,
        encoding=_TEXT_TOKENS,
        context_window=window,
        max_output_tokens=output,
        reply_priming=priming,
        images=images,
        tools=JsonToolRule(tool_prompt),
        cache=cache,
        system=system,
        providers=providers,
        overhead_is_estimate=True,
        images_are_estimate=images != NoImages(),
        source=source(WINDOW, _TEXT, overhead, _TOOLS, *notes, *((CACHE,) if cache else ())),
    )


# --- xAI ----------------------------------------------------------------------------------------

_GROK_FRAME = "messages: what a request to grok-4.3 took beside its text, as litellm 1.110.2 has it"
_GROK_IMAGES = "images: xAI's guide to image understanding, at most 7 tiles of 256 tokens (2025)"


def _grok(name: str, window: int, read: float) -> ModelProfile:
    return _other(
        name, window, window, FlatImages(1_792), _GROK_IMAGES,
        priming=185, tool_prompt=214, overhead=_GROK_FRAME, system="anywhere",
        cache=CacheRule(minimum=1_024, read=read),
    )  # fmt: skip


XAI = Vendor(
    name="xai",
    models=(
        _grok("grok-4.7", 500_000, 0.25),
        _grok("grok-4.6", 500_000, 0.25),
        _grok("grok-4.5", 500_000, 0.15),
        _grok("grok-4.3", 1_000_000, 0.16),
    ),
    aliases={},
    dated=re.compile(r"(grok-.+?)-(?:\d{4}|latest)"),
)
"""Grok."""

# --- Cohere -------------------------------------------------------------------------------------

_COMMAND_IMAGES = "images: no rule is published; 4,784 is the most that one costs anywhere else"

COHERE = Vendor(
    name="cohere",
    models=(
        _other("command-a-plus", 128_000, 64_000, FlatImages(4_784), _COMMAND_IMAGES),
        _other("command-a", 256_000, 8_000, NoImages()),
        _other("command-r-plus", 128_000, 4_096, NoImages()),
        _other("command-r", 128_000, 4_096, NoImages()),
        _other("command-r7b", 128_000, 4_096, NoImages()),
    ),
    aliases={},
    dated=re.compile(r"(command-.+?)-\d\d-20\d\d"),
)
"""Command."""

# --- Amazon -------------------------------------------------------------------------------------

_NOVA_IMAGES = (
    "images: Amazon's guide to Nova and images, 2,600 for 1.3 megapixels, its dearest row"
)
_NOVA_CACHE = CacheRule(minimum=1_000, read=0.25, lifetimes=(Lifetime("5m", 300),), marks=4)


def _nova(name: str, window: int, output: int, *, sight: bool = True) -> ModelProfile:
    images = FlatImages(2_600) if sight else NoImages()
    notes = (_NOVA_IMAGES,) if sight else ()
    return _other(name, window, output, images, *notes, cache=_NOVA_CACHE, providers=("bedrock",))


AMAZON = Vendor(
    name="amazon",
    models=(
        _nova("nova-2-lite", 1_000_000, 64_000),
        _nova("nova-premier", 1_000_000, 10_000),
        _nova("nova-pro", 300_000, 10_000),
        _nova("nova-lite", 300_000, 10_000),
        _nova("nova-micro", 128_000, 10_000, sight=False),
    ),
    aliases={},
    dated=re.compile(r"(nova-.+?)-v\d+(?::\d+)?(?::\d+k)?"),
)
"""Nova."""
