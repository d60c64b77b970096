"""`RenderCache`: gives out a kept render again where nothing that it depends on has changed.

An entry is found in two steps, as build systems do it that verify traces. Under the key of a render
(all its inputs but for what it reads) stands which values renders of that key have read; under the
key and the digests of what these values are now stands the render itself. So any other value that
was read is a miss, and values that are not read do not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from threading import Lock
from time import monotonic, perf_counter, time
from typing import Any, Final, TypeVar

from attrs import evolve, frozen

from promptsections.errors import DefinitionError
from promptsections.notes import Note
from promptsections.prompt import Prompt
from promptsections.render_cache.canonical import Unkeyable
from promptsections.render_cache.declared import check_ttl
from promptsections.render_cache.entries import Entries
from promptsections.render_cache.keys import Key, key_of
from promptsections.render_cache.store import MemoryStore, Store, keys_of
from promptsections.render_cache.trace import Readings, Trace, combined
from promptsections.rendered import RenderedPrompt
from promptsections.resolving import Surroundings

T = TypeVar("T")
Make = Callable[[Surroundings], Coroutine[Any, Any, RenderedPrompt]]
"""Renders with these surroundings."""

DEFAULT_MAX_BYTES: Final = 64 * 1024 * 1024
FAILURES: Final = frozenset({"summary_failed", "slot_default", "source_failed", "goal_failed"})
"""Codes of notes that say that something else is sent in place of what failed."""
PREFIX: Final = "promptsections:"
"""How all names in a store begin."""


@frozen(kw_only=True)
class RenderCacheStatistics:
    """What a cache has done since it was made, and holds at this moment."""

    hits: int
    misses: int
    not_cached: int
    """Renders that could not be kept; each says why in a note, `not_cached`."""
    entries: int | None
    """What is held: renders, and what they read. `None` if the store is not the cache's own."""
    bytes: int | None
    """What that takes, in bytes."""
    max_bytes: int | None
    """The bound of that."""
    evicted: int | None
    """Entries that had to make room."""

    @property
    def hit_ratio(self) -> float:
        """Hits among all renders that were looked up, from 0 to 1; 0 if there were none."""
        return self.hits / max(self.hits + self.misses, 1)


class RenderCache:
    """Keeps what renders return: `Renderer("gpt-4o", cache=RenderCache())`.

    In memory, what was not used for longest makes room at `max_bytes`. Nothing runs in the
    background. Renderers, tenants and threads may share a cache.
    """

    def __init__(
        self,
        store: Store | None = None,
        *,
        max_bytes: int | None = None,
        ttl: float | None = None,
        version: str = "",
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Make a cache.

        Args:
            store: Where entries are kept instead of in memory: a `dict`, a `diskcache.Cache`, a
                Redis client. It has a bound of its own. Entries are JSON.
            max_bytes: Of keys, entries and their places in memory; by default 64 MiB.
            ttl: Seconds for which an entry is good; `None` is for ever.
            version: Of the application: another version finds none of the entries of this one.
            clock: Returns seconds; by default a monotonic one, and `time.time` for a store that
                other processes may read.

        Raises:
            DefinitionError: a wrong value.
        """
        if store is not None and not isinstance(store, Store):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(
                f"store must be a mapping from texts to bytes, not {type(store).__name__}"
            )
        if store is not None and max_bytes is not None:
            raise DefinitionError("max_bytes is for entries in memory; a store has its own bound")
        if not isinstance(version, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"version must be a text, not {type(version).__name__}")
        check_ttl(ttl)
        self._own = MemoryStore(DEFAULT_MAX_BYTES if max_bytes is None else max_bytes)
        self._is_own = store is None
        self._store: Store = self._own if store is None else store
        self._entries = Entries(self._store, clock or (monotonic if self._is_own else time), ttl)
        self._version = version
        self._hits = self._misses = self._not_cached = 0
        self._cleared = 0
        """How often it was cleared; a render that began before that is not kept."""
        self._lock = Lock()

    async def render(
        self, prompt: Prompt, around: Surroundings, tenant: str | None, make: Make
    ) -> RenderedPrompt:
        """Return a kept render, or make one and keep it; `Renderer` calls this.

        Args:
            prompt: The sections.
            around: All that the render has beside them.
            tenant: Id of the tenant.
            make: Renders.
        """
        started, prefix, cleared = perf_counter(), prefix_of(tenant), self._cleared
        find_key = partial(key_of, prompt, around, tenant, self._version)
        try:
            key = find_key()
        except Unkeyable as error:
            return self._without(await make(around), error.detail, error.path)
        readings = Readings(around.memory, around.functions)
        found = await self._look_up(prefix, key, readings, around)
        if found is not None:
            self._count(hits=1)
            return evolve(found, cached=True, timings={"look_up": perf_counter() - started})
        self._count(misses=1)
        trace = Trace(readings)
        rendered = await make(evolve(around, memory=trace.memory, functions=trace.functions))
        detail = _obstacle(rendered, trace, key, find_key)
        if detail is None and cleared == self._cleared:
            keep = partial(
                self._entries.keep,
                prefix,
                key.digest,
                combined(key.digest, trace.found.items()),
                trace.found,
                rendered,
                trace.least(key.ttl),
            )
            detail = await self._io(keep, around)
        return rendered if detail is None else self._without(rendered, detail)

    async def _look_up(
        self, prefix: str, key: Key, readings: Readings, around: Surroundings
    ) -> RenderedPrompt | None:
        traces = await self._io(lambda: self._entries.traces(prefix, key.digest), around)
        for trace in traces:
            try:
                now = [(read, readings.digest(read)[0]) for read in trace]
            except Unkeyable:
                continue
            digest = combined(key.digest, now)
            get = partial(self._entries.get, prefix, digest)
            found = await self._io(get, around)
            if found is not None:
                return found
        return None

    async def _io(self, call: Callable[[], T], around: Surroundings) -> T:
        """Ask the store, in a thread if others would have to wait for it."""
        return call() if self._is_own else await around.runner.in_thread(call)

    def _without(self, rendered: RenderedPrompt, detail: str, path: str = "") -> RenderedPrompt:
        """Say in the layout why a render is not kept."""
        self._count(not_cached=1)
        notes = (*rendered.layout.notes, Note("not_cached", path, detail))
        return evolve(rendered, layout=evolve(rendered.layout, notes=notes))

    def _count(self, *, hits: int = 0, misses: int = 0, not_cached: int = 0) -> None:
        with self._lock:
            self._hits += hits
            self._misses += misses
            self._not_cached += not_cached

    def clear(self, *, tenant: str | None = None) -> int:
        """Forget all entries, or those of one tenant; return how many.

        What is being rendered at this moment is not kept either.

        Raises:
            DefinitionError: the store cannot list its keys.
        """
        with self._lock:
            self._cleared += 1
        names = keys_of(self._store, PREFIX if tenant is None else prefix_of(tenant))
        for name in names:
            with suppress(KeyError):  # forgotten in the meantime
                del self._store[name]
        return len(names)

    def statistics(self) -> RenderCacheStatistics:
        """Return what the cache has done, and holds."""
        own = self._own if self._is_own else None
        with self._lock:
            return RenderCacheStatistics(
                hits=self._hits,
                misses=self._misses,
                not_cached=self._not_cached,
                entries=None if own is None else len(own),
                bytes=None if own is None else own.bytes,
                max_bytes=None if own is None else own.max_bytes,
                evicted=None if own is None else own.evicted,
            )


def prefix_of(tenant: str | None) -> str:
    """Return how names of a tenant's entries begin."""
    if tenant is None:
        return f"{PREFIX}-:"
    if not isinstance(tenant, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"tenant must be a text, not {type(tenant).__name__}")
    digest = hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{PREFIX}{digest[:32]}:"


def _obstacle(
    rendered: RenderedPrompt, trace: Trace, key: Key, find_key: Callable[[], Key]
) -> str | None:
    """Say why a render must not be kept."""
    if trace.problem is not None:
        return trace.problem.detail
    failed = [p.path for p in rendered.layout.walk() if p.outcome == "failed"]
    failed += [note.path for note in rendered.layout.notes if note.code in FAILURES]
    if failed:
        return f"section {failed[0]!r} failed, and may not fail the next time"
    try:
        steady = find_key() == key and trace.is_still_so()
    except Unkeyable:
        steady = False
    return None if steady else "something that it depends on changed while it was rendered"
