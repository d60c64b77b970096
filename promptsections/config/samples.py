"""`SampleSource`: a data source that a file brings along, so that it renders as it stands."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from promptsections.blocks import Chunk
from promptsections.scope import Scope


@frozen
class SampleSource:
    """Returns the chunks that stand in the file, whatever it is asked."""

    name: str
    """What the file calls the data source."""
    chunks: tuple[Chunk, ...] = ()

    def __call__(self, query: str, scope: Scope, /) -> Sequence[Chunk]:
        """Return the chunks."""
        return self.chunks
