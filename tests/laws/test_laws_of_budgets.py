"""Laws 1 to 5 of a layout: how tokens are divided."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from law_setups import ADDITIVE, HOSTILE, RENDERERS, Setup, setups
from layout_oracle import given_by_law

from promptsections import (
    BudgetExceededError,
    DataSourceSection,
    GroupSection,
    Prompt,
    Resolved,
    Rest,
    Share,
    TextSection,
    lay_out,
)
from promptsections.testing import (
    FakeSource,
    assert_fits,
    assert_no_waste,
    assert_required_kept,
)

BUDGETS = st.integers(1, 30) | st.integers(1, 300)


def minimum_of(resolved: Resolved) -> int:
    """Return the smallest budget that does; without one the example says nothing here."""
    try:
        return resolved.minimum_budget()
    except BudgetExceededError:
        assume(condition=False)
        raise


@given(setups(RENDERERS | HOSTILE, valid=False), st.integers(0, 120))
def test_law_01_never_over(setup: Setup, more: int) -> None:
    """What is sent is at most the budget, and `token_count` is what a recount of it gives."""
    resolved = setup.resolved()
    budget = minimum_of(resolved) + more

    rendered = lay_out(resolved, budget)

    assert_fits(rendered, budget, profile=setup.renderer.profile)


@given(setups(RENDERERS | HOSTILE), BUDGETS)
def test_law_02_succeeds_from_the_minimum_on(setup: Setup, budget: int) -> None:
    """`lay_out` succeeds if and only if the budget is at least `minimum_budget()`."""
    resolved = setup.resolved()
    minimum = minimum_of(resolved)

    for tried in {budget, minimum, minimum + 1, max(1, minimum - 1)}:
        if tried >= minimum:
            assert lay_out(resolved, tried).token_count <= tried
        else:
            with pytest.raises(BudgetExceededError) as caught:
                lay_out(resolved, tried)
            assert caught.value.needed == minimum
            assert caught.value.budget == tried


@given(setups(RENDERERS | HOSTILE), BUDGETS)
def test_law_02_a_floor_above_its_ceiling_never_fits(setup: Setup, budget: int) -> None:
    """Where `minimum_budget()` is an error, every layout is the same error."""
    resolved = setup.resolved()
    try:
        resolved.minimum_budget()
    except BudgetExceededError:
        with pytest.raises(BudgetExceededError) as caught:
            lay_out(resolved, budget)
        assert caught.value.section is not None


@given(setups(RENDERERS | HOSTILE), st.integers(0, 120))
def test_law_02_required_is_kept(setup: Setup, more: int) -> None:
    """What is required is there, with at least its floor, wherever its group is."""
    resolved = setup.resolved()

    assert_required_kept(lay_out(resolved, minimum_of(resolved) + more))


@given(setups(ADDITIVE), st.integers(0, 15) | st.integers(0, 120))
def test_law_03_and_04_kept_and_given_by_definition(setup: Setup, more: int) -> None:
    """What is kept is chosen by rank, and given what single tokens handed out one by one give.

    Sections that only what was left over could take in are beyond this law; law 5 has them. Where
    a recount finds less than the floors add to, since reservations were not used up, sections are
    chosen by that recount, which law 2 covers.
    """
    resolved = setup.resolved()
    budget = minimum_of(resolved) + more
    expected = given_by_law(resolved, budget)
    assume(expected is not None)

    layout = lay_out(resolved, budget).layout

    assert expected is not None
    assert {path: layout[path].given for path in expected} == expected
    assert all(layout[path].kept for path in expected)


@given(setups(ADDITIVE), st.integers(0, 15) | st.integers(0, 120))
def test_law_04_nothing_exceeds_its_limits(setup: Setup, more: int) -> None:
    """Nothing uses more than its ceiling, no share of the prompt more than its part of `space`.

    Also after what others left over was handed on; a floor wins over a fraction.
    """
    resolved = setup.resolved()
    layout = lay_out(resolved, minimum_of(resolved) + more).layout

    for placement in layout.walk():
        ceiling = placement.budget.ceiling
        assert ceiling is None or placement.used <= ceiling
    for placement in layout.placements:
        if isinstance(placement.budget, Share) and placement.kept:
            part = int(placement.budget.fraction * layout.space)
            assert placement.used <= max(placement.floor, part)


@given(setups(ADDITIVE), st.integers(0, 80), st.integers(1, 40))
def test_law_04_more_never_gives_less(setup: Setup, more: int, extra: int) -> None:
    """While the kept set stays the same, a larger budget lowers nothing that is given."""
    resolved = setup.resolved()
    small = minimum_of(resolved) + more
    before, after = given_by_law(resolved, small), given_by_law(resolved, small + extra)
    assume(before is not None and after is not None and before.keys() == after.keys())
    assert before is not None

    layouts = [lay_out(resolved, budget).layout for budget in (small, small + extra)]

    assert all(layouts[0][path].given <= layouts[1][path].given for path in before)


@given(setups(RENDERERS), st.integers(0, 15) | st.integers(0, 120))
def test_law_05_no_waste(setup: Setup, more: int) -> None:
    """Nothing that was cut could be sent larger, nothing that was left out would fit.

    Fits: by the sum of its parts, and by a recount of the whole. It cannot hold of a text whose
    tokenizer promises nothing and counts a whole far beyond its parts: there the same sections are
    made to share less, and what a recount then finds to be left is not handed on again.
    """
    resolved = setup.resolved()

    assert_no_waste(resolved, minimum_of(resolved) + more)


def test_law_05_what_comes_back_keeps_to_its_fraction() -> None:
    """A share that only what was left could take in gets no more than its part of `space`."""
    chunks = FakeSource(["one two three four five"] * 2)
    reserving = DataSourceSection(chunks, tokens=Rest(at_least=7), required=True)
    share = TextSection("a b c d e f", tokens=Share(Fraction("0.3"), at_least=2), required=False)
    resolved = ADDITIVE["words"].resolve(Prompt([reserving, share]), budget=8)

    layout = lay_out(resolved).layout

    assert layout.space == 8
    assert (layout["data_source"].used, layout["text"].used) == (5, 2)


@pytest.mark.parametrize("budget", [8, 9])
def test_law_01_a_group_that_is_made_to_share_less_keeps_what_it_has(budget: int) -> None:
    """Where a joined text is too large, a group may be left less than all that is kept in it."""
    words = TextSection("a b c d e f", tokens=Rest(), required=False)
    group = GroupSection(
        [TextSection("g h", required=False), TextSection("i j", required=False)],
        tokens=Rest(),
        required=False,
    )

    rendered = HOSTILE["swelling as text"].render(Prompt([words, group]), budget=budget)

    assert rendered.token_count <= budget
    assert rendered.layout["group"].used == 4


def test_law_02_a_group_that_requires_nothing_is_no_part_of_a_floor() -> None:
    """It counts as optional, so the group around it is not told to need it."""
    inner = GroupSection([TextSection("a b c d e", required=False)], tokens=Rest())
    prompt = Prompt([GroupSection([TextSection("x y z"), inner])])

    rendered = ADDITIVE["words"].render(prompt, budget=5)

    assert_required_kept(rendered)
    assert (rendered.layout["group"].floor, rendered.layout["group"].given) == (3, 3)
    assert not rendered.layout["group/group"].kept
