"""Texts that are hard on tokenizers, and tokenizers to be hard on: shared by the tests here."""

from __future__ import annotations

from hashlib import md5

from hypothesis import strategies as st

from promptsections.tokens import (
    ApproximateTokenizer,
    BundledTokenizer,
    CallableTokenizer,
    TiktokenTokenizer,
    Tokenizer,
)

ENCODINGS = ("o200k_base", "cl100k_base")
BACKENDS = (TiktokenTokenizer, BundledTokenizer)
"""With the extra `fast`, which the tests need, the second counts with toktok."""

_HARD = (
    *"aAzZ'sStTſ12²૨_/!.…#*-中ाि्क\u0301\u200d\u200c🙂👍🏽🇩🇪각ᄀ€©\x00\x1c\x1f\u088f\ufe0f",
    *" \t\n\r\x85\u3000\u2028\u00a0",
    *("\r\n", "  ", "\n\n", "\n   ", "'s", "n't", "//", "/*", "\ud83d", "\ude00", "<|endoftext|>"),
    *(
        "Desig",
        "Design",
        "nc",
        "ti",
        "11",
        "૨૦૧",
        "hello ",
        "world. ",
        "What? ",
        "है ",
        "。",
        "数据",
    ),
    *("👩‍👩‍👧", "n. ", "”", "亚洲AV", " I'"),
)
hard_texts = st.lists(st.sampled_from(_HARD), max_size=24).map("".join)
any_texts = st.text(st.characters(), max_size=20)
texts = st.one_of(hard_texts, any_texts)


def words(text: str) -> int:
    """Count words: knows nothing of joints."""
    return len(text.split())


def unruly(text: str) -> int:
    """Count with jumps in both directions, the same for the same text."""
    jump = md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()[0] % 4
    return len(text) // 2 + jump if text else 0


TOKENIZERS: tuple[Tokenizer, ...] = (
    TiktokenTokenizer("o200k_base"),
    TiktokenTokenizer("cl100k_base"),
    BundledTokenizer("o200k_base"),
    CallableTokenizer("unpromised", TiktokenTokenizer("o200k_base").count),
    CallableTokenizer("words", words),
    CallableTokenizer("characters", len),
    CallableTokenizer("unruly", unruly),
    ApproximateTokenizer(3.3),
)
tokenizers = st.sampled_from(TOKENIZERS)


class Watched:
    """Notes how many characters a tokenizer is given."""

    exact = True

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.name = tokenizer.name
        self.joints = getattr(tokenizer, "joints", "none")
        self.characters = 0
        self.calls = 0

    def count(self, text: str, /) -> int:
        self.characters += len(text)
        self.calls += 1
        return self.tokenizer.count(text)
