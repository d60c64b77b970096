"""`CachePolicy`: what an operator decides about the provider's prompt cache.

Plain data, and the scope that keeps tenants apart. It knows no prompt, no layout and no payload.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from attrs import Attribute, field, frozen

from promptsections.errors import DefinitionError
from promptsections.profiles.caching import CacheRule, lifetime_seconds
from promptsections.sections import Declared, Stability
from promptsections.sections.stability import STABILITIES


def _choice(_: object, attribute: Attribute[Any], value: object) -> None:
    if not isinstance(value, bool):
        raise DefinitionError(
            f"CachePolicy: {attribute.name}={value!r} must be True or False; there is no default"
        )


def _secret(value: bytes | str | None) -> bytes | None:
    secret = value.encode() if isinstance(value, str) else value
    if secret is not None and not isinstance(secret, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(
            f"CachePolicy: secret must be bytes or a text, not {type(secret).__name__}"
        )
    return secret


def _table(name: str, value: Mapping[Any, Any] | None) -> dict[Any, Any]:
    if value is not None and not isinstance(value, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"CachePolicy: {name} must be a mapping, not {type(value).__name__}")
    return dict(value or {})


def _declared(value: Mapping[str, Stability] | None) -> Mapping[str, Stability]:
    declared: dict[str, Stability] = _table("what is declared", value)
    for name, stability in declared.items():
        if stability not in STABILITIES:
            raise DefinitionError(
                f"CachePolicy: {name!r} is declared {stability!r}: write one of "
                f"{', '.join(STABILITIES)}"
            )
    return MappingProxyType(declared)


def _lifetimes(value: str | Mapping[Stability, str] | None) -> Mapping[Stability, str]:
    given = dict.fromkeys(STABILITIES, value) if isinstance(value, str) else value
    lifetimes: dict[Stability, str] = _table("lifetimes", given)
    for stability, lifetime in lifetimes.items():
        if stability not in STABILITIES:
            raise DefinitionError(
                f"CachePolicy: lifetimes has {stability!r}: write one of {', '.join(STABILITIES)}"
            )
        lifetime_seconds(lifetime)
    return MappingProxyType(lifetimes)


@frozen(kw_only=True)
class CachePolicy:
    """What may be cached, and who may read it; the two choices at the top have no default.

    Raises:
        DefinitionError: a wrong value, or tenants that are to be kept apart without a `secret`.
    """

    prompt_caching: bool = field(validator=_choice)
    """Whether the provider is asked to cache. Off: no marks and no key, and histories are trimmed
    as if there were no cache."""
    share_prompt_cache_across_tenants: bool = field(validator=_choice)
    """Whether equal text of two tenants is one entry. Reading an entry that another tenant wrote
    costs less and answers sooner, which can be observed. Off: every entry begins with a line that
    belongs to one tenant, and tools, which stand before it, carry no mark."""
    secret: bytes | None = field(default=None, converter=_secret, repr=False)
    """Key of the hash that stands for a tenant; the operator's, at best 32 random bytes. Needed
    where tenants are kept apart."""
    lifetimes: Mapping[Stability, str] = field(
        factory=dict[Stability, str], converter=_lifetimes, hash=False
    )
    """Stability → how long such a prefix is kept, as the provider names it: `"1h"`. One text is for
    all. By default the shortest that the model has."""
    variables: Mapping[str, Stability] = field(
        factory=dict[str, Stability], converter=_declared, hash=False
    )
    """Path in memory → how long its value stays the same; a path stands for all below it, too. What
    is not declared may change with every turn."""
    functions: Mapping[str, Stability] = field(
        factory=dict[str, Stability], converter=_declared, hash=False
    )
    """Name of a template function → how long its result stays the same; the same default."""
    rule: CacheRule | None = None
    """What the cache keeps, instead of what the model's profile says."""

    def __attrs_post_init__(self) -> None:
        if self.prompt_caching and not self.share_prompt_cache_across_tenants and not self.secret:
            raise DefinitionError(
                "CachePolicy: share_prompt_cache_across_tenants=False keeps tenants apart by a "
                "hash that only you can make: pass secret=<random bytes>"
            )

    @property
    def declared(self) -> Declared:
        """What is declared of memory and functions."""
        return Declared(self.variables, self.functions)

    @property
    def isolates(self) -> bool:
        """Whether tenants are kept apart."""
        return self.prompt_caching and not self.share_prompt_cache_across_tenants

    def scope_of(self, tenant: str | None) -> str | None:
        """Return what stands for a tenant in prompts and keys: a keyed hash, never its id.

        Args:
            tenant: the tenant's id.

        Returns:
            32 hexadecimal digits, or `None` where tenants are not kept apart.

        Raises:
            DefinitionError: if tenants are kept apart and there is no id.
        """
        if tenant is not None and not isinstance(tenant, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"tenant must be a text, not {type(tenant).__name__}")
        if not self.isolates:
            return None
        if not tenant or tenant.isspace():
            raise DefinitionError(
                f"tenant={tenant!r}: the cache policy keeps tenants apart, so every render needs "
                "one: pass tenant=<id>; it is hashed and never sent"
            )
        assert self.secret is not None
        data = b"promptsections tenant\0" + tenant.encode("utf-8", "surrogatepass")
        return hmac.new(self.secret, data, hashlib.sha256).hexdigest()[:32]
