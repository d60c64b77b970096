"""The recorded key of a cached prompt; our keys are tested beside the cache.

# cache_key
"""

from __future__ import annotations

import re

from agentos_cases import of_id


def hash_of_java(text: str) -> int:
    """Return the hash with which strings are told apart in 32 bits: times 31, plus the next."""
    value = 0
    for character in text:
        value = (value * 31 + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def test_the_original_tells_inputs_apart_by_32_bits() -> None:
    """So inputs collide; tests of `render_cache` show that it keeps the recorded pairs apart."""
    case = of_id(192)
    assert re.fullmatch(r"promptcache:m:-?[0-9a-z]{1,7}", case.output)
    assert hash_of_java("Aa") == hash_of_java("BB")
