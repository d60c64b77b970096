"""Model profiles: what a model accepts, and what a message, a tool, an image costs on it."""

from promptsections.profiles.caching import CacheRule, Lifetime
from promptsections.profiles.images import (
    CropImages,
    FlatImages,
    GridImages,
    ImageRule,
    NoImages,
    PatchImages,
    PatchLimit,
    TileImages,
)
from promptsections.profiles.media import MediaRule
from promptsections.profiles.models import MODELS
from promptsections.profiles.names import find_profile
from promptsections.profiles.profile import Form, ModelProfile, SystemRule
from promptsections.profiles.tools import JsonToolRule, ToolRule

__all__ = [
    "MODELS",
    "CacheRule",
    "CropImages",
    "FlatImages",
    "Form",
    "GridImages",
    "ImageRule",
    "JsonToolRule",
    "Lifetime",
    "MediaRule",
    "ModelProfile",
    "NoImages",
    "PatchImages",
    "PatchLimit",
    "SystemRule",
    "TileImages",
    "ToolRule",
    "find_profile",
]
