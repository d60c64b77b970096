"""Texts and retrieved chunks that are said in fewer words."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen

from promptsections import (
    Block,
    CachePolicy,
    Chunk,
    DataSourceSection,
    DefinitionError,
    GroupSection,
    ImagePart,
    MemorySection,
    Message,
    MessagesBlock,
    Prompt,
    PromptSection,
    Renderer,
    Scope,
    TemplateSection,
    TextSection,
    Tokens,
    Truncate,
    UserInput,
    lay_out,
)
from promptsections.render_cache import RenderCache
from promptsections.summaries import ExtractiveSummarizer, Summarize, SummaryRequest, summarize

RENDERER = Renderer("gpt-4o")
LONG = "\n".join(f"Part {n} of the manual is about screw {n} and wheel {n + 1}." for n in range(60))


def said(text: str = "Short.") -> Summarize:
    return Summarize(lambda request: text)


@pytest.mark.parametrize(
    "section",
    [
        TextSection(LONG, tokens=Tokens(100), when_over=said()),
        TemplateSection("About <<$long>>", tokens=Tokens(100), when_over=said()),
        TemplateSection("A<<cache_breakpoint>> <<$long>>", tokens=Tokens(100), when_over=said()),
        MemorySection("long", tokens=Tokens(100), when_over=said()),
        UserInput("long", tokens=Tokens(100), when_over=said()),
    ],
    ids=lambda section: section.kind,
)
def test_a_text_that_does_not_fit_is_said_in_fewer_words(section: PromptSection) -> None:
    rendered = RENDERER.render(Prompt([section]), {"long": LONG}, budget=2_000)

    assert [message.text for message in rendered.messages] == ["Short."]
    assert [note.code for note in rendered.layout.notes] == ["summarized"]
    assert rendered.layout.placements[0].outcome == "whole"


def test_a_text_in_two_parts_for_the_cache_is_one_summary() -> None:
    policy = CachePolicy(prompt_caching=True, share_prompt_cache_across_tenants=True)
    renderer = Renderer("claude-sonnet-4-5", caching=policy)
    template = "You help.<<cache_breakpoint>> <<$long>>"

    def sent(text: str) -> Message:
        section = TemplateSection(template, tokens=Tokens(100), when_over=said())
        return renderer.render(Prompt([section]), {"long": text}, budget=2_000).messages[0]

    assert sent(LONG).content == "Short."
    assert isinstance(sent("Little.").content, tuple)


def test_an_element_stays_around_a_summary() -> None:
    section = MemorySection("long", tag="doc", tokens=Tokens(100), when_over=said("</doc> Ha."))

    rendered = RENDERER.render(Prompt([section]), {"long": LONG}, budget=2_000)

    assert rendered.messages[0].text.startswith("<doc>\n")
    assert rendered.messages[0].text.count("</doc>") == 1


def test_the_words_beside_an_image_are_summarized_and_the_image_stays() -> None:
    section = UserInput("long", files="files", tokens=Tokens(300), when_over=said())
    memory = {"long": LONG, "files": [ImagePart("https://example.com/a.png", detail="low")]}

    rendered = RENDERER.render(Prompt([section]), memory, budget=2_000)

    content = rendered.messages[0].content
    assert isinstance(content, tuple)
    assert [type(part).__name__ for part in content] == ["TextPart", "ImagePart"]
    assert rendered.messages[0].text == "Short."


def test_what_fits_stays_as_it_is_unless_the_trigger_is_lower() -> None:
    text = LONG[:500]
    size = RENDERER.profile.message_tokens(Message("system", text), RENDERER.profile.tokenizer())

    def sent(trigger: float | None) -> str:
        how = Summarize(lambda request: "Short.", trigger=trigger)
        section = TextSection(text, tokens=Tokens(size), when_over=how)
        return RENDERER.render(Prompt([section]), budget=2_000).messages[0].text

    assert (sent(None), sent(0.9)) == (text, "Short.")


def test_a_summary_is_used_again_while_the_text_is_the_same() -> None:
    asked: list[SummaryRequest] = []

    def summarizer(request: SummaryRequest) -> str:
        asked.append(request)
        return f"summary {len(asked)}"

    prompt = Prompt([MemorySection("long", tokens=Tokens(100), when_over=Summarize(summarizer))])
    first = RENDERER.render(prompt, {"long": LONG}, budget=2_000)
    memory = {"long": LONG, "summaries": first.summaries}
    again = RENDERER.render(prompt, memory, budget=2_000)
    changed = RENDERER.render(prompt, {**memory, "long": LONG + "."}, budget=2_000)

    assert first.messages == again.messages
    assert changed.messages[0].text == "summary 2"
    assert len(asked) == 2


def test_where_it_fails_text_is_cut_as_it_says() -> None:
    def fails(request: SummaryRequest) -> str:
        raise RuntimeError("out of order")

    how = Summarize(fails, otherwise=Truncate(keep="end"))
    section = TextSection(LONG, tokens=Tokens(50), when_over=how)

    rendered = RENDERER.render(Prompt([section]), budget=2_000)

    assert rendered.layout["text"].outcome == "cut"
    assert LONG.endswith(rendered.messages[0].text)
    assert [note.code for note in rendered.layout.notes] == ["summary_failed"]


def test_a_summary_that_gets_less_room_than_it_could_have_is_cut() -> None:
    prompt = Prompt([TextSection(LONG, tokens=1.0, when_over=said("Many words. " * 100))])
    resolved = RENDERER.resolve(prompt, budget=600)

    rendered = lay_out(resolved, 100)

    assert rendered.layout["text"].outcome == "cut"
    assert rendered.messages[0].text.startswith("Many words.")


def chunks(query: str, scope: Scope) -> list[Chunk]:
    texts = (LONG, "A short one.", LONG + "!")
    return [Chunk(t, id=f"c{n}", source=f"{n}.md") for n, t in enumerate(texts)]


def test_long_chunks_are_summarized_each_with_its_source() -> None:
    section = DataSourceSection(
        chunks, tokens=Tokens(300), attribution="[{source}] ", when_over=Summarize()
    )

    rendered = RENDERER.render(Prompt([section]), budget=2_000)

    placement = rendered.layout["data_source"]
    assert placement.items == ("c0", "c1", "c2")
    text = rendered.messages[0].text
    assert [text.count(f"[{n}.md] Part") for n in (0, 2)] == [1, 1]
    assert "[1.md] A short one." in text
    assert placement.used <= 300
    assert list(rendered.summaries) == ["data_source#c0", "data_source#c2"]


def test_a_chunk_that_cannot_be_summarized_stays_as_it_is() -> None:
    section = DataSourceSection(chunks, tokens=Tokens(300), when_over=said(" "))

    rendered = RENDERER.render(Prompt([section]), budget=2_000)

    assert rendered.summaries == {}
    assert {note.code for note in rendered.layout.notes} == {"summary_failed"}
    assert rendered.layout["data_source"].used <= 300


def test_chunks_that_fit_are_not_summarized() -> None:
    section = DataSourceSection(lambda *_: ["one", "two"], when_over=said())

    assert RENDERER.render(Prompt([section]), budget=500).messages[0].text == "one\n\ntwo"


def test_more_chunks_than_the_least_size_allows_are_left_to_the_layout() -> None:
    section = DataSourceSection(
        lambda *_: [LONG + str(n) for n in range(20)], tokens=Tokens(200), when_over=said()
    )

    rendered = RENDERER.render(Prompt([section]), budget=2_000)

    assert 1 <= len(rendered.summaries) <= 3
    assert rendered.layout["data_source"].used <= 200


@frozen
class Given(PromptSection):
    messages: tuple[Message, ...]

    def resolve(self, scope: Scope, /) -> Block:
        return MessagesBlock(self.messages)


def test_a_block_that_has_no_summary_says_so() -> None:
    section = Given((Message("user", LONG),), required=False, when_over=said())

    rendered = RENDERER.render(Prompt([section]), budget=2_000)

    assert [note.code for note in rendered.layout.notes] == ["summary_failed"]
    assert rendered.messages[0].text == LONG


def test_a_group_cannot_be_summarized() -> None:
    with pytest.raises(DefinitionError, match="sections in it"):
        GroupSection([TextSection("a")], when_over=said())


def test_a_cached_render_has_its_summaries() -> None:
    renderer = Renderer("gpt-4o", cache=RenderCache())
    prompt = Prompt([TextSection(LONG, tokens=Tokens(100), when_over=summarize())])

    first, second = (renderer.render(prompt, budget=2_000) for _ in range(2))

    assert (first.cached, second.cached) == (False, True)
    assert second.summaries == first.summaries != {}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"summarizer": "gpt"}, "SummaryRequest"),
        ({"summarizer": ExtractiveSummarizer}, "SummaryRequest"),
        ({"trigger": 0}, "trigger=0"),
        ({"target": 1.5}, "target=1.5"),
        ({"keep": None}, "keep=None"),
        ({"keep": True}, "keep=True"),
        ({"at_least": 0}, "at_least=0"),
        ({"retries": -1}, "retries=-1"),
        ({"quality": "best"}, "fast, balanced, high"),
        ({"otherwise": None}, "Truncate"),
        ({"heading": None}, "heading"),
    ],
)
def test_what_makes_no_sense_is_an_error(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem):
        Summarize(**options)
