"""`CachePlan`: up to where a provider is asked to cache a prompt, and for how long.

Marks are wishes: they are placed on a finished layout and change nothing in it. It knows no
payload.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from attrs import define, evolve, field, frozen

from promptsections.caching.policy import CachePolicy
from promptsections.caching.stretches import Outline, Stretch, parts_of
from promptsections.caching.tenants import SCOPE
from promptsections.messages import Message, TextPart
from promptsections.notes import Note
from promptsections.profiles.caching import CacheRule, Lifetime, lifetime_seconds
from promptsections.sections import Stability

TOOLS = -1
"""`Mark.after` of a mark behind the definitions of tools."""


@frozen(kw_only=True)
class Mark:
    """A place up to which a provider is asked to cache."""

    after: int
    """Index of the message that it stands behind; -1 for the definitions of tools."""
    part: int | None = None
    """Index of the part of that message that it stands behind; `None` for the last."""
    tokens: int = 0
    """Of everything before it, tools included."""
    path: str = ""
    """Path of the section that ends there; `""` for tools."""
    stability: Stability = "turn"
    """How long all before it stays the same, a tenant's line in front left aside."""
    lifetime: Lifetime | None = None
    """How long it is kept; `None` if the provider decides."""
    is_default: bool = True
    """Whether the provider keeps it so long without being told."""
    not_before: int = TOOLS
    """Index of the first message that it may be moved behind, if it has no place: what ends earlier
    is shorter than what the provider keeps."""


@frozen(kw_only=True)
class CachePlan:
    """What a request says to the provider's cache."""

    marks: tuple[Mark, ...] = ()
    """In the order in which they are sent."""
    field: str | None = None
    """The field of a request that `key` goes into, and whose provider the marks are for."""
    key: str | None = None
    """Keeps requests with the same stable beginning, of one tenant if tenants are kept apart,
    together; with `cache_salt`: keeps them apart."""
    explicit: bool = False
    """Whether the provider would mark a place of its own, which is paid for, and must be told not
    to."""


@frozen(kw_only=True)
class _Spot:
    """A place where a mark could stand."""

    after: int
    part: int | None = None
    tokens: int
    path: str
    stability: Stability
    """Of the least stable thing before it."""
    tier: int = 2
    """What goes first where there are too many: 0 the end of a stability, 1 tools, 2 the rest."""
    wish: str | None = None
    """Path of the author's `CacheBreakpoint`, or of a template that holds one."""
    lifetime: str | None = None
    """What that one asks for."""

    @property
    def key(self) -> tuple[int, int]:
        """Its order in a request."""
        return self.after, _LAST if self.part is None else self.part


_LAST = 1 << 30


@define
class Planner:
    """Places marks on one layout."""

    policy: CachePolicy
    rule: CacheRule
    outline: Outline
    messages: Sequence[Message]
    cost: Callable[[Message], int]
    """What a message costs, in tokens."""
    tools_tokens: int
    notes: list[Note] = field(factory=list[Note])
    _ends: list[int] = field(init=False)
    """Of each stretch: tokens of everything up to its end."""
    _least: list[Stretch] = field(init=False)
    """Of each stretch: the least stable one up to it."""

    def __attrs_post_init__(self) -> None:
        stretches = self.outline.stretches
        sizes = (stretch.tokens for stretch in stretches)
        self._ends = list(accumulate(sizes, initial=self.tools_tokens))[1:]
        # A tenant's line in front changes nothing about how long its text is kept.
        own = (evolve(s, stability="static", rank=0) if s.kind == SCOPE else s for s in stretches)
        self._least = list(accumulate(own, _less_stable))

    def marks(self) -> tuple[Mark, ...]:
        """Return the marks, at most as many as the model takes, in order."""
        for path in self.outline.lost:
            self._note("cache_mark_dropped", path, "it is cut where its cache breakpoint was")
        spots = _merged([*self._tools(), *self._boundaries(), *self._wishes()])
        chosen = self._best(self._large_enough(spots))
        return self._with_lifetimes(chosen)

    # --- where marks could stand ----------------------------------------------------------------

    def _tools(self) -> Iterator[_Spot]:
        if self.tools_tokens and self.policy.share_prompt_cache_across_tenants:
            tokens = self.tools_tokens
            yield _Spot(after=TOOLS, tokens=tokens, path="", stability="static", tier=1)

    def _boundaries(self) -> Iterator[_Spot]:
        """Yield the ends of stabilities, of the conversation, and where that ended last time."""
        stretches = self.outline.stretches
        for place, stretch in enumerate(stretches):
            least = self._least[place]
            if least.stability == "turn":
                return
            is_last = place + 1 == len(stretches)
            if (
                is_last
                or stretches[place + 1].rank > least.rank
                or (stretch.was_end and self._lookback_misses(stretches[place + 1]))
            ):
                spot = self._spot(place, stretch.path)
                if spot is not None:
                    yield evolve(spot, tier=0)

    def _wishes(self) -> Iterator[_Spot]:
        """Yield where the author wants marks."""
        wishes = [(w.after - 1, w.path, w.wish.lifetime) for w in self.outline.wishes]
        for place, stretch in enumerate(self.outline.stretches):
            if stretch.leads:
                wishes.append((place, stretch.path, None))
        for place, path, lifetime in sorted(wishes, key=lambda wish: wish[0]):
            spot = self._spot(place, path) if place >= 0 else None
            if spot is not None:
                least = self._least[place]
                if least.stability == "turn":
                    self._note(
                        "volatile_before_breakpoint",
                        path,
                        f"{least.path!r} stands before this cache breakpoint and may change with "
                        "every turn, so that what is cached here is hardly ever found",
                    )
                yield evolve(spot, wish=path, lifetime=lifetime)
            elif place < 0:
                self._note("cache_mark_dropped", path, "nothing stands before it")

    def _spot(self, place: int, path: str) -> _Spot | None:
        """Return the last place for a mark up to the end of a stretch; say if it had to move."""
        at = place
        stretches = self.outline.stretches
        while at >= 0 and stretches[at].ends is None:
            at -= 1
        after = stretches[at].ends if at >= 0 else None
        tokens, part = self._ends[at], stretches[at].part
        moved = at != place
        while after is not None and not takes_mark(self.messages[after]):
            tokens -= self.cost(self.messages[after])
            after = after - 1 if after else None
            part, moved = None, True
        if after is None:
            if self._ends[place] >= self.rule.minimum:
                self._note("cache_mark_dropped", path, "no message ends here that takes a mark")
            return None
        if moved and tokens >= self.rule.minimum:
            self._note("cache_mark_moved", path, f"the mark stands behind message {after}")
        stability = self._least[at].stability
        where = stretches[at].path
        return _Spot(after=after, part=part, tokens=tokens, path=where, stability=stability)

    def _lookback_misses(self, since: Stretch) -> bool:
        """Say whether a mark behind what is new would not find what was cached the last time."""
        lookback = self.rule.lookback
        return lookback is not None and sum(map(_blocks, since.messages)) >= lookback

    # --- which of them --------------------------------------------------------------------------

    def _large_enough(self, spots: Sequence[_Spot]) -> list[_Spot]:
        """Leave out what ends before the shortest prefix that the provider keeps."""
        minimum = self.rule.minimum
        kept = [spot for spot in spots if spot.tokens >= minimum]
        for spot in spots:
            if spot.tokens >= minimum or (spot.wish is None and kept):
                continue
            detail = (
                f"the {spot.tokens:,} tokens before it are fewer than the {minimum:,} that the "
                "provider keeps at least"
            )
            if spot.wish is not None or spot is spots[-1]:
                self._note("cache_mark_dropped", spot.wish or spot.path, detail)
        return kept

    def _best(self, spots: Sequence[_Spot]) -> list[_Spot]:
        """Keep as many as a request may carry: ends of stabilities first, biggest saving first."""
        if len(spots) <= self.rule.marks:
            return list(spots)
        last = {spot.stability: spot.key for spot in spots if spot.after != TOOLS}
        before = (0, *(spot.tokens for spot in spots))
        ranked: list[tuple[int, int, int]] = []
        for place, spot in enumerate(spots):
            tier = 0 if last.get(spot.stability) == spot.key else spot.tier
            ranked.append((tier, before[place] - spot.tokens, place))
        chosen = {place for *_, place in sorted(ranked)[: self.rule.marks]}
        for place, spot in enumerate(spots):
            if place not in chosen:
                detail = f"a request may carry {self.rule.marks} marks, others save more"
                self._note("cache_mark_dropped", spot.wish or spot.path, detail)
        return [spot for place, spot in enumerate(spots) if place in chosen]

    # --- for how long ---------------------------------------------------------------------------

    def _with_lifetimes(self, spots: Sequence[_Spot]) -> tuple[Mark, ...]:
        """Give each mark its time; one that is kept for longer must not follow another."""
        found: list[Mark] = []
        longest: Lifetime | None = None
        first = self._first_kept()
        for spot in reversed(spots):
            lifetime = self._lifetime(spot)
            if longest is not None and lifetime is not None and lifetime.seconds < longest.seconds:
                detail = f"kept for {longest.name}, since a mark behind it is: times never rise"
                self._note("cache_lifetime_raised", spot.wish or spot.path, detail)
                lifetime = longest
            longest = lifetime
            mark = Mark(
                after=spot.after,
                part=spot.part,
                tokens=spot.tokens,
                path=spot.path,
                stability=spot.stability,
                lifetime=lifetime,
                is_default=lifetime is None or lifetime == _offered(self.rule)[0],
                not_before=min(first, spot.after),
            )
            found.append(mark)
        return tuple(reversed(found))

    def _lifetime(self, spot: _Spot) -> Lifetime | None:
        """Return what is asked for, or the next shorter that the model offers."""
        offered = _offered(self.rule)
        if not offered:
            return None
        asked = spot.lifetime or self.policy.lifetimes.get(spot.stability)
        if asked is None:
            return offered[0]
        seconds = lifetime_seconds(asked)
        chosen = offered[0]
        for lifetime in offered:
            if lifetime.seconds <= seconds:
                chosen = lifetime
        if chosen.seconds != seconds:
            detail = f"{asked} is not offered, so it is kept for {chosen.name}"
            self._note("cache_lifetime_changed", spot.wish or spot.path, detail)
        return chosen

    def _first_kept(self) -> int:
        """Return the first message that ends a prefix long enough to be kept."""
        tokens = self.tools_tokens
        for index, message in enumerate(self.messages):
            if tokens >= self.rule.minimum:
                return index - 1
            tokens += self.cost(message)
        return len(self.messages) - 1

    def _note(self, code: str, path: str, detail: str) -> None:
        note = Note(code, path, detail)
        if note not in self.notes:
            self.notes.append(note)


def _less_stable(one: Stretch, other: Stretch) -> Stretch:
    return one if one.rank >= other.rank else other


def _merged(spots: Sequence[_Spot]) -> list[_Spot]:
    """Put spots in order, one for each place; the author's say what they ask for."""
    found: dict[tuple[int, int], _Spot] = {}
    for spot in spots:
        known = found.get(spot.key)
        if known is None:
            found[spot.key] = spot
            continue
        longer = max(
            (name for name in (known.lifetime, spot.lifetime) if name is not None),
            key=lifetime_seconds,
            default=None,
        )
        found[spot.key] = evolve(
            known,
            tier=min(known.tier, spot.tier),
            wish=known.wish or spot.wish,
            lifetime=longer,
        )
    return [found[key] for key in sorted(found)]


def _offered(rule: CacheRule) -> list[Lifetime]:
    return sorted(rule.lifetimes, key=lambda lifetime: lifetime.seconds)


def takes_mark(message: Message) -> bool:
    """Whether something of a message can carry a mark: not an empty or blank text."""
    if message.tool_calls or message.role == "tool":
        return True
    return any(not isinstance(p, TextPart) or p.text.strip() for p in parts_of(message))


def _blocks(message: Message) -> int:
    """Return how many blocks a message has, as providers count them."""
    return max(1, len(parts_of(message)) + len(message.tool_calls))


def cache_key(scope: str | None, fingerprint: str) -> str:
    """Name what requests share: their tenant's scope, if there is one, and a stable beginning."""
    return "ps-" + hashlib.sha256(f"{scope or ''}\0{fingerprint}".encode()).hexdigest()[:32]
