"""Texts that are hard to tokenize, and how many tokens tiktoken makes of each.

A backend that counts them otherwise is not tiktoken. They say nothing about speed. The tests
compare this list with tiktoken itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from zlib import crc32

GOLDEN: tuple[tuple[str, int, int], ...] = (
    ("", 0, 0),
    ("Hello World", 2, 2),
    ("<|endoftext|>", 7, 7),
    ("a<|endoftext|>b<|fim_prefix|><|im_start|>system<|im_end|>", 27, 28),
    ("a\ud83db", 3, 3),
    ("\ud83d\ude00", 1, 2),
    ("\ude00\ud83d", 1, 1),
    ("\x00\x01\x1c\x7f", 4, 4),
    ("\ufffd\uffff\ufeff", 4, 4),
    ("a" * 10_000, 1250, 1250),
    ("^" * 1_000, 125, 250),
    (" " * 10_000, 79, 79),
    (" " * 1_000 + "x", 10, 10),
    ("x" + "\t" * 500 + "\n", 33, 33),
    ("\n" * 1_000, 63, 32),
    ("\r\n" * 300, 75, 75),
    ("\u3000" * 300 + "。", 22, 152),
    ("0" * 1_000, 334, 334),
    ("ab" * 5_000, 2500, 5000),
    ("The quick brown fox jumps over the lazy dog. " * 200, 2001, 2001),
    ("I'll, you're, they've, we'd, it's, don't, I'm; THEY'LL, WE'RE, IT'S", 24, 30),
    ("O'Reilly's 'quoted' ''s 's'", 12, 12),
    ("straßenbahn ǅ ǆ Ǆ İıK", 15, 16),
    ("12345678901234567890 1,234,567.89 ٣٤٥ ²³¼ Ⅷ १२३४ １２３４", 34, 43),
    ("11" + "૨૦૱" * 100, 302, 601),
    ('def f(x: int) -> str:\n    return f"{x!r}"  # why\n\n\nclass A:\n\tpass\n', 26, 26),
    ("SELECT * FROM t WHERE a<>'b' AND c>=1;--x\r\n\r\n", 18, 18),
    ("https://example.com/a/b?c=d&e=%20#f\n// comment\n//\n/* 确保 */", 26, 25),
    ('{"a": [1, 2.5e-10, null, true], "b\\n": "\\u00e9"}', 28, 28),
    ("aGVsbG8gd29ybGQhIEhlbGxvIFdvcmxkIQ==" * 20, 480, 480),
    ("camelCaseHTTPServerXMLHttpRequest snake_case_name SCREAMING_CASE", 14, 13),
    ("你好，世界。今天天气很好，我们去公园吧！" * 10, 140, 240),
    ("日本語のテキスト、カタカナとひらがな。", 17, 20),
    ("한국어 문장입니다. 각각 ᄀᆞᆨ", 17, 21),
    ("Привет, мир! Как дела? ЁЖИК ёжик", 14, 22),
    ("Γειά σου Κόσμε ΑΒΓ άέή", 14, 23),
    ("مرحبا بالعالم، كيف حالك؟ شَدَّة", 13, 25),
    ("שלום עולם, מה שלומך? נִקּוּד", 15, 32),
    ("नमस्ते दुनिया, क्या हाल है? क्षत्रिय", 13, 32),
    ("สวัสดีชาวโลก ภาษาไทย", 9, 23),
    ("Xin chào thế giới; tiếng Việt đẹp", 9, 20),
    ("e\u0301 e\u0301e\u0301 \u0301\u0301 a\u0300\u0316\u0327", 13, 15),
    ("é" * 500, 500, 500),
    ("🙂👍🏽👩‍👩‍👧🇩🇪🏴󠁧󠁢󠁥󠁮󠁧󠁿❤️#️⃣", 45, 56),
    ("🙂" * 300, 300, 600),
    ("𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠮷 𐍈 𒀀", 39, 39),
    ("\u200b\u200c\u200d\u2060\u00ad\u202e", 6, 9),
    ("\u2028\u2029\x85\u00a0\u1680\u202f\u205f", 12, 14),
    (" \t \n  \n\n \r \u3000\n x", 7, 9),
    ("\u3000 \u202f#", 3, 5),
    ("a \n b\n  c\n\n   d   \n", 10, 10),
    ("€£¥₿ ±×÷≠≤≥∞ →⇒ ½ ™©® … “quotes” ‘single’ «guillemets»", 33, 40),
    ("| a | b |\n|---|:-:|\n| `x` | **y** |\n\n> quote\n- [ ] item\n", 28, 28),
    ("ncti OSErro insensitively Design Desig", 14, 14),
    (" I'\n//\r\n//亚洲AV", 5, 9),
    ("!!!???...,,,;;;:::---___***///", 10, 11),
    ('<div class="a">text</div><!-- c -->', 11, 11),
    ("\\n\\t\\\\ \\u0041", 7, 7),
    ("word " * 2_000 + "\u4e2d", 2001, 2001),
    ("X" * 2_000 + "y" * 2_000 + "9" * 2_000 + "." * 2_000, 1324, 1449),
)
"""Text, its tokens in o200k_base, its tokens in cl100k_base."""

ENCODED = {"o200k_base": 0x422550F8, "cl100k_base": 0x57CB5D61}
"""Name → CRC-32 of all tokens of all texts, each as four bytes, lowest first."""


def first_difference(
    name: str, count: Callable[[str], int], encode: Callable[[str], Sequence[int]]
) -> str | None:
    """Say where a way of counting a bundled encoding differs from tiktoken; `None` if nowhere."""
    check = 0
    for text, o200k, cl100k in GOLDEN:
        expected = o200k if name == "o200k_base" else cl100k
        found = count(text)
        if found != expected:
            return f"{text[:40]!r} has {expected} tokens in {name}, not {found}"
        for token in encode(text):
            check = crc32(token.to_bytes(4, "little"), check)
    if check != ENCODED[name]:
        return f"it makes other tokens in {name}, but as many"
    return None
