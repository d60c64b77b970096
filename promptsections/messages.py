"""Messages, their parts, tool calls and tools: immutable values, for every provider alike.

It knows no tokens and no provider's format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from attrs import Attribute, field, frozen

from promptsections.errors import DefinitionError
from promptsections.unicode import well_formed

Role = Literal["system", "developer", "user", "assistant", "tool"]
"""Who speaks: `developer` is OpenAI's newer word for `system`; `tool` carries a call's result."""

ROLES: frozenset[str] = frozenset(get_args(Role))
NOTHING: Mapping[str, Any] = MappingProxyType({})


def to_role(value: object) -> Role:
    """Check a role.

    Raises:
        DefinitionError: if no message can have it.
    """
    if isinstance(value, str) and value in ROLES:
        return cast("Role", value)
    raise DefinitionError(f"role={value!r} is no role: use one of {', '.join(sorted(ROLES))}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise DefinitionError(f"a text is needed here, not {type(value).__name__}")
    return well_formed(value)


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value)


# --- parts --------------------------------------------------------------------------------------


def _check_size(part: object, attribute: Attribute[Any], value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise DefinitionError(
            f"{type(part).__name__}: {attribute.name}={value!r} must be a whole number, or None"
        )


def _check_detail(_: object, __: Attribute[Any], value: object) -> None:
    if value not in (None, "auto", "low", "high", "original"):
        raise DefinitionError(f'detail={value!r} must be "auto", "low", "high", "original" or None')


@frozen
class TextPart:
    """A text among other parts."""

    text: str = field(converter=_text)


@frozen
class ImagePart:
    """An image by its address or as a `data:` URL; it is never fetched, opened or read as text."""

    url: str
    detail: Literal["auto", "low", "high", "original"] | None = field(
        default=None, kw_only=True, validator=_check_detail
    )
    """How closely the model looks, where it lets one choose."""
    width: int | None = field(default=None, kw_only=True, validator=_check_size)
    """In pixels; unknown sizes count as the most that an image can cost."""
    height: int | None = field(default=None, kw_only=True, validator=_check_size)
    """In pixels."""


@frozen
class FilePart:
    """A file that the provider keeps (`file_id`) or that is sent along (`data`)."""

    filename: str | None = field(default=None, kw_only=True)
    file_id: str | None = field(default=None, kw_only=True)
    data: str | None = field(default=None, kw_only=True)
    """A `data:` URL or base64, as the provider wants it."""
    media_type: str | None = field(default=None, kw_only=True)
    tokens: int | None = field(default=None, kw_only=True, validator=_check_size)
    """What the file costs, if it is known; `None` is estimated."""


@frozen
class AudioPart:
    """Spoken input, base64."""

    data: str
    format: str = field(default="wav", kw_only=True)
    tokens: int | None = field(default=None, kw_only=True, validator=_check_size)
    """What the audio costs, if it is known; `None` is estimated."""


Part = TextPart | ImagePart | FilePart | AudioPart


# --- tools --------------------------------------------------------------------------------------


def _json_text(value: object) -> str:
    if value is None:
        return "{}"
    return _text(
        value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    )


@frozen
class ToolCall:
    """A call that the assistant asks for."""

    id: str = field(converter=_text)
    name: str = field(converter=_text)
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
    """A JSON Schema of the arguments."""

    def __attrs_post_init__(self) -> None:
        if not self.name:
            raise DefinitionError("a Tool needs a name")
        try:
            json.dumps(self.parameters)
        except (TypeError, ValueError) as error:
            raise DefinitionError(f"Tool {self.name!r}: parameters are no JSON: {error}") from error


# --- messages -----------------------------------------------------------------------------------

Content = str | tuple[Part, ...] | None


def _content(value: object) -> Content:
    if value is None:
        return None
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Iterable):
        return tuple(_part(part) for part in cast("Iterable[object]", value))
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
    _memo: dict[Any, int] | None = field(default=None, init=False, eq=False, repr=False)

    def saying(self, text: str) -> Message:
        """Return the same message with this text as its content."""
        return Message(
            self.role,
            text,
            name=self.name,
            tool_calls=self.tool_calls,
            tool_call_id=self.tool_call_id,
            provider_data=self.provider_data,
            extra=self.extra,
        )

    def remembered(self, key: object) -> int | None:
        """Return the token count that was remembered under this key."""
        memo = self._memo
        return None if memo is None else memo.get(key)

    def remember(self, key: object, tokens: int) -> int:
        """Remember a token count under a key that holds all it depends on; return it."""
        memo = self._memo
        if memo is None:
            memo = {}
            object.__setattr__(self, "_memo", memo)
        if len(memo) < 8:  # a message lives with a few profiles; a sweep over many is not hoarded
            memo[key] = tokens
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
        object.__setattr__(self, "_memo", None)

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
    fields = _as_mapping(value)
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
    call = _as_mapping(extra.pop("function_call", None))
    if call is not None:
        name = call.get("name", "")
        known["tool_calls"] = [ToolCall(f"call_{name}", name, call.get("arguments"))]
    if known["role"] == "function":
        known["role"] = "tool"
        known.setdefault("tool_call_id", f"call_{known.get('name', '')}")


def _as_mapping(value: object) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        dumped = dump()
        if isinstance(dumped, Mapping):
            return cast("Mapping[str, Any]", dumped)
    return None


def _call(value: object) -> ToolCall:
    if isinstance(value, ToolCall):
        return value
    fields = _as_mapping(value)
    if fields is None:
        raise DefinitionError(f"{type(value).__name__} is no tool call: pass ToolCall or a dict")
    function = _as_mapping(fields.get("function")) or fields
    name = function.get("name")
    if not isinstance(name, str):
        raise DefinitionError(f"a tool call needs a name; this one has {sorted(map(str, fields))}")
    identifier = fields.get("id")
    return ToolCall("" if identifier is None else identifier, name, function.get("arguments"))


def _part(value: object) -> Part:
    if isinstance(value, TextPart | ImagePart | FilePart | AudioPart):
        return value
    if isinstance(value, str):
        return TextPart(value)
    fields = _as_mapping(value)
    kind = fields.get("type") if fields is not None else None
    if fields is None or not isinstance(kind, str):
        raise DefinitionError(f"{type(value).__name__} is no part: pass TextPart, ImagePart, …")
    match kind:
        case "text" | "input_text" | "output_text" if isinstance(fields.get("text"), str):
            return TextPart(fields["text"])
        case "refusal" if isinstance(fields.get("refusal"), str):
            return TextPart(fields["refusal"])
        case "image_url" | "input_image" | "image":
            return _image(fields)
        case "input_audio" | "audio":
            audio = _as_mapping(fields.get("input_audio")) or fields
            return AudioPart(audio.get("data", ""), format=audio.get("format", "wav"))
        case "file" | "input_file":
            file = _as_mapping(fields.get("file")) or fields
            return FilePart(
                filename=file.get("filename"),
                file_id=file.get("file_id"),
                data=file.get("file_data"),
            )
        case _:
            raise DefinitionError(
                f"a part of type {kind!r} with {sorted(map(str, fields))} is not known: "
                "text, image_url, input_audio and file are"
            )


def _image(fields: Mapping[str, Any]) -> ImagePart:
    image = fields.get("image_url", fields.get("url"))
    nested = _as_mapping(image)
    source: Mapping[str, Any] = nested if nested is not None else fields
    url = nested.get("url") if nested is not None else image
    if not isinstance(url, str):
        raise DefinitionError(f"an image part needs a url; this one has {sorted(map(str, fields))}")
    return ImagePart(
        url,
        detail=source.get("detail"),
        width=source.get("width"),
        height=source.get("height"),
    )
