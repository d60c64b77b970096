"""Summaries: what is said in fewer words where a section is over its budget.

It knows blocks and scopes; it knows no sections, no layouts and no model.
"""

from __future__ import annotations

from promptsections.summaries.applying import summarized
from promptsections.summaries.extractive import ExtractiveSummarizer
from promptsections.summaries.histories import SummarizedHistory
from promptsections.summaries.model import ModelSummarizer
from promptsections.summaries.summarize import Summarize, summarize
from promptsections.summaries.summarizer import Quality, Summarizer, SummaryRequest
from promptsections.summaries.summary import Summary

__all__ = [
    "ExtractiveSummarizer",
    "ModelSummarizer",
    "Quality",
    "Summarize",
    "SummarizedHistory",
    "Summarizer",
    "Summary",
    "SummaryRequest",
    "summarize",
    "summarized",
]
