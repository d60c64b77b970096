"""Lay out LLM prompts in a token budget: composable sections in, messages that provably fit out.

The parts that people use every day are here; `promptsections.providers`, `promptsections.tokens`,
`promptsections.blocks` and `promptsections.testing` have the rest.

Names are loaded when they are first used, so that importing the package costs next to nothing;
`__init__.pyi` says the same to type checkers.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "blocks": (
        "Attachment Block Chunk HistoryBlock ItemsBlock MessagesBlock NewestFirst StackBlock "
        "TextBlock"
    ),
    "budgets": "Auto Budget BudgetLike Rest Share Tokens to_budget",
    "caching": "CacheMonitor CachePolicy",
    "counting": "Counter",
    "errors": (
        "BudgetExceededError ConfigError DataSourceError DefinitionError DuplicateNameError "
        "EmptyContextError FunctionError GatewayError InvalidAnswerError InvalidBudgetError "
        "InvalidHistoryError LayoutError ModelCallError NeedsEventLoopError "
        "PromptSectionsError ProviderError RecursionLimitError ResolutionError "
        "SlotSourceError SourceTimeoutError TemplateSyntaxError UndefinedVariableError "
        "UnknownFunctionError "
        "UnknownModelError UnsupportedContentError ValueRenderError"
    ),
    "explain": "compare",
    "fences": "Fence",
    "layout": "Layout Placement Reason",
    "measurement": "Measurement",
    "memory": "Memory ScopedMemory",
    "messages": (
        "AudioPart FilePart ImagePart Message MessageLike Role TextPart Tool ToolCall to_message"
    ),
    "notes": "Note",
    "profiles": "ModelProfile find_profile",
    "prompt": "Prompt",
    "render_cache": "RenderCache cacheable",
    "rendered": "RenderedPrompt Resolved lay_out",
    "renderer": "Renderer",
    "scope": "Scope",
    "sections": (
        "AssistantMessage CacheBreakpoint Content ConversationHistory DataSource DataSourceSection "
        "FunctionCallMessage FunctionResponseMessage GroupSection MemorySection PromptSection "
        "SystemMessage TemplateSection TextSection UserInput UserMessage"
    ),
    "summaries": "Summarize Summary",
    "templates": "Template",
    "tokens": "ApproximateTokenizer Tokenizer Truncate truncate",
}
"""Module → the public names that live there, parted by blanks."""

_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

# The stub beside this file lists them for type checkers.
__all__ = sorted([*_HOME_OF, "__version__"])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value  # so that it is looked up here only once
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
