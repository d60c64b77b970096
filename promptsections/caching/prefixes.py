"""How much of a prompt stays the same for how long: fingerprints, and what stands in the way.

It knows stretches of a layout; it places no marks and knows no provider.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from promptsections.caching.stretches import Stretch
from promptsections.caching.tenants import SCOPE
from promptsections.layout import Prefix
from promptsections.messages import Message, Tool
from promptsections.notes import Note
from promptsections.profiles.tools import json_text
from promptsections.sections.stability import GROWS, RANK, STABILITIES

USUAL_MINIMUM = 1_024
"""Tokens of the shortest prefix that most providers keep."""


def prefixes(
    stretches: Sequence[Stretch], tools: Sequence[Tool], tools_tokens: int
) -> tuple[Prefix, ...]:
    """Return the prefix of each stability, shortest first.

    Args:
        stretches: what is sent.
        tools: definitions that stand before it.
        tools_tokens: what they cost.
    """
    digest = hashlib.sha256(_tools_bytes(tools))
    found: list[Prefix] = []
    at, tokens = 0, tools_tokens
    for stability in STABILITIES:
        most = GROWS if stability == "session" else RANK[stability]
        while at < len(stretches) and stretches[at].rank <= most:
            for message in stretches[at].messages:
                digest.update(_message_bytes(message))
            tokens += stretches[at].tokens
            at += 1
        found.append(
            Prefix(
                stability=stability,
                tokens=sum(s.tokens for s in stretches if s.stability == stability),
                prefix_tokens=tokens,
                fingerprint=digest.copy().hexdigest(),
                ends_at=stretches[at].path if at < len(stretches) else None,
            )
        )
    return tuple(found)


def _tools_bytes(tools: Sequence[Tool]) -> bytes:
    return _joined(*(json_text([t.name, t.description, t.parameters]) for t in tools))


def _message_bytes(message: Message) -> bytes:
    """Write all that a message says, so that no two messages are written alike."""
    if isinstance(message.content, str) and not _has_more(message):
        return _joined(message.role, message.content)
    parts = message.content if isinstance(message.content, tuple) else (message.content,)
    calls = (f"{call.id}\0{call.name}\0{call.arguments}" for call in message.tool_calls)
    said = [repr(part) for part in parts]
    names = [str(message.name), str(message.tool_call_id)]
    kept = json_text(message.provider_data) if message.provider_data else ""
    return _joined(message.role, *said, "\0", *calls, "\0", *names, kept)


def _has_more(message: Message) -> bool:
    return bool(message.tool_calls or message.tool_call_id or message.name or message.provider_data)


def _joined(*texts: str) -> bytes:
    """Write texts one after the other, each with its length in front."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = b",".join(b"%d" % len(text) for text in encoded)
    return b"[%s]" % lengths + b"".join(encoded)


# --- what stands in the way ---------------------------------------------------------------------


def volatile_before_stable(
    stretches: Sequence[Stretch], minimum: int = USUAL_MINIMUM
) -> Iterator[Note]:
    """Say which sections keep more stable ones behind them out of the cache.

    One that changes with every turn is always named; others where what stands behind them is long
    enough to be cached.
    """
    named: set[tuple[str, float]] = set()
    for place, stretch in enumerate(stretches):
        same = (stretch.path, stretch.rank)
        if stretch.kind == SCOPE or same in named:
            continue
        named.add(same)
        behind = [s for s in stretches[place + 1 :] if s.rank < stretch.rank]
        stable = sum(s.tokens for s in behind)
        if stable and (stretch.stability == "turn" or stable >= minimum):
            own = sum(s.tokens for s in stretches if (s.path, s.rank) == same)
            paths = [s.path for s in behind]
            yield volatile_note(stretch.path, own, stable, paths, stretch.stability)


def volatile_note(path: str, own: int, stable: int, behind: Sequence[str], stability: str) -> Note:
    """Describe that a section stands before more stable ones; sizes are tokens, 0 if not known."""
    names = list(dict.fromkeys(behind))
    listed = ", ".join(map(repr, names[:3])) + (", …" if len(names) > 3 else "")
    size = f" ({own:,} tokens)" if own else ""
    ahead = f"{stable:,} stable tokens" if stable else "what is more stable"
    what = "volatile" if stability == "turn" else f"{stability}-stable"
    return Note(
        "volatile_before_stable",
        path,
        f"{what} {path!r}{size} stands before {ahead} ({listed}), "
        "which the cache loses with it: put it behind them, or declare how long it stays the same",
    )
