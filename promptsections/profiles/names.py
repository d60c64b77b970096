"""How the name of a model is looked up: as it is written in requests, configurations and clouds.

There is no default and no guess: a name that is not known is an error. It knows no numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from promptsections.errors import UnknownModelError
from promptsections.profiles.models import ALIASES, MAKERS, MODELS, Maker
from promptsections.profiles.models.vendor import Vendor
from promptsections.profiles.profile import ModelProfile


def find_profile(name: str, profiles: Mapping[str, ModelProfile] | None = None) -> ModelProfile:
    """Return the profile of a model by its name, in any case.

    Understood are dated names (`gpt-4o-2024-11-20`, `claude-sonnet-4-5@20250929`), fine-tuned ones
    (`ft:gpt-4o-mini-2024-07-18:org::id`), a provider in front (`azure/gpt-4o`), and the names of
    Amazon Bedrock (`us.anthropic.claude-sonnet-4-5-20250929-v1:0`) and Google Cloud
    (`publishers/google/models/gemini-2.5-pro`).

    Args:
        name: the model, as it is written in a request.
        profiles: your own profiles by name; they come before the known ones.

    Raises:
        UnknownModelError: if no profile has that name; one of a similar name is never used.
    """
    own = {key.lower(): profile for key, profile in (profiles or {}).items()}
    names, makers = _without_surroundings(name.lower())
    # One's own names are written as any maker writes them; ours only as their makers do.
    vendors = [m.vendor() for m in makers if own or any(n.startswith(m.starts) for n in names)]
    readings = (*((reading, vendors) for reading in names), *_undated(names, vendors))
    for reading, _ in readings:
        profile = own.get(reading) or own.get(ALIASES.get(reading, reading))
        if profile is not None:
            return profile
    for reading, known_to in readings:
        for vendor in known_to:
            profile = vendor.get(reading)
            if profile is not None:
                return profile
    raise _unknown(name, names[-1], own)


def _unknown(name: str, bare: str, own: Mapping[str, ModelProfile]) -> UnknownModelError:
    suggestions = get_close_matches(bare, [*own, *MODELS], n=3, cutoff=0.6)
    near = f" Near it: {', '.join(suggestions)}." if suggestions else ""
    return UnknownModelError(
        f"no profile is known for model {name!r}.{near} Declare one: "
        f"profiles={{{name!r}: ModelProfile(name={name!r}, encoding='o200k_base', "
        "context_window=...)}",
        name=name,
        suggestions=suggestions,
    )


HOSTS = frozenset(
    {
        "azure", "azure_ai", "azure_openai", "bedrock", "bedrock_converse", "converse", "invoke",
        "vertex_ai", "vertexai", "openrouter", "github", "litellm", "groq", "together_ai",
        "together", "fireworks_ai", "deepinfra", "databricks", "nvidia_nim", "cerebras",
    }
)  # fmt: skip
"""Who serves models of others, as libraries write it in front of a name."""

_PATH = re.compile(r"(?:.*/)?publishers/([^/]+)/models/(.+)|(?:.*/)?()models/(.+)")
"""Google Cloud and Fireworks: the resource that a model is."""
_ARN = re.compile(r"arn:aws[\w-]*:bedrock:[^/]*/(.+)")
_REGION = re.compile(r"[a-z]{2}(?:-gov)?-[a-z]+-\d")
_BEDROCK = re.compile(r"(?:(?:us|us-gov|eu|apac|au|jp|ca|sa|in|global)\.)?([a-z0-9]+)\.(.+)")
_VERSION = re.compile(r"(.+?)(?:-v\d+(?::\d+)?(?::\d+k)?|@[\w.-]+|:(?:free|beta|extended))")
"""Bedrock's, Google Cloud's and OpenRouter's marks behind a name."""


def _without_surroundings(name: str) -> tuple[list[str], Sequence[Maker]]:
    """Return a name and what it is once each thing said around it is taken off; and its makers."""
    names = [name]
    makers: Sequence[Maker] = MAKERS
    if arn := _ARN.fullmatch(name):
        names.append(arn[1])
    if path := _PATH.fullmatch(names[-1]):
        makers = _made_by(path[1] or "") or makers
        names.append(path[2] or path[4])
    first, slash, rest = names[-1].partition("/")
    while slash and rest and (first in HOSTS or _made_by(first) or _REGION.fullmatch(first)):
        makers = _made_by(first) or makers
        names.append(rest)
        first, slash, rest = rest.partition("/")
    if (dotted := _BEDROCK.fullmatch(names[-1])) and _made_by(dotted[1]):
        makers = _made_by(dotted[1])
        names.append(dotted[2])
    if names[-1].startswith("ft:"):
        names.append(names[-1].split(":")[1])
    if version := _VERSION.fullmatch(names[-1]):
        names.append(version[1])
    return names, makers


def _made_by(prefix: str) -> Sequence[Maker]:
    return tuple(maker for maker in MAKERS if prefix in maker.prefixes)


def _undated(
    names: Sequence[str], vendors: Sequence[Vendor]
) -> Iterator[tuple[str, Sequence[Vendor]]]:
    """Yield each name without its date, as one of the vendors writes dates."""
    for name in names:
        for vendor in vendors:
            if dated := vendor.dated.fullmatch(name):
                yield dated[1], (vendor,)
