"""What a provider's cache makes of a prompt: tokens read, written and neither, and their price.

Integers and a `CacheRule` in, integers and prices out. It knows no messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import Attribute, field, frozen

from promptsections.errors import DefinitionError
from promptsections.profiles.caching import CacheRule


def _check_price(_: object, attribute: Attribute[Any], value: object) -> None:
    is_price = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    if value is not None and not is_price:
        raise DefinitionError(f"Prices: {attribute.name}={value!r} must be a number, 0 or more")


@frozen(kw_only=True)
class Prices:
    """What a million tokens of input cost, in any money; they win over the model's cache rule."""

    input: float = field(validator=_check_price)
    """Tokens that the cache has nothing to do with."""
    read: float | None = field(default=None, validator=_check_price)
    """Tokens that are read from the cache; by default as the rule says."""
    write: float | None = field(default=None, validator=_check_price)
    """Tokens that are written to it; by default as the rule says, by how long they are kept."""


@frozen(kw_only=True)
class Stop:
    """A place up to which a prompt is cached."""

    tokens: int
    """Of everything before it."""
    message: int
    """Index of the message that it stands behind; -1 for tools."""
    write: float = 1.0
    """Price of a token that is written up to here, in prices of an input token."""


@frozen(kw_only=True)
class Bill:
    """The input of one request, by what is paid for it."""

    read: int = 0
    """Tokens from the cache."""
    written: int = 0
    """Tokens that are new in the cache."""
    fresh: int = 0
    """All others."""
    writing: float = 0.0
    """What writing costs, in prices of an input token."""

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.read + self.written + self.fresh

    def cost(self, rule: CacheRule | None, prices: Prices | None = None) -> float:
        """Return the price: in money, or without prices in those of one input token."""
        unit = 1.0 if prices is None else prices.input / 1e6
        read = self.read * unit * (1.0 if rule is None else rule.read)
        written = self.writing * unit
        if prices is not None and prices.read is not None:
            read = self.read * prices.read / 1e6
        if prices is not None and prices.write is not None:
            written = self.written * prices.write / 1e6
        return read + written + self.fresh * unit


def predict(
    rule: CacheRule | None,
    tokens: int,
    *,
    reused: int,
    stops: Sequence[Stop] = (),
    before: Sequence[Stop] = (),
) -> Bill:
    """Say what a provider will read and write, by its rule.

    Where there are marks, a prefix is found only if it ends at a mark of the request before, no
    more than `lookback` blocks (here: messages) before one of this request. Otherwise everything
    that is the same is found. Nothing shorter than the minimum is read or written.

    Args:
        rule: how the provider caches; `None` is not at all.
        tokens: of this prompt.
        reused: of its beginning that is the same as before; 0 also if that is kept no longer.
        stops: the marks of this request, in their order.
        before: the marks of the request before.
    """
    if rule is None:
        return Bill(fresh=tokens)
    if not rule.marks and not stops:
        if tokens < rule.minimum:
            return Bill(fresh=tokens)
        read = reused if reused >= rule.minimum else 0
        price = rule.lifetimes[0].write if rule.lifetimes else 1.0
        return Bill(read=read, written=tokens - read, writing=(tokens - read) * price)
    stops = [stop for stop in stops if stop.tokens >= rule.minimum]
    known = [stop for stop in before if rule.minimum <= stop.tokens <= reused]
    read = max((each.tokens for each in known if _found(each, stops, rule)), default=0)
    at, writing = read, 0.0
    for stop in stops:
        new = max(0, stop.tokens - at)
        at += new
        writing += new * stop.write
    return Bill(read=read, written=at - read, fresh=tokens - at, writing=writing)


def _found(known: Stop, stops: Sequence[Stop], rule: CacheRule) -> bool:
    """Say whether a prefix that was cached is found from one of these marks."""
    behind = [stop for stop in stops if stop.tokens >= known.tokens]
    return any(
        rule.lookback is None or stop.message - known.message <= rule.lookback for stop in behind
    )
