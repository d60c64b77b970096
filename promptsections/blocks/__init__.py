"""Blocks: content that measures itself and fits itself to a number of tokens."""

from __future__ import annotations

from promptsections.blocks.attachments import Attachment, AttachmentsBlock
from promptsections.blocks.block import Block, Fitted, ReportingBlock
from promptsections.blocks.enclosing import inside
from promptsections.blocks.history import HistoryBlock, HistoryOptions
from promptsections.blocks.items import Chunk, ItemsBlock
from promptsections.blocks.messages import MessagesBlock
from promptsections.blocks.parted import PartedTextBlock
from promptsections.blocks.reading import NewestFirst, history_block
from promptsections.blocks.stack import StackBlock
from promptsections.blocks.text import TextBlock

__all__ = [
    "Attachment",
    "AttachmentsBlock",
    "Block",
    "Chunk",
    "Fitted",
    "HistoryBlock",
    "HistoryOptions",
    "ItemsBlock",
    "MessagesBlock",
    "NewestFirst",
    "PartedTextBlock",
    "ReportingBlock",
    "StackBlock",
    "TextBlock",
    "history_block",
    "inside",
]
