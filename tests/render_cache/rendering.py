"""Prompts and sources for tests of the cache."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from promptsections import (
    ConversationHistory,
    DataSourceSection,
    GroupSection,
    Prompt,
    PromptSection,
    RenderedPrompt,
    Renderer,
    SystemMessage,
    UserInput,
)
from promptsections.errors import PromptSectionsError
from promptsections.render_cache import RenderCache, cacheable
from promptsections.testing import FakeSource, WordTokenizer


def renderer(cache: RenderCache | None = None, **options: Any) -> Renderer:
    return Renderer(tokenizer=WordTokenizer(), cache=cache, **options)


def chat(source: FakeSource | None = None) -> Prompt:
    """A usual prompt; the source is asked once for each render that is made."""
    documents = [] if source is None else [DataSourceSection(cacheable(source, key="docs"))]
    return Prompt(
        [SystemMessage("Hello <<$user.name>>"), *documents, ConversationHistory(), UserInput()]
    )


def memory(**more: Any) -> dict[str, Any]:
    return {
        "user": {"name": "Bo", "age": 3},
        "input": "why",
        "history": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        **more,
    }


def declared(section: Any) -> Any:
    """Declare the sources of all sections of a prompt."""
    if isinstance(section, GroupSection):
        return evolve(section, sections=[declared(child) for child in section.sections])
    if isinstance(section, DataSourceSection):
        return evolve(section, source=cacheable(section.source, key="fake"))
    return section


def outcome(renderer: Renderer, prompt: PromptSection, memory: Any, **options: Any) -> Any:
    """Return what a render returns or raises, without remarks on the cache."""
    try:
        rendered: RenderedPrompt = renderer.render(prompt, memory, **options)  # type: ignore[arg-type]
    except PromptSectionsError as error:
        return type(error), str(error)
    notes = tuple(note for note in rendered.layout.notes if note.code != "not_cached")
    return evolve(rendered, layout=evolve(rendered.layout, notes=notes))


def refusals(rendered: RenderedPrompt) -> list[tuple[str, str]]:
    return [(n.path, n.detail) for n in rendered.layout.notes if n.code == "not_cached"]
