"""`config.json` of a prompt folder, schema 1 and 1.1, with Teams AI's defaults.

It knows the file; it knows no sections.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attrs import frozen

from promptsections.budgets import Auto, Budget, Rest, to_budget
from promptsections.config.keys import Keys, read_json_keys
from promptsections.config.remarks import Remarks
from promptsections.config.semantic_kernel import KERNEL_KEYS
from promptsections.errors import InvalidBudgetError

_TOP = ("schema", "description", "type", "completion", "default_backends", "augmentation")
_COMPLETION = (
    "model",
    "completion_type",
    "include_history",
    "include_input",
    "include_images",
    "max_tokens",
    "max_input_tokens",
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "stop_sequences",
    "tool_choice",
    "parallel_tool_calls",
    "data_sources",
)
_AUGMENTATION = ("augmentation_type", "data_sources")
_OPTIONS: Mapping[str, Any] = MappingProxyType(
    {
        "max_tokens": 150,
        "temperature": 0.0,
        "top_p": 0.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
    }
)
"""How the model is called where the file does not say."""


@frozen(kw_only=True)
class Settings:
    """What `config.json` says."""

    keys: Keys
    """The file, for errors."""
    description: str | None
    model: str | None
    budget: int
    """Tokens of input."""
    answer: int
    """Tokens of the answer."""
    options: Mapping[str, Any]
    """How the model is called, under Teams AI's names."""
    history: bool
    input: bool
    images: bool
    augmentation: str
    sources: Mapping[str, Budget]
    """Name of a data source → what it may have."""


def read_settings(file: Path, remarks: Remarks) -> Settings:
    """Read the settings of a prompt.

    Raises:
        ConfigError: if the file is missing or wrong, or holds a key that looks misspelt.
    """
    keys = read_json_keys(file)
    for key in KERNEL_KEYS:
        if key in keys:
            raise keys.error(
                "this is a prompt of Semantic Kernel: read it with read_semantic_kernel", key
            )
    completion, augmentation = keys.inner("completion"), keys.inner("augmentation")
    keys.check_names(_TOP, remarks)
    completion.check_names(_COMPLETION, remarks)
    augmentation.check_names(_AUGMENTATION, remarks)
    _remark(keys, completion, remarks)
    options = {**_OPTIONS, **_given(completion)}
    return Settings(
        keys=keys,
        description=keys.text("description"),
        model=_model(keys, completion),
        budget=completion.whole("max_input_tokens", at_least=1) or 2048,
        answer=completion.whole("max_tokens", at_least=1) or _OPTIONS["max_tokens"],
        options=options,
        history=completion.flag("include_history", default=True),
        input=completion.flag("include_input", default=True),
        images=completion.flag("include_images", default=False),
        augmentation=augmentation.text("augmentation_type") or "none",
        sources=_sources(augmentation),
    )


def _remark(keys: Keys, completion: Keys, remarks: Remarks) -> None:
    schema, kind = keys.plain("schema"), keys.text("type")
    if schema not in (None, 1, 1.1):
        remarks.say("unknown_key", "schema", f"schema {schema!r} is read as 1.1")
    if kind not in (None, "completion"):
        remarks.say("unknown_key", "type", f"a prompt of type {kind!r} is read as a completion")
    asked = completion.text("completion_type")
    if asked not in (None, "chat", "text"):
        where = completion.path("completion_type")
        remarks.say("unknown_key", where, f"completion type {asked!r} is read as chat")
    if asked == "text":
        remarks.say(
            "key_left_out",
            completion.path("completion_type"),
            'the model wants one text: render with Renderer(…, output="text")',
        )
    if "data_sources" in completion:
        remarks.say(
            "key_left_out",
            completion.path("data_sources"),
            "data that the provider looks up by itself is no part of a prompt",
        )


def _model(keys: Keys, completion: Keys) -> str | None:
    """Return the model; in schema 1 the first of `default_backends` comes first."""
    is_first = keys.plain("schema") in (None, 1)
    backends = keys.texts("default_backends") if is_first else []
    return backends[0] if backends else completion.text("model")


def _given(completion: Keys) -> Mapping[str, Any]:
    """Return the options that the file gives; numbers must be numbers."""
    given: dict[str, Any] = {}
    for key in (*_OPTIONS, "stop_sequences", "tool_choice", "parallel_tool_calls"):
        if key in completion:
            given[key] = completion.number(key) if key in _OPTIONS else completion.plain(key)
    return given


def _sources(augmentation: Keys) -> Mapping[str, Budget]:
    table = augmentation.inner("data_sources")
    return {name: _budget(table, name) for name in table}


def _budget(table: Keys, name: str) -> Budget:
    """Read the budget of a data source: tokens, a fraction, 1 for the rest, -1 for all it has."""
    number = table.number(name)
    if number is None:
        return Auto()
    if number == 1:
        return Rest()
    try:
        return to_budget(number)
    except InvalidBudgetError as error:
        raise table.error(error.message, name) from None
