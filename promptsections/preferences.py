"""What a user prefers: how much to say, and in which format; as words that a prompt can use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, cast

Verbosity = Literal["concise", "balanced", "detailed"]

_WORDS: Final[Mapping[Verbosity, tuple[str, ...]]] = {
    "concise": ("low", "brief", "concise", "short", "minimal"),
    "balanced": ("medium", "balanced", "normal", "default", "moderate"),
    "detailed": ("high", "verbose", "detailed", "comprehensive", "thorough"),
}

VERBOSITY_SENTENCES: Final[Mapping[Verbosity, str]] = MappingProxyType(
    {
        "concise": "Answer briefly, without anything that was not asked for.",
        "balanced": "Answer at medium length: what matters, with a reason where it helps.",
        "detailed": "Answer in detail, with reasons, examples and what to watch out for.",
    }
)
FORMAT_SENTENCE: Final = "The user prefers answers in this format: {}."


def to_verbosity(value: object) -> Verbosity | None:
    """Read how much a user wants to be told; `None` for what is no such word.

    Fifteen words are known, in any case and with blanks around them.
    """
    if not isinstance(value, str):
        return None
    word = value.strip().lower()
    return next((verbosity for verbosity, words in _WORDS.items() if word in words), None)


def to_format(preferences: Mapping[str, Any]) -> str | None:
    """Read the format that a user prefers.

    The first of `preferred_format`, `response_format` and `format` that says something wins; else
    those in `preferred_formats`, joined by "or". Names may be camelCase; blank texts say nothing.
    """
    for name in ("preferred_format", "response_format", "format"):
        value = _get(preferences, name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    several = _get(preferences, "preferred_formats")
    if isinstance(several, str) or not isinstance(several, Sequence):
        return None
    words = [each.strip() for each in cast("Sequence[object]", several) if isinstance(each, str)]
    return " or ".join(filter(None, words)) or None


def preference_sentences(preferences: Mapping[str, Any]) -> list[str]:
    """Return what to tell a model of the preferences of its user, a sentence each."""
    verbosity, format_ = to_verbosity(_get(preferences, "verbosity")), to_format(preferences)
    said = [] if verbosity is None else [VERBOSITY_SENTENCES[verbosity]]
    return said if format_ is None else [*said, FORMAT_SENTENCE.format(format_)]


def _get(preferences: Mapping[str, Any], name: str) -> object:
    first, *others = name.split("_")
    camel = first + "".join(word.capitalize() for word in others)
    return preferences.get(name, preferences.get(camel))
