"""Models with open weights: Llama, DeepSeek, Qwen, Kimi, GLM.

Windows are those of the makers' own services; whoever else serves a model may allow less. Their
vocabularies do not come with this package: counts are estimates with a margin, measured with the
vocabularies that the makers publish.
"""

from __future__ import annotations

import re
from fractions import Fraction

from promptsections.profiles.caching import CacheRule
from promptsections.profiles.images import FlatImages, GridImages, ImageRule, NoImages
from promptsections.profiles.models.vendor import CACHE, WINDOW, Vendor, source
from promptsections.profiles.profile import ModelProfile
from promptsections.profiles.tools import JsonToolRule
from promptsections.tokens import BundledTokenizer, ScaledTokenizer, Tokenizer


def _times(encoding: str, factor: str) -> Tokenizer:
    return ScaledTokenizer(BundledTokenizer(encoding), Fraction(factor))


_LLAMA_3 = _times("cl100k_base", "1.2")
_LLAMA_4 = _times("o200k_base", "1.2")
_DEEPSEEK = _times("o200k_base", "1.3")
_QWEN = _times("cl100k_base", "1.4")
_OTHER = _times("o200k_base", "1.5")

_MEASURED = "measured 2026-12 on English, code, Chinese, Russian, Arabic and JSON"
_TEXTS = {
    _LLAMA_3: f"text: cl100k_base and a fifth; Llama 3 took at most 1.01 times it, {_MEASURED}",
    _LLAMA_4: f"text: o200k_base and a fifth; Llama 4 took at most 1.19 times as many, {_MEASURED}",
    _DEEPSEEK: f"text: o200k_base and 3 tenths; V3 took at most 1.22 times as many, {_MEASURED}",
    _QWEN: (
        f"text: cl100k_base and two fifths; Qwen took at most 1.32 times as many, {_MEASURED}; "
        "of digits alone up to 2.2 times, since each is a token"
    ),
    _OTHER: "text: o200k_base and a half; the vocabulary was not compared",
}
_UNPUBLISHED = "images: no rule is published; 4,784 is the most that one costs on any other model"
_ANY_IMAGE = FlatImages(4_784)
_BLIND = NoImages()


def _open(
    name: str, tokens: Tokenizer, window: int, output: int | None, images: ImageRule, *notes: str,
    inputs: int | None = None, priming: int = 3, tool_prompt: int = 0,
    cache: CacheRule | None = None, overhead: str = "messages: OpenAI's numbers with the margin",
    estimated: bool = False,
) -> ModelProfile:  # fmt: skip
    return ModelProfile(
        name=name,
        encoding=tokens,
        context_window=window,
        max_output_tokens=output,
        max_input_tokens=inputs,
        reply_priming=priming,
        images=images,
        tools=JsonToolRule(tool_prompt),
        cache=cache,
        system="leading",
        providers=("openai", "ollama", "bedrock"),
        overhead_is_estimate=True,
        images_are_estimate=estimated or images == _ANY_IMAGE,
        source=source(
            WINDOW, _TEXTS[tokens], overhead, "tools: their JSON, an estimate", *notes,
            *((_UNPUBLISHED,) if images == _ANY_IMAGE else ()), *((CACHE,) if cache else ()),
        ),
    )  # fmt: skip


# --- Meta ---------------------------------------------------------------------------------------

_LLAMA_CHAT = (
    "messages: Llama's chat template, 4 and the role for each; 35 for the start, the date that it "
    "writes and the head of the answer"
)


def _llama(
    name: str, tokens: Tokenizer, window: int, images: ImageRule, *notes: str
) -> ModelProfile:
    return _open(
        name, tokens, window, 4_028, images, *notes,
        priming=35, overhead=_LLAMA_CHAT, estimated=images != _BLIND,
    )  # fmt: skip


_LLAMA_IMAGES = FlatImages(2_480)
_LLAMA_TILES = (
    "images: at most 16 tiles of 336 pixels and one of the whole, 144 tokens each and their marks; "
    "Llama 4's image processor"
)

META = Vendor(
    name="meta",
    models=(
        _llama("llama-3.1-8b", _LLAMA_3, 128_000, _BLIND),
        _llama("llama-3.1-70b", _LLAMA_3, 128_000, _BLIND),
        _llama("llama-3.1-405b", _LLAMA_3, 128_000, _BLIND),
        _llama("llama-3.3-70b", _LLAMA_3, 128_000, _BLIND),
        _llama("llama-4-scout", _LLAMA_4, 10_000_000, _LLAMA_IMAGES, _LLAMA_TILES),
        _llama("llama-4-maverick", _LLAMA_4, 1_000_000, _LLAMA_IMAGES, _LLAMA_TILES),
    ),
    aliases={
        "llama-3.1-8b-instant": "llama-3.1-8b",
        "llama-3.3-70b-versatile": "llama-3.3-70b",
        "llama3-1-8b": "llama-3.1-8b",
        "llama3-1-70b": "llama-3.1-70b",
        "llama3-1-405b": "llama-3.1-405b",
        "llama3-3-70b": "llama-3.3-70b",
        "llama4-scout-17b": "llama-4-scout",
        "llama4-maverick-17b": "llama-4-maverick",
        "llama-4-scout-17b-16e": "llama-4-scout",
        "llama-4-maverick-17b-128e": "llama-4-maverick",
        "meta-llama-3.1-8b": "llama-3.1-8b",
        "meta-llama-3.1-70b": "llama-3.1-70b",
        "meta-llama-3.1-405b": "llama-3.1-405b",
    },
    dated=re.compile(r"((?:meta-)?llama.+?)-instruct(?:-fp8|-turbo)?(?:-v\d+(?::\d+)?)?"),
)
"""Llama."""

# --- DeepSeek -----------------------------------------------------------------------------------

_MEASURED_FRAME = "messages: what a request took beside its text, as litellm 1.110.2 measured"


def _deepseek(
    name: str, window: int, output: int, *, read: float = 0.1, frame: int = 76, tools: int = 75,
    images: ImageRule = _BLIND,
) -> ModelProfile:  # fmt: skip
    return _open(
        name, _DEEPSEEK, window, output, images,
        priming=frame, tool_prompt=tools, overhead=_MEASURED_FRAME,
        cache=CacheRule(minimum=64, read=read),
    )  # fmt: skip


DEEPSEEK = Vendor(
    name="deepseek",
    models=(
        _deepseek("deepseek-v4-pro", 1_000_000, 393_216, read=0.0333),
        _deepseek(
            "deepseek-v4-flash", 1_000_000, 393_216, read=0.02, frame=23, tools=12,
            images=_ANY_IMAGE,
        ),
        _deepseek("deepseek-v3.2", 163_840, 163_840),
        _deepseek("deepseek-chat", 131_072, 8_192),
        _deepseek("deepseek-reasoner", 131_072, 65_536),
        _deepseek("deepseek-v3", 65_536, 8_192, read=0.26),
        _deepseek("deepseek-r1", 65_536, 8_192, read=0.26),
    ),
    aliases={
        "deepseek-flash": "deepseek-v4-flash",
        "deepseek-v3-2": "deepseek-v3.2",
        "r1": "deepseek-r1",
    },
    dated=re.compile(r"(deepseek-.+?)-(?:\d{4}|2\d{5}|latest)"),
)  # fmt: skip
"""DeepSeek."""

# --- Qwen ---------------------------------------------------------------------------------------

_QWEN_CHAT = (
    "messages: Qwen's chat template, 4 and the role for each; 30 for the system message that it "
    "writes if there is none, and the head of the answer"
)
_QWEN_SIGHT = (
    "images: Alibaba's guide to Qwen3-VL, 32-pixel squares, 2,560 unless a request asks for more"
)
_QWEN_IMAGES = GridImages(32, longest=81_920, most=2_560, extra=6)


def _qwen(
    name: str, window: int, inputs: int, output: int, *, sight: bool = False, read: float = 0.2
) -> ModelProfile:
    return _open(
        name, _QWEN, window, output, _QWEN_IMAGES if sight else _BLIND,
        *((_QWEN_SIGHT,) if sight else ()),
        inputs=inputs, priming=30, overhead=_QWEN_CHAT, estimated=sight,
        cache=CacheRule(minimum=256, read=read),
    )  # fmt: skip


QWEN = Vendor(
    name="qwen",
    models=(
        _qwen("qwen3.8-max", 1_000_000, 991_808, 131_072, sight=True),
        _qwen("qwen3.8-flash", 1_000_000, 991_808, 131_072, sight=True),
        _qwen("qwen3.7-max", 1_000_000, 991_808, 65_536),
        _qwen("qwen3.7-plus", 1_000_000, 991_808, 65_536, sight=True),
        _qwen("qwen3.5-plus", 1_000_000, 991_808, 65_536, sight=True),
        _qwen("qwen3-max", 262_144, 258_048, 65_536),
        _qwen("qwen3-vl-plus", 262_144, 260_096, 32_768, sight=True),
        _qwen("qwen3-coder-plus", 1_000_000, 997_952, 65_536),
        _qwen("qwen3-coder-flash", 1_000_000, 997_952, 65_536),
        _qwen("qwen-plus", 131_072, 129_024, 16_384),
        _qwen("qwen-flash", 1_000_000, 997_952, 32_768),
        _qwen("qwen-turbo", 131_072, 129_024, 16_384),
        _qwen("qwen3-30b-a3b", 131_072, 129_024, 16_384),
    ),
    aliases={},
    dated=re.compile(r"(qwen.+?)-(?:20\d\d-\d\d-\d\d|latest|preview)"),
)
"""Qwen."""

# --- Moonshot and Z.ai --------------------------------------------------------------------------

_CACHED = CacheRule(minimum=1_024, read=0.2)  # no shortest prefix is named: that of most others
_FRAME = (
    "messages: OpenAI's numbers with the margin, and 100 for a request, what litellm 1.110.2 "
    "measured of kimi-k3"
)


def _framed(name: str, window: int, output: int, images: ImageRule) -> ModelProfile:
    return _open(name, _OTHER, window, output, images, priming=100, overhead=_FRAME, cache=_CACHED)


MOONSHOT = Vendor(
    name="moonshot",
    models=(
        _framed("kimi-k3", 1_048_576, 1_048_576, _ANY_IMAGE),
        _framed("kimi-k2.7-code", 262_144, 262_144, _ANY_IMAGE),
        _framed("kimi-k2.6", 262_144, 262_144, _ANY_IMAGE),
        _framed("kimi-k2.5", 262_144, 262_144, _ANY_IMAGE),
    ),
    aliases={},
    dated=re.compile(r"(kimi-.+?)-(?:\d{4}|latest)"),
)  # fmt: skip
"""Kimi."""

ZAI = Vendor(
    name="zai",
    models=(
        _framed("glm-5.3", 1_000_000, 128_000, _BLIND),
        _framed("glm-5.2", 1_000_000, 128_000, _BLIND),
        _framed("glm-5.1", 200_000, 128_000, _BLIND),
        _framed("glm-5", 200_000, 128_000, _BLIND),
        _framed("glm-4.7", 200_000, 128_000, _BLIND),
        _framed("glm-4.6", 200_000, 128_000, _BLIND),
    ),
    aliases={"glm-5-1": "glm-5.1", "glm-5-2": "glm-5.2", "glm-5-3": "glm-5.3"},
    dated=re.compile(r"(glm-.+?)-latest"),
)
"""GLM."""
