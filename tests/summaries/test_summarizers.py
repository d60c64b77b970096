"""The summarizers that come with the library."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import DefinitionError
from promptsections.summaries import ExtractiveSummarizer, ModelSummarizer, Quality, SummaryRequest
from promptsections.summaries.model import messages_for
from promptsections.tokens import BundledTokenizer

COUNT = BundledTokenizer("o200k_base").count
STORY = (
    "The parcel left Oslo on Monday. It was a nice day. The parcel was lost in Berlin on Tuesday. "
    "Hm. Support searches for the parcel in Berlin. A cat slept. The customer wants the parcel or "
    "his money back."
)


def request(text: str, target: int = 30, **options: Any) -> SummaryRequest:
    return SummaryRequest(text=text, target=target, count=COUNT, **options)


def test_sentences_that_say_most_are_given_in_their_order() -> None:
    summary = ExtractiveSummarizer()(request(STORY)).split("\n")

    assert "It was a nice day." not in summary
    assert any("Berlin" in sentence for sentence in summary)
    assert [STORY.index(sentence) for sentence in summary] == sorted(
        STORY.index(sentence) for sentence in summary
    )


def test_a_summary_before_is_not_forgotten() -> None:
    summary = ExtractiveSummarizer()(
        request("It rains. " * 3, previous="The code of the lock is 4711.")
    )

    assert "4711" in summary


@pytest.mark.parametrize(
    "text",
    ["北京今天下雨。上海今天晴天。广州明天有台风。", "今日は雨です。明日は晴れです。大阪は曇り。"],
)
def test_sentences_of_scripts_without_blanks_are_told_apart(text: str) -> None:
    summary = ExtractiveSummarizer()(request(text, target=12)).split("\n")

    assert all(sentence in text and sentence.endswith("。") for sentence in summary)
    assert 1 <= len(summary) < 3


def test_a_higher_quality_repeats_less() -> None:
    text = (
        "The blue bicycle was sold in Oslo. The blue bicycle was sold in Berlin. "
        "A red lamp came back broken."
    )

    def sentences(quality: Quality) -> int:
        return ExtractiveSummarizer()(request(text, 100, quality=quality)).count("\n") + 1

    assert (sentences("fast"), sentences("high")) == (3, 2)


@given(text=st.text(), previous=st.none() | st.text(), target=st.integers(1, 100))
def test_whatever_the_text_the_summary_consists_of_its_sentences(
    text: str, previous: str | None, target: int
) -> None:
    """It never fails, adds nothing, and is the same again."""
    asked = request(text, target, previous=previous)

    summary = ExtractiveSummarizer()(asked)

    whole = f"{previous or ''}\n{text}"
    assert all(sentence in whole for sentence in summary.split("\n"))
    assert summary == ExtractiveSummarizer()(asked)
    assert COUNT(summary) <= target or "\n" not in summary


def test_a_model_is_told_how_long_and_how_careful() -> None:
    plain, careful, again = (
        messages_for(request(STORY, target, quality=quality, attempt=attempt))[0].text
        for target, quality, attempt in ((100, "fast", 1), (100, "high", 1), (100, "fast", 2))
    )

    assert "at most 75 words" in plain
    assert len(careful) > len(plain)
    assert "too long or empty" in again


def test_a_model_summarizer_needs_a_function() -> None:
    with pytest.raises(DefinitionError, match="takes messages"):
        ModelSummarizer("gpt-4o")  # type: ignore[arg-type]
