"""Answer the solver's questions about sizes by measuring blocks, and remember the answers.

Every block is asked no further than what it could be given: floors by doubling, since one answer
holds both numbers and a floor is usually far below what is left; natural sizes up to an offer.
"""

from __future__ import annotations

from attrs import define

from promptsections.budgets import Auto
from promptsections.errors import LayoutError
from promptsections.layout.tree import Container, Leaf, Tree, budget_of
from promptsections.measurement import Measurement
from promptsections.solver import Ledger

UNBOUNDED = 1 << 62
_FIRST_ASK = 64


@define
class Known:
    """What is known of a size: exactly, or that it is more than something."""

    tokens: int = -1
    """Exact, if `is_exact`; otherwise the size is more than this."""
    is_exact: bool = False

    def learn(self, answer: int, at_most: int) -> None:
        """Take in an answer that is exact up to `at_most` and more beyond."""
        if answer <= at_most:
            self.tokens, self.is_exact = answer, True
        elif not self.is_exact:
            self.tokens = max(self.tokens, at_most)

    def answer(self, at_most: int) -> int | None:
        """Answer a question as a block would, or `None` if it has to be asked."""
        if self.tokens > at_most:
            return at_most + 1
        if self.is_exact:
            return self.tokens
        return at_most + 1 if self.tokens == at_most else None


class Sizes:
    """Sizes of every leaf and container of a tree, in tokens; for one layout."""

    def __init__(self, tree: Tree) -> None:
        self._members: dict[int, Leaf | Container] = {leaf.id: leaf for leaf in tree.leaves}
        self._members |= {container.id: container for container in tree.containers.values()}
        self.floors: dict[int, Known] = {number: Known() for number in self._members}
        """Smallest useful sizes, reservations left aside."""
        self.naturals: dict[int, Known] = {number: Known() for number in self._members}
        budgets = ((number, budget_of(member)) for number, member in self._members.items())
        self._reserved = {number: b.at_least for number, b in budgets if b.at_least is not None}

    def floor(self, number: int, at_most: int, /) -> int:
        """Return the smallest size to give: the useful one, or what is reserved and needed."""
        smallest = self.smallest(number, at_most)
        at_least = self._reserved.get(number)
        if at_least is None or not smallest or at_least <= smallest:
            return smallest
        reserved = min(at_least, self.natural(number, at_least))
        return min(max(smallest, reserved), at_most + 1)

    def exact_floor(self, number: int) -> int:
        """Return the floor, however large it is."""
        at_most = _FIRST_ASK
        while (floor := self.floor(number, at_most)) > at_most:
            if at_most > UNBOUNDED:
                return floor
            at_most *= 4
        return floor

    def smallest(self, number: int, at_most: int, /) -> int:
        """Return the smallest useful size: exact up to `at_most`, `at_most + 1` beyond."""
        known = self.floors[number]
        answer = known.answer(at_most)
        if answer is not None:
            return answer
        member = self._members[number]
        if isinstance(member, Container):
            known.learn(self._container_floor(member, at_most), at_most)
        elif isinstance(member.section.budget, Auto):
            self._measure(member, at_most)
        else:
            asked = min(_FIRST_ASK, at_most)
            while self._measure(member, asked).floor > asked and asked < at_most:
                asked = min(asked * 4, at_most)
        answer = known.answer(at_most)
        assert answer is not None
        return answer

    def natural(self, number: int, at_most: int, /) -> int:
        """Return the size of all of it: exact up to `at_most`, `at_most + 1` beyond."""
        known = self.naturals[number]
        answer = known.answer(at_most)
        if answer is not None:
            return answer
        member = self._members[number]
        if isinstance(member, Leaf):
            return self._measure(member, at_most).natural
        natural = self._container_natural(member, at_most)
        known.learn(natural, at_most)
        return min(natural, at_most + 1)

    def _measure(self, leaf: Leaf, at_most: int) -> Measurement:
        answer = leaf.block.measure(leaf.counter, at_most)
        if not isinstance(answer, tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise LayoutError(
                f"section {leaf.section.path!r}: {type(leaf.block).__name__}.measure() answered "
                f"{type(answer).__name__}: return Measurement(floor, natural)",
                section=leaf.section.path,
            )
        floor, natural = answer
        if not 0 <= floor <= natural:
            path = leaf.section.path
            raise LayoutError(
                f"section {path!r}: {type(leaf.block).__name__}.measure() answered floor={floor}, "
                f"natural={natural}; 0 <= floor <= natural is needed",
                section=path,
            )
        if not natural and _sends_for_nothing(leaf):
            natural = 1
        floor = max(floor, min(natural, 1))
        self.floors[leaf.id].learn(floor, at_most)
        self.naturals[leaf.id].learn(natural, at_most)
        return Measurement(min(floor, at_most + 1), min(natural, at_most + 1))

    def _container_floor(self, container: Container, at_most: int) -> int:
        """What a container requires, or if it requires nothing its cheapest unit; with wrapper."""
        plan, room = container.plan, at_most - container.wrapper
        if room < 0:
            return at_most + 1 if self._has_content(container) else 0
        ledger = Ledger(plan)
        if plan.required:
            if not ledger.try_unit(plan.required, room, self.floor):
                return at_most + 1
            if ledger.need:
                return container.wrapper + ledger.need
        cheapest = room + 1
        for unit in plan.units:
            ledger = Ledger(plan)
            if ledger.try_unit(unit.tracks, cheapest - 1, self.floor) and ledger.need:
                cheapest = ledger.need
        if cheapest > room:
            return at_most + 1 if self._has_content(container) else 0
        return container.wrapper + cheapest

    def _container_natural(self, container: Container, at_most: int) -> int:
        room = at_most - container.wrapper
        ledger = Ledger(container.plan)
        for track in container.plan.tracks.values():
            left = room - ledger.need
            if left < 0:
                break
            natural = self.natural(track.id, left)
            if track.ceiling is not None and natural > track.ceiling:
                fits = self.floor(track.id, track.ceiling) <= track.ceiling
                natural = track.ceiling if fits else 0
            ledger.enter(track.id, natural)
        return container.wrapper + ledger.need if ledger.need else 0

    def _has_content(self, container: Container) -> bool:
        return any(self.natural(track, 0) for track in container.plan.tracks)


def _sends_for_nothing(leaf: Leaf) -> bool:
    """Whether there are messages that cost nothing, such as an empty result that its call needs.

    They are planned with one token, since a size of 0 says that there is no content; the finished
    prompt is counted as it is.
    """
    return leaf.counter.lines is None and bool(leaf.block.fit(leaf.counter, 0))
