"""`CacheMonitor`: what each prompt of a conversation shares with the one before, what that should
cost, and whether the provider's bill agrees.

It holds the last prompt and sums; nothing is sent anywhere, and no clock is read.
"""

from __future__ import annotations

from threading import Lock

from attrs import define, evolve, field, frozen

from promptsections.caching.billing import Bill, Prices, Stop, predict
from promptsections.caching.comparing import Compared, Parting, Sent, compare_prompts
from promptsections.caching.usage import CacheUsage, read_usage
from promptsections.errors import DefinitionError
from promptsections.profiles import CacheRule, ModelProfile, find_profile

ALARM_SHARE = 0.05
"""A bill is alarming if it misses more than this part of the prompt that should have been read …"""
ALARM_TOKENS = 2_000
"""… and at least so many tokens. Both together keep rounding and lost races silent."""


@frozen(kw_only=True)
class CacheReport:
    """What the cache should make of one prompt."""

    tokens: int
    """Of the prompt, tools and reply priming included."""
    reused: int
    """Tokens that the prompt before began with, too."""
    parting: Parting | None
    """Where they part; `None` if this one only goes on, or is the first."""
    bill: Bill
    """What should be read, written and neither."""
    cost: float
    """Of the input: in money if prices were given, otherwise in prices of one input token."""
    uncached: float
    """The same if nothing were cached."""

    @property
    def share(self) -> float:
        """The part of the prompt that is a prefix of the one before."""
        return self.reused / self.tokens if self.tokens else 0.0

    @property
    def saving(self) -> float:
        """What the cache saves; negative if writing costs more than reading saves."""
        return self.uncached - self.cost

    def __str__(self) -> str:
        parted = f"; {self.parting}" if self.parting else ""
        ratio = f", {self.cost / self.uncached:.2f} of the uncached price" if self.uncached else ""
        return f"{self.reused:,} of {self.tokens:,} tokens as before{ratio}{parted}"


@frozen(kw_only=True)
class CacheCheck:
    """A prediction beside the provider's bill."""

    report: CacheReport
    usage: CacheUsage
    missed: int
    """Tokens that should have been read and were not; negative if more were read."""
    alarm: bool
    """Whether that is more than chance: the cache is not used as the prompts are made for."""

    def __str__(self) -> str:
        word = "ALARM: " if self.alarm else ""
        expected = self.report.bill.read
        return f"{word}{self.usage.read:,} tokens read from the cache, {expected:,} expected"


@frozen(kw_only=True)
class CacheTotals:
    """Sums over all prompts that a monitor saw."""

    prompts: int = 0
    tokens: int = 0
    reused: int = 0
    cost: float = 0.0
    uncached: float = 0.0

    @property
    def share(self) -> float:
        """The part of all tokens that the prompt before began with, too."""
        return self.reused / self.tokens if self.tokens else 0.0


def _profile(value: str | ModelProfile) -> ModelProfile:
    if isinstance(value, ModelProfile):
        return value
    return find_profile(value)


@define(eq=False)
class CacheMonitor:
    """Watches the prompts of one conversation, in their order. Threads may share it.

    Raises:
        UnknownModelError: no such model.
    """

    profile: ModelProfile = field(converter=_profile)
    """`renderer.profile`, or the name of a model."""
    prices: Prices | None = field(default=None, kw_only=True)
    """Money, instead of prices of an input token; they win over the rule."""
    rule: CacheRule | None = field(default=None, kw_only=True)
    """How the provider caches; by default as the profile says."""
    totals: CacheTotals = field(factory=CacheTotals, init=False)
    """Sums of all reports."""
    _last: _Seen | None = field(default=None, init=False, repr=False)
    _lock: Lock = field(factory=Lock, init=False, repr=False)

    def saw(self, rendered: Sent, *, idle: float | None = None) -> CacheReport:
        """Compare a prompt with the one before, and predict what it costs.

        Args:
            rendered: what `render()` returned, and what is sent.
            idle: Seconds since the request before, if they are known: after the cache's lifetime
                nothing is read.

        Raises:
            DefinitionError: `idle` is negative.
        """
        if idle is not None and not idle >= 0:
            raise DefinitionError(f"idle={idle!r} must be seconds, 0 or more")
        rule = self.rule or self.profile.cache
        with self._lock:
            last = self._last
            before = None if last is None else last.rendered
            found = compare_prompts(rendered, before, self.profile, self.profile.tokenizer())
            stops = _stops(rendered, rule, found)
            alive = last is not None and not _expired(last.rendered, rule, idle)
            tokens = rendered.layout.token_count
            bill = predict(
                rule,
                tokens,
                reused=found.reused if alive else 0,
                stops=stops,
                before=last.stops if last is not None else (),
            )
            report = CacheReport(
                tokens=tokens,
                reused=found.reused,
                parting=found.parting,
                bill=bill,
                cost=bill.cost(rule, self.prices),
                uncached=Bill(fresh=tokens).cost(rule, self.prices),
            )
            self._last = _Seen(rendered, stops, report)
            self.totals = _added(self.totals, report)
        return report

    def billed(self, answer: object) -> CacheCheck:
        """Compare the last prediction with what the provider billed.

        Args:
            answer: the provider's answer, or its usage; see `read_usage`.

        Raises:
            DefinitionError: nothing was seen yet, or no usage is in the answer.
        """
        usage = read_usage(answer)
        last = self._last
        if last is None:
            raise DefinitionError("billed() needs a prompt to compare with: call saw() first")
        missed = last.report.bill.read - usage.read
        alarm = missed >= ALARM_TOKENS and missed > ALARM_SHARE * last.report.tokens
        return CacheCheck(report=last.report, usage=usage, missed=missed, alarm=alarm)


@frozen
class _Seen:
    rendered: Sent
    stops: tuple[Stop, ...]
    report: CacheReport


def _stops(rendered: Sent, rule: CacheRule | None, found: Compared) -> tuple[Stop, ...]:
    """Return the marks of a request, with the one that OpenAI puts behind the newest message."""
    if rule is None or not rule.marks:
        return ()
    usual = rule.lifetimes[0].write if rule.lifetimes else 1.0
    plan = rendered.cache_plan
    stops = [
        Stop(
            tokens=mark.tokens,
            message=mark.after,
            write=usual if mark.lifetime is None else mark.lifetime.write,
        )
        for mark in (() if plan is None else plan.marks)
    ]
    if rule.key == "prompt_cache_key":
        stops.append(Stop(tokens=found.tokens, message=len(rendered.messages) - 1, write=usual))
    return tuple(sorted(stops, key=lambda stop: stop.tokens))


def _expired(before: Sent, rule: CacheRule | None, idle: float | None) -> bool:
    if idle is None or rule is None or not rule.lifetimes:
        return False
    plan = before.cache_plan
    marks = () if plan is None else plan.marks
    kept = [mark.lifetime.seconds for mark in marks if mark.lifetime is not None]
    return idle > max(kept, default=rule.lifetimes[0].seconds)


def _added(totals: CacheTotals, report: CacheReport) -> CacheTotals:
    return evolve(
        totals,
        prompts=totals.prompts + 1,
        tokens=totals.tokens + report.tokens,
        reused=totals.reused + report.reused,
        cost=totals.cost + report.cost,
        uncached=totals.uncached + report.uncached,
    )
