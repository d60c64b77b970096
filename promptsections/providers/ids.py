"""Ids of tool calls, in the alphabet that a provider accepts, each only once in a request.

It knows no messages and no provider.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from attrs import field, frozen

_ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LENGTH = 9
"""Mistral wants exactly nine letters and digits, and every other provider takes such ids too."""


def _pattern(value: str) -> re.Pattern[str]:
    return re.compile(value, re.ASCII | re.DOTALL)


@frozen
class IdRule:
    """Which ids of calls a provider accepts."""

    pattern: re.Pattern[str] = field(converter=_pattern)
    """A regular expression for the whole id."""
    optional: bool = field(default=False, kw_only=True)
    """Whether calls may do without, if all of a message do."""
    reusable: bool = field(default=False, kw_only=True)
    """Whether calls of two messages may have the same id."""


ANY_ID = IdRule(r".{1,40}", reusable=True)
"""Any characters, at most the 40 of OpenAI's Chat Completions."""


class Ids:
    """Gives out ids in the order of the calls, so that a later call never changes an earlier id.

    An id that the provider accepts is kept the first time. Any other is replaced by nine letters
    and digits, made of that id and of how often it was seen: the same in every process, and for
    the same call whenever it is sent with the same calls before it.
    """

    def __init__(self, rule: IdRule) -> None:
        self._rule = rule
        self._seen = Counter[str]()
        self._given = set[str]()

    def give_all(self, wanted: Sequence[str]) -> list[str]:
        """Return the ids to send for the calls of the next message, which have these ids."""
        if self._rule.reusable:
            self._given.clear()
        if self._rule.optional and not any(wanted):
            return list(wanted)
        return [self._give(each) for each in wanted]

    def _give(self, wanted: str) -> str:
        given = wanted
        while given in self._given or not self._rule.pattern.fullmatch(given):
            given = _made_of(f"{wanted}\0{self._seen[wanted]}")
            self._seen[wanted] += 1
        self._given.add(given)
        return given


def _made_of(seed: str) -> str:
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest())
    digits: list[str] = []
    for _ in range(_LENGTH):
        number, digit = divmod(number, len(_ALPHANUMERIC))
        digits.append(_ALPHANUMERIC[digit])
    return "".join(digits)
