"""`CacheBreakpoint`: a place in a prompt up to which the provider should cache."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from attrs import Attribute, field, frozen

from promptsections.profiles.caching import lifetime_seconds
from promptsections.scope import Scope
from promptsections.sections.base import Content, PromptSection
from promptsections.sections.stability import Declared, Stability


def _check_lifetime(_: object, __: Attribute[Any], value: object) -> None:
    if value is not None:
        lifetime_seconds(value)


@frozen
class CacheBreakpoint(PromptSection):
    """A wish that the provider caches everything before this place.

    It has no content, takes no room and changes nothing about what is kept or cut. A provider that
    takes no marks, or has no place for one here, goes without; the cache plan says so.
    """

    lifetime: str | None = field(default=None, validator=_check_lifetime)
    """How long, as the provider names it: `"1h"`; `None` is what the cache policy says."""
    required: bool = field(default=False, kw_only=True)

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return nothing."""
        return None

    def how_stable(self, declared: Declared, /) -> Stability:
        """Return that it never changes."""
        return self.stability or "static"
