"""The models that are known by name, as data, and how a name is looked up.

Every number has a source and a date. There is no default: a name that is not here is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from promptsections.errors import UnknownModelError
from promptsections.profiles.images import NoImages, PatchImages, PatchLimit, TileImages
from promptsections.profiles.profile import ModelProfile
from promptsections.profiles.tools import ToolRule


def find_profile(name: str, profiles: Mapping[str, ModelProfile] | None = None) -> ModelProfile:
    """Return the profile of a model by its name, in any case.

    Understood are dated names (`gpt-4o-2024-11-20`), fine-tuned ones
    (`ft:gpt-4o-mini-2024-07-18:org::id`) and a provider in front (`azure/gpt-4o`).

    Args:
        name: the model, as it is written in a request.
        profiles: your own profiles by name; they come before the known ones.

    Raises:
        UnknownModelError: if no profile has that name; one of a similar name is never used.
    """
    own = {key.lower(): profile for key, profile in (profiles or {}).items()}
    names = tuple(_names(name))
    for known in (own, MODELS):
        for candidate in names:
            profile = known.get(ALIASES.get(candidate, candidate), known.get(candidate))
            if profile is not None:
                return profile
    suggestions = get_close_matches(names[-1], [*own, *MODELS], n=3, cutoff=0.6)
    near = f" Near it: {', '.join(suggestions)}." if suggestions else ""
    raise UnknownModelError(
        f"no profile is known for model {name!r}.{near} Declare one: "
        f"profiles={{{name!r}: ModelProfile(name={name!r}, encoding='o200k_base', "
        "context_window=...)}",
        name=name,
        suggestions=suggestions,
    )


PREFIXES = frozenset(
    {"openai", "azure", "azure_ai", "azure_openai", "openrouter", "github", "litellm"}
)
"""Providers of OpenAI's models that other libraries write in front of a name."""

_DATED = re.compile(r"(.+)-20\d\d-\d\d-\d\d")


def _names(name: str) -> Iterator[str]:
    """Yield a name, then what it is once each thing said around the model is taken off."""
    name = name.lower()
    yield name
    prefix, separator, rest = name.partition("/")
    while separator and prefix in PREFIXES:
        name = rest
        yield name
        prefix, separator, rest = name.partition("/")
    if name.startswith("ft:"):
        name = name.split(":")[1]
        yield name
    if dated := _DATED.fullmatch(name):
        yield dated[1]


# --- the table ----------------------------------------------------------------------------------

_COOKBOOK = (
    "messages: openai-cookbook How_to_count_tokens_with_tiktoken, compared there with the API"
)
_SAME = "messages: the cookbook's formula for gpt-4o, as langchain PR #38710 (2026-07) applies it"
_WINDOW = "window: the model table of litellm 1.110.2, read 2026-11-30"
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
_ORIGINAL = PatchLimit(10_000, longest=6_000)


def _profile(
    name: str, window: int, output: int, images: TileImages | PatchImages | NoImages, *notes: str,
    encoding: str = "o200k_base", checked: bool = False, disputed: bool = False,
    inputs: int | None = None,
) -> ModelProfile:  # fmt: skip
    return ModelProfile(
        name=name,
        encoding=encoding,
        context_window=window,
        max_output_tokens=output,
        max_input_tokens=inputs,
        images=images,
        tools=_OLD_TOOLS if encoding == "cl100k_base" else ToolRule(),
        overhead_is_estimate=not checked,
        images_are_estimate=disputed,
        source="; ".join((_WINDOW, _COOKBOOK if checked else _SAME, *notes)),
    )


def _reasoning(
    name: str, images: TileImages | PatchImages, *notes: str, disputed: bool = False
) -> ModelProfile:
    """Declare a model of the gpt-5 family: 400,000 tokens, of which 272,000 may be input."""
    return _profile(name, 400_000, 128_000, images, *notes, disputed=disputed, inputs=272_000)


_DISPUTED_5_2 = f"{_LITELLM}; it says 6,144 patches in one place and 2,500 in another"
_DISPUTED_5_4 = (
    f"{_LITELLM} has 1.2 and 2,500 patches, other code 1.62 (mini) or 2.46 (nano) and 1,536; "
    "the dearer number of each is used"
)

MODELS: Mapping[str, ModelProfile] = MappingProxyType({
    profile.name: profile
    for profile in (
        _profile("gpt-3.5-turbo", 16_385, 4_096, NoImages(), encoding="cl100k_base", checked=True),
        _profile(
                "gpt-4", 8_192, 8_192, NoImages(),
                "output: OpenAI's page of the model; litellm has 4,096",
                encoding="cl100k_base", checked=True,
            ),
        _profile(
            "gpt-4-turbo", 128_000, 4_096, _GPT_4O, _TILES, encoding="cl100k_base", checked=True
        ),
        _profile("gpt-4o", 128_000, 16_384, _GPT_4O, _TILES, checked=True),
        _profile("gpt-4o-2024-05-13", 128_000, 4_096, _GPT_4O, _TILES, checked=True),
        _profile("gpt-4o-mini", 128_000, 16_384, TileImages(2_833, 5_667), _TILES, checked=True),
        _profile(
            "gpt-4.1", 1_047_576, 32_768, _GPT_4O,
            "images: tiles, as measured in community.openai.com 1262691; documented as patches",
        ),
        _profile(
            "gpt-4.1-mini", 1_047_576, 32_768, _patches(162),
            f"{_PATCHES}; litellm 1.110.2 allows 6,144 patches", disputed=True,
        ),
        _profile("gpt-4.1-nano", 1_047_576, 32_768, _patches(246), _PATCHES),
        _profile("o1", 200_000, 100_000, _O_SERIES, _TILES),
        _profile("o3", 200_000, 100_000, _O_SERIES, _TILES),
        _profile("o3-mini", 200_000, 100_000, NoImages()),
        _profile("o4-mini", 200_000, 100_000, _patches(172), _PATCHES),
        _reasoning("gpt-5", _GPT_5, _TILES),
        _reasoning("gpt-5-mini", _patches(162), _PATCHES),
        _reasoning("gpt-5-nano", _patches(246), _PATCHES),
        _reasoning("gpt-5.1", _GPT_5, _TILES),
        _reasoning(
            "gpt-5.2", PatchImages(120, high=PatchLimit(6_144, 2_048)), _DISPUTED_5_2,
            disputed=True,
        ),
        _profile(
            "gpt-5.4", 1_050_000, 128_000, PatchImages(120, high=_HIGH, original=_ORIGINAL),
            _LITELLM,
        ),
        _reasoning("gpt-5.4-mini", PatchImages(162, high=_HIGH), _DISPUTED_5_4, disputed=True),
        _reasoning("gpt-5.4-nano", PatchImages(246, high=_HIGH), _DISPUTED_5_4, disputed=True),
        _profile(
            "gpt-5.5", 1_050_000, 128_000,
            PatchImages(120, high=_HIGH, low=PatchLimit(256, 512), original=_ORIGINAL), _LITELLM,
        ),
    )
})  # fmt: skip
"""Name → profile of each model that is known."""

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "gpt-35-turbo": "gpt-3.5-turbo",  # Azure allows no dot in a name
        "gpt-3.5-turbo-0125": "gpt-3.5-turbo",
        "gpt-3.5-turbo-1106": "gpt-3.5-turbo",
        "gpt-4-0613": "gpt-4",
        "gpt-4-0314": "gpt-4",
        "gpt-4-turbo-preview": "gpt-4-turbo",
        "gpt-4-0125-preview": "gpt-4-turbo",
        "gpt-4-1106-preview": "gpt-4-turbo",
    }
)
"""Other names of the same models. Short dates are listed one by one: windows differed by date."""
