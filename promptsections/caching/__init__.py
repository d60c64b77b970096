"""What stays the same from render to render, and marks for the provider's cache.

It knows sections, layouts and profiles; it knows no payload.
"""

from promptsections.caching.outcome import CacheOutcome, cache_outcome
from promptsections.caching.plan import CachePlan, Mark
from promptsections.caching.policy import CachePolicy

__all__ = ["CacheOutcome", "CachePlan", "CachePolicy", "Mark", "cache_outcome"]
