"""`ContextAssemblerConfig`: an AI gateway's settings for caching, as its configuration has them.

It reads settings and hands out a `CachePolicy`; it renders nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, ValidationError
from pydantic.alias_generators import to_camel

from promptsections.caching import CachePolicy
from promptsections.errors import ConfigError
from promptsections.profiles.caching import CacheRule
from promptsections.sections import Stability

KEY = "contextAssembler"
"""Where a gateway's configuration has these settings."""


class ContextAssemblerConfig(BaseModel):
    """What an operator must decide before anything is cached.

    Keys are written as `promptCaching`, or in snake case. Construction raises pydantic's
    `ValidationError`; `read` raises a `ConfigError`.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )

    prompt_caching: StrictBool
    """Whether the provider is asked to cache the stable part of the system prompt."""
    reserve_output_tokens: StrictInt | None = Field(default=None, ge=0)
    """Tokens of the window that are kept for the answer; by default the smaller of the model's
    output limit and the call's."""
    share_prompt_cache_across_tenants: StrictBool
    """Whether equal text of two tenants is one entry; without caching it means nothing."""

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> ContextAssemblerConfig:
        """Read settings, or a configuration that has them under `contextAssembler`.

        Raises:
            ConfigError: one is missing or wrong; the text names all of them.
        """
        inner = settings.get(KEY, settings)
        try:
            return cls.model_validate(inner)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            listed = "; ".join(
                f"{'.'.join(map(str, (KEY, *one['loc'])))}: {one['msg']}" for one in problems
            )
            missing = all(one["type"] == "missing" for one in problems)
            raise ConfigError(listed, path=KEY, kind="missing" if missing else "invalid") from error

    def policy(
        self,
        *,
        secret: bytes | str | None = None,
        lifetimes: str | Mapping[Stability, str] | None = None,
        variables: Mapping[str, Stability] | None = None,
        functions: Mapping[str, Stability] | None = None,
        rule: CacheRule | None = None,
    ) -> CachePolicy:
        """Return the policy for a renderer.

        Args:
            secret: key of the hash that stands for a tenant; no part of the configuration.
            lifetimes: how long prefixes are kept.
            variables: how long values in memory stay the same.
            functions: how long results of template functions stay the same.
            rule: what the cache keeps, instead of what the model's profile says.

        Raises:
            DefinitionError: tenants are to be kept apart, and there is no secret.
        """
        return CachePolicy(
            prompt_caching=self.prompt_caching,
            share_prompt_cache_across_tenants=self.share_prompt_cache_across_tenants,
            secret=secret,
            lifetimes=lifetimes or {},
            variables=variables or {},
            functions=functions or {},
            rule=rule,
        )
