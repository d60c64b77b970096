"""Sections that find the turn where Teams AI keeps it: in the scopes `temp` and `conversation`.

`temp.input` is looked for as `input` too, for memory without scopes. They know no files.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from types import MappingProxyType
from typing import Any, cast

from attrs import evolve, field, frozen

from promptsections.messages import ImagePart, Message
from promptsections.parts import as_mapping
from promptsections.providers.teams_ai import from_messages
from promptsections.scope import Scope
from promptsections.sections import (
    Content,
    ConversationHistory,
    DataSourceSection,
    PromptSection,
    UserInput,
)
from promptsections.templates import to_text


def _found(scope: Scope, path: str) -> tuple[str, Any]:
    """Return where a value of the turn stands, and the value; `None` if there is none."""
    for name in (path, path.removeprefix("temp.")):
        value = scope.read(name, None)
        if value is not None:
            return name, value
    return path, None


@frozen
class TurnInput(UserInput):
    """The user's words; nothing where there are none, as in a turn that goes on after a call."""

    variable: str = "temp.input"

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return one user message; nothing if there are no words and no images."""
        words = _found(scope, self.variable)[1]
        files = None if self.files is None else list(_parts(_found(scope, self.files)[1]))
        if words is None and not files:
            scope.missing(self.variable)
            return None
        turn = {self.variable: "" if words is None else words, self.files or "": files}
        return super().resolve(evolve(scope, memory=turn))


def _parts(files: object) -> Iterator[object]:
    """Yield Teams AI's input files as images; what is no image is left out, as it does."""
    for file in cast("Iterable[object]", files or ()):
        fields = _fields(file)
        if "content_type" not in fields:
            yield file
        elif str(fields["content_type"]).startswith("image/"):
            yield ImagePart(_url(fields["content_type"], fields.get("content")))


def _fields(file: object) -> Mapping[str, Any]:
    if is_dataclass(file) and not isinstance(file, type):
        return asdict(file)
    return as_mapping(file) or {}


def _url(kind: object, content: object) -> str:
    """Return a `data:` URL of bytes, or of a text that is base64 or such a URL already."""
    if isinstance(content, bytes | bytearray):
        content = b64encode(content).decode("ascii")
    text = str(content or "")
    return text if text.startswith("data:") else f"data:{kind};base64,{text}"


@frozen
class TurnSource(DataSourceSection):
    """A data source that is asked for the user's words."""

    query: str = "temp.input"

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the chunks as one message."""
        asked = evolve(self, query=_found(scope, self.query)[0])
        return DataSourceSection.resolve(asked, scope)


@frozen
class TurnHistory(ConversationHistory):
    """The conversation; results of the calls that end it stand right behind them."""

    outputs: str | None = field(default=None, kw_only=True)
    """Path of the results that wait for the model: id of a call → its result."""

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the turns as a block that keeps whole exchanges."""
        value = scope.read(self.variable, None)
        outputs = None if self.outputs is None else _found(scope, self.outputs)[1]
        if outputs and isinstance(value, Sequence):
            value = _with_results(cast("Sequence[Any]", value), outputs)
        return super().resolve(evolve(scope, memory={self.variable: value}))


TEAMS_AI_KINDS: Mapping[str, type[PromptSection]] = MappingProxyType(
    {"turn_input": TurnInput, "turn_source": TurnSource, "turn_history": TurnHistory}
)
"""Names for these sections in files of ours: `dumps(file, kinds=TEAMS_AI_KINDS)`."""


def _with_results(turns: Sequence[Any], outputs: Mapping[str, object]) -> Sequence[Any]:
    """Append the results of the calls of the last message, as far as they are there."""
    if not turns:
        return turns
    (last,) = from_messages(turns[-1:])
    return [
        *turns,
        *(
            Message("tool", to_text(outputs[call.id], name="outputs"), tool_call_id=call.id)
            for call in last.tool_calls
            if call.id in outputs
        ),
    ]
