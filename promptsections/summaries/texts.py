"""Texts and retrieved chunks that are said in fewer words where they do not fit.

A chunk is summarized by itself, so that it keeps its name, its source and what stands in front of
it. It knows no sections.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import cast

from attrs import evolve, frozen

from promptsections.blocks import AttachmentsBlock, ItemsBlock, TextBlock
from promptsections.counting import Counter
from promptsections.scope import Scope
from promptsections.summaries.asking import Within, ask
from promptsections.summaries.summarize import Summarize
from promptsections.summaries.summarizer import SummaryRequest
from promptsections.summaries.summary import Summary, digest_of, kept_summary

_ALL = 10**12
"""More tokens than any text has."""


@frozen
class Teller:
    """Says texts of one section in fewer words, or as it did before."""

    how: Summarize
    scope: Scope
    within: Within
    memory: Mapping[str, object] | None
    """Path → summary of the render before."""

    async def tell(self, text: str, target: int, key: str) -> Summary | None:
        """Return a summary of a text, kept or written; `None` if there is none of use."""
        count = self.scope.counter.count
        digest = digest_of([text])
        kept = kept_summary(self.memory, key)
        if kept is not None and kept.digest == digest and count(kept.text) <= target:
            self._report("kept", key, kept)
            return kept
        tokens = count(text)
        request = SummaryRequest(text=text, target=target, quality=self.how.quality, count=count)
        answer = await ask(self.how, request, tokens, self.scope, self.within)
        if answer is None:
            return None
        found = Summary(text=answer.text, tokens=answer.tokens, source_tokens=tokens, digest=digest)
        self._report("written", key, found)
        return found

    def _report(self, verb: str, key: str, summary: Summary) -> None:
        name = key.removeprefix(self.scope.path)
        what = f" chunk {name[1:]!r}," if name else ""
        self.scope.note(
            "summarized",
            f"{verb}:{what} {summary.source_tokens} tokens are told in {summary.tokens} tokens",
        )


async def summarized_text(
    block: TextBlock | AttachmentsBlock, teller: Teller
) -> tuple[TextBlock | AttachmentsBlock, Mapping[str, Summary]]:
    """Return a text that fits, and the summary that it is."""
    how, scope = teller.how, teller.scope
    counter = scope.counter
    if _fits(block, counter, how, scope):
        return block, {}
    around = block.measure(counter, _ALL).natural - counter.count(block.text)
    ratio = int(scope.available * (how.target or 1))
    target = _target(max(how.at_least, ratio) - around, scope.available - around)
    found = await teller.tell(block.text, target, scope.path)
    return (block, {}) if found is None else (_saying(block, found.text), {scope.path: found})


def _saying(block: TextBlock | AttachmentsBlock, text: str) -> TextBlock | AttachmentsBlock:
    match block:
        case TextBlock():
            return evolve(block, text=text)
        case AttachmentsBlock():
            return evolve(block, text=text)


async def summarized_chunks(
    block: ItemsBlock, teller: Teller
) -> tuple[ItemsBlock, Mapping[str, Summary]]:
    """Return chunks of which more fit, since the long ones are told in fewer words."""
    how, scope = teller.how, teller.scope
    counter = scope.counter
    if _fits(block, counter, how, scope):
        return block, {}
    room = int(scope.available * (how.target or 1)) - _around(block, counter)
    sizes = [counter.count(chunk.text) for chunk in block.chunks]
    offered = max(1, room // how.at_least)
    share = _share(sizes[:offered], room)
    asked = [at for at, size in enumerate(sizes[:offered]) if size > share]
    keys = {at: f"{scope.path}#{block.chunks[at].name(at)}" for at in asked}
    target = _target(share, scope.available)
    calls = [partial(teller.tell, block.chunks[at].text, target, keys[at]) for at in asked]
    found = cast("list[Summary | None]", await scope.gather(calls))
    told = {at: each for at, each in zip(asked, found, strict=True) if each is not None}
    chunks = [
        evolve(chunk, text=told[at].text) if at in told else chunk
        for at, chunk in enumerate(block.chunks)
    ]
    return evolve(block, chunks=chunks), {keys[at]: each for at, each in told.items()}


def _fits(
    block: TextBlock | AttachmentsBlock | ItemsBlock,
    counter: Counter,
    how: Summarize,
    scope: Scope,
) -> bool:
    limit = int(scope.available * (how.trigger or 1))
    return block.measure(counter, limit).natural <= limit


def _around(block: ItemsBlock, counter: Counter) -> int:
    """Return the tokens beside the chunks: framing, wrapper, heads, separators."""
    bare = evolve(block, chunks=[evolve(chunk, text="-") for chunk in block.chunks])
    return bare.measure(counter, _ALL).natural


def _share(sizes: list[int], room: int) -> int:
    """Return the most tokens for a chunk, so that all of them fit: short ones leave their part."""
    left, share = room, 0
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            break
        left -= size
    return share


def _target(wanted: int, room: int) -> int:
    return max(1, min(wanted, room))
