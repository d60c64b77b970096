"""Counting, joining and cutting text in tokens.

It knows no sections, no messages and no models.
"""

from __future__ import annotations

from promptsections.tokens.approximate import ApproximateTokenizer, ScaledTokenizer
from promptsections.tokens.boundaries import first_strong, is_strong, last_strong, strong_joint
from promptsections.tokens.bundled import BundledTokenizer
from promptsections.tokens.cache import CachedTokenizer, CacheStatistics, cached
from promptsections.tokens.estimates import (
    ESTIMATION_MODELS,
    EstimatedTokenizer,
    EstimationModel,
    find_estimation,
)
from promptsections.tokens.fast import FastBackendWarning
from promptsections.tokens.limits import count_up_to
from promptsections.tokens.segments import EMPTY, Segment, count_joined, join, running_totals
from promptsections.tokens.strategies import HybridTokenizer, Strategy, hybrid_of, with_strategy
from promptsections.tokens.streaming import count_stream
from promptsections.tokens.tiktoken_encoding import TiktokenTokenizer
from promptsections.tokens.tokenizer import (
    CallableTokenizer,
    Joints,
    Tokenizer,
    as_tokenizer,
    encoder_of,
    is_loaded,
    joints_of,
)
from promptsections.tokens.truncation import Keep, Truncate, cut, smallest_cut, truncate
from promptsections.tokens.units import Boundary

__all__ = [
    "EMPTY",
    "ESTIMATION_MODELS",
    "ApproximateTokenizer",
    "Boundary",
    "BundledTokenizer",
    "CacheStatistics",
    "CachedTokenizer",
    "CallableTokenizer",
    "EstimatedTokenizer",
    "EstimationModel",
    "FastBackendWarning",
    "HybridTokenizer",
    "Joints",
    "Keep",
    "ScaledTokenizer",
    "Segment",
    "Strategy",
    "TiktokenTokenizer",
    "Tokenizer",
    "Truncate",
    "as_tokenizer",
    "cached",
    "count_joined",
    "count_stream",
    "count_up_to",
    "cut",
    "encoder_of",
    "find_estimation",
    "first_strong",
    "hybrid_of",
    "is_loaded",
    "is_strong",
    "join",
    "joints_of",
    "last_strong",
    "running_totals",
    "smallest_cut",
    "strong_joint",
    "truncate",
    "with_strategy",
]
