"""`RenderCache`: what is a hit, what is a miss, what is not kept and why."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import defaultdict
from datetime import date
from typing import Any, ClassVar

import attrs
import pytest
from rendering import chat, memory, refusals, renderer

from promptsections import (
    CachePolicy,
    Content,
    ConversationHistory,
    DataSourceSection,
    DefinitionError,
    MemorySection,
    Message,
    NewestFirst,
    Prompt,
    PromptSection,
    Renderer,
    Scope,
    ScopedMemory,
    SystemMessage,
    TextSection,
    Tokens,
    UndefinedVariableError,
    UserInput,
)
from promptsections.elements import Element, ElementsSection
from promptsections.render_cache import RenderCache, cacheable
from promptsections.summaries import Summarize
from promptsections.testing import AsyncFakeSource, FakeSource, WordTokenizer

MOST = {"budget": 100}


# --- hits and misses ------------------------------------------------------------------------------


def test_an_equal_render_is_given_out_again_and_asks_no_source() -> None:
    source, cache = FakeSource(["because"]), RenderCache()
    first = renderer(cache).render(chat(source), memory(), **MOST)
    again = renderer(cache).render(chat(source), memory(), **MOST)

    assert (first.cached, again.cached) == (False, True)
    assert again == first
    assert again.explain() == first.explain()
    assert source.queries == ["why"]
    assert set(again.timings) == {"look_up"}
    assert (cache.statistics().hits, cache.statistics().misses) == (1, 1)
    assert cache.statistics().hit_ratio == 0.5


def test_values_that_are_not_read_do_not_matter() -> None:
    reader = renderer(RenderCache())
    reader.render(chat(), memory(), **MOST)

    changed = memory(user={"name": "Bo", "age": 4, "lock": threading.Lock()}, other=object())
    assert reader.render(chat(), changed, **MOST).cached


@pytest.mark.parametrize(
    "change",
    [
        {"user": {"name": "Li"}},
        {"user.name": "Bo!"},
        {"input": "Why"},
        {"history": []},
        {"history": [{"role": "user", "content": "A"}, {"role": "assistant", "content": "b"}]},
        {"history": None},
    ],
)
def test_any_other_value_that_is_read_is_a_miss(change: dict[str, Any]) -> None:
    reader = renderer(RenderCache())
    reader.render(chat(), memory(), **MOST)
    rendered = reader.render(chat(), memory(**change), **MOST)

    assert not rendered.cached
    assert rendered == renderer().render(chat(), memory(**change), **MOST)


def test_a_value_that_was_missing_and_is_there_now_is_a_miss() -> None:
    prompt = Prompt([SystemMessage("a <<$b>>"), MemorySection("c")])
    reader = renderer(RenderCache(), undefined="empty")
    reader.render(prompt, {}, **MOST)

    assert reader.render(prompt, {}, **MOST).cached
    assert not reader.render(prompt, {"b": None}, **MOST).cached
    assert reader.render(prompt, {"c": "now"}, **MOST).messages[-1].text == "now"


@pytest.mark.parametrize(
    "options",
    [
        {"budget": 99},
        {"budget": 100, "reserve_output_tokens": 1},
        {"budget": 100, "tenant": "a"},
        {"budget": 100, "context": "a"},
        {"budget": 100, "timeout": 1},
    ],
)
def test_any_other_option_of_a_render_is_a_miss(options: dict[str, Any]) -> None:
    reader = renderer(RenderCache())
    reader.render(chat(), memory(), **MOST)

    assert not reader.render(chat(), memory(), **options).cached
    assert reader.render(chat(), memory(), **options).cached


def test_any_other_renderer_is_a_miss() -> None:
    cache = RenderCache()
    policy = CachePolicy(prompt_caching=True, share_prompt_cache_across_tenants=True)
    renderers = [
        Renderer(tokenizer=WordTokenizer(), cache=cache),
        Renderer(tokenizer=WordTokenizer("other"), cache=cache),
        Renderer(tokenizer=WordTokenizer(joints="strong"), cache=cache),
        Renderer(tokenizer="o200k_base", cache=cache),
        Renderer(tokenizer=WordTokenizer(), output="text", cache=cache),
        Renderer(tokenizer=WordTokenizer(), undefined="empty", cache=cache),
        Renderer(tokenizer=WordTokenizer(), on_failure="raise", cache=cache),
        Renderer(tokenizer=WordTokenizer(), caching=policy, cache=cache),
        Renderer("gpt-4o", cache=cache),
        Renderer("gpt-4o-mini", cache=cache),
    ]
    rendered = [r.render(chat(), memory(), **MOST) for r in renderers]

    assert [r.cached for r in rendered] == [False] * len(renderers)
    assert all(r.render(chat(), memory(), **MOST).cached for r in renderers)


def test_a_render_that_decides_by_a_value_what_to_read_keeps_both_ways() -> None:
    @cacheable(key="v1")
    def pick(scope: Scope) -> str:
        return str(scope.read("b" if scope.read("a") else "c"))

    prompt = Prompt([SystemMessage("<<pick>>")])
    reader = renderer(RenderCache(), functions={"pick": pick})
    memories = [{"a": 1, "b": "B", "c": "C"}, {"a": 0, "b": "B", "c": "C"}]
    texts = [reader.render(prompt, m, **MOST).messages[0].text for m in memories]
    again = [reader.render(prompt, {**m, "other": 1}, **MOST) for m in memories]

    assert texts == ["B", "C"]
    assert [r.messages[0].text for r in again] == ["B", "C"]
    assert all(r.cached for r in again)
    assert not reader.render(prompt, {"a": 1, "b": "X", "c": "C"}, **MOST).cached
    assert reader.render(prompt, {"a": 1, "b": "B", "c": "X"}, **MOST).cached


def test_memories_that_are_no_mappings_are_read_by_path() -> None:
    class Store:
        def __init__(self) -> None:
            self.values = memory()

        def get(self, path: str, default: Any = None) -> Any:
            return self.values.get(path, default)

    store, scoped = Store(), {"temp": memory(), "user": {"name": "Bo"}}
    for found, values in ((store, store.values), (ScopedMemory(scoped), scoped["temp"])):
        reader = renderer(RenderCache())
        reader.render(chat(), found, **MOST)
        assert reader.render(chat(), found, **MOST).cached
        values["input"] = "when"
        assert not reader.render(chat(), found, **MOST).cached


def test_errors_are_those_of_a_render_without_a_cache() -> None:
    prompt = Prompt([SystemMessage("<<$user.nane>> <<$x>>")])
    errors = []
    for reader in (renderer(), renderer(RenderCache())):
        with pytest.raises(UndefinedVariableError) as caught:
            reader.render(prompt, memory(), **MOST)
        errors.append((str(caught.value), caught.value.suggestions))

    assert errors[0] == errors[1]
    assert "user.name" in errors[0][1]


# --- functions, sections, time --------------------------------------------------------------------


def test_functions_that_a_prompt_does_not_use_do_not_matter() -> None:
    cache = RenderCache()
    prompt = Prompt([SystemMessage("<<a>>")])
    a = cacheable(lambda: "A", key="v1")
    renderer(cache, functions={"a": a}).render(prompt, **MOST)

    assert renderer(cache, functions={"a": a, "b": len}).render(prompt, **MOST).cached
    other = renderer(cache, functions={"a": cacheable(lambda: "A", key="v2")})
    assert not other.render(prompt, **MOST).cached


def test_what_a_function_reads_of_memory_is_read_by_the_render() -> None:
    @cacheable(key="v1")
    def read(scope: Scope) -> str:
        values = scope.memory
        held = "b" in values  # type: ignore[operator]
        return f"{scope.read('a')} {values.get('b')} {held} {values['c']}"  # type: ignore[attr-defined, index]

    prompt = Prompt([SystemMessage("<<read>>")])
    reader = renderer(RenderCache(), functions={"read": read})
    values = {"a": 1, "b": 2, "c": 3, "d": 4}
    assert reader.render(prompt, values, **MOST).messages[0].text == "1 2 True 3"

    assert reader.render(prompt, {**values, "d": 5}, **MOST).cached
    for name in "abc":
        assert not reader.render(prompt, {**values, name: 9}, **MOST).cached
    gone = {"a": 1, "c": 3}
    assert reader.render(prompt, gone, **MOST).messages[0].text == "1 None False 3"


def test_a_function_that_goes_through_all_of_memory_reads_all() -> None:
    @cacheable(key="v1")
    def names(scope: Scope) -> str:
        values: Any = scope.memory
        return f"{sorted(values)} {len(values)} {sorted(scope.functions)} {1 in scope.functions}"

    prompt = Prompt([SystemMessage("<<names>>")])
    cache = RenderCache()
    reader = renderer(cache, functions={"names": names})
    assert reader.render(prompt, {"a": 1}, **MOST).messages[0].text == "['a'] 1 ['names'] False"

    assert reader.render(prompt, {"a": 1}, **MOST).cached
    assert not reader.render(prompt, {"a": 2}, **MOST).cached
    assert refusals(reader.render(prompt, {"a": object()}, **MOST))[0][1].startswith("memory.a is")
    more = renderer(cache, functions={"names": names, "more": names})
    assert not more.render(prompt, {"a": 1}, **MOST).cached


def test_a_memory_that_is_written_or_used_in_other_ways_works_and_is_not_kept() -> None:
    @cacheable(key="v1")
    def write(scope: Scope) -> str:
        values: Any = scope.memory
        values["n"] = values.setdefault("n", 0) + 1
        del values[1]
        return str(values["n"])

    prompt = Prompt([SystemMessage("<<write>>")])
    reader = renderer(RenderCache(), functions={"write": write})
    values: dict[Any, Any] = {1: 2}
    first = reader.render(prompt, values, **MOST)
    values[1] = 2
    second = reader.render(prompt, values, **MOST)

    assert [r.messages[0].text for r in (first, second)] == ["1", "2"]
    ((_, detail),) = refusals(first)
    assert detail.startswith("memory was used by setdefault, of which nothing is known: read it")


def test_keys_that_are_no_texts_are_not_known() -> None:
    @cacheable(key="v1")
    def read(scope: Scope) -> str:
        return str(scope.memory.get(1))  # type: ignore[attr-defined]

    rendered = renderer(RenderCache(), functions={"read": read}).render(
        Prompt([SystemMessage("<<read>>")]), {1: 2}, **MOST
    )

    assert rendered.messages[0].text == "2"
    assert "a key of type int" in refusals(rendered)[0][1]


def test_a_defaultdict_does_not_grow() -> None:
    values: dict[str, Any] = defaultdict(list)
    prompt = Prompt([SystemMessage("a <<$b>>"), MemorySection("c")])
    renderer(RenderCache(), undefined="empty").render(prompt, values, **MOST)

    assert values == {}


def test_time_is_an_input_where_it_is_read() -> None:
    day = date(2026, 1, 1)
    today = cacheable(lambda: str(day), key="v1", depends_on=lambda: day)
    reader = renderer(RenderCache(), functions={"today": today})
    with_day, without = (Prompt([SystemMessage(t)]) for t in ("On <<today>>", "Always"))
    for prompt in (with_day, without):
        reader.render(prompt, **MOST)
        assert reader.render(prompt, **MOST).cached
    day = date(2026, 1, 2)

    assert reader.render(with_day, **MOST).messages[0].text == "On 2026-01-02"
    assert reader.render(without, **MOST).cached


@attrs.frozen
class Persona(PromptSection):
    """A section of one's own that says what it depends on."""

    render_cache_key: ClassVar[str] = "v1"
    render_cache_ttl: ClassVar[float] = 5
    mood: str

    def resolve(self, scope: Scope, /) -> Content:
        return f"{self.mood} {scope.read('name')}"


@attrs.frozen
class Loud(Persona):
    """Derives from one that says so, and says nothing itself."""


@attrs.frozen
class Undeclared(TextSection):
    """Derives from a section of the library."""


def test_a_section_of_ones_own_is_kept_if_it_says_what_it_depends_on() -> None:
    reader = renderer(RenderCache())
    reader.render(Prompt([Persona("sad")]), {"name": "Bo"}, **MOST)

    assert reader.render(Prompt([Persona("sad")]), {"name": "Bo", "x": 1}, **MOST).cached
    assert not reader.render(Prompt([Persona("glad")]), {"name": "Bo"}, **MOST).cached
    assert not reader.render(Prompt([Persona("sad")]), {"name": "Li"}, **MOST).cached


# --- what is not kept -----------------------------------------------------------------------------


def failing(_: str, __: Scope) -> list[str]:
    raise OSError("no network")


NOT_CACHED = {
    "data source": (
        [DataSourceSection(FakeSource(["a"]))],
        {},
        ("data_source", "source is the function FakeSource, of which nothing is declared"),
    ),
    "function": (
        [SystemMessage("<<today>>")],
        {"functions": {"today": lambda: "now"}},
        ("", "function 'today' is the function "),
    ),
    "own section": ([Undeclared("a", name="x")], {}, ("x", "is a Undeclared, of which nothing")),
    "derived section": ([Loud("sad")], {}, ("loud", "is a Loud, of which nothing")),
    "transform": (
        [ConversationHistory(transform=lambda message: message)],
        {},
        ("conversation_history", "transform is the function "),
    ),
    "predicate": (
        [ElementsSection([Element("domain_context", "a", criteria=lambda _: True)])],
        {},
        ("elements", "elements.0.criteria is the function "),
    ),
    "lazy history": ([ConversationHistory("lazy")], {}, ("", "variable 'lazy'.open is the")),
    "object": ([SystemMessage("<<$object>>")], {}, ("", "variable 'object' is an object of type")),
    "failure": (
        [DataSourceSection(cacheable(failing, key="v1"), name="docs")],
        {},
        ("", "section 'docs' failed, and may not fail the next time"),
    ),
}


class Dumped:
    """Has a text, but may hold anything."""

    def model_dump(self) -> dict[str, int]:
        return {"a": 1}


@pytest.mark.parametrize("name", NOT_CACHED)
def test_what_cannot_be_keyed_is_not_kept_and_says_why(name: str) -> None:
    sections, options, (path, detail) = NOT_CACHED[name]
    cache = RenderCache()
    values = memory(lazy=NewestFirst(lambda: [Message("user", "hi")]), object=Dumped(), name="Bo")
    reader = renderer(cache, **options)
    rendered = [reader.render(Prompt(sections), values, **MOST) for _ in range(2)]

    assert [r.cached for r in rendered] == [False, False]
    for found in rendered:
        ((where, why),) = refusals(found)
        assert (where, why[: len(detail)]) == (path, detail)
    plain = renderer(**options).render(Prompt(sections), values, **MOST)
    assert rendered[0].messages == plain.messages
    assert "not_cached" in rendered[0].explain()
    assert cache.statistics().not_cached == 2
    assert cache.statistics().entries == 0


@pytest.mark.parametrize(
    ("options", "detail"),
    [({"context": object()}, "context is an object of type object")],
)
def test_an_option_that_cannot_be_keyed_says_so(options: Any, detail: str) -> None:
    rendered = renderer(RenderCache()).render(chat(), memory(), **MOST, **options)

    assert refusals(rendered)[0][1].startswith(detail)


def test_a_tokenizer_that_is_a_function_is_declared_like_any_other() -> None:
    cache = RenderCache()
    for count, kept in ((len, False), (cacheable(len, key="characters"), True)):
        reader = Renderer(tokenizer=count, cache=cache)
        first = reader.render(chat(), memory(), **MOST)
        assert reader.render(chat(), memory(), **MOST).cached is kept
        assert (refusals(first) == []) is kept


def test_what_changes_while_it_is_rendered_is_not_kept() -> None:
    values = memory()

    @cacheable(key="v1")
    def change(scope: Scope) -> str:
        values["history"].append({"role": "user", "content": "c"})
        return "changed"

    prompt = Prompt([ConversationHistory(), SystemMessage("<<change>>")])
    reader = renderer(RenderCache(), functions={"change": change})
    rendered = reader.render(prompt, values, **MOST)

    assert refusals(rendered) == [
        ("", "something that it depends on changed while it was rendered")
    ]
    assert not reader.render(prompt, values, **MOST).cached


def test_a_prompt_that_changes_while_it_is_rendered_is_not_kept() -> None:
    day = [1]

    def source(_: str, __: Scope) -> list[str]:
        day[0] += 1
        return ["a"]

    moving = cacheable(source, key="v1", depends_on=lambda: day)
    breaking = cacheable(source, key="v1", depends_on=lambda: object() if day[0] > 2 else 1)
    for found in (moving, breaking):
        rendered = renderer(RenderCache()).render(Prompt([DataSourceSection(found)]), **MOST)
        assert "changed while" in refusals(rendered)[0][1]


def test_values_that_break_while_it_is_rendered_are_not_kept() -> None:
    values: dict[str, Any] = {"a": ["x"]}

    @cacheable(key="v1")
    def spoil() -> str:
        values["a"] = object()
        return "spoilt"

    reader = renderer(RenderCache(), functions={"spoil": spoil})
    rendered = reader.render(Prompt([SystemMessage("<<$a>> <<spoil>>")]), values, **MOST)

    assert "changed while" in refusals(rendered)[0][1]
    assert not reader.render(
        Prompt([SystemMessage("<<$a>> <<spoil>>")]), {"a": ["x"]}, **MOST
    ).cached


def test_a_prompt_that_holds_what_json_cannot_say_is_not_kept() -> None:
    history = [{"role": "user", "content": "a", "when": date(2026, 1, 1)}]
    reader = renderer(RenderCache())
    rendered = reader.render(chat(), memory(history=history), **MOST)

    assert refusals(rendered) == [("", "the prompt holds a date, which cannot be kept")]


def nested(levels: int) -> Any:
    data: Any = 1
    for _ in range(levels):
        data = [data]
    return data


@attrs.frozen
class Deep(PromptSection):
    """Sends data in data."""

    render_cache_key: ClassVar[str] = "v1"
    levels: int

    def resolve(self, scope: Scope, /) -> Content:
        return Message("user", "a", extra={"data": nested(self.levels)})


def test_data_that_is_nested_too_deep_is_not_kept() -> None:
    reader = renderer(RenderCache())
    deep, deeper = (reader.render(Prompt([Deep(levels)]), **MOST) for levels in (90, 5_000))

    assert refusals(deep) == []
    assert reader.render(Prompt([Deep(90)]), **MOST) == deep
    assert refusals(deeper) == [("", "the prompt holds data that is nested too deep")]


def test_a_value_that_cannot_be_keyed_is_a_miss_where_one_could() -> None:
    prompt = Prompt([ConversationHistory()])
    reader = renderer(RenderCache())
    history = [Message("user", "a")]
    reader.render(prompt, {"history": history}, **MOST)
    lazy = NewestFirst(lambda: reversed(history))
    rendered = reader.render(prompt, {"history": lazy}, **MOST)

    assert not rendered.cached
    assert refusals(rendered)[0][1].startswith("variable 'history'.open is the function")


@attrs.frozen
class Told(PromptSection):
    """Says something else where what it wants to say fails."""

    render_cache_key: ClassVar[str] = "v1"

    def resolve(self, scope: Scope, /) -> Content:
        scope.note("summary_failed", "it is cut instead")
        return "a"


def test_what_is_said_in_place_of_what_failed_is_not_kept() -> None:
    rendered = renderer(RenderCache()).render(Prompt([Told()]), **MOST)

    assert refusals(rendered) == [("", "section 'told' failed, and may not fail the next time")]


def test_a_render_larger_than_the_cache_is_not_kept() -> None:
    cache = RenderCache(max_bytes=1_000)
    rendered = renderer(cache).render(chat(), memory(), **MOST)

    assert refusals(rendered)[0][1].startswith("the store did not take it: ValueError")


# --- time, room, clearing -------------------------------------------------------------------------


def test_an_entry_is_good_for_less_than_its_time() -> None:
    now = 100.0
    reader = renderer(RenderCache(ttl=10, clock=lambda: now))
    reader.render(chat(), memory(), **MOST)
    hits = []
    for now in (100.0, 109.9, 110.0, 110.1, 119.9, 99.0):  # noqa: B007 - the clock reads it
        hits.append(reader.render(chat(), memory(), **MOST).cached)

    assert hits == [True, True, False, True, True, False]


def test_the_shortest_time_that_was_declared_holds() -> None:
    now = 0.0
    slow = cacheable(lambda: "a", key="v1", ttl=7)
    source = cacheable(FakeSource(["b"]), key="v1", ttl=6)
    prompts = {
        7: Prompt([SystemMessage("<<slow>>")]),
        6: Prompt([SystemMessage("<<slow>>"), DataSourceSection(source)]),
        5: Prompt([SystemMessage("<<slow>>"), DataSourceSection(source), Persona("sad")]),
        8: Prompt([SystemMessage("x")]),
    }
    reader = renderer(RenderCache(ttl=8, clock=lambda: now), functions={"slow": slow})
    for limit, prompt in prompts.items():
        now = 0.0
        reader.render(prompt, {"name": "Bo"}, **MOST)
        now = limit - 0.1
        assert reader.render(prompt, {"name": "Bo"}, **MOST).cached
        now = float(limit)
        assert not reader.render(prompt, {"name": "Bo"}, **MOST).cached


def test_it_stays_within_its_bytes() -> None:
    cache = RenderCache(max_bytes=20_000)
    for number in range(50):
        renderer(cache).render(chat(), memory(input=f"question {number}"), **MOST)
    found = cache.statistics()

    assert found.bytes is not None
    assert found.evicted
    assert found.bytes <= 20_000
    assert renderer(cache).render(chat(), memory(input="question 49"), **MOST).cached
    assert not renderer(cache).render(chat(), memory(input="question 0"), **MOST).cached


def test_one_tenant_can_be_forgotten() -> None:
    cache = RenderCache()
    for tenant in ("a", "b", None):
        renderer(cache).render(chat(), memory(), **MOST, tenant=tenant)

    assert cache.clear(tenant="a") == 2
    cached = [
        renderer(cache).render(chat(), memory(), **MOST, tenant=tenant).cached
        for tenant in ("a", "b", None)
    ]
    assert cached == [False, True, True]
    assert cache.clear() == 6
    assert (cache.statistics().entries, cache.statistics().bytes) == (0, 0)


def test_what_began_before_it_was_cleared_is_not_kept() -> None:
    cache = RenderCache()

    @cacheable(key="v1")
    def forget() -> str:
        cache.clear()
        return "gone"

    reader = renderer(cache, functions={"forget": forget})
    rendered = reader.render(Prompt([SystemMessage("<<forget>>")]), **MOST)

    assert refusals(rendered) == []
    assert cache.statistics().entries == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"store": 1}, "store must be a mapping"),
        ({"store": {}, "max_bytes": 5}, "a store has its own bound"),
        ({"max_bytes": 0}, "max_bytes=0"),
        ({"ttl": -1}, "ttl=-1"),
        ({"version": 1}, "version must be a text"),
    ],
)
def test_wrong_options_are_errors(options: Any, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        RenderCache(**options)


def test_wrong_uses_are_errors() -> None:
    with pytest.raises(DefinitionError, match="cache must be a RenderCache, not dict"):
        renderer({})  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="tenant must be a text, not int"):
        renderer(RenderCache()).render(chat(), memory(), **MOST, tenant=1)  # type: ignore[arg-type]


# --- other stores ---------------------------------------------------------------------------------


def test_a_store_is_shared_by_caches_of_one_version() -> None:
    store: dict[str, bytes] = {}
    source = FakeSource(["because"])
    first = renderer(RenderCache(store)).render(chat(source), memory(), **MOST)
    other = RenderCache(store)

    assert renderer(other).render(chat(source), memory(), **MOST) == first
    assert other.statistics().hits == 1
    assert other.statistics().bytes is None
    newer = RenderCache(store, version="2")
    assert not renderer(newer).render(chat(source), memory(), **MOST).cached
    assert all(isinstance(json.loads(entry), dict) for entry in store.values())


def broken(entry: bytes) -> list[bytes]:
    good = json.loads(entry)
    spoilt = [
        {**good, "name": "another"},
        {**good, "format": 99},
        {k: v for k, v in good.items() if k not in ("rendered", "traces")},
        {**good, "rendered": 1, "traces": 1},
        {**good, "rendered": {"os.system": {}}, "traces": [[1]]},
        {**good, "rendered": {"Message": {"role": "x"}}, "traces": [["path"]]},
        {**good, "made": "yesterday", "ttl": 1, "traces": [[["path", 1]]]},
        [],
        None,
    ]
    return [b"", b"\x80\x04K\x01.", b"{", entry[:-3], *(json.dumps(s).encode() for s in spoilt)]


def test_an_entry_that_is_not_its_own_is_a_miss_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store: dict[str, bytes] = {}
    reader = renderer(RenderCache(store))
    plain = reader.render(chat(), memory(), **MOST)
    good = dict(store)
    caplog.set_level(logging.WARNING, "promptsections")
    for name, entry in good.items():
        for bad in broken(entry):
            store.clear()
            store.update(good)
            store[name] = bad
            caplog.clear()
            rendered = reader.render(chat(), memory(), **MOST)
            assert rendered == plain
            if not rendered.cached:
                assert "render cache" in caplog.text
                assert reader.render(chat(), memory(), **MOST).cached


def test_an_entry_that_was_put_in_the_place_of_another_is_a_miss() -> None:
    store: dict[str, bytes] = {}
    reader = renderer(RenderCache(store))
    one, other = (reader.render(chat(), memory(input=q), **MOST) for q in ("one", "other"))
    renders = [name for name in store if ":render:" in name]
    store.update(zip(renders, [store[name] for name in reversed(renders)], strict=True))

    assert reader.render(chat(), memory(input="one"), **MOST) == one
    assert reader.render(chat(), memory(input="other"), **MOST) == other


def test_summaries_come_along() -> None:
    history = [Message("user", f"Question {n} is about the number {n}.") for n in range(60)]
    prompt = Prompt([ConversationHistory(tokens=Tokens(60), when_over=Summarize(at_least=10))])
    reader = renderer(RenderCache())
    first, again = (reader.render(prompt, {"history": history}, **MOST) for _ in range(2))

    assert first.summaries
    assert refusals(first) == []
    assert (again.cached, again) == (True, first)


class Broken(dict[str, bytes]):
    def __init__(self) -> None:
        super().__init__()
        self.reads = self.writes = True

    def __getitem__(self, key: str) -> bytes:
        if not self.reads:
            raise ConnectionError("down")
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: bytes) -> None:
        if not self.writes:
            raise ConnectionError("down")
        super().__setitem__(key, value)


def test_a_store_that_is_down_costs_a_render_and_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Broken()
    reader = renderer(RenderCache(store))
    store.writes = False
    rendered = reader.render(chat(), memory(), **MOST)
    assert refusals(rendered) == [("", "the store did not take it: ConnectionError: down")]
    store.writes = True
    reader.render(chat(), memory(), **MOST)
    store.reads = False

    assert not reader.render(chat(), memory(), **MOST).cached
    assert "cannot be read" in caplog.text


# --- waiting and threads --------------------------------------------------------------------------


@pytest.mark.parametrize("store", [None, {}])
def test_what_is_awaited_is_kept_too(store: Any) -> None:
    source = AsyncFakeSource(["because"])
    prompt = Prompt([DataSourceSection(cacheable(source, key="docs")), UserInput()])
    reader = renderer(RenderCache(store))

    async def twice() -> list[bool]:
        return [(await reader.arender(prompt, memory(), **MOST)).cached for _ in range(2)]

    assert asyncio.run(twice()) == [False, True]
    assert source.queries == ["why"]


def test_threads_may_share_it() -> None:
    cache = RenderCache(max_bytes=30_000)
    expected = {q: renderer().render(chat(), memory(input=q), **MOST) for q in "abcdefgh"}
    wrong: list[str] = []

    def work() -> None:
        for question in list(expected) * 20:
            if renderer(cache).render(chat(), memory(input=question), **MOST) != expected[question]:
                wrong.append(question)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = cache.statistics()

    assert wrong == []
    assert found.hits + found.misses == 4 * 20 * 8
    assert found.hits > found.misses
