"""A summarizer that works offline: it picks the sentences that say most.

Sentences are scored by how often their words occur (Luhn, 1958) and by where they stand, and are
given in their order. The same text always gives the same summary. It knows no model and no I/O.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log2
from typing import Final

from attrs import frozen

from promptsections.summaries.summarizer import Quality, SummaryRequest

_SENTENCE: Final = re.compile(r"[^\n.!?。！？…]*(?:[.!?…]+(?=\s|$)|[。！？]+|[.!?…]+|\n+|$)")
_WORD: Final = re.compile(r"[^\W\d_]+|\d[\d.,:/-]*")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts without blanks between words: pairs of characters are taken for words."""
_PREVIOUS: Final = 1.25
"""How much more a sentence of the summary before counts: it was chosen already."""
_SIMILAR: Final[dict[Quality, float]] = {"fast": 1.0, "balanced": 0.7, "high": 0.5}
"""Part of a sentence's words that may have been said; with more it is left out."""


@frozen
class ExtractiveSummarizer:
    """Picks whole sentences; needs no network, no model and no data.

    `quality="fast"` looks at no repetition, `"balanced"` leaves out what says most of the same
    again, `"high"` what says half of it.
    """

    def __call__(self, request: SummaryRequest, /) -> str:
        """Return the sentences that say most, as many as the target allows, in their order."""
        earlier = list(_sentences(request.previous or ""))
        sentences = [*earlier, *_sentences(request.text)]
        words = [_words(sentence) for sentence in sentences]
        scores = _scores(words)
        for place in range(len(earlier)):
            scores[place] *= _PREVIOUS
        order = sorted(range(len(sentences)), key=lambda place: (-scores[place], place))
        chosen = _fitting(order, sentences, words, request)
        return "\n".join(sentences[place] for place in sorted(chosen))


def _fitting(
    order: Sequence[int],
    sentences: Sequence[str],
    words: Sequence[frozenset[str]],
    request: SummaryRequest,
) -> list[int]:
    """Take the best sentences that fit; the first in any case, to be cut."""
    most_said = _SIMILAR[request.quality]
    chosen: list[int] = []
    said: set[str] = set()
    texts: set[str] = set()
    left = request.target
    for place in order:
        new = words[place]
        if sentences[place] in texts or (
            most_said < 1 and new and len(new & said) / len(new) > most_said
        ):
            continue
        tokens = request.count(sentences[place] + "\n")
        if tokens > left and chosen:
            if left < 4:
                break
            continue
        chosen.append(place)
        said |= new
        texts.add(sentences[place])
        left -= tokens
    return chosen


def _scores(words: Sequence[frozenset[str]]) -> list[float]:
    """Score each sentence: the mean weight of its words, more if long enough, first or last."""
    occurs = Counter(word for each in words for word in each)
    most = len(words)
    scores: list[float] = []
    for place, each in enumerate(words):
        if not each:
            scores.append(0.0)
            continue
        # What stands in half of all sentences tells nothing, what stands in one alone little.
        weights = (log2(1 + occurs[w]) * log2(1 + most / occurs[w]) for w in sorted(each))
        length = min(len(each), 8) / 8
        edge = 1.1 if place in (0, most - 1) else 1.0
        scores.append(sum(weights) / len(each) * length * edge)
    return scores


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = found.group().strip()
        if _WORD.search(sentence):
            yield sentence


def _words(sentence: str) -> frozenset[str]:
    words: set[str] = set()
    for word in _WORD.findall(sentence.casefold()):
        if _UNSPACED.search(word):
            words.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif len(word) > 2 or word[0].isdigit():
            words.add(word)
    return frozenset(words)
