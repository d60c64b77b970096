"""Anthropic's models. Their tokenizer is not public: counts are estimates with a margin."""

from __future__ import annotations

import re
from fractions import Fraction

from promptsections.profiles.caching import CacheRule, Lifetime
from promptsections.profiles.images import GridImages
from promptsections.profiles.media import MediaRule
from promptsections.profiles.models.vendor import CACHE, WINDOW, Vendor, source
from promptsections.profiles.profile import ModelProfile, SystemRule
from promptsections.profiles.tools import JsonToolRule
from promptsections.tokens import BundledTokenizer, ScaledTokenizer

_OLD = ScaledTokenizer(BundledTokenizer("o200k_base"), Fraction("1.2"))
_NEW = ScaledTokenizer(BundledTokenizer("o200k_base"), Fraction("1.6"))
_OLD_TEXT = (
    "text: o200k_base and a fifth; GPT counts read 15 to 33 % low (continuedev/continue #6270, "
    "read 2026-11)"
)
_NEW_TEXT = (
    "text: o200k_base and three fifths; the tokenizer since 4.7 takes up to 1.35 times as many by "
    "Anthropic, 1.45 as measured by others on English (sol.ava.dev, read 2026-11)"
)
_OVERHEAD = "messages: OpenAI's numbers with the margin, dearer than Anthropic's counted examples"
_OLD_TOOLS = "tools: 346 tokens of system prompt (Anthropic's pricing, read 2026-11), then JSON"
_NEW_TOOLS = f"{_OLD_TOOLS}; 1.35 times 346 for the new tokenizer"
_IMAGES = "images: Anthropic's guide to vision, 28-pixel squares, read 2026-11"

_OLD_IMAGES = GridImages(28, longest=1_568, most=1_568)
_NEW_IMAGES = GridImages(28, longest=2_576, most=4_784)


def _cache(minimum: int, read: float = 0.1) -> CacheRule:
    return CacheRule(
        minimum=minimum,
        read=read,
        lifetimes=(Lifetime("5m", 300, 1.25), Lifetime("1h", 3_600, 2.0)),
        marks=4,
        lookback=20,
    )


def _claude(
    name: str, window: int, output: int, cache: CacheRule, *, old: bool = False,
    system: SystemRule = "leading", prefill: bool = False, tool_prompt: int = 346,
) -> ModelProfile:  # fmt: skip
    """Declare a model; `old`: up to 4.6, with the earlier tokenizer and smaller images."""
    images = _OLD_IMAGES if old else _NEW_IMAGES
    return ModelProfile(
        name=name,
        encoding=_OLD if old else _NEW,
        context_window=window,
        max_output_tokens=output,
        images=images,
        # A page is shown as text, 1,500 to 3,000 tokens by Anthropic, and as an image.
        media=MediaRule(page_tokens=3_000 + (images.most or 0)),
        tools=JsonToolRule(tool_prompt if old else 468, tool=16, call=40, result=24),
        cache=cache,
        system=system,
        prefill=prefill,
        providers=("anthropic", "bedrock"),
        overhead_is_estimate=True,
        source=source(
            WINDOW, _OLD_TEXT if old else _NEW_TEXT, _OVERHEAD,
            _OLD_TOOLS if old else _NEW_TOOLS, _IMAGES, CACHE,
        ),
    )  # fmt: skip


def _recent(
    name: str, minimum: int, read: float = 0.1, system: SystemRule = "leading_and_after_user"
) -> ModelProfile:
    """Declare a model since 4.7: a window of a million tokens, no prefill."""
    return _claude(name, 1_000_000, 128_000, _cache(minimum, read), system=system)


_MODELS = (
    _claude("claude-3-haiku", 200_000, 4_096, _cache(2_048), old=True, prefill=True),
    _claude("claude-3-5-haiku", 200_000, 8_192, _cache(2_048), old=True, prefill=True),
    _claude("claude-3-5-sonnet", 200_000, 8_192, _cache(1_024), old=True, prefill=True),
    _claude("claude-3-7-sonnet", 200_000, 8_192, _cache(1_024), old=True, prefill=True),
    _claude("claude-opus-4", 200_000, 32_000, _cache(1_024), old=True, prefill=True),
    _claude("claude-sonnet-4", 200_000, 64_000, _cache(1_024), old=True, prefill=True),
    _claude("claude-opus-4-1", 200_000, 32_000, _cache(1_024), old=True, prefill=True),
    _claude("claude-sonnet-4-5", 200_000, 64_000, _cache(1_024), old=True, prefill=True),
    _claude("claude-haiku-4-5", 200_000, 64_000, _cache(4_096), old=True, prefill=True),
    _claude("claude-opus-4-5", 200_000, 64_000, _cache(4_096), old=True, prefill=True),
    _claude("claude-opus-4-6", 1_000_000, 128_000, _cache(4_096), old=True),
    _claude("claude-sonnet-4-6", 1_000_000, 64_000, _cache(1_024), old=True),
    _recent("claude-opus-4-7", 2_048, system="leading"),
    _recent("claude-opus-4-8", 1_024),
    # Sources disagree whether it takes a system message after a user turn; the narrower is used.
    _recent("claude-sonnet-5", 1_024, system="leading"),
    _recent("claude-opus-5", 512),
    _recent("claude-fable-5", 512),
    _recent("claude-mythos-5", 512),
    _recent("claude-fable-5-1", 512, 0.025),
    _recent("claude-mythos-5-1", 512, 0.025),
    _recent("claude-opus-5-5", 512, 0.05),
    _recent("claude-sonnet-5-5", 512, 0.05),
    _recent("claude-haiku-5-5", 512),
)

_PARTED = re.compile(r"(claude-(?:[a-z]+-)?\d)-(\d)\b(.*)")

ANTHROPIC = Vendor(
    name="anthropic",
    models=_MODELS,
    # OpenRouter writes claude-sonnet-4.5.
    aliases={
        _PARTED.sub(r"\1.\2\3", model.name): model.name
        for model in _MODELS
        if _PARTED.fullmatch(model.name)
    },
    dated=re.compile(r"(claude-.+?)(?:[-@]20\d{6}(?:-v\d+(?::\d+)?)?|-latest)"),
)
"""Claude."""
