"""`Trace`: what a render read of memory and functions, so that it can be read again.

A render is the same as an earlier one of the same key if everything that one read is the same.
It knows no sections and no store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from attrs import define, field, frozen

from promptsections.memory import MISSING, Watched, lookup, watched
from promptsections.render_cache.canonical import Canonical, Unkeyable
from promptsections.templates import Function

Read = tuple[str, str]
"""What was read: `("path" | "key" | "all" | "function" | "names", name)`."""


KINDS: Final = {
    "path": "variable",
    "key": "variable",
    "all": "memory",
    "function": "function",
    "names": "names of functions",
}
"""What can be read → what it is called."""


@frozen
class Readings:
    """What can be read in a render, as digests."""

    memory: object
    functions: Mapping[str, Function]

    def digest(self, read: Read) -> tuple[str, float | None]:
        """Return the digest of what is read, and for how many seconds it is good.

        Raises:
            Unkeyable: it has no canonical form.
        """
        kind, name = read
        writer = Canonical()
        try:
            writer.write(self._value(kind, name))
        except Unkeyable as error:
            error.where.append(f"{KINDS[kind]} {name!r}" if name else KINDS[kind])
            raise
        return writer.digest(), writer.ttl

    def _value(self, kind: str, name: str) -> object:
        match kind:
            case "path":
                return lookup(self.memory, name)
            case "key":
                memory = cast("Mapping[str, object]", self.memory)
                return memory[name] if name in memory else MISSING  # noqa: SIM401 - a defaultdict would grow
            case "all":
                return self.memory
            case "function":
                return self.functions.get(name, MISSING)
            case _:
                return list(self.functions)


@define
class Trace:
    """Hands out memory and functions, and takes note of what is read."""

    readings: Readings
    found: dict[Read, str] = field(factory=dict[Read, str])
    """What was read → its digest at that time."""
    ttl: float | None = None
    """Seconds: the least that was declared of what was read."""
    problem: Unkeyable | None = None
    """The first thing that has no canonical form."""

    @property
    def memory(self) -> Watched:
        """The memory for sections and functions."""
        return watched(self.readings.memory, self._tell)

    @property
    def functions(self) -> Mapping[str, Function]:
        """The functions for sections and templates."""
        return _WatchedFunctions(self.readings.functions, self._tell)

    def least(self, ttl: float | None) -> float | None:
        """Return the least of a time, in seconds, and of what was declared of what was read."""
        return min((t for t in (ttl, self.ttl) if t is not None), default=None)

    def is_still_so(self) -> bool:
        """Say whether everything reads as it did."""
        try:
            return all(self.readings.digest(read)[0] == was for read, was in self.found.items())
        except Unkeyable:
            return False

    def _tell(self, kind: str, name: str) -> None:
        """Take note before something is read."""
        if self.problem is not None or (kind, name) in self.found:
            return
        try:
            if kind == "other":
                raise Unkeyable(
                    f"memory was used by {name}, of which nothing is known: read it with "
                    "scope.read(path)"
                )
            digest, ttl = self.readings.digest((kind, name))
        except Unkeyable as error:
            self.problem = error
            return
        self.found[kind, name] = digest
        self.ttl = self.least(ttl)


def combined(key: str, readings: Iterable[tuple[Read, str]]) -> str:
    """Return the digest of a key and of everything that was read."""
    writer = Canonical()
    writer.tag("reads", key)
    for (kind, name), digest in sorted(readings):
        writer.tag(kind, name, digest)
    return writer.digest()


@frozen
class _WatchedFunctions(Mapping[str, Function]):
    """Functions by name, which tells what is looked up."""

    inner: Mapping[str, Function]
    tell: Any

    def __getitem__(self, name: str) -> Function:
        self.tell("function", name)
        return self.inner[name]

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str):
            self.tell("function", name)
        return name in self.inner

    def __iter__(self) -> Iterator[str]:
        self.tell("names", "")
        return iter(self.inner)

    def __len__(self) -> int:
        self.tell("names", "")
        return len(self.inner)
