"""Summarize whatever a section has resolved to.

It knows which blocks can be said in fewer words; it knows no sections.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from promptsections.blocks import (
    AttachmentsBlock,
    Block,
    HistoryBlock,
    ItemsBlock,
    PartedTextBlock,
    TextBlock,
)
from promptsections.scope import Scope
from promptsections.summaries.asking import Within
from promptsections.summaries.histories import summarized_history
from promptsections.summaries.summarize import Summarize
from promptsections.summaries.summary import Summary, kept_summary
from promptsections.summaries.texts import Teller, summarized_chunks, summarized_text


async def summarized(
    block: Block, how: Summarize, scope: Scope, within: Within
) -> tuple[Block, Mapping[str, Summary]]:
    """Say a block in fewer words where it is over what its section may have.

    Args:
        block: what the section has resolved to, all of it.
        how: when, and by what summarizer.
        scope: the section's; what it has kept of earlier summaries is read from its memory.
        within: limits how long the summarizer may take.

    Returns:
        A block that gives way as the first did, and summaries to be stored: key → summary.

    Raises:
        NeedsEventLoopError: the summarizer must be awaited, and nothing may wait; not started.
    """
    memory = cast("Mapping[str, Any] | None", scope.read(how.variable, None))
    teller = Teller(how, scope, within, memory)
    match block:
        case HistoryBlock():
            kept = kept_summary(memory, scope.path)
            told, summary = await summarized_history(block, how, scope, kept, within)
            return told, {} if summary is None else {scope.path: summary}
        case TextBlock() | AttachmentsBlock():
            return await summarized_text(block, teller)
        case PartedTextBlock():
            whole = TextBlock(
                block.stable + block.volatile, block.message, cut=block.cut, limit=block.limit
            )
            found = await summarized_text(whole, teller)
            return (block, {}) if found[0] is whole else found
        case ItemsBlock():
            return await summarized_chunks(block, teller)
        case _:
            scope.note(
                "summary_failed", f"it gives way as it is: a {type(block).__name__} has no summary"
            )
            return block, {}
