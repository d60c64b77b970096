"""What a tokenizer is: a name, whether it is exact, and a count.

It knows no vocabulary, no cache and no message format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

from attrs import field, frozen

from promptsections.errors import DefinitionError
from promptsections.tokens.bundled import BundledTokenizer
from promptsections.tokens.tiktoken_encoding import OrdinaryEncoding, TiktokenTokenizer

Joints = Literal["strong", "none"]
"""`strong`: counts add exactly at strong boundaries (see `boundaries`). `none`: no promise."""


@runtime_checkable
class Tokenizer(Protocol):
    """Something that counts tokens.

    Two further members are used where they are present: `joints`, a promise about how counts add
    (see `Joints`; absent means `none`), and `encode(text) -> Sequence[int]`.
    """

    @property
    def name(self) -> str:
        """What names this way of counting; part of every cache key."""
        ...

    @property
    def exact(self) -> bool:
        """Whether the count is what the provider will bill, rather than an estimate."""
        ...

    def count(self, text: str, /) -> int:
        """Count the tokens of `text` as ordinary text; never negative."""
        ...


@frozen
class CallableTokenizer:
    """A tokenizer made from a function that counts."""

    name: str
    """What names this way of counting; part of every cache key."""
    function: Callable[[str], int] = field(repr=False)
    """Takes a text, gives its number of tokens."""
    exact: bool = True
    """Whether the count is what the provider will bill."""
    joints: Joints = "none"
    """What the function promises about joined texts."""

    def count(self, text: str, /) -> int:
        """Count the tokens of `text`; an answer that is no count is a `DefinitionError`."""
        return checked_count(self.name, self.function(text))


def checked_count(name: str, answer: object) -> int:
    """Return `answer` if it is a count, a whole number of at least 0; `name` is for the error."""
    if isinstance(answer, int) and not isinstance(answer, bool) and answer >= 0:
        return answer
    is_list = type(answer) in (list, tuple)
    hint = " (are these the tokens? return their number)" if is_list else ""
    shown = repr(answer)[:80]
    raise DefinitionError(
        f"tokenizer {name!r} must return a whole number >= 0, but returned {shown}{hint}"
    )


def joints_of(tokenizer: Tokenizer) -> Joints:
    """What `tokenizer` promises about joined texts; `none` if it does not say."""
    return "strong" if getattr(tokenizer, "joints", "none") == "strong" else "none"


def encoder_of(tokenizer: Tokenizer) -> Callable[[str], Sequence[int]] | None:
    """The `encode` of `tokenizer`, or `None` if it has none."""
    encode: Callable[[str], Sequence[int]] | None = getattr(tokenizer, "encode", None)
    return encode


def is_loaded(tokenizer: object) -> bool:
    """Say whether counting can begin at once, or must read a vocabulary first (about 150 ms)."""
    return bool(getattr(tokenizer, "loaded", True))


def as_tokenizer(value: object) -> Tokenizer:
    """Make a tokenizer of what people have at hand.

    Takes a `Tokenizer` (returned as it is), the name of a bundled encoding, a `tiktoken.Encoding`,
    an object with `count_tokens`, or a function from text to a number of tokens. Anything else is a
    `DefinitionError`.
    """
    if isinstance(value, str):
        return BundledTokenizer(value)
    if isinstance(value, type):
        raise _not_a_tokenizer(value, f"it is a class; write {value.__name__}()")
    if isinstance(value, OrdinaryEncoding):
        return TiktokenTokenizer(value)
    if isinstance(value, Tokenizer):
        return value
    function: Callable[[str], int] | None = (
        getattr(value, "count_tokens", None) or getattr(value, "__call__", None)  # noqa: B004 - a bound method is what is wanted
    )
    if function is not None:
        return _from_function(value, function)
    missing = [name for name in ("name", "exact", "count") if not hasattr(value, name)]
    raise _not_a_tokenizer(value, f"it has no {' and no '.join(missing)}")


def _from_function(owner: object, function: Callable[..., int]) -> CallableTokenizer:
    name = getattr(owner, "name", None)
    return CallableTokenizer(
        name=name if isinstance(name, str) and name else _name_of(owner),
        function=function,
        exact=bool(getattr(owner, "exact", True)),
        joints="strong" if getattr(owner, "joints", "none") == "strong" else "none",
    )


def _name_of(owner: object) -> str:
    """Name a function by where it stands, the same in every process."""
    named = owner if hasattr(owner, "__qualname__") else type(owner)
    place = f"{named.__module__}.{getattr(named, '__qualname__', type(owner).__qualname__)}"
    code = getattr(owner, "__code__", None)
    return place if code is None else f"{place}:{code.co_firstlineno}"


def _not_a_tokenizer(value: object, why: str) -> DefinitionError:
    shown = repr(value)[:80]
    return DefinitionError(
        f"{shown} is no tokenizer: {why}. Give an object with name, exact and count(text), "
        'a function from text to a number of tokens, or the name "o200k_base" or "cl100k_base"'
    )
