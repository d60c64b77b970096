"""What stays the same from render to render, and marks for the provider's cache.

It knows sections, layouts and profiles; it knows no payload.
"""

from promptsections.caching.billing import Bill, Prices
from promptsections.caching.comparing import Parting
from promptsections.caching.findings import findings, stability_of
from promptsections.caching.monitor import CacheCheck, CacheMonitor, CacheReport, CacheTotals
from promptsections.caching.outcome import CacheOutcome, cache_outcome
from promptsections.caching.plan import CachePlan, Mark
from promptsections.caching.policy import CachePolicy
from promptsections.caching.usage import CacheUsage, read_usage

__all__ = [
    "Bill",
    "CacheCheck",
    "CacheMonitor",
    "CacheOutcome",
    "CachePlan",
    "CachePolicy",
    "CacheReport",
    "CacheTotals",
    "CacheUsage",
    "Mark",
    "Parting",
    "Prices",
    "cache_outcome",
    "findings",
    "read_usage",
    "stability_of",
]
