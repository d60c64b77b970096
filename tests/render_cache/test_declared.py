"""`cacheable` changes nothing about a function but what is known of it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from promptsections import DefinitionError, NeedsEventLoopError, Prompt, Renderer, SystemMessage
from promptsections.render_cache import cacheable
from promptsections.testing import WordTokenizer


@cacheable(key="v1")
def greet(scope: Any, name: str) -> str:
    """Greet."""
    return f"Hello {name}, {scope.read('mood')}"


@cacheable(key="v1")
async def later() -> str:
    return "later"


def test_it_is_called_as_before() -> None:
    renderer = Renderer(tokenizer=WordTokenizer(), functions={"greet": greet})
    prompt = Prompt([SystemMessage("<<greet Bo>>")])

    assert renderer.render(prompt, {"mood": "glad"}, budget=9).messages[0].text == "Hello Bo, glad"
    assert (greet.__name__, greet.__doc__) == ("greet", "Greet.")


def test_one_that_must_be_awaited_is_still_known_before_it_runs() -> None:
    renderer = Renderer(tokenizer=WordTokenizer(), functions={"later": later})

    assert inspect.iscoroutinefunction(later)
    with pytest.raises(NeedsEventLoopError):
        renderer.render(Prompt([SystemMessage("<<later>>")]), budget=9)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        ("f", {"key": "v1"}, "str is not callable"),
        (len, {"key": ""}, "key='' must be a text"),
        (len, {"key": 1}, "key=1 must be a text"),
        (len, {"key": "v1", "ttl": 0}, "ttl=0 must be seconds above 0"),
        (len, {"key": "v1", "ttl": True}, "ttl=True"),
        (len, {"key": "v1", "depends_on": "date"}, "depends_on must be a function"),
    ],
)
def test_wrong_values_are_errors(function: Any, options: Any, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        cacheable(function, **options)
