"""The public names and where they live; `__init__.py` loads them when they are first used."""

from promptsections.blocks import (
    Attachment,
    Block,
    Chunk,
    HistoryBlock,
    ItemsBlock,
    MessagesBlock,
    NewestFirst,
    StackBlock,
    TextBlock,
)
from promptsections.budgets import (
    Auto,
    Budget,
    BudgetLike,
    Rest,
    Share,
    Tokens,
    to_budget,
)
from promptsections.caching import (
    CacheMonitor,
    CachePolicy,
)
from promptsections.counting import (
    Counter,
)
from promptsections.errors import (
    BudgetExceededError,
    ConfigError,
    DataSourceError,
    DefinitionError,
    DuplicateNameError,
    EmptyContextError,
    FunctionError,
    GatewayError,
    InvalidAnswerError,
    InvalidBudgetError,
    InvalidHistoryError,
    LayoutError,
    ModelCallError,
    NeedsEventLoopError,
    PromptSectionsError,
    ProviderError,
    RecursionLimitError,
    ResolutionError,
    SlotSourceError,
    SourceTimeoutError,
    TemplateSyntaxError,
    UndefinedVariableError,
    UnknownFunctionError,
    UnknownModelError,
    UnsupportedContentError,
    ValueRenderError,
)
from promptsections.explain import (
    compare,
)
from promptsections.fences import (
    Fence,
)
from promptsections.layout import (
    Layout,
    Placement,
    Reason,
)
from promptsections.measurement import (
    Measurement,
)
from promptsections.memory import (
    Memory,
    ScopedMemory,
)
from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    MessageLike,
    Role,
    TextPart,
    Tool,
    ToolCall,
    to_message,
)
from promptsections.notes import (
    Note,
)
from promptsections.profiles import (
    ModelProfile,
    find_profile,
)
from promptsections.prompt import (
    Prompt,
)
from promptsections.render_cache import (
    RenderCache,
    cacheable,
)
from promptsections.rendered import (
    RenderedPrompt,
    Resolved,
    lay_out,
)
from promptsections.renderer import (
    Renderer,
)
from promptsections.scope import (
    Scope,
)
from promptsections.sections import (
    AssistantMessage,
    CacheBreakpoint,
    Content,
    ConversationHistory,
    DataSource,
    DataSourceSection,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    MemorySection,
    PromptSection,
    SystemMessage,
    TemplateSection,
    TextSection,
    UserInput,
    UserMessage,
)
from promptsections.summaries import (
    Summarize,
    Summary,
)
from promptsections.templates import (
    Template,
)
from promptsections.tokens import (
    ApproximateTokenizer,
    Tokenizer,
    Truncate,
    truncate,
)

__version__: str

__all__ = [
    "ApproximateTokenizer",
    "AssistantMessage",
    "Attachment",
    "AudioPart",
    "Auto",
    "Block",
    "Budget",
    "BudgetExceededError",
    "BudgetLike",
    "CacheBreakpoint",
    "CacheMonitor",
    "CachePolicy",
    "Chunk",
    "ConfigError",
    "Content",
    "ConversationHistory",
    "Counter",
    "DataSource",
    "DataSourceError",
    "DataSourceSection",
    "DefinitionError",
    "DuplicateNameError",
    "EmptyContextError",
    "Fence",
    "FilePart",
    "FunctionCallMessage",
    "FunctionError",
    "FunctionResponseMessage",
    "GatewayError",
    "GroupSection",
    "HistoryBlock",
    "ImagePart",
    "InvalidAnswerError",
    "InvalidBudgetError",
    "InvalidHistoryError",
    "ItemsBlock",
    "Layout",
    "LayoutError",
    "Measurement",
    "Memory",
    "MemorySection",
    "Message",
    "MessageLike",
    "MessagesBlock",
    "ModelCallError",
    "ModelProfile",
    "NeedsEventLoopError",
    "NewestFirst",
    "Note",
    "Placement",
    "Prompt",
    "PromptSection",
    "PromptSectionsError",
    "ProviderError",
    "Reason",
    "RecursionLimitError",
    "RenderCache",
    "RenderedPrompt",
    "Renderer",
    "ResolutionError",
    "Resolved",
    "Rest",
    "Role",
    "Scope",
    "ScopedMemory",
    "Share",
    "SlotSourceError",
    "SourceTimeoutError",
    "StackBlock",
    "Summarize",
    "Summary",
    "SystemMessage",
    "Template",
    "TemplateSection",
    "TemplateSyntaxError",
    "TextBlock",
    "TextPart",
    "TextSection",
    "Tokenizer",
    "Tokens",
    "Tool",
    "ToolCall",
    "Truncate",
    "UndefinedVariableError",
    "UnknownFunctionError",
    "UnknownModelError",
    "UnsupportedContentError",
    "UserInput",
    "UserMessage",
    "ValueRenderError",
    "__version__",
    "cacheable",
    "compare",
    "find_profile",
    "lay_out",
    "to_budget",
    "to_message",
    "truncate",
]
