"""The laws that the solver carries by itself, each against a definition written without it."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

from hypothesis import assume, given, target
from hypothesis import strategies as st
from solver_oracles import FixedSizes, chosen, cost, problems, shared, tracks_of

from promptsections.solver import Join, Plan, Solution, apportion, solve

Problem = tuple[Join, dict[int, tuple[int, int]]]
AVAILABLE = st.integers(0, 150)


def solved(problem: Problem, available: int) -> Solution | None:
    tree, sizes = problem
    return solve(Plan(tree), available, FixedSizes(sizes))


@given(problems(), AVAILABLE)
def test_never_gives_more_than_there_is(problem: Problem, available: int) -> None:
    """What is given, with separators and wrappers, is at most what is available."""
    solution = solved(problem, available)
    if solution is not None:
        assert cost(problem[0], solution.given) <= available


@given(problems(), AVAILABLE)
def test_gives_between_floor_and_limits(problem: Problem, available: int) -> None:
    """A kept track gets at least its floor, at most its cap, and no more than it has."""
    solution = solved(problem, available)
    for track, tokens in (solution.given if solution is not None else {}).items():
        floor, natural = problem[1][track]
        assert solution is not None
        cap = solution.caps[track]
        assert solution.floors[track] == floor <= tokens <= natural
        assert cap is None or tokens <= cap


@given(problems(), AVAILABLE)
def test_keeps_what_the_definition_keeps(problem: Problem, available: int) -> None:
    """Sections are kept in rank order, each exactly if the whole tree at its floors fits."""
    tree, sizes = problem
    expected = chosen(tree, available, sizes)

    solution = solved(problem, available)

    assert (None if solution is None else set(solution.given)) == expected


@given(problems(), AVAILABLE)
def test_shares_as_one_token_at_a_time_would(problem: Problem, available: int) -> None:
    """What each is given is what handing out single tokens by law 4 gives."""
    tree, sizes = problem
    solution = solved(problem, available)
    assume(solution is not None)
    assert solution is not None

    assert solution.given == shared(tree, available, sizes, set(solution.given))


@given(problems(), AVAILABLE, st.integers(1, 40))
def test_more_never_gives_less(problem: Problem, available: int, more: int) -> None:
    """While the kept set stays the same, a larger budget lowers nothing that is given."""
    small, large = solved(problem, available), solved(problem, available + more)
    assume(small is not None and large is not None)
    assert small is not None
    assert large is not None
    assume(set(small.given) == set(large.given))

    assert all(small.given[track] <= large.given[track] for track in small.given)


@given(problems(), AVAILABLE, st.integers(1, 40))
def test_kept_sets_grow_lexicographically(problem: Problem, available: int, more: int) -> None:
    """The first unit, by rank, in which two budgets differ is kept by the larger one."""
    plan, sizes = Plan(problem[0]), FixedSizes(problem[1])
    small, large = solve(plan, available, sizes), solve(plan, available + more, sizes)
    if small is None:
        return
    assert large is not None
    real = [[t for t in unit.tracks if problem[1][t][0]] for unit in plan.units]
    kept_small = [all(t in small.given for t in unit) for unit in real]
    kept_large = [all(t in large.given for t in unit) for unit in real]
    assert kept_small <= kept_large


@given(problems(), AVAILABLE)
def test_asks_no_further_than_there_is(problem: Problem, available: int) -> None:
    """Nothing is measured beyond what could be given, and shares in at most n + 1 rounds."""
    tree, table = problem
    sizes = FixedSizes(table)
    solution = solve(Plan(tree), available, sizes)

    assert all(at_most <= available for _, at_most in sizes.floors_asked)
    for asked, at_most in sizes.naturals_asked:
        assert at_most <= available
        assert solution is not None
        cap = solution.caps[asked]
        assert cap is None or at_most <= cap
    for kind in ("share", "rest"):
        alike = {t.id for t in tracks_of(tree) if t.kind == kind}
        times = [asked for asked, _ in sizes.naturals_asked if asked in alike]
        rounds = max(map(times.count, alike), default=0)
        target(rounds, label=f"rounds of {kind}")
        assert rounds <= len(alike) + 1


@given(problems(), AVAILABLE, st.integers(2, 30))
def test_weights_are_proportions(problem: Problem, available: int, factor: int) -> None:
    """To multiply the weights of all rests by the same changes nothing."""
    tree, sizes = problem

    def scaled(join: Join) -> Join:
        children = tuple(
            scaled(child)
            if isinstance(child, Join)
            else type(child)(
                child.id,
                child.kind,
                (child.weight[0] * factor, child.weight[1])
                if child.kind == "rest"
                else child.weight,
                child.ceiling,
                child.required,
                child.priority,
                child.bond,
            )
            for child in join.children
        )
        return Join(children, join.separator, join.wrapper, join.required, join.priority)

    one, other = solved(problem, available), solved((scaled(tree), sizes), available)

    assert (one and one.given) == (other and other.given)


# --- apportion ------------------------------------------------------------------------------------


@st.composite
def divisions(draw: st.DrawFn) -> tuple[int, list[int], list[int], list[tuple[int, int]]]:
    """Draw a space that holds all floors, floors, limits and weights."""
    count = draw(st.integers(1, 6))
    floors = draw(st.lists(st.integers(0, 20), min_size=count, max_size=count))
    limits = [floor + draw(st.integers(0, 60)) for floor in floors]
    parts = st.integers(1, 12)
    weights = [(draw(parts), draw(parts)) for _ in floors]
    return sum(floors) + draw(st.integers(0, 150)), floors, limits, weights


Division = tuple[int, list[int], list[int], list[tuple[int, int]]]


@given(divisions())
def test_apportion_is_one_token_at_a_time(division: Division) -> None:
    """Each token goes to the smallest (size + 1) / weight below its limit; ties to the first."""
    space, floors, limits, weights = division
    expected = list(floors)
    for _ in range(space - sum(floors)):
        due = [
            (Fraction(size + 1) / Fraction(*weight), index)
            for index, (size, weight) in enumerate(zip(expected, weights, strict=True))
            if size < limits[index]
        ]
        if due:
            expected[min(due)[1]] += 1

    assert apportion(space, floors, limits, weights) == expected


@given(divisions())
def test_apportion_wastes_nothing(division: Division) -> None:
    """All of the space is given, or all limits are reached."""
    space, floors, limits, weights = division

    assert sum(apportion(space, floors, limits, weights)) == min(space, sum(limits))


@given(divisions(), st.randoms(use_true_random=False))
def test_apportion_depends_on_order_in_ties_only(division: Division, random: Random) -> None:
    """In another order each gets the same, or one token more or less."""
    space, floors, limits, weights = division
    order = list(range(len(floors)))
    random.shuffle(order)

    straight = apportion(space, floors, limits, weights)
    shuffled = apportion(
        space,
        [floors[i] for i in order],
        [limits[i] for i in order],
        [weights[i] for i in order],
    )

    assert all(abs(straight[i] - size) <= 1 for i, size in zip(order, shuffled, strict=True))


@given(divisions(), st.integers(1, 50))
def test_apportion_has_no_alabama_paradox(division: Division, more: int) -> None:
    """More space lowers nobody."""
    space, floors, limits, weights = division

    small = apportion(space, floors, limits, weights)
    large = apportion(space + more, floors, limits, weights)

    assert all(low <= high for low, high in zip(small, large, strict=True))


def test_apportion_of_large_numbers_is_exact() -> None:
    """A space of a million, by thirds and sevenths, to the token."""
    spaces = [apportion(10**6 + i, [0, 0], [10**9] * 2, [(1, 3), (1, 7)]) for i in range(10)]

    assert spaces[0] == [700_000, 300_000]
    assert all(sum(b) - sum(a) == 1 for a, b in pairwise(spaces))
