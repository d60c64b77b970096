"""The sections of a prompt, and the class to derive one's own from."""

from promptsections.sections.base import Content, PromptSection, to_block
from promptsections.sections.breakpoint import CacheBreakpoint
from promptsections.sections.calls import FunctionCallMessage, FunctionResponseMessage
from promptsections.sections.data import (
    ConversationHistory,
    MemorySection,
    UserInput,
)
from promptsections.sections.group import GroupSection
from promptsections.sections.sources import DataSource, DataSourceSection
from promptsections.sections.stability import Declared, Stability
from promptsections.sections.text import (
    AssistantMessage,
    SystemMessage,
    TemplateSection,
    TextSection,
    UserMessage,
)

__all__ = [
    "AssistantMessage",
    "CacheBreakpoint",
    "Content",
    "ConversationHistory",
    "DataSource",
    "DataSourceSection",
    "Declared",
    "FunctionCallMessage",
    "FunctionResponseMessage",
    "GroupSection",
    "MemorySection",
    "PromptSection",
    "Stability",
    "SystemMessage",
    "TemplateSection",
    "TextSection",
    "UserInput",
    "UserMessage",
    "to_block",
]
