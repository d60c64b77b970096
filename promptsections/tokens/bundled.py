"""The bundled encodings, counted by the fastest sound backend that is installed.

It knows no cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import field, frozen

from promptsections.tokens.fast import FastEncoding, is_installed, load_fast
from promptsections.tokens.tiktoken_encoding import TiktokenTokenizer, check_bundled

Backend = Literal["toktok", "tiktoken"]


@frozen
class BundledTokenizer:
    """Counts with a bundled encoding: what a model, or a name like "o200k_base", stands for.

    tiktoken counts, unless the extra `promptsections[fast]` is installed and sound: then toktok
    does, and gives the same counts. What counts is chosen by the first count, once per process. To
    have tiktoken in any case, use `TiktokenTokenizer`.
    """

    encoding: str = field(default="o200k_base", validator=check_bundled)
    """`o200k_base` or `cl100k_base`."""

    @property
    def name(self) -> str:
        """The name of the encoding."""
        return self.encoding

    @property
    def exact(self) -> bool:
        """Always true: these are the vocabularies that the models use."""
        return True

    @property
    def joints(self) -> Literal["strong"]:
        """Always `strong`, see `boundaries`."""
        return "strong"

    @property
    def backend(self) -> Backend:
        """What counts; to know whether toktok is sound, it is loaded."""
        return "toktok" if isinstance(self._chosen(), FastEncoding) else "tiktoken"

    @property
    def loaded(self) -> bool:
        """Whether counting can begin at once, or must read a vocabulary first."""
        chosen = _chosen.get(self.encoding)
        return chosen is not None and (isinstance(chosen, FastEncoding) or chosen.loaded)

    def count(self, text: str, /) -> int:
        """Count the tokens of `text` as ordinary text."""
        return (_chosen.get(self.encoding) or self._chosen()).count(text)

    def encode(self, text: str, /) -> Sequence[int]:
        """Encode `text` as ordinary text."""
        return self._chosen().encode(text)

    def _chosen(self) -> FastEncoding | TiktokenTokenizer:
        chosen = _chosen.get(self.encoding)
        if chosen is not None:
            return chosen
        fast = load_fast(self.encoding) if is_installed() else None
        # Of two threads that choose at once, both take the choice of the first.
        return _chosen.setdefault(self.encoding, fast or TiktokenTokenizer(self.encoding))


_chosen: dict[str, FastEncoding | TiktokenTokenizer] = {}
"""Name → what counts."""
