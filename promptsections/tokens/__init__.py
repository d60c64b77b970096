"""Counting, joining and cutting text in tokens.

It knows no sections, no messages and no models.
"""

from __future__ import annotations

from promptsections.tokens.approximate import ApproximateTokenizer, ScaledTokenizer
from promptsections.tokens.boundaries import first_strong, is_strong, last_strong, strong_joint
from promptsections.tokens.cache import CachedTokenizer, cached
from promptsections.tokens.segments import EMPTY, Segment, count_joined, join
from promptsections.tokens.tiktoken_encoding import TiktokenTokenizer
from promptsections.tokens.tokenizer import (
    CallableTokenizer,
    Joints,
    Tokenizer,
    as_tokenizer,
    encoder_of,
    joints_of,
)

__all__ = [
    "EMPTY",
    "ApproximateTokenizer",
    "CachedTokenizer",
    "CallableTokenizer",
    "Joints",
    "ScaledTokenizer",
    "Segment",
    "TiktokenTokenizer",
    "Tokenizer",
    "as_tokenizer",
    "cached",
    "count_joined",
    "encoder_of",
    "first_strong",
    "is_strong",
    "join",
    "joints_of",
    "last_strong",
    "strong_joint",
]
