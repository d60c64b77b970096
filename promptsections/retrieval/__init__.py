"""Retrieval: choosing and attributing what data sources find, and sources that are ready to use."""

from __future__ import annotations

from promptsections.retrieval.attribution import SOURCE_AND_CONTENT, Attribution, attribute
from promptsections.retrieval.choosing import ChosenChunks, ChunkRules, Refusal, choose_chunks
from promptsections.retrieval.langchain import LangChainSource
from promptsections.retrieval.llamaindex import LlamaIndexSource
from promptsections.retrieval.text_search import TextSearch, passages_of, words_of

__all__ = [
    "SOURCE_AND_CONTENT",
    "Attribution",
    "ChosenChunks",
    "ChunkRules",
    "LangChainSource",
    "LlamaIndexSource",
    "Refusal",
    "TextSearch",
    "attribute",
    "choose_chunks",
    "passages_of",
    "words_of",
]
