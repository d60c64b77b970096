"""`TextSearch`: BM25 over texts in memory or files on disk, as a data source.

Scores are those of `bm25s`, the extra `promptsections[bm25]`; words and order are ours, so that
the same texts give the same chunks everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from promptsections.blocks import Chunk
from promptsections.errors import DefinitionError
from promptsections.scope import Scope

Words = Callable[[str], Sequence[str]]
"""What of a text is compared: its words, in the form in which they are the same."""

_WORD: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
    "|[^\\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""A Chinese or Japanese character, or a run of other letters and digits."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters; Chinese and Japanese character by character."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _chunks(texts: Iterable[Chunk | str]) -> tuple[Chunk, ...]:
    if isinstance(texts, str):
        raise DefinitionError("texts must be a list: put the text in brackets")
    return tuple(text if isinstance(text, Chunk) else Chunk(text) for text in texts)


@frozen
class TextSearch:
    """Finds the texts that have the words of a query, the best first.

    The index is made once, when this is; it may be asked by any number of threads.

    Raises:
        DefinitionError: `bm25s` is not installed, or `top_k` is no number of texts.
    """

    texts: tuple[Chunk, ...] = field(converter=_chunks)
    """What is searched: texts, or chunks; one without an id gets its place, from 0, as its id."""
    top_k: int = field(default=10, kw_only=True)
    """At most so many are found; how many are sent is for the section to say."""
    words: Words = field(default=words_of, kw_only=True)
    """Splits texts and queries; give another for stemming, stop words or other languages."""
    _index: Any = field(init=False, eq=False, repr=False)
    """`None` where no text has a word."""

    def __attrs_post_init__(self) -> None:
        if type(self.top_k) is not int or self.top_k < 1:
            raise DefinitionError(f"top_k={self.top_k!r} must be 1 text or more")
        named = (
            chunk if chunk.id else evolve(chunk, id=str(place))
            for place, chunk in enumerate(self.texts)
        )
        object.__setattr__(self, "texts", tuple(named))
        object.__setattr__(self, "_index", _index_of([self.words(c.text) for c in self.texts]))

    def __call__(self, query: str, scope: Scope, /) -> list[Chunk]:
        """Return the texts that share a word with the query; equals in the order of the texts."""
        return self.find(query)

    def find(self, query: str) -> list[Chunk]:
        """Do the same without a render."""
        words = list(self.words(query))
        if self._index is None or not words:
            return []
        scores = [round(float(score), 4) for score in self._index.get_scores(words)]
        ranked = sorted(
            (place for place, s in enumerate(scores) if s > 0), key=lambda p: -scores[p]
        )
        return [evolve(self.texts[at], score=scores[at]) for at in ranked[: self.top_k]]

    @classmethod
    def of_files(
        cls,
        folder: str | Path,
        patterns: Iterable[str] = ("**/*.md", "**/*.txt"),
        *,
        passage: int = 1_000,
        top_k: int = 10,
        words: Words = words_of,
    ) -> TextSearch:
        """Search the text files of a folder, passage by passage; they are read now, as UTF-8.

        Args:
            folder: Where they stand; links that lead out of it are not followed.
            patterns: Which of them, as `Path.glob` has it.
            passage: Characters of a passage, as far as whole paragraphs come to that.
            top_k: At most so many passages are found.
            words: As for the class.

        Raises:
            DefinitionError: there is no such folder, or a file is no UTF-8.
        """
        passages = list(passages_of(folder, patterns, most=passage))
        return cls(passages, top_k=top_k, words=words)


def passages_of(
    folder: str | Path, patterns: Iterable[str] = ("**/*.md", "**/*.txt"), *, most: int = 1_000
) -> Iterator[Chunk]:
    """Yield the passages of text files: whole paragraphs, about `most` characters.

    A passage is named after its file and its place there, from 1: `faq/returns.md#2`. The files
    come in the order of their paths.

    Raises:
        DefinitionError: there is no such folder, a file is no UTF-8, or `most` is no size.
    """
    if type(most) is not int or most < 1:
        raise DefinitionError(f"passage={most!r} must be 1 character or more")
    root = Path(folder).resolve()
    if not root.is_dir():
        raise DefinitionError(f"there is no folder {str(folder)!r}")
    given = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    found = {path.resolve() for pattern in given for path in root.glob(pattern) if path.is_file()}
    names = {path.relative_to(root).as_posix(): path for path in found if path.is_relative_to(root)}
    for name, path in sorted(names.items()):
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise DefinitionError(f"{name}: no UTF-8 text: {error}") from error
        for number, passage in enumerate(_passages(text, most), 1):
            yield Chunk(passage, id=f"{name}#{number}", source=name)


def _passages(text: str, most: int) -> Iterator[str]:
    """Put paragraphs together as long as they come to `most` characters; none is parted."""
    passage = ""
    for paragraph in filter(str.strip, re.split(r"\n\s*\n", text)):
        joined = f"{passage}\n\n{paragraph.rstrip()}" if passage else paragraph.strip("\n").rstrip()
        if passage and len(joined) > most:
            yield passage
            joined = paragraph.strip("\n").rstrip()
        passage = joined
    if passage:
        yield passage


def _index_of(texts: Sequence[Sequence[str]]) -> Any:
    try:
        bm25s: Any = import_module("bm25s")
    except ImportError as error:
        raise DefinitionError(
            "TextSearch needs bm25s, which is not installed: pip install 'promptsections[bm25]'"
        ) from error
    if not any(texts):
        return None
    index = bm25s.BM25(method="lucene", auto_compile=False)
    index.index([list(words) for words in texts], show_progress=False)
    return index
