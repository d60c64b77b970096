"""Tools described by functions, models and schemas."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, IntEnum
from functools import partial
from typing import (
    Annotated,
    Any,
    Literal,
    NewType,
    NotRequired,
    Optional,
    Required,
    TypedDict,
    Union,
)

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import Prompt, Renderer, TextSection, Tool
from promptsections.errors import DefinitionError
from promptsections.providers import openai_chat


class Unit(Enum):
    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Address(TypedDict):
    city: Required[str]
    zip_code: NotRequired[Annotated[str, "Five digits"]]


class Hints(TypedDict, total=False):
    near: str
    exact: Required[bool]


@dataclass
class Size:
    width: int
    height: int = 1
    tags: list[str] = field(default_factory=list)
    area: int = field(init=False, default=0)


@dataclass
class Node:
    children: list[Node]


class Place(pydantic.BaseModel):
    """Somewhere."""

    name: str
    address: Inner | None = None


class Inner(pydantic.BaseModel):
    street: str


Place.model_rebuild()
UserId = NewType("UserId", int)


def weather(
    city: str,
    unit: Unit = Unit.CELSIUS,
    *,
    days: int = 3,
    near: float | None = None,
) -> str:
    """Get the weather of a city.

    It is a forecast: the further, the worse.

    Args:
        city: The city and country,
            as "Bern, Switzerland".
        unit (Unit): What degrees to use: one of two.
        days: How far to look.

            At most ten.

    Returns:
        A text.
    """
    return f"{city} {unit} {days} {near}"


def test_a_typed_function_is_a_tool() -> None:
    tool = Tool.from_function(weather)

    assert tool.name == "weather"
    assert tool.description == (
        "Get the weather of a city.\n\nIt is a forecast: the further, the worse."
    )
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "city": {
                "type": "string",
                "description": 'The city and country, as "Bern, Switzerland".',
            },
            "unit": {
                "type": "string",
                "description": "What degrees to use: one of two.",
                "enum": ["celsius", "fahrenheit"],
                "default": "celsius",
            },
            "days": {
                "type": "integer",
                "description": "How far to look. At most ten.",
                "default": 3,
            },
            "near": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def taking(hint: Any) -> Callable[..., None]:
    def tool(x: Any) -> None: ...

    tool.__annotations__ = {"x": hint}
    return tool


STRING, NUMBER = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, STRING),
        (int, NUMBER),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (object, {}),
        (UserId, NUMBER),
        (Annotated[int, "How many"], {**NUMBER, "description": "How many"}),
        (Annotated[int, 7], NUMBER),
        (list[str], {"type": "array", "items": STRING}),
        (list, {"type": "array", "items": {}}),
        (Sequence[int], {"type": "array", "items": NUMBER}),
        (Sequence, {"type": "array", "items": {}}),
        (tuple[int, ...], {"type": "array", "items": NUMBER}),
        (tuple, {"type": "array", "items": {}}),
        (dict, {"type": "object"}),
        (Mapping, {"type": "object"}),
        (dict[str, int], {"type": "object", "additionalProperties": NUMBER}),
        (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
        (Literal["a", "b"], {**STRING, "enum": ["a", "b"]}),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),
        (
            Optional[str],  # noqa: UP045
            {"anyOf": [STRING, {"type": "null"}]},
        ),
        (
            Union[str, int],  # noqa: UP007
            {"anyOf": [STRING, NUMBER]},
        ),
        (str | int, {"anyOf": [STRING, NUMBER]}),
        (Level, {**NUMBER, "enum": [1, 2]}),
        (
            Address,
            {
                "type": "object",
                "properties": {
                    "city": STRING,
                    "zip_code": {**STRING, "description": "Five digits"},
                },
                "required": ["city"],
                "additionalProperties": False,
            },
        ),
        (
            Hints,
            {
                "type": "object",
                "properties": {"near": STRING, "exact": {"type": "boolean"}},
                "required": ["exact"],
                "additionalProperties": False,
            },
        ),
        (
            Size,
            {
                "type": "object",
                "properties": {
                    "width": NUMBER,
                    "height": NUMBER,
                    "tags": {"type": "array", "items": STRING},
                },
                "required": ["width"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_types_have_the_schema_that_one_expects(hint: Any, schema: Any) -> None:
    assert Tool.from_function(taking(hint)).parameters["properties"]["x"] == schema


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (date, "parameter 'x': date has no JSON form: use str, int"),
        (list[date], "parameter 'x': date has no JSON form"),
        (dict[int, str], r"parameter 'x': dict\[int, str\] has no JSON form: the keys"),
        (tuple[int, str], "has no JSON form: write tuple"),
        (tuple[int], "has no JSON form: write tuple"),
        (Literal[b"x"], r"one of \[b'x'\] has no JSON form: choose"),
        (Node, "parameter 'x', field 'children': Node has no JSON form: it holds itself"),
        ("Unknown", "its types cannot be read: name 'Unknown' is not defined"),
        (Callable[[], int], "has no JSON form"),
    ],
)
def test_a_type_without_json_is_an_error_that_names_its_place(hint: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=f"^Tool 'tool': .*{said}"):
        Tool.from_function(taking(hint))


def untyped(a) -> None: ...  # type: ignore[no-untyped-def]
def starred(*rest: int) -> None: ...
def keyworded(**rest: int) -> None: ...
def positional(a: int, /) -> None: ...
def misdescribed(a: int) -> None:
    """Do it.

    Args:
        b: A slip of the pen.
    """


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (untyped, "parameter 'a' has no type: annotate it"),
        (starred, r"parameter '\*rest' cannot be given by name"),
        (keyworded, r"parameter '\*\*rest' cannot be given by name"),
        (positional, "parameter 'a' cannot be given by name"),
        (misdescribed, "the docstring describes 'b', but the parameters are 'a'"),
        (lambda: None, "has no name that a model could call: pass name="),
        (partial(untyped), "has no name that a model could call"),
    ],
)
def test_a_function_that_no_model_could_call_is_an_error(function: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        Tool.from_function(function)


def test_a_name_and_a_description_of_one_s_own_win() -> None:
    def f() -> None:
        """Not this."""

    assert Tool.from_function(f, name="g", description="That") == Tool(
        "g", "That", {"type": "object", "properties": {}, "additionalProperties": False}
    )
    assert Tool.from_function(lambda: None, name="h").name == "h"
    assert Tool.from_model(Inner, name="g", description="").name == "g"
    assert Tool.from_model(Place, description="").description == ""


def test_a_method_is_a_tool_without_its_self() -> None:
    class Shop:
        def find(self, item: str) -> None:
            """Find it."""

    assert list(Tool.from_function(Shop().find).parameters["properties"]) == ["item"]


def test_a_default_that_is_no_json_only_makes_a_parameter_optional() -> None:
    nothing = object()

    def f(a: Any = nothing, b: Any = float("nan")) -> None: ...

    parameters = Tool.from_function(f).parameters

    assert parameters["properties"] == {"a": {}, "b": {}}
    assert "required" not in parameters


@pytest.mark.parametrize(
    ("docstring", "description", "about"),
    [
        ("Do it.", "Do it.", None),
        (None, "", None),
        ("Do it.\n\nArgs:\n    a: One: two.", "Do it.", "One: two."),
        ("Do it.\n\nArgs:\nloose\n  a: x\n    b: of a\n\nRaises:\n  c: no", "Do it.", "x b: of a"),
        (
            "Do it.\n\nReturns:\n    a: nothing\n\nArgs:\n    a (int, optional):\n      x",
            "Do it.",
            "x",
        ),
    ],
)
def test_docstrings_are_read_in_google_s_style(
    docstring: str | None, description: str, about: str | None
) -> None:
    def f(a: int) -> None: ...

    f.__doc__ = docstring
    tool = Tool.from_function(f)

    assert tool.description == description
    assert tool.parameters["properties"]["a"].get("description") == about


# --- pydantic -----------------------------------------------------------------------------------


def test_a_pydantic_model_is_a_tool() -> None:
    tool = Tool.from_model(Place)

    assert (tool.name, tool.description) == ("Place", "Somewhere.")
    assert tool.parameters["required"] == ["name"]
    assert tool.parameters["$defs"]["Inner"]["required"] == ["street"]
    assert "title" not in tool.parameters


def test_a_pydantic_model_may_be_the_type_of_a_parameter() -> None:
    parameters = Tool.from_function(taking(Place | None)).parameters

    assert parameters["properties"]["x"]["anyOf"][0]["properties"]["name"]["type"] == "string"
    assert parameters["$defs"].keys() == {"Inner"}


def test_two_models_of_one_name_are_an_error() -> None:
    def model(kind: Any) -> Any:
        inner = pydantic.create_model("Twin", a=(kind, ...))
        return pydantic.create_model("Outer", twin=(inner, ...))

    with pytest.raises(DefinitionError, match="two models in it are named 'Twin'"):
        Tool.from_function(taking(model(int) | model(str)))


@pytest.mark.parametrize("value", [Place(name="x"), int, "Place"])
def test_what_is_no_model_is_an_error(value: Any) -> None:
    with pytest.raises(DefinitionError, match="is no class with model_json_schema"):
        Tool.from_model(value)


# --- one order ----------------------------------------------------------------------------------


def test_the_order_of_keys_makes_no_difference_and_lists_keep_theirs() -> None:
    one = {"type": "object", "properties": {"q": {"enum": ["b", "a"]}, "r": {"type": "string"}}}
    two = {"properties": {"r": {"type": "string"}, "q": {"enum": ["b", "a"]}}, "type": "object"}

    assert json.dumps(Tool("t", "", one).parameters) == json.dumps(Tool("t", "", two).parameters)
    assert list(Tool("t", "", one).parameters) == ["type", "properties"]
    assert Tool("t", "", one).parameters["properties"]["q"]["enum"] == ["b", "a"]


def test_properties_stand_as_they_are_required_then_by_name() -> None:
    properties: dict[str, Any] = {name: {} for name in "dcba"}
    tool = Tool("t", "", {"properties": properties, "required": ["c", "x", 5, "a"]})

    assert list(tool.parameters["properties"]) == ["c", "a", "b", "d"]


def test_a_tool_shares_nothing_with_the_schema_that_it_was_made_of() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {}}}
    tool = Tool("t", "", schema)

    schema["properties"]["a"]["type"] = "string"

    assert tool.parameters["properties"] == {"a": {}}


schemas = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "a", "b"]), inner, max_size=4
        )
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["properties", "required", "x", "y"]), schemas), st.data())
def test_equal_schemas_are_equal_bytes(schema: dict[str, Any], data: st.DataObject) -> None:
    """However the keys of a schema are shuffled, a tool is the same value and the same bytes."""

    def shuffled(value: Any) -> Any:
        if isinstance(value, list):
            return [shuffled(item) for item in value]
        if isinstance(value, dict):
            keys = data.draw(st.permutations(list(value)))
            return {key: shuffled(value[key]) for key in keys}
        return value

    tool, other = Tool("t", "", schema), Tool("t", "", shuffled(schema))

    assert tool == other
    assert tool.parameters == schema
    assert json.dumps(tool.parameters) == json.dumps(other.parameters)


def test_tools_are_reserved_before_anything_else_and_sent() -> None:
    tool = Tool.from_function(weather)
    prompt = Prompt([TextSection("Hello.")], tools=[tool])

    rendered = Renderer("gpt-4o").render(prompt, budget=400)

    request = openai_chat.to_request(rendered)
    assert rendered.layout.base > 3 + 12 + 7
    assert request["tools"][0]["function"]["parameters"] == tool.parameters


@pytest.mark.parametrize("parameters", [None, "{}", []])
def test_parameters_that_are_no_schema_are_an_error_at_once(parameters: Any) -> None:
    with pytest.raises(DefinitionError, match="Tool 'f': parameters must be a JSON Schema"):
        Tool("f", parameters=parameters)
