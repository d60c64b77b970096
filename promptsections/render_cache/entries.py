"""Entries of a store: what was read under a key, and what was rendered of it, as JSON with a time.

A store may be shared and is not trusted: what is not an entry of that name is a miss, and logged.
It knows no prompt and no memory.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any, Final, cast

from attrs import field, frozen

from promptsections.render_cache.codec import Unreadable, Unwritable, from_plain, to_plain
from promptsections.render_cache.store import Store
from promptsections.render_cache.trace import KINDS, Read
from promptsections.rendered import RenderedPrompt

FORMAT: Final = 1
MOST_TRACES: Final = 16
"""How many sets of values are kept for one key: its renders read the same ones, unless a function
or a section decides by one value which others to read."""

_UNREADABLE: Final = "a render cache holds an entry that cannot be read: %s (%s)"
_log = logging.getLogger("promptsections")


@frozen
class Entries:
    """What a store holds under one prefix."""

    store: Store
    clock: Callable[[], float]
    """Returns seconds."""
    ttl: float | None
    """Seconds for which a render is good."""
    _writing: Lock = field(factory=Lock)

    def traces(self, prefix: str, key: str) -> list[list[Read]]:
        """Return which values renders of a key have read, the latest first."""
        name = f"{prefix}reads:{key}"
        entry = self._entry(name)
        if not entry:
            return []
        try:
            return [[_read(read) for read in trace] for trace in entry["traces"]]
        except (TypeError, ValueError, KeyError) as error:
            _log.warning(_UNREADABLE, name, error)
            return []

    def get(self, prefix: str, digest: str) -> RenderedPrompt | None:
        """Return the render of a key and of what was read, if there is one and it is good."""
        name = f"{prefix}render:{digest}"
        entry = self._entry(name)
        if not entry:
            return None
        try:
            return _rendered(entry["rendered"]) if self._is_good(entry) else None
        except (Unreadable, TypeError, KeyError, RecursionError) as error:
            _log.warning(_UNREADABLE, name, error)
            return None

    def keep(
        self,
        prefix: str,
        key: str,
        digest: str,
        reads: Iterable[Read],
        rendered: RenderedPrompt,
        ttl: float | None,
    ) -> str | None:
        """Keep a render.

        Args:
            prefix: Of the names in the store.
            key: Of the render.
            digest: Of the key and of what was read.
            reads: What was read.
            rendered: What came out.
            ttl: Seconds that were declared of what was used.

        Returns:
            Why it is not kept, if so.
        """
        try:
            plain = to_plain(rendered)
        except Unwritable as error:
            return f"the prompt {error}"
        except RecursionError:
            return "the prompt holds data that is nested too deep"
        entry = {"made": self.clock(), "ttl": ttl, "rendered": plain}
        trace = sorted(reads)
        try:
            self._put(f"{prefix}render:{digest}", entry)
            with self._writing:
                traces = self.traces(prefix, key)
                if not traces or traces[0] != trace:
                    others = [other for other in traces if other != trace]
                    self._put(f"{prefix}reads:{key}", {"traces": [trace, *others][:MOST_TRACES]})
        except Exception as error:  # whatever a store raises, the render is there
            _log.warning("a render could not be kept", exc_info=error)
            return f"the store did not take it: {type(error).__name__}: {error}"
        return None

    def _is_good(self, entry: Mapping[str, Any]) -> bool:
        """Say whether an entry is younger than it may be; one of the future is no better."""
        limits = [ttl for ttl in (self.ttl, entry["ttl"]) if ttl is not None]
        age = self.clock() - entry["made"]
        return not limits or 0 <= age < min(limits)

    def _put(self, name: str, entry: Mapping[str, object]) -> None:
        data = {"format": FORMAT, "name": name, **entry}
        self.store[name] = json.dumps(data, separators=(",", ":"), allow_nan=False).encode()

    def _entry(self, name: str) -> dict[str, Any]:
        """Return an entry, empty if there is none."""
        try:
            data = self.store[name]
        except KeyError:
            return {}
        except Exception as error:  # a store that cannot be asked holds nothing
            _log.warning("a render cache cannot be read", exc_info=error)
            return {}
        try:
            entry: Any = json.loads(data)
        except (TypeError, ValueError, RecursionError):
            entry = None
        if isinstance(entry, dict):
            found = cast("dict[str, Any]", entry)
            if found.get("format") == FORMAT and found.get("name") == name:
                return found
        _log.warning("a render cache holds an entry that is not its own: %s", name)
        return {}


def _read(data: Any) -> Read:
    kind, name = data
    if kind not in KINDS or not isinstance(name, str):
        raise ValueError(f"{data!r} is nothing that can be read")
    return kind, name


def _rendered(data: object) -> RenderedPrompt:
    rendered = from_plain(data)
    if not isinstance(rendered, RenderedPrompt):
        raise Unreadable(f"{type(rendered).__name__} is no RenderedPrompt")
    return rendered
