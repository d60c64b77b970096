"""The asserts of `promptsections.testing` find what is wrong, and say what it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from attrs import evolve

from promptsections import (
    Auto,
    DataSourceSection,
    GroupSection,
    Layout,
    Message,
    Prompt,
    RenderedPrompt,
    Renderer,
    Rest,
    SystemMessage,
    TextSection,
    Tokens,
    ToolCall,
)
from promptsections.layout import Engine, Placement, Reason
from promptsections.testing import (
    CharacterTokenizer,
    FakeSource,
    WordTokenizer,
    assert_exchanges_whole,
    assert_fits,
    assert_in_order,
    assert_laws,
    assert_minimum_budget,
    assert_no_waste,
    assert_nothing_silent,
    assert_required_kept,
    assert_same_twice,
    recount,
)

WORDS = Renderer(tokenizer=WordTokenizer())
PROMPT = Prompt(
    [
        TextSection("one two three", name="first"),
        TextSection("four five", required=False, name="second"),
        TextSection("six seven eight nine", tokens=1.0, name="third"),
    ]
)


def rendered(budget: int = 6) -> RenderedPrompt:
    return WORDS.render(PROMPT, budget=budget)


def placed(of: RenderedPrompt, path: str, **changes: object) -> RenderedPrompt:
    """Change one placement of a layout."""

    def changed(placement: Placement) -> Placement:
        return evolve(placement, **changes) if placement.path == path else placement

    placements = tuple(map(changed, of.layout.placements))
    return evolve(of, layout=evolve(of.layout, placements=placements))


def laid_out(of: RenderedPrompt, **changes: object) -> RenderedPrompt:
    layout: Layout = evolve(of.layout, **changes)
    return evolve(of, layout=layout)


def test_a_good_render_passes() -> None:
    for budget in (4, 5, 6, 9, 50):
        good = rendered(budget)
        assert_fits(good, budget, profile=WORDS.profile)
        assert_required_kept(good)
        assert_in_order(good, PROMPT, WORDS.profile)
        assert_exchanges_whole(good)
        assert_nothing_silent(good)
        assert_same_twice(WORDS, PROMPT, budget=budget)
    assert_laws(WORDS, PROMPT, budgets=range(1, 15))


def test_a_recount_takes_the_profile_of_the_model() -> None:
    found = Renderer("gpt-4o").render(PROMPT, budget=500)

    assert recount(found) == found.token_count


@pytest.mark.parametrize(
    ("says", "check"),
    [
        ("never over: 6 tokens are sent in a budget of 5", lambda: assert_fits(rendered(), 5)),
        (
            "never over: token_count is 7, but what is sent counts 6",
            lambda: assert_fits(laid_out(rendered(), token_count=7), 9, profile=WORDS.profile),
        ),
        (
            "required means required: 'first' is required",
            lambda: assert_required_kept(
                placed(rendered(), "first", outcome="dropped", reason=Reason.NO_ROOM, used=0)
            ),
        ),
        (
            "required means required: 'first' is given 2 tokens, less than its floor of 3",
            lambda: assert_required_kept(placed(rendered(), "first", given=2)),
        ),
        (
            "the author's order: ",
            lambda: assert_in_order(rendered(), Prompt(PROMPT.sections[::-1]), WORDS.profile),
        ),
        (
            "the author's order: sections of [3, 2, 1] tokens are not messages of [1, 2, 3]",
            lambda: assert_in_order(
                evolve(rendered(), messages=rendered().messages[::-1]), PROMPT, WORDS.profile
            ),
        ),
        (
            "exchanges are atoms: message 0",
            lambda: assert_exchanges_whole(
                evolve(
                    rendered(),
                    messages=(Message("assistant", tool_calls=(ToolCall("c", "f"),)),),
                )
            ),
        ),
        (
            "nothing silent: 'third' is cut, for <Reason.FITS",
            lambda: assert_nothing_silent(placed(rendered(), "third", reason=Reason.FITS)),
        ),
        (
            "no words say why",
            lambda: assert_nothing_silent(placed(rendered(), "third", message="")),
        ),
        (
            "failed without an error",
            lambda: assert_nothing_silent(
                placed(rendered(), "third", outcome="failed", reason=Reason.FAILED, used=0)
            ),
        ),
        (
            "nothing silent: exact is False",
            lambda: assert_nothing_silent(laid_out(rendered(), exact=False)),
        ),
    ],
)
def test_what_is_wrong_is_said(says: str, check: Callable[[], None]) -> None:
    with pytest.raises(AssertionError) as caught:
        check()

    assert says in str(caught.value)


def test_a_prompt_that_changes_is_not_the_same_twice() -> None:
    answers = iter("ab")
    renderer = Renderer(tokenizer=WordTokenizer(), functions={"next": lambda: next(answers)})
    prompt = Prompt([SystemMessage("<<next>>")])

    with pytest.raises(AssertionError, match="same input, same bytes"):
        assert_same_twice(renderer, prompt, budget=9)


def no_handing_on(self: Engine, container: object, left: int, *, revive: bool = True) -> int:
    return left


def test_waste_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = DataSourceSection(
        FakeSource(["one two three four five"] * 2), tokens=Rest(at_least=7), required=True
    )
    dropped = TextSection("six seven eight", required=False, name="dropped")
    resolved = WORDS.resolve(Prompt([chunks, dropped]), budget=12)
    for budget in range(5, 15):
        assert_no_waste(resolved, min(budget, 12))

    monkeypatch.setattr(Engine, "hand_on", no_handing_on)
    with pytest.raises(AssertionError, match="no waste: 3 tokens are left, and 'dropped' could be"):
        assert_no_waste(resolved, 8)


def test_what_could_be_larger_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    share = DataSourceSection(FakeSource(["one two three", "four five six seven"]), tokens=0.5)
    rest = DataSourceSection(FakeSource(["a b c d e"] * 2), tokens=1.0)
    resolved = WORDS.resolve(Prompt([share, rest]), budget=40)
    assert_no_waste(resolved, 13)

    monkeypatch.setattr(Engine, "hand_on", no_handing_on)
    with pytest.raises(AssertionError, match="is sent in 5 tokens and could be in 10"):
        assert_no_waste(resolved, 13)


def test_waste_in_a_group_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = [["one two three", "four five six seven"], ["a b c d e"] * 2]
    share, rest = DataSourceSection(FakeSource(chunks[0]), tokens=0.5), _rest(chunks[1])
    limited = GroupSection([share, rest], tokens=Tokens(13))
    resolved = WORDS.resolve(Prompt([limited]), budget=40)
    assert_no_waste(resolved)

    monkeypatch.setattr(Engine, "hand_on", no_handing_on)
    with pytest.raises(AssertionError, match="is sent in 5 tokens and could be in 10"):
        assert_no_waste(resolved)


def _rest(chunks: list[str]) -> DataSourceSection:
    return DataSourceSection(FakeSource(chunks), tokens=1.0)


def test_a_floor_above_its_ceiling_has_no_minimum() -> None:
    prompt = Prompt([TextSection("one two three", tokens=Auto(at_most=2))])

    assert_minimum_budget(WORDS.resolve(prompt, budget=20))
    assert_laws(WORDS, prompt, budgets=[1, 20])


def test_a_minimum_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved = WORDS.resolve(PROMPT, budget=20)
    assert_minimum_budget(resolved)

    monkeypatch.setattr(type(resolved), "minimum_budget", lambda self: 6)
    with pytest.raises(AssertionError, match="required means required: 5 tokens are laid out"):
        assert_minimum_budget(resolved)


def test_testing_needs_no_hypothesis() -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import promptsections.testing as t; print(len(t.__all__))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert int(found.stdout) > 10


def test_tokenizers_count_by_hand() -> None:
    assert WordTokenizer().count(" one two\nthree ") == 3
    assert CharacterTokenizer().count("na\u00efve") == 5
