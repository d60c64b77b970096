"""Two tenants, the same questions, other documents, one cache: no byte of the other's.

300 interleavings here; 10,000 with `HYPOTHESIS_PROFILE=thorough`.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from rendering import renderer

from promptsections import (
    DataSourceSection,
    Prompt,
    RenderedPrompt,
    Scope,
    SystemMessage,
    UserInput,
)
from promptsections.render_cache import RenderCache, cacheable
from promptsections.render_cache.cache import prefix_of
from promptsections.render_cache.codec import to_plain

INTERLEAVINGS = 10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 300
TENANTS = {"alpha": "α", "beta": "β"}
QUESTIONS = ("Aa", "BB", "why")


def document(tenant: str, question: str, version: int) -> str:
    """What a tenant knows: a letter of its own stands in every word."""
    mark = TENANTS[tenant]
    return f"{mark}{question}{mark} {mark}{version}{mark}"


def assert_own(rendered: RenderedPrompt, tenant: str, question: str, version: int) -> None:
    everything = json.dumps(to_plain(rendered), ensure_ascii=False)
    foreign = [mark for other, mark in TENANTS.items() if other != tenant and mark in everything]
    assert foreign == []
    assert rendered.messages[0].text == document(tenant, question, version)


Ask = Callable[[RenderCache, str, str, int], RenderedPrompt]


def from_captured(cache: RenderCache, tenant: str, question: str, version: int) -> RenderedPrompt:
    """Each tenant has a source of its own, and all sources say the same key."""

    def source(query: str, scope: Scope) -> list[str]:
        return [document(tenant, query, version)]

    prompt = Prompt([DataSourceSection(cacheable(source, key="docs")), UserInput()])
    return renderer(cache).render(prompt, {"input": question}, budget=50)


def from_memory(cache: RenderCache, tenant: str, question: str, version: int) -> RenderedPrompt:
    """One source for all reads who asks from memory."""
    memory = {"input": question, "docs": {"of": tenant, "version": version}, "time": object()}
    return renderer(cache, functions={"find": FIND}).render(
        Prompt([SystemMessage("<<find $input>>"), UserInput()]), memory, budget=50
    )


@cacheable(key="v1")
def find(scope: Scope, question: str) -> str:
    return document(scope.read("docs.of"), question, scope.read("docs.version"))


FIND = find


def from_tenant(cache: RenderCache, tenant: str, question: str, version: int) -> RenderedPrompt:
    """The source asks for the tenant where the cache cannot see it; the render names it."""
    CURRENT["tenant"], CURRENT["version"] = tenant, version
    prompt = Prompt([DataSourceSection(CURRENT_SOURCE), UserInput()])
    return renderer(cache).render(prompt, {"input": question}, budget=50, tenant=tenant)


CURRENT: dict[str, Any] = {}


def current(query: str, scope: Scope) -> list[str]:
    return [document(CURRENT["tenant"], query, CURRENT["version"])]


CURRENT_SOURCE = cacheable(current, key="v1", depends_on=lambda: CURRENT["version"])


@pytest.mark.parametrize("ask", [from_captured, from_memory, from_tenant])
def test_no_byte_of_another_tenant(ask: Ask) -> None:
    hits = 0
    for number in range(INTERLEAVINGS // 3 + 1):
        random, store = Random(number), dict[str, bytes]()
        cache = (
            RenderCache(store)
            if number % 2
            else RenderCache(max_bytes=random.choice([6_000, 10**6]))
        )
        versions = dict.fromkeys(TENANTS, 0)
        for _ in range(8):
            tenant, question = random.choice(list(TENANTS)), random.choice(QUESTIONS[:2])
            versions[tenant] += random.random() < 0.1
            rendered = ask(cache, tenant, question, versions[tenant])
            hits += rendered.cached
            assert_own(rendered, tenant, question, versions[tenant])
        if ask is from_tenant:
            assert_apart(store)

    assert hits > INTERLEAVINGS // 3


def assert_apart(store: dict[str, bytes]) -> None:
    """What stands under the prefix of a tenant is the tenant's."""
    for name, entry in store.items():
        for tenant, mark in TENANTS.items():
            foreign = not name.startswith(prefix_of(tenant))
            assert not (foreign and json.dumps(mark).strip('"').encode() in entry)


def test_no_byte_of_another_tenant_while_both_wait() -> None:
    """The same on an event loop, where renders of both begin before either ends."""
    cache = RenderCache()
    random = Random(1)

    async def ask(tenant: str, question: str, version: int) -> bool:
        async def source(query: str, scope: Scope) -> list[str]:
            for _ in range(random.randrange(4)):
                await asyncio.sleep(0)
            return [document(tenant, query, version)]

        key = f"docs of {tenant}"
        prompt = Prompt([DataSourceSection(cacheable(source, key=key)), UserInput()])
        rendered = await renderer(cache).arender(prompt, {"input": question}, budget=50)
        assert_own(rendered, tenant, question, version)
        return rendered.cached

    async def run() -> int:
        hits = 0
        for round_ in range(INTERLEAVINGS // 10):
            calls = [
                ask(random.choice(list(TENANTS)), random.choice(QUESTIONS), round_ // 5)
                for _ in range(4)
            ]
            hits += sum(await asyncio.gather(*calls))
        return hits

    assert asyncio.run(run()) > 0
