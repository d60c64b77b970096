"""Model profiles: what a model accepts, and what a message, a tool, an image costs on it."""

from promptsections.profiles.images import (
    FlatImages,
    ImageRule,
    NoImages,
    PatchImages,
    PatchLimit,
    TileImages,
)
from promptsections.profiles.media import MediaRule
from promptsections.profiles.models import MODELS, find_profile
from promptsections.profiles.profile import Form, ModelProfile
from promptsections.profiles.tools import ToolRule

__all__ = [
    "MODELS",
    "FlatImages",
    "Form",
    "ImageRule",
    "MediaRule",
    "ModelProfile",
    "NoImages",
    "PatchImages",
    "PatchLimit",
    "TileImages",
    "ToolRule",
    "find_profile",
]
