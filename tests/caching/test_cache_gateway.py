"""A gateway's configuration page, sentence by sentence, and its cases."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from cached_prompts import CLAUDE, OPENAI, SECRET, chat, words
from pydantic import ValidationError

from promptsections import (
    ConfigError,
    ConversationHistory,
    DefinitionError,
    InvalidBudgetError,
    MemorySection,
    Prompt,
    RenderedPrompt,
    Renderer,
    TemplateSection,
    TextSection,
    Tool,
    UserInput,
    find_profile,
)
from promptsections.config.context_assembler import ContextAssemblerConfig
from promptsections.profiles.caching import CacheRule
from promptsections.providers import anthropic_messages, openai_chat
from promptsections.templates import Template

CASES = {
    case["id"]: case
    for case in map(
        json.loads, (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    )
}
AUTOMATIC = evolve(
    find_profile("gpt-4o"), cache=CacheRule(minimum=8, read=0.5, key="prompt_cache_key")
)
PROFILE = Prompt(
    [
        TemplateSection(
            Template("You answer for {$product}.\n{cacheBreakpoint}Today is {today}.",
                     delimiters=("{", "}")),
            name="template",
        ),
        TextSection(f"Answer in Markdown. {words(9)}", name="output_format"),
        TextSection(f"More rules. {words(9)}", name="addendum"),
        MemorySection("context", name="context"),
        ConversationHistory(),
        UserInput(),
    ],
    tools=[Tool("look_up", words(9))],
)  # fmt: skip
SAFE = Prompt(
    [PROFILE.sections[1], PROFILE.sections[2], *PROFILE.sections[3:]], tools=PROFILE.tools
)


def settings(*, caching: bool, share: bool, **more: Any) -> ContextAssemblerConfig:
    return ContextAssemblerConfig.read(
        {"contextAssembler": {
            "promptCaching": caching, "sharePromptCacheAcrossTenants": share, **more,
        }}
    )  # fmt: skip


def render(
    *,
    caching: bool,
    share: bool,
    tenant: str = "acme",
    profile: Any = CLAUDE,
    prompt: Prompt = PROFILE,
    product: str = "Acme",
    **more: Any,
) -> RenderedPrompt:
    read = settings(caching=caching, share=share, **more)
    renderer = Renderer(
        profile,
        functions={"today": lambda: "Tuesday"},
        caching=read.policy(secret=SECRET, variables={"product": "static"}),
        reserve_output_tokens=read.reserve_output_tokens,
    )
    memory = {"product": product, "context": "ctx", "history": chat(1), "input": "Why?"}
    return renderer.render(prompt, memory, tenant=tenant)


# --- `promptCaching` ----------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["promptCaching", "sharePromptCacheAcrossTenants"])
def test_the_operator_must_decide_both(missing: str) -> None:
    given = {"promptCaching": True, "sharePromptCacheAcrossTenants": True}
    del given[missing]

    with pytest.raises(
        ConfigError, match=rf"contextAssembler\.{missing}: is missing: write true or false"
    ) as caught:
        ContextAssemblerConfig.read({"contextAssembler": given})
    assert (caught.value.kind, caught.value.path) == ("missing", "contextAssembler")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"promptCaching": "yes"}, "must be true or false, not 'yes'"),
        ({"promptCaching": None}, "must be true or false, not None"),
        ({"sharePromptCacheAcrossTenants": 1}, "must be true or false, not 1"),
        ({"reserveOutputTokens": -1}, "must be a whole number of tokens, 0 or more, not -1"),
        ({"reserveOutputTokens": True}, "must be a whole number of tokens, 0 or more, not True"),
        ({"reserveOutputTokens": 1.5}, "must be a whole number of tokens, 0 or more, not 1.5"),
        ({"promptCashing": True}, "is no setting; did you mean 'promptCaching'"),
        ({"ttl": "1h"}, "is no setting; known are promptCaching, reserveOutputTokens, share"),
        ({"prompt_caching": False}, "says again what promptCaching says: keep one"),
    ],
)
def test_settings_that_are_wrong_are_named(wrong: dict[str, Any], said: str) -> None:
    given = {"promptCaching": True, "sharePromptCacheAcrossTenants": True, **wrong}
    expected = re.escape(f"contextAssembler.{next(iter(wrong))}: {said}")
    with pytest.raises(ConfigError, match=expected) as caught:
        ContextAssemblerConfig.read(given)
    assert caught.value.kind == "invalid"
    with pytest.raises(ValidationError):
        ContextAssemblerConfig(**given)


def test_settings_are_a_table() -> None:
    nothing: Any = None
    for wrong in ({"contextAssembler": "on"}, {"contextAssembler": None}, nothing):
        with pytest.raises(ConfigError, match="contextAssembler: must be a table of settings"):
            ContextAssemblerConfig.read(wrong)


def test_settings_are_read_in_snake_case_too_and_written_as_they_were() -> None:
    read = ContextAssemblerConfig(prompt_caching=True, share_prompt_cache_across_tenants=False)

    assert read == settings(caching=True, share=False)
    assert read.model_dump(by_alias=True) == {
        "promptCaching": True,
        "reserveOutputTokens": None,
        "sharePromptCacheAcrossTenants": False,
    }


def test_on_the_stable_part_is_marked_for_anthropic() -> None:
    request: Any = anthropic_messages.to_request(render(caching=True, share=True))

    marked = [block["text"] for block in request["system"] if "cache_control" in block]
    assert "You answer for Acme.\n" in marked


def test_on_openai_gets_a_cache_key_because_it_caches_prefixes_by_itself() -> None:
    request: Any = openai_chat.to_request(render(caching=True, share=True, profile=AUTOMATIC))

    assert request["prompt_cache_key"]
    assert "prompt_cache_breakpoint" not in json.dumps(request)


@pytest.mark.parametrize("share", [True, False])
def test_off_the_system_prompt_is_one_unmarked_block_and_sharing_is_ignored(share: bool) -> None:
    rendered = render(caching=False, share=share)
    request: Any = anthropic_messages.to_request(rendered)

    assert "cache_control" not in json.dumps(request)
    assert rendered.messages == render(caching=False, share=not share).messages
    assert rendered.messages[0].content == "You answer for Acme.\nToday is Tuesday."


# --- the stable block and the volatile part -----------------------------------------------------


def test_the_stable_block_is_template_text_output_format_and_addendum() -> None:
    rendered = render(caching=True, share=True, prompt=SAFE)

    assert rendered.layout.prefixes[0].ends_at == "context"
    assert rendered.layout.prefixes[0].tokens == sum(
        rendered.layout[path].used for path in ("output_format", "addendum")
    )


def test_with_sharing_the_tool_definitions_belong_to_it() -> None:
    request: Any = anthropic_messages.to_request(render(caching=True, share=True))

    assert request["tools"][-1]["cache_control"] == {"type": "ephemeral"}


def test_everything_behind_the_breakpoint_is_volatile_and_carries_no_mark() -> None:
    rendered = render(caching=True, share=True)
    request: Any = anthropic_messages.to_request(rendered)

    behind = json.dumps([request["system"][1:], request["messages"]])
    assert "Tuesday" in behind
    assert "cache_control" not in behind
    assert "volatile_before_stable" in [note.code for note in rendered.layout.notes]


def test_a_template_without_the_breakpoint_is_stable_as_far_as_what_it_reads() -> None:
    rendered = render(caching=True, share=True, prompt=SAFE)

    request: Any = anthropic_messages.to_request(rendered)
    assert ["cache_control" in block for block in request["system"]] == [False, True, False]


def test_it_pays_off_when_the_stable_part_exceeds_the_models_minimum() -> None:
    rule = CLAUDE.cache
    assert rule is not None
    strict = evolve(CLAUDE, cache=evolve(rule, minimum=4_096))
    rendered = render(caching=True, share=True, profile=strict)

    assert "cache_control" not in json.dumps(anthropic_messages.to_request(rendered))
    said = [n for n in rendered.layout.notes if n.code == "cache_mark_dropped"]
    assert said
    assert all("4,096" in note.detail for note in said)


# --- `reserveOutputTokens` ----------------------------------------------------------------------


@pytest.mark.parametrize("number", range(1, 6))
def test_the_reserve_is_the_smaller_limit_or_what_is_set(number: int) -> None:
    case = CASES[f"gateway-000{number}"]
    given = case["input"]
    read = settings(caching=False, share=False, reserveOutputTokens=given["reserveOutputTokens"])
    profile = evolve(CLAUDE, context_window=20_000, max_output_tokens=given["model_max_output"])
    renderer = Renderer(
        profile,
        reserve_output_tokens=read.reserve_output_tokens,
        max_output_tokens=given["profile_max_output"],
    )

    layout = renderer.render(Prompt([UserInput()]), {"input": "hi"}).layout

    assert layout.reserved == case["output"]
    assert layout.budget == 20_000 - case["output"]


def test_history_and_chunks_may_not_use_the_reserve() -> None:
    memory = {"history": chat(200), "input": "hi"}
    small = evolve(CLAUDE, context_window=1_000, max_output_tokens=600)
    prompt = Prompt([ConversationHistory(), UserInput()])

    rendered = Renderer(small).render(prompt, memory)
    by_call = Renderer(small).render(prompt, memory, max_output_tokens=100)

    assert rendered.token_count <= 400
    assert 400 < by_call.token_count <= 900
    assert "600 tokens kept for the answer" in rendered.explain()


def test_a_reserve_that_leaves_nothing_names_the_numbers() -> None:
    small = evolve(CLAUDE, context_window=1_000, max_output_tokens=600)
    prompt = Prompt([UserInput()])
    for options in ({"reserve_output_tokens": 1_000}, {"reserve_output_tokens": 5_000}):
        with pytest.raises(InvalidBudgetError, match=r"000 .* 1000 tokens"):
            Renderer(small, **options).render(prompt, {"input": "hi"})  # type: ignore[arg-type]
    with pytest.raises(InvalidBudgetError, match=r"budget=700 and 600 for the answer .* 1000"):
        Renderer(small).render(prompt, {"input": "hi"}, budget=700, max_output_tokens=700)
    with pytest.raises(InvalidBudgetError, match="max_output_tokens=0"):
        Renderer(small, max_output_tokens=0).render(prompt, {"input": "hi"})


def test_nothing_can_be_reserved() -> None:
    read = settings(caching=False, share=False, reserveOutputTokens=0)
    renderer = Renderer(CLAUDE, reserve_output_tokens=read.reserve_output_tokens)

    layout = renderer.render(Prompt([UserInput()]), {"input": "hi"}).layout

    assert (layout.reserved, layout.budget) == (0, 200_000)


# --- `sharePromptCacheAcrossTenants` ------------------------------------------------------------


def test_false_the_stable_block_opens_with_a_line_that_scopes_it() -> None:
    rendered = render(caching=True, share=False)
    request: Any = anthropic_messages.to_request(rendered)

    line = request["system"][0]["text"]
    assert line.startswith("Cache scope: ")
    assert "acme" not in json.dumps(request)
    assert "cache_control" not in json.dumps(request["tools"])
    assert request["system"][1]["cache_control"] == {"type": "ephemeral"}


def test_false_each_tenant_reads_its_own_entries() -> None:
    one, other = (render(caching=True, share=False, tenant=tenant) for tenant in ("a", "b"))

    assert one.messages[0] != other.messages[0]
    assert one.messages[1:] == other.messages[1:]


def test_true_byte_identical_stable_blocks_use_one_entry_tools_included() -> None:
    requests: list[Any] = [
        anthropic_messages.to_request(render(caching=True, share=True, tenant=tenant))
        for tenant in ("a", "b")
    ]

    assert requests[0] == requests[1]
    assert "cache_control" in requests[0]["tools"][-1]
    assert "Cache scope" not in json.dumps(requests[0])


def test_false_needs_a_secret_and_a_tenant() -> None:
    with pytest.raises(DefinitionError, match="secret"):
        settings(caching=True, share=False).policy()
    assert settings(caching=True, share=True).policy().secret is None
    with pytest.raises(DefinitionError, match="tenant"):
        render(caching=True, share=False, tenant="")


@pytest.mark.parametrize("number", range(6, 10))
def test_the_four_settings(number: int) -> None:
    case = CASES[f"gateway-000{number}"]
    given, expected = case["input"], case["output"]
    choices = {
        "caching": given["promptCaching"], "share": given["sharePromptCacheAcrossTenants"],
    }  # fmt: skip
    only_template = Prompt([PROFILE.sections[0], UserInput()], tools=PROFILE.tools)
    request: Any = anthropic_messages.to_request(
        render(**choices, prompt=only_template, product=words(20))
    )
    system = request["system"]
    blocks = [{"text": system}] if isinstance(system, str) else system
    scoped = [block for block in blocks if "Cache scope" in block["text"]]
    by_openai: Any = openai_chat.to_request(render(**choices, profile=AUTOMATIC))

    if expected["system_blocks"] == 1:
        assert len(blocks) == 1
    else:
        assert [block["text"][:4] for block in blocks if block not in scoped] == ["You ", "Toda"]
    assert any("cache_control" in block for block in blocks) == expected["system_marker"]
    assert ("cache_control" in request["tools"][-1]) == expected["tools_marker"]
    assert bool(scoped) == expected["tenant_scope_line"]
    assert ("prompt_cache_key" in by_openai) == expected["openai_cache_key"]


def test_the_order_and_what_is_never_shared() -> None:
    case = CASES["gateway-0010"]
    one, other = (
        anthropic_messages.to_request(render(caching=True, share=True, tenant=t)) for t in "ab"
    )

    assert case["output"]["shared_when"] == "byte-identical"
    assert json.dumps(one) == json.dumps(other)
    in_order = [one.get(key) for key in ("tools", "system", "messages")]
    marked = json.dumps(in_order).rpartition("cache_control")[0]
    assert not any(word in marked for word in ("Tuesday", "ctx", "user0", "Why?"))


@pytest.mark.parametrize(("number", "seconds"), [(11, 300), (12, 3_600)])
def test_prices_pay_after_so_many_calls(number: int, seconds: int) -> None:
    case = CASES[f"gateway-00{number}"]
    given = case["input"]
    rule = find_profile("claude-sonnet-4-5").cache
    assert rule is not None
    lifetime = next(each for each in rule.lifetimes if each.seconds == seconds)
    assert (lifetime.write, rule.read) == (given["write_price"], given["read_price"])

    calls = next(n for n in range(1, 9) if lifetime.write + (n - 1) * rule.read < n)

    assert calls == case["output"]


def test_openai_marks_need_the_model_to_take_them() -> None:
    request: Any = openai_chat.to_request(render(caching=True, share=True, profile=OPENAI))

    assert "prompt_cache_breakpoint" in json.dumps(request)
