"""`ContextAssemblerConfig`: an AI gateway's settings for caching, as its configuration has them.

It reads settings and hands out a `CachePolicy`; it renders nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from promptsections.caching import CachePolicy
from promptsections.errors import ConfigError
from promptsections.profiles.caching import CacheRule
from promptsections.sections import Stability
from promptsections.templates.suggestions import did_you_mean, suggest

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
        inner: object = settings.get(KEY, settings) if isinstance(settings, Mapping) else settings  # pyright: ignore[reportUnnecessaryIsInstance]
        if not isinstance(inner, Mapping):
            what = f"{KEY}: must be a table of settings, not {type(inner).__name__}"
            raise ConfigError(what, path=KEY, kind="invalid")
        try:
            return cls.model_validate(inner)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            listed = "; ".join(_told(cls, problem) for problem in problems)
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


def _told(cls: type[BaseModel], problem: ErrorDetails) -> str:
    """Say what is wrong with a setting, and what to write."""
    name = str(problem["loc"][0])
    names = [field.alias or key for key, field in cls.model_fields.items()]
    match problem["type"]:
        case "missing":
            what = "is missing: write true or false, there is no default"
        case "extra_forbidden" if to_camel(name) in names:
            what = f"says again what {to_camel(name)} says: keep one"
        case "extra_forbidden":
            near = did_you_mean(name, suggest(name, names))
            what = f"is no setting{near or '; known are ' + ', '.join(names)}"
        case "bool_type":
            what = f"must be true or false, not {problem['input']!r}"
        case _:
            what = f"must be a whole number of tokens, 0 or more, not {problem['input']!r}"
    return f"{KEY}.{name}: {what}"
