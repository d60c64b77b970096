"""How exactly a prompt is counted: always, never, or only where it could be too long.

It knows no prompt: what is near a limit, a layout finds out.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from attrs import field, frozen

from promptsections.errors import DefinitionError
from promptsections.tokens.approximate import ApproximateTokenizer, ScaledTokenizer
from promptsections.tokens.bundled import BundledTokenizer
from promptsections.tokens.cache import CachedTokenizer, cached
from promptsections.tokens.estimates import (
    ESTIMATION_MODELS,
    EstimatedTokenizer,
    EstimationModel,
    find_estimation,
)
from promptsections.tokens.tiktoken_encoding import TiktokenTokenizer
from promptsections.tokens.tokenizer import Joints, Tokenizer, is_loaded, joints_of

Strategy = Literal["precise", "estimated", "hybrid"]
"""How exactly tokens are counted.

| written | counts |
|---|---|
| `"precise"` | everything with the model's tokenizer |
| `"estimated"` | nothing: a prompt can be longer than its budget by the error of the estimate |
| `"hybrid"` | estimates where a prompt certainly fits, whatever its text; otherwise precisely |
"""
_BYTES: Final = ApproximateTokenizer(bytes_per_token=1, name="bytes")
"""Never less than a byte-level vocabulary: each token stands for a byte at least."""


@frozen
class HybridTokenizer:
    """Counts exactly, and says how a layout may estimate where nothing depends on it."""

    tokenizer: CachedTokenizer = field(converter=cached)
    """What counts."""
    estimate: Tokenizer
    """What is reported where it is not needed."""

    @property
    def bound(self) -> Tokenizer | None:
        """What never counts less than the tokenizer, without a vocabulary; `None` if unknown."""
        return _bound(self.tokenizer)

    @property
    def name(self) -> str:
        """The names of both."""
        return f"{self.tokenizer.name} or {self.estimate.name}"

    @property
    def exact(self) -> bool:
        """As the tokenizer that counts."""
        return self.tokenizer.exact

    @property
    def joints(self) -> Joints:
        """As the tokenizer that counts."""
        return joints_of(self.tokenizer)

    @property
    def loaded(self) -> bool:
        """Whether counting can begin at once."""
        return is_loaded(self.tokenizer)

    def count(self, text: str, /) -> int:
        """Count the tokens of `text` with the tokenizer."""
        return self.tokenizer.count(text)


def with_strategy(
    tokenizer: Tokenizer, strategy: Strategy, estimation: str | EstimationModel | None, model: str
) -> Tokenizer:
    """Return the tokenizer that counts as a strategy says.

    Args:
        tokenizer: The model's.
        strategy: How exactly to count.
        estimation: What estimates: a model or its name; by default what suits the tokenizer.
        model: Name of the model that is counted for.

    Raises:
        DefinitionError: no such strategy or estimation model.
    """
    if strategy not in get_args(Strategy):
        raise DefinitionError(
            f"counting={strategy!r} must be one of {', '.join(map(repr, get_args(Strategy)))}"
        )
    if strategy == "precise":
        if estimation is not None:
            raise DefinitionError(
                f"estimation={estimation!r} needs counting='estimated' or 'hybrid'"
            )
        return tokenizer
    estimate = EstimatedTokenizer(_estimation(estimation, tokenizer, model))
    return estimate if strategy == "estimated" else HybridTokenizer(tokenizer, estimate)


def hybrid_of(tokenizer: Tokenizer) -> HybridTokenizer | None:
    """Return the hybrid tokenizer that this is, with a cache or without."""
    inner = tokenizer.tokenizer if isinstance(tokenizer, CachedTokenizer) else tokenizer
    return inner if isinstance(inner, HybridTokenizer) else None


def _estimation(
    wanted: str | EstimationModel | None, tokenizer: Tokenizer, model: str
) -> EstimationModel:
    match wanted:
        case EstimationModel():
            return wanted
        case None:
            known = "claude" in model.casefold()
            return find_estimation(model if known else tokenizer.name)
        case _ if wanted in ESTIMATION_MODELS:
            return ESTIMATION_MODELS[wanted]
        case _:
            raise DefinitionError(
                f"estimation={wanted!r} must be an EstimationModel or one of "
                f"{', '.join(map(repr, ESTIMATION_MODELS))}"
            )


def _bound(tokenizer: Tokenizer) -> Tokenizer | None:
    match tokenizer:
        case CachedTokenizer():
            return _bound(tokenizer.tokenizer)
        case BundledTokenizer():
            return _BYTES
        case TiktokenTokenizer() if isinstance(tokenizer.encoding, str):
            return _BYTES
        case ScaledTokenizer():
            base = _bound(tokenizer.base)
            return None if base is None else ScaledTokenizer(base, tokenizer.factor)
        case _:
            return None
