"""Models that count words and keep short prefixes, and prompts to cache."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from hypothesis import strategies as st

from promptsections import (
    CacheBreakpoint,
    CachePolicy,
    ConversationHistory,
    GroupSection,
    ModelProfile,
    Prompt,
    PromptSection,
    Renderer,
    SystemMessage,
    TextSection,
    Tool,
    Truncate,
    UserInput,
    find_profile,
)
from promptsections.profiles.caching import CacheRule, Lifetime
from promptsections.sections.stability import STABILITIES
from promptsections.testing import WordTokenizer

RULE = CacheRule(
    minimum=8,
    read=0.1,
    lifetimes=(Lifetime("5m", 300, 1.25), Lifetime("1h", 3_600, 2.0)),
    marks=4,
    lookback=20,
)
CLAUDE = evolve(find_profile("claude-sonnet-4-5"), encoding=WordTokenizer(), cache=RULE)
OPENAI = evolve(
    find_profile("gpt-6-sol"),
    encoding=WordTokenizer(),
    cache=evolve(
        RULE,
        lifetimes=(Lifetime("30m", 1_800, 1.25), Lifetime("12h", 43_200, 2.5)),
        lookback=0,
        key="prompt_cache_key",
    ),
)
SECRET = "operator's secret"


def policy(*, shared: bool = True, **options: Any) -> CachePolicy:
    return CachePolicy(
        prompt_caching=True, share_prompt_cache_across_tenants=shared, secret=SECRET, **options
    )


def words(number: int, word: str = "w") -> str:
    return " ".join([word] * number)


def chat(exchanges: int, size: int = 10) -> list[dict[str, str]]:
    return [
        {"role": role, "content": f"{role}{number} {words(size)}"}
        for number in range(exchanges)
        for role in ("user", "assistant")
    ]


def renderer(profile: ModelProfile = CLAUDE, *, shared: bool = True, **options: Any) -> Renderer:
    return Renderer(
        profile, caching=policy(shared=shared, **options), functions={"now": lambda: "10:00"}
    )


# --- random prompts -----------------------------------------------------------------------------

texts = st.integers(0, 30).map(words)
stabilities = st.sampled_from((*STABILITIES, None))
lifetimes = st.sampled_from(("5m", "30m", "1h", "12h", None))
cuts = st.sampled_from(("by_budget", Truncate(), Truncate(marker="…")))


@st.composite
def leaves(draw: st.DrawFn) -> PromptSection:
    """Draw a section: a fixed text, a template, or a breakpoint."""
    common = {"stability": draw(stabilities), "required": draw(st.booleans())}
    kind = draw(st.sampled_from(("text", "text", "template", "breakpoint")))
    if kind == "breakpoint":
        return CacheBreakpoint(draw(lifetimes), **common)
    role = draw(st.sampled_from(("system", "system", "user")))
    tokens = draw(st.sampled_from((-1, -1, 12, 25)))
    if kind == "text":
        return TextSection(draw(texts), role, tokens=tokens, **common)
    return SystemMessage(f"{draw(texts)} <<now>> {draw(texts)}", tokens=tokens, **common)


@st.composite
def prompts(draw: st.DrawFn) -> tuple[Prompt, dict[str, Any]]:
    """Draw a prompt that ends with the user's words, and its memory."""
    sections = draw(st.lists(leaves(), max_size=5))
    if draw(st.booleans()):
        parted = f"{draw(texts)} <<cache_breakpoint>>{draw(texts)} <<now>>"
        tokens = draw(st.sampled_from((-1, 15, 40)))
        sections.append(SystemMessage(parted, tokens=tokens))
    if draw(st.booleans()):
        role = draw(st.sampled_from((None, "system")))
        inner = draw(st.lists(leaves(), max_size=3))
        sections.insert(
            draw(st.integers(0, len(sections))),
            GroupSection(inner, role, order=draw(st.sampled_from(("author", "cache")))),
        )
    prompt = Prompt(
        [*sections, ConversationHistory(), UserInput()],
        tools=[Tool("look_up", words(draw(st.integers(1, 12))))] if draw(st.booleans()) else [],
        order=draw(st.sampled_from(("author", "cache"))),
    )
    return prompt, {"history": chat(draw(st.integers(0, 6))), "input": "And now?"}


policies = st.builds(
    policy,
    shared=st.booleans(),
    lifetimes=st.dictionaries(st.sampled_from(STABILITIES), st.sampled_from(("5m", "1h"))),
    functions=st.just({"now": "session"}) | st.just({}),
)
