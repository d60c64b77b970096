"""`DataSourceSection`: of the chunks that a data source finds, those that matter and fit.

It knows how chunks are chosen, attributed and fenced; it knows no particular source.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from attrs import Attribute, evolve, field, frozen

from promptsections.blocks import Block, Chunk, ItemsBlock
from promptsections.budgets import Budget, Share, whole_tokens
from promptsections.errors import DefinitionError, InvalidBudgetError
from promptsections.fences import Fence, Fenced, to_secret
from promptsections.markup import Enclosure, Escape
from promptsections.messages import Message, Role
from promptsections.retrieval.attribution import Attribution, attribute, check_attribution
from promptsections.retrieval.choosing import (
    ChosenChunks,
    ChunkRules,
    Key,
    Order,
    choose_chunks,
)
from promptsections.scope import Scope
from promptsections.sections.base import (
    Content,
    PromptSection,
    check_budget,
    check_role,
    check_text,
    read_budget,
)
from promptsections.sections.trims import TrimTo, check_trims, trim_step_in
from promptsections.sections.wrapping import element_of, wrapped
from promptsections.selectors import Missing
from promptsections.templates import Deferred, to_text

DataSource = Callable[[str, Scope], Iterable[Chunk | str] | Awaitable[Iterable[Chunk | str]]]
"""`source(query, scope)` → chunks, best first; plain or async."""


def _check_source(section: PromptSection, _: Attribute[Any], value: object) -> None:
    if not callable(value):
        raise DefinitionError(
            f"section {section.name or section.kind!r}: source must be a function of query and "
            f"scope, not {type(value).__name__}"
        )


def _optional_tokens(value: Any) -> int | None:
    return None if value is None else whole_tokens(value)


@frozen
class DataSourceSection(PromptSection):
    """Ranked chunks from a data source: whole chunks, the best, as many as fit."""

    source: DataSource = field(validator=_check_source)
    query: str = field(default="input", validator=check_text)
    """Path in memory of what is asked for; `""` if it is missing."""
    role: Role = field(default="system", validator=check_role)
    tokens: Budget = field(
        default=Share(0.3), kw_only=True, converter=read_budget, validator=check_budget
    )
    required: bool = field(default=False, kw_only=True)
    separator: str = field(default="\n\n", kw_only=True)
    """Stands between chunks."""
    max_tokens: int | None = field(default=None, kw_only=True, converter=_optional_tokens)
    """The most tokens that it may have, whatever `tokens` says: the `at_most` of its budget."""
    min_relevance: float | None = field(default=None, kw_only=True)
    """The lowest score of a chunk that is sent."""
    unscored: Missing = field(default="drop", kw_only=True)
    """With `min_relevance`: what becomes of a chunk without a score."""
    distinct: Key | None = field(default=None, kw_only=True)
    """Of chunks that are the same in this, only the first in rank is sent: `"text"`, `"words"`
    (whatever their case, marks and blanks), `"id"`, `"source"`, or a function of the chunk."""
    top_k: int | None = field(default=None, kw_only=True)
    """At most so many chunks, even if more would fit."""
    order: Order = field(default="source", kw_only=True)
    """Which chunks come first into the room, and how they are shown: `"source"`: as the source
    gives them; `"relevance"`: by score, the highest first; `"given"`: chosen by score, and shown
    as the source gives them."""
    attribution: Attribution | None = field(default=None, kw_only=True)
    """What stands in front of each chunk, cut or not: a text such as `"[{source}] "`, or a function
    of the chunk."""
    tag: str | None = field(default=None, kw_only=True)
    """Name of an XML element to put the chunks in."""
    escape: Escape = field(default="closing_tag", kw_only=True)
    """What is done about markup in them, as in `MemorySection`."""
    fence: Fence | None = field(default=None, kw_only=True)
    """Keeps chunks that others wrote apart from instructions, instead of a `tag`."""
    trim_to: TrimTo = field(default="by_caching", kw_only=True)
    """Where not all chunks fit: as many as fit that part of the most it may have, or that and one
    step more, and so on, so that they stay the same when the room changes a little. By default 0.7
    where the renderer's caching is on and `stability` is not "turn", otherwise none."""
    trim_step: int | None = field(default=None, kw_only=True)
    """The size of such a step in tokens, instead of `trim_to`."""

    def __attrs_post_init__(self) -> None:
        check_trims(self.trim_to, self.trim_step)
        who = self.name or self.kind
        element = element_of(self.tag, self.escape, owner=who)
        try:
            _ = self.rules
            check_attribution(self.attribution)
        except DefinitionError as error:
            raise DefinitionError(f"section {who!r}: {error}") from None
        if element is not None and self.fence is not None:
            raise DefinitionError(
                f"section {who!r}: a fence is an element already: write Fence(…, label={self.tag!r}"
                ") and no tag"
            )
        _ = self.budget  # says what is wrong with max_tokens

    @property
    def budget(self) -> Budget:
        """The budget, at most `max_tokens`."""
        budget = super().budget
        most = self.max_tokens
        if most is None:
            return budget
        try:
            return evolve(budget, at_most=min(most, budget.at_most or most))
        except InvalidBudgetError as error:
            who = self.name or self.kind
            raise InvalidBudgetError(
                f"section {who!r}: max_tokens={most}: {error}", value=most, section=who
            ) from None

    @property
    def rules(self) -> ChunkRules:
        """Which of the chunks that the source finds are offered."""
        return ChunkRules(
            top_k=self.top_k,
            min_relevance=self.min_relevance,
            unscored=self.unscored,
            distinct=self.distinct,
            order=self.order,
        )

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the chunks as one message."""
        query = to_text(scope.read(self.query, ""), name=self.query)

        async def found() -> Content:
            chunks = [_chunk(item) for item in await scope.fetch(self.source, query)]
            chosen = choose_chunks(chunks, self.rules)
            for refusal in chosen.refused:
                names = ", ".join(map(repr, refusal.names))
                scope.note(refusal.code, f"{names}: {refusal.why}")
            return self._block(chosen, scope)

        return Deferred(found)

    def _block(self, chosen: ChosenChunks, scope: Scope) -> Block:
        enclosure = self._enclosure(chosen, scope)
        return ItemsBlock(
            chosen.chunks,
            Message(self.role),
            separator=self.separator,
            cut=self.cut,
            limit=self.budget.ceiling,
            heads=self._heads(chosen, _as_it_is if enclosure is None else enclosure.encode),
            places=chosen.places if self.order == "given" else (),
            trim_step=trim_step_in(scope, self.trim_to, self.trim_step, self.stability or "turn"),
            **wrapped(enclosure, (chunk.text for chunk in chosen.chunks), scope),
        )

    def _heads(self, chosen: ChosenChunks, encode: Callable[[str], str]) -> Sequence[str]:
        form = self.attribution
        if form is None:
            return ()
        placed = zip(chosen.chunks, chosen.places, strict=True)
        return [attribute(form, chunk, place, encode=encode) for chunk, place in placed]

    def _enclosure(self, chosen: ChosenChunks, scope: Scope) -> Enclosure | None:
        if self.fence is None:
            return element_of(self.tag, self.escape, owner=self.name or self.kind)
        heads = self._heads(chosen, _as_it_is)
        texts = [*heads, *(chunk.text for chunk in chosen.chunks)]
        return fenced(self.fence, texts, scope)


def fenced(fence: Fence, texts: Sequence[str], scope: Scope) -> Fenced:
    """Return the fence around texts, with the key that it has or that memory holds.

    Raises:
        UndefinedVariableError: memory holds none.
    """
    key = fence.key
    if key is None:
        assert fence.variable is not None
        key = to_secret(scope.read(fence.variable))
    return fence.around(texts, key)


def _as_it_is(text: str) -> str:
    return text


def _chunk(value: object) -> Chunk:
    if isinstance(value, Chunk):
        return value
    if isinstance(value, str):
        return Chunk(value)
    raise DefinitionError(f"a data source returned {type(value).__name__}: return Chunk or str")
