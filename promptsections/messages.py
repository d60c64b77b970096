"""Messages, tool calls and tools: immutable values, for every provider alike.

It knows no tokens and no provider's format.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from attrs import field, frozen

from promptsections.errors import DefinitionError
from promptsections.parts import (
    AudioPart,
    FilePart,
    ImagePart,
    Part,
    TextPart,
    as_mapping,
    checked_text,
    to_part,
)
from promptsections.tools import in_order, of_function, of_model
from promptsections.unicode import well_formed

__all__ = [
    "AudioPart", "Content", "FilePart", "ImagePart", "Message", "MessageLike", "Part", "Role",
    "TextPart", "Tool", "ToolCall", "to_message", "to_messages", "to_role",
]  # fmt: skip

Role = Literal["system", "developer", "user", "assistant", "tool"]
"""Who speaks: `developer` is OpenAI's newer word for `system`; `tool` carries a call's result."""

ROLES: frozenset[str] = frozenset(get_args(Role))
NOTHING: Mapping[str, Any] = MappingProxyType({})
SYSTEM_TAGS = ("<system>\n", "\n</system>")
"""Mark a system message inside a conversation, for a model that takes it as the user's only."""


def to_role(value: object) -> Role:
    """Check a role.

    Raises:
        DefinitionError: if no message can have it.
    """
    if isinstance(value, str) and value in ROLES:
        return cast("Role", value)
    raise DefinitionError(f"role={value!r} is no role: use one of {', '.join(sorted(ROLES))}")


def _optional_text(value: object) -> str | None:
    return None if value is None else checked_text(value)


# --- tools --------------------------------------------------------------------------------------


def _json_text(value: object) -> str:
    if value is None:
        return "{}"
    return checked_text(
        value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    )


@frozen
class ToolCall:
    """A call that the assistant asks for."""

    id: str = field(converter=checked_text)
    name: str = field(converter=checked_text)
    arguments: str = field(default="{}", converter=_json_text)
    """JSON text, kept byte for byte; an object given here is written as compact JSON."""


@frozen
class Tool:
    """A tool that the model may call."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(
        factory=lambda: {"type": "object", "properties": {}}, hash=False
    )
    """A JSON Schema of the arguments, as plain data; its keys are put in one order."""

    def __attrs_post_init__(self) -> None:
        if not self.name:
            raise DefinitionError("a Tool needs a name")
        if not isinstance(self.parameters, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(
                f"Tool {self.name!r}: parameters must be a JSON Schema, not "
                f"{type(self.parameters).__name__}"
            )
        try:
            object.__setattr__(self, "parameters", in_order(self.parameters))
        except (TypeError, ValueError) as error:
            raise DefinitionError(f"Tool {self.name!r}: parameters are no JSON: {error}") from error

    @classmethod
    def from_function(
        cls,
        function: Callable[..., object],
        *,
        name: str | None = None,
        description: str | None = None,
    ) -> Tool:
        """Describe a typed function: its name, docstring and parameters.

        Args:
            function: its parameters are annotated; a default makes one optional, and Google-style
                `Args:` of the docstring, or a text in `Annotated`, describe it.
            name: instead of the function's.
            description: instead of the docstring's.

        Raises:
            DefinitionError: if a type has no JSON form; the text names the parameter.
        """
        return cls(*of_function(function, name=name, description=description))

    @classmethod
    def from_model(
        cls, model: type[object], *, name: str | None = None, description: str | None = None
    ) -> Tool:
        """Describe a tool whose arguments are a pydantic model.

        Args:
            model: a class with `model_json_schema()`.
            name: instead of the class's.
            description: instead of the docstring's.

        Raises:
            DefinitionError: if it is no such class.
        """
        return cls(*of_model(model, name=name, description=description))


# --- messages -----------------------------------------------------------------------------------

Content = str | tuple[Part, ...] | None


def _content(value: object) -> Content:
    if value is None:
        return None
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Iterable):
        return tuple(to_part(part) for part in cast("Iterable[object]", value))
    raise DefinitionError(f"content must be text, parts or None, not {type(value).__name__}")


def _calls(value: object) -> tuple[ToolCall, ...]:
    if not value:
        return ()
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        return tuple(_call(call) for call in cast("Iterable[object]", value))
    kind = type(cast("object", value)).__name__
    raise DefinitionError(f"tool_calls must be a list of calls, not {kind}")


def _frozen_mapping(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(value) if value else NOTHING


_MOST_COUNTS = 8
"""Token counts that a message remembers: the first takes 56 bytes."""


@frozen
class Message:
    """One message of a chat."""

    role: Role = field(converter=to_role)
    content: Content = field(default=None, converter=_content)
    """Text, parts, or nothing (an assistant that only calls tools)."""
    name: str | None = field(default=None, kw_only=True, converter=_optional_text)
    tool_calls: tuple[ToolCall, ...] = field(default=(), kw_only=True, converter=_calls)
    tool_call_id: str | None = field(default=None, kw_only=True, converter=_optional_text)
    """With role `tool`: the call that this is the result of."""
    provider_data: Mapping[str, Any] = field(
        default=NOTHING, kw_only=True, hash=False, converter=_frozen_mapping
    )
    """Name of a provider → what only that provider understands; given back to it alone."""
    extra: Mapping[str, Any] = field(
        default=NOTHING, kw_only=True, hash=False, converter=_frozen_mapping
    )
    """Keys of a message dict that we do not know: readable here, never sent."""
    _memo: tuple[Any, ...] = field(default=(), init=False, eq=False, repr=False)
    """Keys and token counts in turn; replaced, never changed, so that threads may share it."""

    def saying(self, text: str) -> Message:
        """Return the same message with this text as its content."""
        return self.holding(well_formed(text))

    def holding(self, text: str) -> Message:
        """Do the same with a text that is well-formed already, without looking at it again."""
        said = object.__new__(Message)
        put = object.__setattr__
        put(said, "role", self.role)
        put(said, "content", text)
        put(said, "name", self.name)
        put(said, "tool_calls", self.tool_calls)
        put(said, "tool_call_id", self.tool_call_id)
        put(said, "provider_data", self.provider_data)
        put(said, "extra", self.extra)
        put(said, "_memo", ())
        return said

    def remembered(self, key: object) -> int | None:
        """Return the token count that was remembered under this key."""
        memo = self._memo
        tokens: int | None = None
        if memo and memo[0] is key:  # nearly always: one profile, which keeps its key
            tokens = memo[1]
        elif memo and key in memo[::2]:
            tokens = memo[2 * memo[::2].index(key) + 1]
        return tokens

    def remember(self, key: object, tokens: int) -> int:
        """Remember a token count under a key that holds all it depends on; return it."""
        memo = self._memo
        if not memo:
            object.__setattr__(self, "_memo", (key, tokens))
        # A message lives with a few profiles; a sweep over many is not hoarded.
        elif len(memo) < 2 * _MOST_COUNTS and self.remembered(key) is None:
            object.__setattr__(self, "_memo", (*memo, key, tokens))
        return tokens

    def __getstate__(self) -> tuple[Any, ...]:
        return (
            self.role,
            self.content,
            self.name,
            self.tool_calls,
            self.tool_call_id,
            dict(self.provider_data),
            dict(self.extra),
        )

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        names = (
            "role", "content", "name", "tool_calls", "tool_call_id", "provider_data", "extra"
        )  # fmt: skip
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_memo", ())

    @property
    def text(self) -> str:
        """The text of the content: its text parts one after the other, `""` if there is none."""
        if self.content is None:
            return ""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))


MessageLike = Message | Mapping[str, Any] | Any
"""A `Message`, a provider's dict, or anything with `model_dump()`."""

_KEYS = {
    "role": "role",
    "content": "content",
    "name": "name",
    "tool_calls": "tool_calls",
    "tool_call_id": "tool_call_id",
    "provider_data": "provider_data",
    "action_calls": "tool_calls",  # Teams AI's words for the same two
    "action_call_id": "tool_call_id",
}


def to_message(value: MessageLike) -> Message:
    """Read a `Message`, a dict as OpenAI's chat format has it, or an object with `model_dump()`.

    Teams AI's `action_calls` and `action_call_id` and the old `function_call` and role `function`
    are read too. Keys that are not known stay readable in `extra`.

    Raises:
        DefinitionError: if it is no message; the text names the key.
    """
    if isinstance(value, Message):
        return value
    fields = as_mapping(value)
    if fields is None:
        raise DefinitionError(
            f"{type(value).__name__} is no message: pass a Message or a dict with role and content"
        )
    if "role" not in fields:
        raise DefinitionError(f"a message needs a role; this one has {sorted(map(str, fields))}")
    known: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, item in fields.items():
        target = _KEYS.get(key)
        if target is None:
            if item is not None:
                extra[key] = item
        elif item is not None:
            known[target] = item
    if "function_call" in extra or known["role"] == "function":
        _read_function_call(known, extra)
    if not known.get("provider_data"):
        known.pop("provider_data", None)
    return Message(known.pop("role"), known.pop("content", None), extra=extra or NOTHING, **known)


def to_messages(values: Iterable[MessageLike]) -> tuple[Message, ...]:
    """Read several messages, as `to_message` does."""
    return tuple(to_message(value) for value in values)


def _read_function_call(known: dict[str, Any], extra: dict[str, Any]) -> None:
    """Read the old format, which had one call and no ids: the function's name is the id."""
    call = as_mapping(extra.pop("function_call", None))
    if call is not None:
        name = call.get("name", "")
        known["tool_calls"] = [ToolCall(f"call_{name}", name, call.get("arguments"))]
    if known["role"] == "function":
        known["role"] = "tool"
        known.setdefault("tool_call_id", f"call_{known.get('name', '')}")


def _call(value: object) -> ToolCall:
    if isinstance(value, ToolCall):
        return value
    fields = as_mapping(value)
    if fields is None:
        raise DefinitionError(f"{type(value).__name__} is no tool call: pass ToolCall or a dict")
    function = as_mapping(fields.get("function")) or fields
    name = function.get("name")
    if not isinstance(name, str):
        raise DefinitionError(f"a tool call needs a name; this one has {sorted(map(str, fields))}")
    identifier = fields.get("id")
    return ToolCall("" if identifier is None else identifier, name, function.get("arguments"))
