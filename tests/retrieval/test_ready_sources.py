"""Retrievers of other libraries and search in texts, as data sources."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    Chunk,
    DataSourceSection,
    DefinitionError,
    NeedsEventLoopError,
    Prompt,
    Renderer,
)
from promptsections.retrieval import (
    LangChainSource,
    LlamaIndexSource,
    TextSearch,
    passages_of,
    words_of,
)

RENDERER = Renderer(tokenizer=lambda text: len(text.split()))


def document(text: Any, key: str | None = None, **metadata: Any) -> Any:
    return SimpleNamespace(page_content=text, metadata=metadata, id=key)


def node(text: Any, score: float | None = None, **metadata: Any) -> Any:
    inner = SimpleNamespace(get_content=lambda: text, metadata=metadata, node_id=f"n-{text}")
    return SimpleNamespace(node=inner, score=score)


class Plain:
    """A retriever that is asked and answers."""

    def __init__(self, found: Any) -> None:
        self.found = found
        self.asked: list[str] = []

    def invoke(self, query: str) -> Any:
        self.asked.append(query)
        return self.found

    retrieve = invoke


class Awaited:
    """A retriever that must be awaited."""

    def __init__(self, found: Any) -> None:
        self.found = found
        self.asked: list[str] = []

    async def ainvoke(self, query: str) -> Any:
        self.asked.append(query)
        await anyio.sleep(0)
        return self.found

    aretrieve = ainvoke


class Both(Plain, Awaited):
    """A retriever with both."""

    def invoke(self, query: str) -> Any:
        raise AssertionError("the plain method was asked under arender()")

    retrieve = invoke


SOURCES = [(LangChainSource, document), (LlamaIndexSource, node)]


@pytest.mark.parametrize(("make", "item"), SOURCES)
def test_a_retriever_is_asked_as_the_render_may_wait(make: Any, item: Any) -> None:
    def prompt(retriever: Any) -> Prompt:
        return Prompt([DataSourceSection(make(retriever), tokens=1.0)])

    plain, both, awaited = Plain([item("a b")]), Both([item("a b")]), Awaited([item("a b")])
    memory = {"input": "why?"}

    rendered = [RENDERER.render(prompt(plain), memory, budget=9)]
    for retriever in (plain, both, awaited):

        async def later(retriever: Any = retriever) -> Any:
            return await RENDERER.arender(prompt(retriever), memory, budget=9)

        rendered.append(anyio.run(later))

    assert [one.messages[0].text for one in rendered] == ["a b"] * 4
    assert (plain.asked, both.asked, awaited.asked) == (["why?"] * 2, ["why?"], ["why?"])
    with pytest.raises(NeedsEventLoopError):
        RENDERER.render(prompt(awaited), memory, budget=9)


def ask(source: Callable[..., Any]) -> list[Chunk]:
    return source("q", SimpleNamespace(may_await=False))


def test_documents_of_langchain_become_chunks() -> None:
    found = [
        document("one", "d1", source="a.md", relevance_score=0.75, page=2),
        (document("two", title="B"), 0.5),
        document("three", source="", url="u", relevance_score="high"),
        document("four"),
    ]

    assert ask(LangChainSource(Plain(found))) == [
        Chunk(
            "one",
            id="d1",
            source="a.md",
            score=0.75,
            metadata={"source": "a.md", "relevance_score": 0.75, "page": 2},
        ),
        Chunk("two", source="B", score=0.5, metadata={"title": "B"}),
        Chunk("three", source="u", metadata={"source": "", "url": "u", "relevance_score": "high"}),
        Chunk("four"),
    ]
    own = LangChainSource(
        Plain([document("x", sim=1, file="f")]), score_keys="sim", source_keys="file"
    )
    assert [(chunk.score, chunk.source) for chunk in ask(own)] == [(1.0, "f")]
    assert ask(LangChainSource(Plain(None))) == []


def test_nodes_of_llamaindex_become_chunks() -> None:
    bare = SimpleNamespace(text="two", metadata=None)

    assert ask(LlamaIndexSource(Plain([node("one", 0.5, file_name="a.md"), bare]))) == [
        Chunk("one", id="n-one", source="a.md", score=0.5, metadata={"file_name": "a.md"}),
        Chunk("two"),
    ]


@pytest.mark.parametrize(("make", "item"), SOURCES)
def test_what_is_no_retriever_and_no_document_is_an_error(make: Any, item: Any) -> None:
    with pytest.raises(DefinitionError, match="no retriever of"):
        make(SimpleNamespace())
    with pytest.raises(DefinitionError, match="the retriever returned"):
        ask(make(Plain([SimpleNamespace()])))


TEXTS = ["Returns are free.", "Gift cards never expire.", "Refunds of gift cards", "退货免费"]


def test_texts_are_found_by_their_words_best_first() -> None:
    search = TextSearch(TEXTS)

    assert [c.text for c in search.find("GIFT refunds?")] == [TEXTS[2], TEXTS[1]]
    assert [c.id for c in search.find("货")] == ["3"]
    assert search.find("nothing like it") == search.find("") == search.find("?!") == []
    assert TextSearch([]).find("a") == TextSearch(["", "?"]).find("a") == []
    assert len(TextSearch(TEXTS, top_k=1).find("gift")) == 1
    scores = [c.score or 0 for c in search.find("gift refunds")]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_equal_texts_are_found_in_their_order() -> None:
    search = TextSearch(["same words"] * 50 + ["other"], top_k=7)

    assert [chunk.id for chunk in search.find("same")] == list("0123456")


@given(st.lists(st.text("abc ", max_size=8), max_size=8), st.text("abc ", max_size=5))
def test_what_is_found_shares_a_word_with_the_query(texts: list[str], query: str) -> None:
    """Exactly those texts are found that have one of the words."""
    words = set(words_of(query))

    found = TextSearch(texts, top_k=99).find(query)

    sharing = {str(at) for at, text in enumerate(texts) if words & set(words_of(text))}
    assert {chunk.id for chunk in found} == sharing


def test_a_search_is_a_data_source() -> None:
    chunks = [Chunk("gift card", id="c1"), "gift"]
    section = DataSourceSection(TextSearch(chunks, words=str.split), tokens=1.0)

    rendered = RENDERER.render(Prompt([section]), {"input": "gift card"}, budget=9)

    assert rendered.layout["data_source"].items == ("c1", "1")


def test_files_are_read_passage_by_passage(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "two.md").write_text("\ufeffone\n\n  two\n\nthree is long\n", encoding="utf-8")
    (folder / "a.txt").write_text("free gifts", encoding="utf-8")
    (folder / "empty.md").write_text("\n \n", encoding="utf-8")
    (folder / "c.py").write_text("no", encoding="utf-8")
    (tmp_path / "secret.md").write_text("outside", encoding="utf-8")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")

    passages = list(passages_of(folder, most=12))

    assert [(c.id, c.text) for c in passages] == [
        ("a.txt#1", "free gifts"),
        ("b/two.md#1", "one\n\n  two"),
        ("b/two.md#2", "three is long"),
    ]
    assert passages[0].source == "a.txt"
    [found] = TextSearch.of_files(folder, "*.txt").find("gifts")
    assert found.id == "a.txt#1"


def test_what_cannot_be_searched_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe")
    with pytest.raises(DefinitionError, match=r"bad\.md: no UTF-8"):
        TextSearch.of_files(tmp_path)
    with pytest.raises(DefinitionError, match="no folder"):
        TextSearch.of_files(tmp_path / "none")
    with pytest.raises(DefinitionError, match="passage=0"):
        TextSearch.of_files(tmp_path, passage=0)
    with pytest.raises(DefinitionError, match="top_k=0"):
        TextSearch([], top_k=0)
    with pytest.raises(DefinitionError, match="in brackets"):
        TextSearch("text")
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(DefinitionError, match="pip install"):
        TextSearch(["a"])
