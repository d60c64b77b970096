"""What a provider says it has read from its cache, whatever it calls that.

It knows field names, and nothing of prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from attrs import frozen

from promptsections.errors import DefinitionError


@frozen(kw_only=True)
class CacheUsage:
    """Tokens of a request's input, as the provider billed them."""

    tokens: int
    """All of them."""
    read: int = 0
    """Of these, read from the cache."""
    written: int | None = None
    """Of these, written to it; `None` if the provider does not say."""


def read_usage(answer: object) -> CacheUsage:
    """Read the usage of an answer: a dict or an object of an SDK, whole or its usage alone.

    Understood are OpenAI (Chat Completions and Responses), Anthropic, Amazon Bedrock, Gemini,
    DeepSeek, Mistral, and servers that speak like one of them.

    Raises:
        DefinitionError: it says nothing of input tokens.
    """
    usage = _plain(answer)
    for name in ("usage", "usage_metadata", "usageMetadata"):
        inner = usage.get(name)
        if inner is not None:
            usage = _plain(inner)
    for read in (_anthropic, _bedrock, _gemini, _deepseek, _openai):
        found = read(usage)
        if found is not None:
            return found
    raise DefinitionError(
        f"no usage of a provider that is known has the fields {', '.join(sorted(usage)) or 'none'}"
    )


def _anthropic(usage: Mapping[str, Any]) -> CacheUsage | None:
    """Add up: `input_tokens` are only those that were neither read nor written."""
    read, written = "cache_read_input_tokens", "cache_creation_input_tokens"
    if "input_tokens" not in usage or not (read in usage or written in usage):
        return None
    return _apart(usage, "input_tokens", read, written)


def _bedrock(usage: Mapping[str, Any]) -> CacheUsage | None:
    if "inputTokens" not in usage:
        return None
    return _apart(usage, "inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


def _apart(usage: Mapping[str, Any], fresh: str, read: str, written: str) -> CacheUsage:
    numbers = [_number(usage, name) or 0 for name in (fresh, read, written)]
    return CacheUsage(tokens=sum(numbers), read=numbers[1], written=numbers[2])


def _gemini(usage: Mapping[str, Any]) -> CacheUsage | None:
    for tokens, read in (
        ("prompt_token_count", "cached_content_token_count"),
        ("promptTokenCount", "cachedContentTokenCount"),
    ):
        if tokens in usage:
            return CacheUsage(tokens=_number(usage, tokens) or 0, read=_number(usage, read) or 0)
    return None


def _deepseek(usage: Mapping[str, Any]) -> CacheUsage | None:
    hit, miss = "prompt_cache_hit_tokens", "prompt_cache_miss_tokens"
    if usage.get(hit) is None:
        return None
    read = _number(usage, hit) or 0
    missed = _number(usage, miss)
    tokens = _number(usage, "prompt_tokens") if missed is None else read + missed
    return CacheUsage(tokens=tokens or read, read=read)


def _openai(usage: Mapping[str, Any]) -> CacheUsage | None:
    for tokens in ("prompt_tokens", "input_tokens"):
        if tokens not in usage:
            continue
        details = _plain(usage.get(f"{tokens}_details") or {})
        read = _number(details, "cached_tokens")
        if read is None:
            read = _number(usage, "cached_tokens") or _number(usage, "num_cached_tokens")
        return CacheUsage(
            tokens=_number(usage, tokens) or 0,
            read=read or 0,
            written=_number(details, "cache_write_tokens"),
        )
    return None


def _number(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise DefinitionError(f"usage: {name}={value!r} is no number of tokens")
    return value


def _plain(value: object) -> Mapping[str, Any]:
    """Read an object of an SDK as a mapping."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return cast("Mapping[str, Any]", dump())
    fields: object = getattr(value, "__dict__", None)
    if isinstance(fields, dict):
        return cast("Mapping[str, Any]", fields)
    raise DefinitionError(f"usage must be a mapping or an object, not {type(value).__name__}")
