"""Parts that are read from dicts and from objects of an SDK."""

from __future__ import annotations

import pytest

from promptsections.errors import DefinitionError
from promptsections.messages import ImagePart, TextPart
from promptsections.parts import to_part


class Dumped:
    """Like a pydantic object of an SDK."""

    def __init__(self, data: object) -> None:
        self.data = data

    def model_dump(self) -> object:
        return self.data


def test_a_part_of_an_sdk_is_read_by_what_it_dumps() -> None:
    assert to_part(Dumped({"type": "text", "text": "a"})) == TextPart("a")
    assert to_part(
        {"type": "image_url", "image_url": Dumped({"url": "https://x/y.png", "detail": "low"})}
    ) == ImagePart("https://x/y.png", detail="low")


@pytest.mark.parametrize("data", [["text"], None, {"text": "of no type"}])
def test_an_object_that_dumps_something_else_is_no_part(data: object) -> None:
    with pytest.raises(DefinitionError, match="Dumped is no part"):
        to_part(Dumped(data))
