"""From the text of an answer to a value: finds the JSON in it, and validates that.

It knows no models and no prompts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, TypeVar, cast

from pydantic import (
    PydanticUndefinedAnnotation,
    PydanticUserError,
    TypeAdapter,
    ValidationError,
)

from promptsections.errors import DefinitionError, InvalidAnswerError

T = TypeVar("T")

_FENCE: Final = re.compile(
    r"^[ \t]*(?:`{3,}|~{3,})[ \t]*([\w+-]*)[^\n`]*\n|`{3,}(json)\s+", re.IGNORECASE | re.MULTILINE
)
"""A line that parts blocks from prose, or `json` right behind backticks within a line."""

_START: Final = re.compile(r"[\[{]")
_BLANKS: Final = re.compile(r"\s*")
_DECODER: Final = json.JSONDecoder()
_SHOWN: Final = 80


def extract_json(answer: str) -> str:
    """Return the JSON in an answer, byte for byte.

    It may be the whole answer (then it may be any value), or an array or object in a fenced block
    or in prose. Blocks labelled `json`, in any case, go first, then other blocks, then prose; the
    first that is complete is taken. Fences inside strings are text, and a fence need not be closed.

    Raises:
        InvalidAnswerError: there is none, or the first one breaks off or is malformed; nothing
            inside of it is taken instead.
    """
    problems: list[str] = []
    found = next(_values(answer, problems), None)
    if found is None:
        raise _no_json(answer, problems)
    return found


def parse_answer(answer: str, kind: type[T]) -> T:
    """Find the JSON in an answer and validate it.

    Of several values, such as a `[1]` in prose and the object behind it, the first valid one wins.

    Args:
        answer: The text.
        kind: A pydantic model, or any type that pydantic can validate.

    Raises:
        InvalidAnswerError: no JSON, or none of that kind; `.problems` says what is wrong with the
            first, and where.
    """
    adapter = _adapter(kind)
    problems: list[str] = []
    failure: ValidationError | None = None
    for text in _values(answer, problems):
        try:
            return adapter.validate_json(text)
        except ValidationError as error:
            failure = failure or error
    if failure is None:
        raise _no_json(answer, problems)
    details = tuple(_problem(detail) for detail in failure.errors(include_url=False))
    raise InvalidAnswerError(
        f"the answer is no {_name(kind)}: {'; '.join(details)}", answer=answer, problems=details
    ) from failure


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema that answers of a kind have.

    Raises:
        DefinitionError: pydantic cannot validate what is of that kind, or it has no schema.
    """
    try:
        return _adapter(kind).json_schema()
    except PydanticUserError as error:
        raise DefinitionError(f"answers cannot be {_name(kind)}: {error.message}") from error


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    try:
        return TypeAdapter(kind)
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        raise DefinitionError(
            f"answers cannot be {_name(kind)}, for pydantic does not know how to validate that: "
            f"{error.message}"
        ) from error


def _name(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind))


def _problem(detail: Any) -> str:
    path = ".".join(map(str, detail["loc"])) or "the value"
    return f"{path}: {detail['msg'][:1].lower()}{detail['msg'][1:]}"


# --- where JSON may stand -------------------------------------------------------------------------


def _fenced(answer: str) -> list[int]:
    """Return the offsets of arrays and objects that begin a block, best first."""
    labelled: list[int] = []
    others: list[int] = []
    for fence in _FENCE.finditer(answer):
        label = (fence[1] or fence[2] or "").lower()
        start = cast("re.Match[str]", _BLANKS.match(answer, fence.end())).end()
        if _START.match(answer, start):
            (labelled if label.startswith("json") else others).append(start)
    return labelled + others


def _values(answer: str, problems: list[str]) -> Iterator[str]:
    """Yield what may be meant, best first: the whole answer, blocks, arrays and objects in prose.

    Behind one that breaks off there is nothing. A value may come twice.
    """
    whole = answer.strip().removeprefix("\ufeff").strip()
    if _is_json(whole):
        yield whole
        return
    for start in _fenced(answer):
        value, _ = _value_at(answer, start, problems)
        if value is not None:
            yield value
    end: int | None = 0
    while end is not None and (found := _START.search(answer, end)) is not None:
        value, end = _value_at(answer, found.start(), problems)
        if value is not None:
            yield value


def _value_at(text: str, start: int, problems: list[str]) -> tuple[str | None, int | None]:
    """Return the value that starts here, and where to look further; else remember why not.

    What stands inside a value that breaks off is part of it, not the answer: no further, then.
    """
    try:
        _, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        problems.append(f"{error.msg} (line {error.lineno}, column {error.colno})")
        return None, None if _breaks_off(error) else max(error.pos, start + 1)
    except RecursionError:
        problems.append("it is nested too deep")
        return None, None
    return text[start:end], end


def _breaks_off(error: json.JSONDecodeError) -> bool:
    return error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip("`~ \t\r\n")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _no_json(answer: str, problems: list[str]) -> InvalidAnswerError:
    shown = answer.strip()
    shown = f"{shown[:_SHOWN]}…" if len(shown) > _SHOWN else shown
    if not shown:
        return InvalidAnswerError("the answer is empty", answer=answer, problems=("it is empty",))
    why = f": {problems[0]}" if problems else ""
    return InvalidAnswerError(
        f"the answer holds no complete JSON{why}; it begins {shown!r}",
        answer=answer,
        problems=tuple(problems) or ("it holds no JSON",),
    )
