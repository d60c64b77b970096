"""Every exception of the library.

```
PromptSectionsError
├── DefinitionError (ValueError)     the prompt as written is wrong; raised when it is constructed
│   ├── TemplateSyntaxError          .position .line .column; the message shows the place
│   ├── InvalidBudgetError           .value .section
│   ├── DuplicateNameError           .name
│   ├── UnknownModelError            .name .suggestions
│   └── ConfigError                  .path .kind .problems
├── ResolutionError                  content could not be produced; .section, __cause__
│   ├── UndefinedVariableError       .name .suggestions .position
│   ├── UnknownFunctionError         .name .suggestions .position
│   ├── FunctionError                .name .position
│   ├── DataSourceError
│   ├── SlotSourceError              .slot
│   ├── SourceTimeoutError           .seconds
│   ├── RecursionLimitError
│   ├── ValueRenderError             .name
│   ├── InvalidHistoryError
│   └── NeedsEventLoopError
├── LayoutError                      .section
│   └── BudgetExceededError          .budget .needed .floors
├── ProviderError                    this provider cannot express that
│   └── UnsupportedContentError
└── GatewayError                     a call of a model came to nothing; .purpose .goal_id, __cause__
    ├── EmptyContextError
    ├── ModelCallError
    └── InvalidAnswerError           .answer .problems
```

Messages say what, where and what to do. Attributes are for machines. All of them survive pickling.
It knows no other module of the library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple


class PromptSectionsError(Exception):
    """The root of every error this library raises on purpose."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        """What went wrong, without the place where it did."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__.copy())


def _rebuild(
    cls: type[PromptSectionsError], args: tuple[Any, ...], state: dict[str, Any]
) -> PromptSectionsError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


# --- the prompt as written is wrong -----------------------------------------------------------


class DefinitionError(PromptSectionsError, ValueError):
    """A prompt, section, budget or message is wrong as written; raised when it is constructed."""


class TemplateSyntaxError(DefinitionError):
    """A template that cannot be parsed; the message shows the place, a caret and a hint."""

    def __init__(self, message: str, *, position: int, line: int, column: int) -> None:
        super().__init__(message)
        self.position = position
        """Offset in characters of the opening delimiter, from 0."""
        self.line = line
        """Line of that character, from 1."""
        self.column = column
        """Column of that character in its line, from 1."""


class InvalidBudgetError(DefinitionError):
    """A budget that has no meaning: the message names the value and the rule."""

    def __init__(self, message: str, *, value: object, section: str | None = None) -> None:
        super().__init__(message)
        self.value = value
        """The value as it was given."""
        self.section = section
        """The section that it was given to, or `None` for the budget of a whole render."""


class DuplicateNameError(DefinitionError):
    """Two sections beside each other that have the same name."""

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name
        """The name that is taken."""


class UnknownModelError(DefinitionError):
    """A model that no profile is known for; there is never a silent default."""

    def __init__(self, message: str, *, name: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.name = name
        """The model as it was asked for."""
        self.suggestions = tuple(suggestions)
        """Known names that are near it, best first."""


class Problem(NamedTuple):
    """One thing that is wrong with a prompt file."""

    message: str
    """What is wrong, and what to do."""
    line: int | None = None
    """Counted from 1; `None` if it is not known."""
    where: str = ""
    """The place in the document: `sections[2].tokens`; `""` for all of it."""


class ConfigError(DefinitionError):
    """A prompt file that is missing or wrong; the message names everything that is."""

    def __init__(
        self,
        message: str,
        *,
        path: str,
        kind: Literal["missing", "invalid"],
        problems: Sequence[Problem] = (),
    ) -> None:
        super().__init__(message)
        self.path = path
        """The file, as far as it could be resolved."""
        self.kind = kind
        """Whether the file is missing or its content is invalid."""
        self.problems = tuple(problems)
        """All that was found, in the order of the file; empty if the file could not be read."""


# --- content could not be produced ------------------------------------------------------------


class ResolutionError(PromptSectionsError):
    """A section could not produce its content; `__cause__` keeps what stood behind it."""

    def __init__(self, message: str, *, section: str | None = None) -> None:
        super().__init__(message)
        self.section = section
        """Path of the section, once known."""

    def __str__(self) -> str:
        return f"section {self.section!r}: {self.message}" if self.section else self.message


class _PlacedError(ResolutionError):
    """An error at a placeholder of a template."""

    def __init__(
        self,
        message: str,
        *,
        name: str,
        position: int | None = None,
        suggestions: Sequence[str] = (),
        section: str | None = None,
    ) -> None:
        super().__init__(message, section=section)
        self.name = name
        """The name that the placeholder asked for."""
        self.position = position
        """Offset in characters of the opening delimiter, from 0; `None` outside templates."""
        self.suggestions = tuple(suggestions)
        """Known names that are near it, best first."""


class UndefinedVariableError(_PlacedError):
    """Memory holds no such value."""


class UnknownFunctionError(_PlacedError):
    """No function of that name was passed to the renderer."""


class FunctionError(_PlacedError):
    """A template function raised; `__cause__` is what it raised."""


class ValueRenderError(_PlacedError):
    """A value that has no text: NaN, a circular container, an object of an unknown type."""


class DataSourceError(ResolutionError):
    """A data source raised; `__cause__` is what it raised."""


class SlotSourceError(ResolutionError):
    """The source of a slot that must not fail did; `__cause__` is what it raised."""

    def __init__(self, message: str, *, slot: str, section: str | None = None) -> None:
        super().__init__(message, section=section)
        self.slot = slot
        """Name of the slot."""


class SourceTimeoutError(ResolutionError):
    """A section took longer to resolve than it may."""

    def __init__(self, message: str, *, seconds: float, section: str | None = None) -> None:
        super().__init__(message, section=section)
        self.seconds = seconds
        """The limit, in seconds."""


class RecursionLimitError(ResolutionError):
    """Templates, functions or sections that call each other without end."""


class InvalidHistoryError(ResolutionError):
    """A conversation history that cannot be sent and cannot be repaired."""


class NeedsEventLoopError(ResolutionError):
    """A function or source must be awaited, so `arender()` is needed; it was not started."""


# --- no layout ----------------------------------------------------------------------------------


class LayoutError(PromptSectionsError):
    """A prompt that cannot be laid out, or a block that broke its promises."""

    def __init__(self, message: str, *, section: str | None = None) -> None:
        super().__init__(message)
        self.section = section
        """Path of the section, or `None` for the whole prompt."""


class BudgetExceededError(LayoutError):
    """What is required does not fit the budget, even at its smallest useful size."""

    def __init__(
        self,
        message: str,
        *,
        budget: int,
        needed: int,
        floors: Mapping[str, int],
        section: str | None = None,
    ) -> None:
        super().__init__(message, section=section)
        self.budget = budget
        """The budget that was given, in tokens."""
        self.needed = needed
        """The smallest budget that would do, in tokens: `minimum_budget()`."""
        self.floors = dict(floors)
        """Path of each required section → its smallest useful size in tokens."""


# --- the provider cannot express it -------------------------------------------------------------


class ProviderError(PromptSectionsError):
    """Messages that the provider's format cannot express."""


class UnsupportedContentError(ProviderError):
    """Content of a kind that the provider's format has no place for."""


# --- no answer ------------------------------------------------------------------------------------


class GatewayError(PromptSectionsError):
    """A call of a model that came to nothing; `__cause__` is what stood behind it."""

    def __init__(
        self, message: str, *, purpose: str | None = None, goal_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.purpose = purpose
        """Name of the purpose of the call."""
        self.goal_id = goal_id
        """The goal that it was made for."""

    def __str__(self) -> str:
        known = {"purpose": self.purpose, "goal": self.goal_id}
        where = ", ".join(f"{name} {value!r}" for name, value in known.items() if value is not None)
        return f"{where}: {self.message}" if where else self.message


class EmptyContextError(GatewayError):
    """Nothing would have been sent but the instructions; the model was not called."""


class ModelCallError(GatewayError):
    """The model could not be called, or refused to answer."""


class InvalidAnswerError(GatewayError):
    """An answer that is not what was asked for."""

    def __init__(
        self,
        message: str,
        *,
        answer: str,
        problems: Sequence[str] = (),
        purpose: str | None = None,
        goal_id: str | None = None,
    ) -> None:
        super().__init__(message, purpose=purpose, goal_id=goal_id)
        self.answer = answer
        """The text of the answer."""
        self.problems = tuple(problems)
        """What is wrong with it, one by one, with the path of the value."""
