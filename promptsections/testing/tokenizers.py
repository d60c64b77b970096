"""Tokenizers whose counts people can do in their heads, and one that says how much it has read.

They know no vocabulary, so tests with them load none.
"""

from __future__ import annotations

from attrs import define, field, frozen

from promptsections.tokens import Joints, Tokenizer, joints_of


@frozen
class WordTokenizer:
    """Counts words: whatever stands between white space is one token."""

    name: str = "words"
    """What names this way of counting."""
    exact: bool = True
    joints: Joints = "none"
    """`a` and `,` are two words, `a,` is one."""

    def count(self, text: str, /) -> int:
        """Count the words of a text."""
        return len(text.split())


@frozen
class CharacterTokenizer:
    """Counts characters (code points): every one is a token."""

    name: str = "characters"
    """What names this way of counting."""
    exact: bool = True
    joints: Joints = "strong"
    """Counts add wherever two texts are joined."""

    def count(self, text: str, /) -> int:
        """Count the characters of a text."""
        return len(text)


@define(eq=False)
class ReadingTokenizer:
    """Counts as another tokenizer does, and adds up how many characters it was given to read."""

    tokenizer: Tokenizer = field(factory=WordTokenizer)
    """What counts."""
    characters: int = 0
    """Characters read so far; set it to 0 to begin anew."""

    @property
    def name(self) -> str:
        """The name of what counts."""
        return self.tokenizer.name

    @property
    def exact(self) -> bool:
        """Whether what counts is exact."""
        return self.tokenizer.exact

    @property
    def joints(self) -> Joints:
        """What is promised about joined texts."""
        return joints_of(self.tokenizer)

    def count(self, text: str, /) -> int:
        """Count the tokens of a text, and remember how long it was."""
        self.characters += len(text)
        return self.tokenizer.count(text)
