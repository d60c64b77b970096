"""`Vendor`: one maker of models, what it makes and how its names are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from attrs import field, frozen

from promptsections.profiles.profile import ModelProfile

WINDOW = "window: the model table of litellm 1.110.2, read 2026-11-30"
"""The source of a model's window and output limit, unless it says otherwise."""
CACHE = "cache: the provider's pricing as litellm 1.110.2 and its SDK have it, read 2026-11-30"
"""The source of what a prompt cache keeps and costs, unless it says otherwise."""


def _by_name(profiles: Iterable[ModelProfile]) -> Mapping[str, ModelProfile]:
    return {profile.name: profile for profile in profiles}


@frozen(kw_only=True)
class Vendor:
    """The models of one maker."""

    name: str
    models: Mapping[str, ModelProfile] = field(converter=_by_name)
    """Name → profile."""
    aliases: Mapping[str, str]
    """Other names of the same models."""
    dated: re.Pattern[str]
    """Matches a name with a date or version; its first group is the name without."""

    def get(self, name: str) -> ModelProfile | None:
        """Return the model of that name, or of the name that it is another name of."""
        return self.models.get(self.aliases.get(name, name))


def source(*notes: str) -> str:
    """Join the sources of a profile's numbers."""
    return "; ".join(notes)
