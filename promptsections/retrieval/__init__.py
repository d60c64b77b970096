"""Retrieval: choosing and attributing what data sources find, and sources that are ready to use."""

from __future__ import annotations

from promptsections.retrieval.attribution import SOURCE_AND_CONTENT, Attribution, attribute
from promptsections.retrieval.choosing import ChosenChunks, ChunkRules, Refusal, choose_chunks

__all__ = [
    "SOURCE_AND_CONTENT",
    "Attribution",
    "ChosenChunks",
    "ChunkRules",
    "Refusal",
    "attribute",
    "choose_chunks",
]
