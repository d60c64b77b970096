"""Tenants: what two of them share in a cache, and that nobody's id is ever sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cached_prompts import CLAUDE, OPENAI, SECRET, chat, policy, renderer, words
from hypothesis import given
from hypothesis import strategies as st

from promptsections import (
    BudgetExceededError,
    CachePolicy,
    ConversationHistory,
    DefinitionError,
    MemorySection,
    Message,
    Prompt,
    RenderedPrompt,
    Renderer,
    SystemMessage,
    TextSection,
    Tool,
    UserInput,
)
from promptsections.caching import CachePlan
from promptsections.profiles.caching import VLLM
from promptsections.providers import anthropic_messages, bedrock_converse, openai_chat

PROMPT = Prompt(
    [
        TextSection(words(20), name="rules"),
        SystemMessage("Ours: <<$company>>.", name="ours"),
        MemorySection("notes", name="notes"),
        ConversationHistory(),
        UserInput(),
    ],
    tools=[Tool("look_up", words(9))],
)
KNOWN = {"company": "tenant", "notes": "session"}


def render(tenant: str, said: str, *, shared: bool, profile: Any = CLAUDE) -> RenderedPrompt:
    memory = {
        "company": f"The company of {said}",
        "notes": f"notes on {said}",
        "history": chat(2),
        "input": "hi",
    }
    return renderer(profile, shared=shared, variables=KNOWN).render(
        PROMPT, memory, tenant=tenant, budget=2_000
    )


def marked_prefixes(request: Any) -> list[str]:
    """Return, for each mark of an Anthropic request, all that stands before it, as bytes."""
    found: list[str] = []
    prefix: list[Any] = []

    def add(blocks: Any) -> None:
        for block in [{"text": blocks}] if isinstance(blocks, str) else blocks:
            bare = {key: value for key, value in block.items() if key != "cache_control"}
            prefix.append(bare)
            if "cache_control" in block:
                found.append(json.dumps(prefix))

    add(request.get("tools", []))
    add(request["system"])
    for message in request["messages"]:
        add([{"role": message["role"]}])
        add(message["content"])
    return found


ids = st.text(min_size=1, max_size=12).filter(lambda text: not text.isspace())
pairs = st.lists(ids, min_size=2, max_size=2, unique=True)


@given(pairs)
def test_without_sharing_no_two_tenants_share_a_marked_prefix(tenants: list[str]) -> None:
    """Even where two tenants are sent the same words: nothing that is cached begins alike."""
    one, other = (render(tenant, "both", shared=False) for tenant in tenants)
    requests: list[Any] = [anthropic_messages.to_request(each) for each in (one, other)]

    first, second = map(marked_prefixes, requests)
    assert len(first) == len(second) == 4
    assert not {*first} & {*second}
    assert "cache_control" not in json.dumps([request["tools"] for request in requests])
    assert one.messages[1:] == other.messages[1:]
    assert one.layout.prefixes[1].fingerprint != other.layout.prefixes[1].fingerprint
    keys = {
        render(tenant, "both", shared=False, profile=OPENAI).cache_plan.key  # type: ignore[union-attr]
        for tenant in tenants
    }
    assert len(keys) == 2


@given(pairs)
def test_with_sharing_two_tenants_share_exactly_the_static_prefix(tenants: list[str]) -> None:
    """Tools and fixed text are the same bytes and one entry; what belongs to a tenant is not."""
    one, other = (render(tenant, f"t{n}", shared=True) for n, tenant in enumerate(tenants))
    first, second = (marked_prefixes(anthropic_messages.to_request(e)) for e in (one, other))

    assert one.cache_plan is not None
    static_marks = sum(mark.stability == "static" for mark in one.cache_plan.marks)
    assert static_marks
    assert first[:static_marks] == second[:static_marks]
    assert "look_up" in first[0]
    assert not {*first[static_marks:]} & {*second[static_marks:]}
    static, tenant, session, turn = zip(one.layout.prefixes, other.layout.prefixes, strict=True)
    assert static[0] == static[1]
    for mine, theirs in (tenant, session, turn):
        assert mine.fingerprint != theirs.fingerprint
    plans = [
        render(t, f"t{n}", shared=True, profile=OPENAI).cache_plan for n, t in enumerate(tenants)
    ]
    assert plans[0] is not None
    assert plans[1] is not None
    assert plans[0].key == plans[1].key


@given(st.uuids().map(str) | st.from_regex(r"[a-z]{3,9}-[0-9]{4,9}\.example", fullmatch=True))
def test_no_byte_of_any_request_tells_a_tenants_id(tenant: str) -> None:
    """Neither in a request, nor in a layout, nor in what was resolved, shared or not."""
    for shared in (True, False):
        for profile in (CLAUDE, OPENAI):
            rendered = render(tenant, "both", shared=shared, profile=profile)
            for module in (anthropic_messages, bedrock_converse, openai_chat):
                assert tenant not in json.dumps(module.to_request(rendered))
            assert tenant not in json.dumps(rendered.layout.to_dict())
            assert tenant not in repr(rendered)
            resolved = renderer(profile, shared=shared).resolve(
                Prompt([UserInput()]), {"input": "hi"}, tenant=tenant, budget=500
            )
            assert tenant not in repr(resolved)
            assert SECRET not in repr(resolved)


def test_tenants_in_turn_never_see_each_others_text() -> None:
    drawing = renderer(shared=False, variables=KNOWN)
    secrets = {"A": "A-SECRET", "B": "B-DOC"}
    for number in range(100):
        tenant = "AB"[number % 2]
        memory = {"company": secrets[tenant], "notes": "", "input": "hi"}
        rendered = drawing.render(PROMPT, memory, tenant=tenant, budget=2_000)

        sent = json.dumps(anthropic_messages.to_request(rendered))
        assert secrets[tenant] in sent
        assert secrets["BA"[number % 2]] not in sent


# --- the scope ----------------------------------------------------------------------------------


def test_the_scope_line_opens_the_stable_text_and_is_inside_the_budget() -> None:
    rendered = render("acme", "x", shared=False)
    scope = policy(shared=False).scope_of("acme")

    assert rendered.messages[0] == Message("system", f"Cache scope: {scope}")
    placement = rendered.layout.placements[0]
    assert (placement.path, placement.required, placement.stability) == (
        "tenant_scope", True, "tenant",
    )  # fmt: skip
    assert rendered.token_count == render("acme", "x", shared=True).token_count + placement.used
    assert not any(note.path == "tenant_scope" for note in rendered.layout.notes)
    with pytest.raises(BudgetExceededError, match="tenant_scope"):
        renderer(shared=False).render(Prompt([]), {}, tenant="acme", budget=5)


def test_a_section_may_have_the_name_of_the_line() -> None:
    prompt = Prompt([TextSection("a", name="tenant_scope")])

    rendered = renderer(shared=False).render(prompt, {}, tenant="acme", budget=500)

    assert [p.path for p in rendered.layout.placements] == ["tenant_scope_", "tenant_scope"]


def test_the_scope_is_keyed_by_the_operators_secret() -> None:
    def scope(secret: str | bytes, tenant: str) -> str | None:
        return CachePolicy(
            prompt_caching=True, share_prompt_cache_across_tenants=False, secret=secret
        ).scope_of(tenant)

    assert scope("one", "acme") == scope(b"one", "acme")
    assert scope("one", "acme") != scope("two", "acme")
    assert scope("one", "acme") != scope("one", "acme ")
    assert scope("one", "\ud800") is not None


def test_in_a_text_the_line_comes_first_too() -> None:
    drawing = Renderer(CLAUDE, output="text", caching=policy(shared=False))

    rendered = drawing.render(PROMPT, {"company": "c", "input": "hi"}, tenant="a", budget=2_000)

    assert rendered.text.startswith("Cache scope: ")
    assert rendered.cache_plan == CachePlan()
    assert rendered.layout.prefixes[1].ends_at is not None


def test_a_salt_needs_no_line_to_be_per_tenant() -> None:
    plans = [
        renderer(shared=False, rule=VLLM).render(PROMPT, {"company": "c", "input": "hi"}, tenant=t,
                                                 budget=2_000).cache_plan
        for t in ("a", "b")
    ]  # fmt: skip

    assert plans[0] != plans[1]


# --- choices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tenant", [None, "", "  "])
def test_a_missing_tenant_is_an_error(tenant: str | None) -> None:
    with pytest.raises(DefinitionError, match="tenant"):
        renderer(shared=False).render(PROMPT, {"company": "c", "input": "hi"}, tenant=tenant)


def test_a_tenant_is_a_text() -> None:
    with pytest.raises(DefinitionError, match="not int"):
        renderer().render(PROMPT, {"company": "c", "input": "hi"}, tenant=7)  # type: ignore[arg-type]


@pytest.mark.parametrize("secret", [None, "", b""])
def test_a_missing_secret_is_an_error(secret: Any) -> None:
    with pytest.raises(DefinitionError, match="secret"):
        CachePolicy(prompt_caching=True, share_prompt_cache_across_tenants=False, secret=secret)


def test_both_choices_must_be_made() -> None:
    for choice in ("prompt_caching", "share_prompt_cache_across_tenants"):
        with pytest.raises(TypeError, match=r"required keyword-only"):
            CachePolicy(**{choice: True})
        both: Any = {"prompt_caching": True, "share_prompt_cache_across_tenants": True}
        with pytest.raises(DefinitionError, match=choice):
            CachePolicy(**{**both, choice: None})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"secret": 7}, "bytes or a text"),
        ({"lifetimes": "an hour"}, "number and a unit"),
        ({"lifetimes": {"static": 3}}, "number and a unit"),
        ({"lifetimes": 3_600}, "lifetimes must be a mapping, not int"),
        ({"variables": ["x"]}, "declared must be a mapping, not list"),
        ({"lifetimes": {"forever": "1h"}}, "forever"),
        ({"variables": {"x": "stable"}}, "'x' is declared 'stable'"),
        ({"functions": {"f": None}}, "'f' is declared None"),
    ],
)
def test_a_wrong_policy_says_what_is_wrong(wrong: dict[str, Any], said: str) -> None:
    given = {"prompt_caching": True, "share_prompt_cache_across_tenants": True, **wrong}
    with pytest.raises(DefinitionError, match=said):
        CachePolicy(**given)


def test_a_renderer_takes_a_policy_alone() -> None:
    with pytest.raises(DefinitionError, match="CachePolicy, not bool"):
        Renderer(CLAUDE, caching=True)  # type: ignore[arg-type]


def test_where_nothing_is_cached_nobody_needs_a_tenant() -> None:
    off = CachePolicy(prompt_caching=False, share_prompt_cache_across_tenants=False)
    rendered = Renderer(CLAUDE, caching=off).render(PROMPT, {"company": "c", "input": "hi"})

    assert off.scope_of(None) is None
    assert "Cache scope" not in rendered.messages[0].text
