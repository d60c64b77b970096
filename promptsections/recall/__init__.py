"""What an agent remembers, as sections: shares by kind of memory, traces in words."""

from promptsections.recall.block import RecallBlock
from promptsections.recall.group import (
    HEADINGS,
    MEMORY_SHARES,
    PREAMBLE,
    MemoryKind,
    RecallPreamble,
    recall_group,
)
from promptsections.recall.section import RecallSection
from promptsections.recall.traces import (
    Bullets,
    Prose,
    Trace,
    TraceStyle,
    Valence,
    age_words,
    confidence_word,
    style_for,
)

__all__ = [
    "HEADINGS",
    "MEMORY_SHARES",
    "PREAMBLE",
    "Bullets",
    "MemoryKind",
    "Prose",
    "RecallBlock",
    "RecallPreamble",
    "RecallSection",
    "Trace",
    "TraceStyle",
    "Valence",
    "age_words",
    "confidence_word",
    "recall_group",
    "style_for",
]
