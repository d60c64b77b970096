"""Tests for other people's prompts: fakes, tokenizers to count by hand, and the laws as asserts.

Importable without Hypothesis; `promptsections.testing.strategies` has strategies for it.
"""

from promptsections.testing.asserts import (
    assert_exchanges_whole,
    assert_fits,
    assert_in_order,
    assert_minimum_budget,
    assert_nothing_silent,
    assert_required_kept,
    assert_same_twice,
    recount,
)
from promptsections.testing.fakes import AsyncFakeSource, FakeSource, FakeStore
from promptsections.testing.laws import assert_laws
from promptsections.testing.sections import check_section
from promptsections.testing.tokenizers import CharacterTokenizer, ReadingTokenizer, WordTokenizer
from promptsections.testing.waste import assert_no_waste

__all__ = [
    "AsyncFakeSource",
    "CharacterTokenizer",
    "FakeSource",
    "FakeStore",
    "ReadingTokenizer",
    "WordTokenizer",
    "assert_exchanges_whole",
    "assert_fits",
    "assert_in_order",
    "assert_laws",
    "assert_minimum_budget",
    "assert_no_waste",
    "assert_nothing_silent",
    "assert_required_kept",
    "assert_same_twice",
    "check_section",
    "recount",
]
