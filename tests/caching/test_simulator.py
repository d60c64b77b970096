"""What the simulation of a prompt cache says of trimming, and what it must say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks.cache import CHATS, POLICIES, RIVALS, Chat, Policy, Row, main, simulate, table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "long-conversations.md"
PLAIN = POLICIES[0]
(DEFAULT,) = (policy for policy in POLICIES if policy.is_default)


@pytest.fixture(scope="module")
def rows() -> Mapping[str, list[Row]]:
    """Simulate the chats that the page shows, once."""
    return {
        chat.name: [simulate(chat, policy) for policy in (*POLICIES, *RIVALS)] for chat in CHATS[:2]
    }


def of(rows: list[Row], policy: Policy) -> Row:
    return next(row for row in rows if row.policy == policy.name)


def test_by_default_a_growing_chat_is_known_to_the_cache_and_full(
    rows: Mapping[str, list[Row]],
) -> None:
    """At 4,096 tokens, past the first trim: plain trimming costs 0.72 of no cache in this chat."""
    row = of(rows["long instructions"], DEFAULT)

    assert row.reuse >= 0.92
    assert row.fill >= 0.85
    assert max(row.costs.values()) <= 0.20
    plain = of(rows["long instructions"], PLAIN)
    assert plain.costs["Claude"] == pytest.approx(0.72, abs=0.01)
    assert plain.reuse < 0.5


@pytest.mark.parametrize("first", [700, 1_400])
def test_other_talks_of_the_same_kind_are_no_different(first: int) -> None:
    row = simulate(Chat("another", 4_096, 1_600, first=first), DEFAULT)

    assert row.reuse >= 0.92
    assert row.fill >= 0.85
    assert max(row.costs.values()) <= 0.20


def test_a_larger_budget_does_better() -> None:
    row = simulate(CHATS[2], DEFAULT)

    assert row.reuse >= 0.95
    assert row.fill >= 0.85
    assert max(row.costs.values()) <= 0.15


def test_with_short_instructions_it_is_as_good_as_a_step_that_counts_everything(
    rows: Mapping[str, list[Row]],
) -> None:
    """Trims leave nothing but the instructions, so nobody gets further without a hole."""
    found = rows["short instructions"]
    ours = of(found, DEFAULT)
    theirs = next(row for row in found if row.policy.endswith("prompt-poet, step 1,024"))

    assert ours.reuse >= theirs.reuse - 0.005
    assert ours.fill >= theirs.fill - 0.01
    assert ours.reuse > 8 * of(found, PLAIN).reuse


def test_nothing_is_trimmed_before_it_must_be(rows: Mapping[str, list[Row]]) -> None:
    for found in rows.values():
        first = {
            next(n for n, turn in enumerate(row.turns) if turn.omitted)
            for row in found
            if row.policy in {policy.name for policy in POLICIES}
        }
        assert len(first) == 1


def test_every_prompt_fits_and_shares_no_more_than_it_has(rows: Mapping[str, list[Row]]) -> None:
    budgets = {chat.name: chat.budget for chat in CHATS}
    for name, found in rows.items():
        for row in found:
            assert all(0 <= turn.reused <= turn.tokens <= budgets[name] for turn in row.turns)


def test_the_page_shows_these_numbers(rows: Mapping[str, list[Row]]) -> None:
    page = PAGE.read_text(encoding="utf-8")

    for found in rows.values():
        assert table(found) in page


def test_the_command_prints_tables_and_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = tmp_path / "cache.svg"

    main(["--turns", "56", "--picture", str(drawn)])

    printed = capsys.readouterr().out
    assert all(chat.name in printed for chat in CHATS)
    assert "| low water 0.7: the default |" in printed
    tree = ET.parse(drawn)
    assert len(tree.findall("{http://www.w3.org/2000/svg}path")) == 4
