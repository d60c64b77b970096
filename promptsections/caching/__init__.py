"""What stays the same from render to render, and marks for the provider's cache.

It knows sections, layouts and profiles; it knows no payload.
"""

from promptsections.caching.policy import CachePolicy

__all__ = ["CachePolicy"]
