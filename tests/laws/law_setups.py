"""What the laws are tested with: renderers of every kind, and prompts resolved with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from attrs import frozen
from hypothesis import strategies as st

from promptsections import Prompt, Renderer, Resolved
from promptsections.testing import CharacterTokenizer, WordTokenizer
from promptsections.testing.strategies import memories, prompts

ENOUGH = 20_000
"""Tokens that are more than any drawn prompt has."""


def erratic(text: str) -> int:
    """Count a text in a way that depends on all of it and follows from none of its parts."""
    return len(text) // 3 + crc32(text.encode()) % 7 if text else 0


def swelling(text: str) -> int:
    """Count words, and two more if there are many, so that a whole is more than its parts."""
    words = len(text.split())
    return words + (2 if words > 6 else 0)


ADDITIVE = {
    "words": Renderer(tokenizer=WordTokenizer()),
    "characters": Renderer(tokenizer=CharacterTokenizer()),
    "characters, framed": Renderer("gpt-4o", tokenizer=CharacterTokenizer()),
}
"""Among messages these add up exactly, but for groups that are one message of joined words."""

RENDERERS = {
    **ADDITIVE,
    "words as text": Renderer(tokenizer=WordTokenizer(), output="text"),
    "characters as text": Renderer(tokenizer=CharacterTokenizer(), output="text"),
    "cl100k": Renderer(tokenizer="cl100k_base"),
    "gpt-4o": Renderer("gpt-4o"),
    "gpt-4o as text": Renderer("gpt-4o", output="text"),
}

HOSTILE = {
    "erratic": Renderer(tokenizer=erratic),
    "erratic as text": Renderer(tokenizer=erratic, output="text"),
    "swelling as text": Renderer(tokenizer=swelling, output="text"),
}


@frozen
class Setup:
    """A prompt with all that it takes to render it."""

    renderer: Renderer
    prompt: Prompt
    memory: Mapping[str, Any]

    def resolved(self, budget: int = ENOUGH) -> Resolved:
        return self.renderer.resolve(self.prompt, self.memory, budget=budget)


def setups(
    renderers: Mapping[str, Renderer] = RENDERERS,
    *,
    drawn: st.SearchStrategy[Prompt] | None = None,
    valid: bool = True,
) -> st.SearchStrategy[Setup]:
    """Draw a renderer, a prompt and a memory."""
    return st.builds(
        Setup,
        st.sampled_from(sorted(renderers)).map(renderers.__getitem__),
        prompts() if drawn is None else drawn,
        memories(valid=valid),
    )
