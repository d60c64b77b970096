"""What a provider's prompt cache keeps and what it costs: plain data.

It knows no prompt, no section and no request.
"""

from __future__ import annotations

import re
from typing import Literal

from attrs import field, frozen

from promptsections.errors import DefinitionError

_LIFETIME = re.compile(r"([1-9]\d{0,5})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def lifetime_seconds(name: object) -> int:
    """Read a time as providers write it: `5m`, `1h`, `12h`.

    Raises:
        DefinitionError: it is no number and unit.
    """
    found = _LIFETIME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        raise DefinitionError(f'lifetime={name!r} must be a number and a unit: "5m", "1h", "12h"')
    return int(found[1]) * _SECONDS[found[2]]


@frozen
class Lifetime:
    """How long a cached prefix is kept, and what writing it costs."""

    name: str
    """As a request writes it: `5m`."""
    seconds: int
    write: float = 1.0
    """Price of a token that is written, in prices of an input token; 1 is no surcharge."""


@frozen(kw_only=True)
class CacheRule:
    """How a model's provider caches the beginning of a prompt."""

    minimum: int
    """Tokens of the shortest prefix that is kept; a shorter one is silently not cached."""
    read: float
    """Price of a token that is read from the cache, in prices of an input token."""
    lifetimes: tuple[Lifetime, ...] = field(default=(), converter=tuple[Lifetime, ...])
    """What can be chosen, shortest first; empty if the provider decides."""
    marks: int = 0
    """At most so many marks in a request; 0 if prefixes are found without any."""
    lookback: int | None = None
    """How many blocks before a mark are searched for an older prefix; `None` for all."""
    key: Literal["prompt_cache_key", "cache_salt"] | None = None
    """The field of a request that keeps requests with equal beginnings together, or apart."""

    def __attrs_post_init__(self) -> None:
        if self.minimum < 0 or self.marks < 0 or not 0 <= self.read <= 1:
            raise DefinitionError(
                f"minimum={self.minimum!r} and marks={self.marks!r} must be 0 or more, "
                f"read={self.read!r} from 0 to 1"
            )


VLLM = CacheRule(minimum=16, read=0.0, key="cache_salt")
"""vLLM and SGLang: blocks of 16 tokens, found by their hash; a salt keeps tenants apart."""
