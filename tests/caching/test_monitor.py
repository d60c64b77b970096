"""A monitor says what prompts share with those before, what that costs, and if the bill agrees."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest
from anthropic.types import Usage as AnthropicUsage
from google.genai.types import GenerateContentResponseUsageMetadata
from hypothesis import given
from hypothesis import strategies as st
from openai.types import CompletionUsage
from openai.types.completion_usage import PromptTokensDetails

from promptsections import (
    CacheMonitor,
    CachePolicy,
    ConversationHistory,
    DefinitionError,
    Message,
    Prompt,
    Renderer,
    SystemMessage,
    TemplateSection,
    Tool,
    UserInput,
)
from promptsections.caching import Bill, CacheReport, CacheUsage, Parting, Prices, read_usage
from promptsections.caching.billing import Stop, predict
from promptsections.profiles import CacheRule, Lifetime

CACHING = CachePolicy(prompt_caching=True, share_prompt_cache_across_tenants=True)
RULES = "Keep this in mind, it does not change. " * 200
PROMPT = Prompt([SystemMessage(RULES), ConversationHistory(), UserInput()])
AUTOMATIC = CacheRule(minimum=1_024, read=0.1)
MARKED = CacheRule(minimum=1_024, read=0.1, lifetimes=(Lifetime("5m", 300, 1.25),), marks=4)


def chat(model: str, turns: int, **options: Any) -> tuple[CacheMonitor, list[CacheReport]]:
    renderer = Renderer(model, caching=CACHING)
    monitor = CacheMonitor(renderer.profile, **options)
    history: list[Message] = []
    reports: list[CacheReport] = []
    for number in range(turns):
        memory = {"history": history, "input": f"question {number}: " + "why? " * 40}
        rendered = renderer.render(PROMPT, memory, budget=4_096)
        reports.append(monitor.saw(rendered))
        answer = Message("assistant", f"answer {number}: " + "so. " * 60)
        history = [*history, *rendered.turn(), answer]
    return monitor, reports


# --- what is the same ---------------------------------------------------------------------------


def test_the_first_prompt_shares_nothing_and_the_next_all_of_it() -> None:
    renderer = Renderer("gpt-4o")
    monitor = CacheMonitor(renderer.profile)
    first = renderer.render(PROMPT, {"history": [], "input": "Why?"})
    stored = [*first.turn(), Message("assistant", "So.")]
    second = renderer.render(PROMPT, {"history": stored, "input": "And?"})

    reports = [monitor.saw(first), monitor.saw(second)]

    assert (reports[0].reused, reports[0].parting) == (0, None)
    assert reports[1].reused == first.token_count - 3  # without reply priming
    assert reports[1].parting is None
    assert reports[1].tokens == second.token_count
    assert monitor.totals.prompts == 2
    assert monitor.totals.tokens == first.token_count + second.token_count


def test_where_prompts_part_is_named_to_the_byte() -> None:
    renderer = Renderer("gpt-4o")
    prompt = Prompt(
        [SystemMessage("Rules."), TemplateSection("Uhr: <<$now>>", name="clock"), UserInput()]
    )
    monitor = CacheMonitor("gpt-4o")
    monitor.saw(renderer.render(prompt, {"now": "10 ö 00", "input": "Why?"}))

    report = monitor.saw(renderer.render(prompt, {"now": "10 ö 01", "input": "Why?"}))

    assert report.parting == Parting("clock", 1, len("Uhr: 10 ö 0".encode()), "changed")
    assert "'clock' is another from byte 12 of message 1" in str(report)
    tokenizer = renderer.profile.tokenizer()
    rules = renderer.profile.messages_tokens([Message("system", "Rules.")], tokenizer)
    assert report.reused == rules + tokenizer.count("Uhr: 10 ö 0")


def test_a_trimmed_history_is_named_as_such() -> None:
    _, reports = chat("gpt-4o", 60)

    parted = [report.parting for report in reports if report.parting is not None]
    assert parted
    assert {(each.path, each.what) for each in parted} == {("conversation_history", "trimmed")}
    assert "begins elsewhere" in str(parted[0])


def test_other_tools_leave_nothing() -> None:
    renderer = Renderer("gpt-4o")
    monitor = CacheMonitor(renderer.profile)
    for name in ("look", "find"):
        tool = Tool(name, "Looks.", parameters={"type": "object", "properties": {}})
        report = monitor.saw(renderer.render(Prompt([UserInput()], tools=[tool]), {"input": "a"}))

    assert report.reused == 0
    assert report.parting == Parting("", -1, 0, "tools")
    assert "tools" in str(report)


def test_a_shorter_prompt_is_a_prefix_of_the_one_before() -> None:
    renderer = Renderer("gpt-4o")
    monitor = CacheMonitor(renderer.profile)
    prompt = Prompt([UserInput("one"), UserInput("two", required=False)])
    monitor.saw(renderer.render(prompt, {"one": "a", "two": "b"}))

    report = monitor.saw(renderer.render(prompt, {"one": "a"}))

    assert report.parting == Parting("", 1, 0, "shorter")
    assert report.reused == report.tokens - 3
    assert "ends at message 1" in str(report)


@pytest.mark.parametrize(
    "other",
    [
        Message("assistant", "same text"),
        Message("user", "same text", name="Ada"),
        Message("user", "same text", provider_data={"openai": {"x": 1}}),
    ],
)
def test_the_same_text_in_another_message_is_another(other: Message) -> None:
    renderer = Renderer("gpt-4o")
    monitor = CacheMonitor(renderer.profile)
    prompt = Prompt([ConversationHistory(start_on="any")])
    monitor.saw(renderer.render(prompt, {"history": [Message("user", "same text")]}))

    report = monitor.saw(renderer.render(prompt, {"history": [other]}))

    assert report.parting == Parting("conversation_history", 0, 0, "changed")
    assert report.reused == 0


def test_texts_are_compared_as_texts() -> None:
    renderer = Renderer("gpt-4o", output="text")
    monitor = CacheMonitor(renderer.profile)
    prompt = Prompt([SystemMessage("Rules."), UserInput()])
    monitor.saw(renderer.render(prompt, {"input": "one more"}))

    report = monitor.saw(renderer.render(prompt, {"input": "one less"}))

    assert report.parting == Parting("", 0, len("Rules.\n\nuser: one "), "changed")
    assert 0 < report.reused < report.tokens


def test_threads_may_share_a_monitor() -> None:
    renderer = Renderer("gpt-4o")
    rendered = renderer.render(Prompt([UserInput()]), {"input": "a"})
    monitor = CacheMonitor(renderer.profile)

    def work() -> None:
        for _ in range(50):
            monitor.saw(rendered)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert monitor.totals.prompts == 200


# --- what it costs ------------------------------------------------------------------------------


def test_a_prefix_is_found_without_marks_from_the_minimum_on() -> None:
    assert predict(AUTOMATIC, 2_000, reused=1_500) == Bill(read=1_500, written=500, writing=500)
    assert predict(AUTOMATIC, 2_000, reused=1_000) == Bill(written=2_000, writing=2_000)
    assert predict(AUTOMATIC, 1_000, reused=900) == Bill(fresh=1_000)
    assert predict(None, 2_000, reused=1_500) == Bill(fresh=2_000)


def test_with_marks_a_prefix_is_found_at_a_mark_of_the_request_before() -> None:
    before = [Stop(tokens=1_100, message=0), Stop(tokens=1_800, message=4, write=1.25)]
    now = [Stop(tokens=1_100, message=0), Stop(tokens=2_500, message=8, write=1.25)]

    assert predict(MARKED, 2_600, reused=2_000, stops=now, before=before) == Bill(
        read=1_800, written=700, fresh=100, writing=875
    )
    assert predict(MARKED, 2_600, reused=1_700, stops=now, before=before).read == 1_100
    assert predict(MARKED, 2_600, reused=1_050, stops=now, before=before).read == 0
    assert predict(MARKED, 2_600, reused=2_600) == Bill(fresh=2_600)


def test_a_mark_too_far_from_the_next_one_is_not_found() -> None:
    rule = CacheRule(minimum=1_024, read=0.1, marks=4, lookback=20)
    before = [Stop(tokens=1_800, message=4)]

    near = predict(rule, 3_000, reused=1_800, stops=[Stop(tokens=3_000, message=24)], before=before)
    far = predict(rule, 3_000, reused=1_800, stops=[Stop(tokens=3_000, message=25)], before=before)

    assert (near.read, far.read) == (1_800, 0)


stops = st.lists(
    st.builds(
        Stop,
        tokens=st.integers(0, 5_000),
        message=st.integers(0, 50),
        write=st.sampled_from([1.0, 1.25, 2.0]),
    ),
    max_size=4,
).map(lambda found: sorted(found, key=lambda stop: stop.tokens))


@given(
    st.sampled_from([None, AUTOMATIC, MARKED, CacheRule(minimum=0, read=0.5, marks=4, lookback=0)]),
    st.integers(0, 5_000),
    st.integers(0, 5_000),
    stops,
    stops,
)
def test_every_token_is_billed_once(
    rule: CacheRule | None, tokens: int, reused: int, now: list[Stop], before: list[Stop]
) -> None:
    """Read, written and fresh add up, none is negative, and what is read is the same as before."""
    reused = min(reused, tokens)
    marks = [stop for stop in now if stop.tokens <= tokens]
    bill = predict(rule, tokens, reused=reused, stops=marks, before=before)

    assert bill.tokens == tokens
    assert min(bill.read, bill.written, bill.fresh) >= 0
    assert bill.read <= reused
    assert bill.written <= bill.writing <= 2 * bill.written


def test_prices_of_a_user_win_over_the_rule() -> None:
    bill = Bill(read=1_000_000, written=500_000, fresh=250_000, writing=625_000)

    assert bill.cost(MARKED) == pytest.approx(100_000 + 625_000 + 250_000)
    assert bill.cost(None) == pytest.approx(1_000_000 + 625_000 + 250_000)
    assert bill.cost(MARKED, Prices(input=2)) == pytest.approx(0.2 + 1.25 + 0.5)
    assert bill.cost(MARKED, Prices(input=2, read=0.5)) == pytest.approx(0.5 + 1.25 + 0.5)
    assert bill.cost(MARKED, Prices(input=2, write=3)) == pytest.approx(0.2 + 1.5 + 0.5)
    with pytest.raises(DefinitionError, match="read=-1"):
        Prices(input=2, read=-1)
    with pytest.raises(DefinitionError, match="input='2'"):
        Prices(input="2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gpt-5", "gpt-5.6", "gemini-2.5-pro"])
def test_a_chat_whose_turns_are_stored_as_sent_costs_a_fraction(model: str) -> None:
    monitor, reports = chat(model, 60)

    assert monitor.totals.share > 0.8
    assert monitor.totals.cost < 0.4 * monitor.totals.uncached
    later = [report for report in reports[3:] if report.parting is None]
    assert all(report.saving > 0 for report in later)
    assert sum(report.cost for report in reports) == pytest.approx(monitor.totals.cost)


def test_after_its_lifetime_nothing_is_read() -> None:
    renderer = Renderer("claude-sonnet-4-5", caching=CACHING)
    rendered = renderer.render(PROMPT, {"history": [], "input": "Why?"})
    kept: dict[float | None, int] = {}
    for idle in (None, 299.0, 301.0):
        monitor = CacheMonitor(renderer.profile)
        monitor.saw(rendered)
        kept[idle] = monitor.saw(rendered, idle=idle).bill.read

    assert kept[None] == kept[299.0] > 1_024
    assert kept[301.0] == 0
    unlimited = CacheMonitor(renderer.profile, rule=AUTOMATIC)
    unlimited.saw(rendered)
    assert unlimited.saw(rendered, idle=1e6).bill.read > 0
    for wrong in (-1, float("nan")):
        with pytest.raises(DefinitionError, match="idle"):
            unlimited.saw(rendered, idle=wrong)


def test_a_model_without_a_cache_saves_nothing() -> None:
    renderer = Renderer(tokenizer="o200k_base")
    monitor = CacheMonitor(renderer.profile)
    rendered = renderer.render(Prompt([UserInput()]), {"input": "a b c"}, budget=100)
    monitor.saw(rendered)

    report = monitor.saw(rendered)

    assert report.share == 1
    assert report.saving == 0


def test_an_empty_prompt_is_no_division_by_zero() -> None:
    renderer = Renderer(tokenizer="o200k_base")
    monitor = CacheMonitor(renderer.profile)
    report = monitor.saw(renderer.render(Prompt([]), budget=100))

    assert (report.share, monitor.totals.share) == (0, 0)
    assert CacheMonitor("gpt-4o").totals.share == 0
    assert str(report) == "0 of 0 tokens as before"


# --- what is billed -----------------------------------------------------------------------------

USAGES: dict[str, tuple[Any, CacheUsage]] = {
    "openai, an object": (
        CompletionUsage(
            prompt_tokens=100,
            completion_tokens=5,
            total_tokens=105,
            prompt_tokens_details=PromptTokensDetails(cached_tokens=64),
        ),
        CacheUsage(tokens=100, read=64),
    ),
    "openai, since 5.6": (
        {
            "prompt_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 30},
        },
        CacheUsage(tokens=100, read=64, written=30),
    ),
    "openai responses, a whole answer": (
        {"usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 64}}},
        CacheUsage(tokens=100, read=64),
    ),
    "openai, nothing said": ({"prompt_tokens": 100}, CacheUsage(tokens=100)),
    "anthropic, an object": (
        AnthropicUsage(
            input_tokens=6,
            output_tokens=5,
            cache_creation_input_tokens=30,
            cache_read_input_tokens=64,
        ),
        CacheUsage(tokens=100, read=64, written=30),
    ),
    "anthropic, nulls": (
        {"input_tokens": 6, "cache_creation_input_tokens": None, "cache_read_input_tokens": None},
        CacheUsage(tokens=6, written=0),
    ),
    "bedrock": (
        {"usage": {"inputTokens": 6, "cacheReadInputTokens": 64, "cacheWriteInputTokens": 30}},
        CacheUsage(tokens=100, read=64, written=30),
    ),
    "gemini, an object": (
        GenerateContentResponseUsageMetadata(prompt_token_count=100, cached_content_token_count=64),
        CacheUsage(tokens=100, read=64),
    ),
    "gemini, as sent": (
        {"usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 64}},
        CacheUsage(tokens=100, read=64),
    ),
    "deepseek": (
        {"prompt_tokens": 100, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36},
        CacheUsage(tokens=100, read=64),
    ),
    "deepseek, hits alone": (
        {"prompt_tokens": 100, "prompt_cache_hit_tokens": 64},
        CacheUsage(tokens=100, read=64),
    ),
    "others": ({"prompt_tokens": 100, "num_cached_tokens": 64}, CacheUsage(tokens=100, read=64)),
}


@pytest.mark.parametrize(("answer", "expected"), USAGES.values(), ids=USAGES)
def test_what_providers_say_of_their_cache_is_understood(answer: Any, expected: CacheUsage) -> None:
    assert read_usage(answer) == expected


class Answer:
    def __init__(self, usage: Any) -> None:
        self.usage = usage


def test_the_usage_of_any_object_is_read() -> None:
    assert read_usage(Answer({"prompt_tokens": 7})) == CacheUsage(tokens=7)


@pytest.mark.parametrize(
    "wrong",
    [7, {}, {"usage": {"total": 3}}, {"prompt_tokens": "7"}, {"prompt_tokens": -1},
     {"prompt_tokens": True}],
)  # fmt: skip
def test_an_answer_without_a_usage_is_an_error(wrong: Any) -> None:
    with pytest.raises(DefinitionError, match="usage"):
        read_usage(wrong)


def test_a_bill_that_agrees_is_silent_and_a_collapse_is_not() -> None:
    monitor, reports = chat("gpt-5", 20)
    expected = reports[-1].bill.read
    assert expected > 2_500

    fine = monitor.billed(
        {"prompt_tokens": 3_000, "prompt_tokens_details": {"cached_tokens": expected - 90}}
    )
    collapsed = monitor.billed(
        {"prompt_tokens": 3_000, "prompt_tokens_details": {"cached_tokens": 0}}
    )

    assert (fine.missed, fine.alarm) == (90, False)
    assert (collapsed.missed, collapsed.alarm) == (expected, True)
    assert str(collapsed).startswith("ALARM: 0 tokens read from the cache")
    assert not str(fine).startswith("ALARM")


def test_a_miss_that_is_large_but_a_small_part_is_silent() -> None:
    """2,000 tokens of 60,000 are less than 5 %."""
    renderer = Renderer("gpt-5")
    monitor = CacheMonitor(renderer.profile)
    rendered = renderer.render(
        Prompt([SystemMessage("word " * 60_000), UserInput()]), {"input": "a"}
    )
    monitor.saw(rendered)
    report = monitor.saw(rendered)

    def billed(missed: int) -> bool:
        read = report.bill.read - missed
        return monitor.billed(
            {"prompt_tokens": report.tokens, "prompt_tokens_details": {"cached_tokens": read}}
        ).alarm

    assert [billed(missed) for missed in (1_999, 2_001, 3_100)] == [False, False, True]


def test_a_bill_before_any_prompt_is_an_error() -> None:
    with pytest.raises(DefinitionError, match=r"call saw\(\) first"):
        CacheMonitor("gpt-5").billed({"prompt_tokens": 1})
