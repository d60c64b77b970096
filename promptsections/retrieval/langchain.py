"""Any retriever of LangChain as a data source, told by its methods: LangChain is not imported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

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
class LangChainSource:
    """Asks `invoke(query)`, under `arender()` `ainvoke(query)`; documents become chunks.

    Raises:
        DefinitionError: the retriever has neither method.
    """

    retriever: Any
    score_keys: tuple[str, ...] = field(default=("relevance_score",), kw_only=True, converter=_keys)
    """Where the metadata of a document has its score, if higher is better: the first that is there.
    A pair of document and score needs none."""
    source_keys: tuple[str, ...] = field(
        default=("source", "url", "title"), kw_only=True, converter=_keys
    )
    """Where the metadata says where a document comes from: the first that is there."""

    def __attrs_post_init__(self) -> None:
        check_methods(self.retriever, "invoke", "ainvoke", library="LangChain")

    def __call__(self, query: str, scope: Scope, /) -> Chunks:
        """Return what is found for the query, in the retriever's order."""
        return ask(self.retriever, ("invoke", "ainvoke"), query, scope, read=self._chunk)

    def _chunk(self, found: object) -> Chunk:
        score: float | None = None
        document = found
        if isinstance(found, tuple):
            document, rated = cast("tuple[object, object]", found)
            score = number(rated)
        text = getattr(document, "page_content", None)
        if not isinstance(text, str):
            raise DefinitionError(
                f"the retriever returned {type(document).__name__}: a Document has page_content"
            )
        metadata = metadata_of(document)
        rated = (number(metadata.get(key)) for key in self.score_keys)
        return Chunk(
            text,
            score=score if score is not None else next((r for r in rated if r is not None), None),
            id=getattr(document, "id", None),
            source=first_text(metadata, self.source_keys),
            metadata=metadata or None,
        )
