"""Any retriever of LlamaIndex as a data source, told by its methods: it is not imported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import field, frozen

from promptsections.blocks import Chunk
from promptsections.errors import DefinitionError
from promptsections.retrieval.results import (
    Chunks,
    ask,
    check_methods,
    first_text,
    metadata_of,
    number,
)
from promptsections.scope import Scope


def _keys(value: Iterable[str] | str) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@frozen
class LlamaIndexSource:
    """Asks `retrieve(query)`, under `arender()` `aretrieve(query)`; nodes become chunks.

    Raises:
        DefinitionError: the retriever has neither method.
    """

    retriever: Any
    source_keys: tuple[str, ...] = field(
        default=("source", "url", "title", "file_path", "file_name"),
        kw_only=True,
        converter=_keys,
    )
    """Where the metadata says where a node comes from: the first that is there."""

    def __attrs_post_init__(self) -> None:
        check_methods(self.retriever, "retrieve", "aretrieve", library="LlamaIndex")

    def __call__(self, query: str, scope: Scope, /) -> Chunks:
        """Return what is found for the query, in the retriever's order."""
        return ask(self.retriever, ("retrieve", "aretrieve"), query, scope, read=self._chunk)

    def _chunk(self, found: object) -> Chunk:
        node = getattr(found, "node", found)
        content = getattr(node, "get_content", None)
        text = content() if callable(content) else getattr(node, "text", None)
        if not isinstance(text, str):
            raise DefinitionError(
                f"the retriever returned {type(found).__name__}: a node has get_content() or text"
            )
        metadata = metadata_of(node)
        return Chunk(
            text,
            score=number(getattr(found, "score", None)),
            id=getattr(node, "node_id", None),
            source=first_text(metadata, self.source_keys),
            metadata=metadata or None,
        )
