"""The JSON Schema is current, true, and says all that a file can say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest
from hypothesis import given

import promptsections.config
import promptsections.elements
import promptsections.prompt
from promptsections import (
    ConfigError,
    Content,
    DataSourceSection,
    GroupSection,
    Prompt,
    PromptSection,
    Scope,
)
from promptsections import sections as all_sections
from promptsections.config import dump, json_schema, loads
from promptsections.config.hints import FIELD, annotation_of, fields_of, model_of
from promptsections.config.models import BUILT_IN
from promptsections.testing import strategies as own

CHECKED_IN = Path(promptsections.config.__file__).with_name("schema.json")
SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_that_is_checked_in_is_current() -> None:
    """Write it anew with `promptsections schema > promptsections/config/schema.json`."""
    assert json.loads(CHECKED_IN.read_text(encoding="utf-8")) == SCHEMA


def test_the_schema_is_a_schema_and_its_examples_are_prompts() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    for example in SCHEMA["examples"]:
        VALIDATOR.validate(example)
        loads(json.dumps(example), format="json")


@given(prompt=own.prompts())
def test_every_document_that_is_written_is_valid(prompt: Prompt) -> None:
    """What `dump` gives obeys the schema."""
    VALIDATOR.validate(dump(prompt, callables=sources_of(prompt)))


def sources_of(prompt: GroupSection) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for section in prompt.sections:
        if isinstance(section, DataSourceSection):
            found[f"s{id(section.source)}"] = section.source
        elif isinstance(section, GroupSection):
            found |= sources_of(section)
    return found


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"sections": [], "zzz": 1},
        {"sections": [{"kind": "text"}]},
        {"sections": [{"kind": "texst", "text": "x"}]},
        {"sections": [{"kind": "text", "text": 5}]},
        {"sections": [{"kind": "text", "text": "x", "role": "sytem"}]},
        {"sections": [{"kind": "user_input", "tokens": "atuo"}]},
        {"sections": [{"kind": "user_input", "tokens": {"shar": 1}}]},
        {"sections": [{"kind": "user_input", "required": "no"}]},
        {"sections": [{"kind": "group", "sections": [{"kind": "text"}]}]},
        {"sections": [], "tools": [{"description": "x"}]},
        {"sections": [], "budget": 0},
    ],
)
def test_what_the_schema_refuses_loading_refuses_too(document: Any) -> None:
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(ConfigError):
        loads(json.dumps(document), format="json")


def test_everything_in_the_schema_is_described() -> None:
    silent = {
        f"{name}.{key}"
        for name, schema in {"": SCHEMA, **SCHEMA["$defs"]}.items()
        for key, found in schema.get("properties", {}).items()
        if not described(found)
    }

    assert silent == set()
    assert [name for name, schema in SCHEMA["$defs"].items() if not described(schema)] == []


def described(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("description"))


def test_every_public_section_has_a_kind() -> None:
    public = {
        cls
        for module in (all_sections, promptsections.prompt, promptsections.elements)
        for cls in vars(module).values()
        if isinstance(cls, type) and issubclass(cls, PromptSection) and cls is not PromptSection
    }

    assert public == set(BUILT_IN.values())
    assert all(kind == cls.kind for kind, cls in BUILT_IN.items())


@pytest.mark.parametrize("cls", BUILT_IN.values(), ids=lambda cls: cls.__name__)
def test_every_field_of_a_section_can_be_said_in_a_file(cls: type) -> None:
    """A field of a type that nobody knows yet would be missing here."""
    expected = {FIELD + field.name for field in attrs.fields(cls) if field.init}

    assert set(model_of(cls).model_fields) == expected
    assert None not in [annotation_of(hint) for _, hint in fields_of(cls)]


@attrs.frozen
class Persona(PromptSection):
    """Somebody to be."""

    mood: str
    """How they feel."""

    def resolve(self, scope: Scope, /) -> Content:
        return self.mood


def test_kinds_of_ones_own_are_in_the_schema() -> None:
    schema = json_schema({"persona": Persona})

    found = schema["$defs"]["Persona"]
    assert found["description"] == "Somebody to be."
    assert found["properties"]["mood"] == {"type": "string", "description": "How they feel."}
    document = {"sections": [{"kind": "persona", "mood": "glad"}]}
    assert jsonschema.Draft202012Validator(schema).is_valid(document)
    assert not VALIDATOR.is_valid(document)


@attrs.frozen
class Opaque(PromptSection):
    """Something with a field that no file can say."""

    thing: slice = slice(1)

    def resolve(self, scope: Scope, /) -> Content:
        return None


def test_what_no_file_can_say_is_not_in_the_schema() -> None:
    schema = json_schema({"opaque": Opaque})

    assert "thing" not in schema["$defs"]["Opaque"]["properties"]


def test_a_class_without_source_is_in_the_schema_all_the_same() -> None:
    names: dict[str, Any] = {"PromptSection": PromptSection, "frozen": attrs.frozen}
    code = (
        "@frozen\nclass Made(PromptSection):\n    x: str\n    def resolve(self, scope): return ''"
    )
    exec(code, names | {"__name__": "nowhere"}, names)

    schema = json_schema({"made": names["Made"]})

    assert schema["$defs"]["Made"]["properties"]["x"] == {"type": "string"}


# --- the page that says the same ------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "file-format.md").read_text("utf-8")


def first_column(heading: str) -> list[str]:
    part = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE)


def test_the_page_has_every_key_of_a_document() -> None:
    shared = {field.alias for field in attrs.fields(Prompt)} - {"sections", "tools", "name"}

    assert sorted(first_column("The document")) == sorted(set(SCHEMA["properties"]) - shared)


def test_the_page_has_every_kind() -> None:
    part = PAGE.split("\n## Sections\n")[1].split("\n## ")[0]
    listed = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|$", part, re.MULTILINE))

    assert listed == {kind: cls.__name__ for kind, cls in BUILT_IN.items()}
