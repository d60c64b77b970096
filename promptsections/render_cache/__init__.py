"""Renders that are kept and given out again while nothing that they read has changed.

Not the provider's prompt cache, which `promptsections.caching` is about: this one saves the render
itself, with its questions to data sources and functions.
"""

from promptsections.render_cache.cache import RenderCache, RenderCacheStatistics
from promptsections.render_cache.declared import cacheable
from promptsections.render_cache.store import MemoryStore, Store

__all__ = ["MemoryStore", "RenderCache", "RenderCacheStatistics", "Store", "cacheable"]
