"""Estimates, and counting by them only where a prompt certainly fits."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.estimates import ratios, samples
from promptsections import (
    BudgetExceededError,
    ConversationHistory,
    DefinitionError,
    Message,
    Prompt,
    RenderedPrompt,
    Renderer,
    Share,
    TextSection,
    Tokens,
    UserInput,
)
from promptsections.render_cache import RenderCache
from promptsections.testing.asserts import recount
from promptsections.tokens import (
    ESTIMATION_MODELS,
    BundledTokenizer,
    CallableTokenizer,
    EstimatedTokenizer,
    EstimationModel,
    HybridTokenizer,
    ScaledTokenizer,
    TiktokenTokenizer,
    find_estimation,
    with_strategy,
)
from promptsections.tokens.estimates import features

CASES = Path(__file__).parent / "cases" / "estimates.jsonl"
OTHERWISE = {
    "GPT-4": "names are compared whatever their case, so this is gpt-4",
    "Claude-3": "names are compared whatever their case, so this is a Claude",
    "claude-gpt-4": None,
}
"""Model → why its recorded estimate is not ours; `None` if it is."""
texts = st.one_of(st.text(), st.sampled_from([t for some in samples().values() for t in some]))


def recorded() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", recorded(), ids=lambda c: f"{c['model']}-{c['characters']}")
def test_an_estimate_by_length_is_that_of_agentos(case: dict[str, Any]) -> None:
    tokens = find_estimation(case["model"] or "").by_length().count("x" * case["characters"])

    same = OTHERWISE.get(case["model"]) is None
    assert (tokens == case["tokens"]) is same


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/gpt-4-turbo", "gpt-4"),
        ("gpt-4o-mini", "gpt-4o"),
        ("GPT-5", "gpt-4o"),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo"),
        ("claude-sonnet-4-5", "claude-3"),
        ("llama-3", "generic"),
    ],
)
def test_a_model_is_estimated_like_its_family(model: str, name: str) -> None:
    assert find_estimation(model) is ESTIMATION_MODELS[name]


@pytest.mark.parametrize("name", list(ESTIMATION_MODELS))
def test_estimates_are_near_for_every_kind_of_text(name: str) -> None:
    found = ratios(EstimatedTokenizer(ESTIMATION_MODELS[name]), name)

    assert {kind: whole for kind, (whole, _, _) in found.items() if not 0.75 < whole < 1.35} == {}


def test_lengths_alone_are_a_fifth_to_four_times() -> None:
    found = ratios(ESTIMATION_MODELS["gpt-4o"].by_length(), "gpt-4o")

    assert found["emoji"][0] < 0.3
    assert found["whitespace"][0] > 3


def test_runs_and_characters_are_told_apart_by_kind() -> None:
    found = features("Zoë's 42 files,  a\n\n  b 漢字かな한글 Жук ✓ हिंदी 🙂".encode())

    assert {name: number for name, number in found.items() if number} == {
        "word": 5, "letter": 11, "number": 1, "digit": 2, "sign": 2, "break": 1, "blank": 2,
        "accent": 1, "script": 3, "symbol": 1, "kana": 2, "han": 2, "hangul": 2, "indic": 5,
        "emoji": 1,
    }  # fmt: skip


@given(text=texts, name=st.sampled_from(list(ESTIMATION_MODELS)))
def test_an_estimate_is_at_least_one_and_at_most_a_token_for_each_byte(
    text: str, name: str
) -> None:
    """So the bound of a hybrid is never less than what it reports."""
    tokens = EstimatedTokenizer(ESTIMATION_MODELS[name]).count(text)

    size = len(text.encode("utf-8", "replace"))
    assert min(size, 1) <= tokens <= 3 * max(size, len(text))


@pytest.mark.parametrize(
    ("weights", "problem"),
    [({"letters": 1}, "letters"), ({"word": 0.5}, "thousandths"), ({"word": -1}, "-1")],
)
def test_weights_that_mean_nothing_are_an_error(weights: Any, problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem):
        EstimationModel(name="mine", weights=weights, characters_per_token=Fraction(4))


# --- strategies ----------------------------------------------------------------------------------


@given(text=texts)
def test_the_bound_of_a_hybrid_is_never_less_than_the_count(text: str) -> None:
    """Whatever the text: so what fits by the bound, fits."""
    for tokenizer in (
        BundledTokenizer("o200k_base"),
        TiktokenTokenizer("cl100k_base"),
        ScaledTokenizer(BundledTokenizer("o200k_base"), 1.2),
    ):
        hybrid = HybridTokenizer(tokenizer, EstimatedTokenizer(ESTIMATION_MODELS["generic"]))
        assert hybrid.bound is not None
        assert hybrid.count(text) == tokenizer.count(text) <= hybrid.bound.count(text)


@pytest.mark.parametrize(
    "tokenizer",
    [
        CallableTokenizer("mine", len),
        ScaledTokenizer(CallableTokenizer("mine", len), 2),
    ],
)
def test_of_an_unknown_tokenizer_no_bound_is_known_so_everything_is_counted(tokenizer: Any) -> None:
    renderer = Renderer(tokenizer=tokenizer, counting="hybrid")

    rendered = renderer.render(Prompt([TextSection("Hello")]), budget=1_000)

    assert rendered.token_count == tokenizer.count("Hello")


def test_a_hybrid_is_what_it_wraps() -> None:
    base = BundledTokenizer("o200k_base")
    hybrid = with_strategy(base, "hybrid", None, "gpt-4o")

    assert isinstance(hybrid, HybridTokenizer)
    assert (hybrid.exact, hybrid.joints, hybrid.loaded) == (True, "strong", base.loaded)
    assert hybrid.name == "o200k_base or estimated:gpt-4o"
    assert with_strategy(base, "precise", None, "gpt-4o") is base


@pytest.mark.parametrize(
    ("model", "estimation", "name"),
    [
        ("gpt-4o", None, "gpt-4o"),
        ("gpt-3.5-turbo", None, "gpt-4"),
        ("claude-3-5-haiku", None, "claude-3"),
        ("gpt-4o", "generic", "generic"),
        ("gpt-4o", ESTIMATION_MODELS["claude-3"], "claude-3"),
    ],
)
def test_an_estimation_suits_the_tokenizer_unless_it_is_given(
    model: str, estimation: Any, name: str
) -> None:
    renderer = Renderer(model, counting="estimated", estimation=estimation)

    assert renderer.profile.tokenizer().name == f"estimated:{name}"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"counting": "guess"}, "'precise', 'estimated', 'hybrid'"),
        ({"counting": "hybrid", "estimation": "gpt-9"}, "gpt-3.5-turbo"),
        ({"estimation": "generic"}, "needs counting"),
    ],
)
def test_what_no_strategy_is_called_is_an_error(options: Any, problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem):
        Renderer("gpt-4o", **options)


def test_estimated_counts_are_marked_and_read_no_vocabulary() -> None:
    renderer = Renderer("gpt-4o", counting="estimated")

    rendered = renderer.render(Prompt([TextSection("Hello, how are you?")]), budget=100)

    assert not rendered.exact
    assert [(n.code, n.detail) for n in rendered.layout.notes] == [
        ("estimated", "tokenizer estimated:gpt-4o")
    ]


def test_far_from_the_limit_a_hybrid_estimates_and_near_it_counts() -> None:
    renderer = Renderer("gpt-4o", counting="hybrid")
    prompt = Prompt([TextSection("Hello, how are you?")])
    precise = Renderer("gpt-4o").render(prompt, budget=1_000)

    far, near = (renderer.render(prompt, budget=budget) for budget in (1_000, 15))

    assert (far.exact, near.exact) == (False, True)
    assert far.messages == near.messages == precise.messages
    assert near.token_count == precise.token_count


def test_near_its_own_limit_a_section_is_counted() -> None:
    text = "日本語の文章です。" * 3
    exact = BundledTokenizer("o200k_base").count(text)
    prompt = Prompt([TextSection(text, tokens=Tokens(exact + 10))])

    rendered = Renderer("gpt-4o", counting="hybrid").render(prompt, budget=10_000)

    assert rendered.exact


def test_with_a_cache_estimated_and_exact_renders_are_kept_apart() -> None:
    cache, prompt = RenderCache(), Prompt([TextSection("Hello, how are you?")])

    found = [
        Renderer("gpt-4o", counting=counting, cache=cache).render(prompt, budget=1_000)
        for counting in ("precise", "estimated", "hybrid", "hybrid")
    ]

    assert [rendered.cached for rendered in found] == [False, False, False, True]


@given(
    texts=st.lists(texts, min_size=1, max_size=4),
    budget=st.integers(1, 3_000),
    model=st.sampled_from(["gpt-4o", "gpt-4", "claude-3-5-haiku"]),
    in_text=st.booleans(),
)
def test_a_hybrid_is_never_over_and_sends_what_counting_sends(
    texts: list[str], budget: int, model: str, in_text: bool
) -> None:
    """The same messages as with exact counts, at every budget; the same errors."""
    prompt = Prompt(
        [
            TextSection(texts[0]),
            TextSection(texts[-1], tokens=Share(0.3), required=False, name="part"),
            ConversationHistory(tokens=Tokens(200)),
            UserInput(),
        ]
    )
    memory = {"history": [Message("user", text) for text in texts], "input": "Well?"}
    output = "text" if in_text else None
    hybrid = Renderer(model, counting="hybrid", output=output)
    precise = Renderer(model, output=output)
    wanted, found = (_sent(each, prompt, memory, budget) for each in (precise, hybrid))

    if isinstance(wanted, BudgetExceededError) or isinstance(found, BudgetExceededError):
        assert str(found) == str(wanted)
        return
    assert found.messages == wanted.messages
    assert found.token_count <= budget
    assert recount(found, precise.profile) <= budget


def _sent(
    renderer: Renderer, prompt: Prompt, memory: object, budget: int
) -> RenderedPrompt | BudgetExceededError:
    try:
        return renderer.render(prompt, memory, budget=budget)
    except BudgetExceededError as error:
        return error
