"""The models that are known by name, as data: one module for each maker.

Every number has a source and a date. There is no default: a name that is not here is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from promptsections.profiles.models.anthropic import ANTHROPIC
from promptsections.profiles.models.google import GOOGLE
from promptsections.profiles.models.mistral import MISTRAL
from promptsections.profiles.models.open_weights import DEEPSEEK, META, MOONSHOT, QWEN, ZAI
from promptsections.profiles.models.openai import OPENAI
from promptsections.profiles.models.others import AMAZON, COHERE, XAI
from promptsections.profiles.models.vendor import Vendor
from promptsections.profiles.profile import ModelProfile

VENDORS: tuple[Vendor, ...] = (
    OPENAI, ANTHROPIC, GOOGLE, MISTRAL, META, DEEPSEEK, QWEN, MOONSHOT, ZAI, XAI, COHERE, AMAZON,
)  # fmt: skip

MODELS: Mapping[str, ModelProfile] = MappingProxyType(
    {name: profile for vendor in VENDORS for name, profile in vendor.models.items()}
)
"""Name → profile of each model that is known."""

ALIASES: Mapping[str, str] = MappingProxyType(
    {alias: name for vendor in VENDORS for alias, name in vendor.aliases.items()}
)
"""Other names of the same models."""
