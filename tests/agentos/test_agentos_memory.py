"""All kinds of memory in one room, held against what the original's assembler was seen to do.

The original counts four characters as a token, and neither its headings nor its preamble: it was
asked for 1,000 tokens and sent 1,205. Here everything is inside.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from agentos_cases import Case, of, of_id

from promptsections import ModelProfile, Prompt, RenderedPrompt, Renderer
from promptsections.recall import HEADINGS, PREAMBLE, recall_group
from promptsections.testing import assert_fits
from promptsections.tokens import CallableTokenizer

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FOURTHS = CallableTokenizer("four characters", lambda text: -(-len(text) // 4))
RENDERER = Renderer(ModelProfile.plain(FOURTHS))

KINDS = {
    "pm": "persistent",
    "wm": "working",
    "alerts": "reminders",
    "graph": "graph",
    "notes": "observations",
}
SHARES = {
    "semanticRecall": "semantic",
    "workingMemory": "working",
    "prospectiveAlerts": "reminders",
    "graphAssociations": "graph",
    "observationNotes": "observations",
}
TITLES = {title.removeprefix("## "): kind for kind, title in HEADINGS.items()}


def memories_of(given: dict[str, Any]) -> dict[str, Any]:
    memories: dict[str, Any] = {}
    for name, kind in KINDS.items():
        if name in given:
            value = given[name]
            memories[kind] = "m" * value if isinstance(value, int) else value
    for trace in given.get("traces", ()):
        said = {"id": trace["id"], "kind": trace["type"], "content": trace["content"]}
        memories.setdefault(trace["type"], []).append(said)
    return memories


def rendered(case: Case, **options: Any) -> RenderedPrompt:
    shares = {SHARES[name]: share for name, share in case.input.get("allocation", {}).items()}
    group = recall_group(shares=shares, tokens=case.input["budget"], **options)  # type: ignore[arg-type]
    memory = {"now": NOW, "memories": memories_of(case.input)}
    return RENDERER.render(Prompt([group]), memory, budget=case.input["budget"])


def kinds_said(result: RenderedPrompt) -> list[str]:
    children = result.layout.placements[0].children
    return [p.path.rpartition("/")[2] for p in children if p.kept and p.used]


MORE = {
    "agentos-0241": ({"working"}, "working text over its share is cut, not dropped whole"),
    "agentos-0247": ({"semantic"}, "what is too big is passed over, the next one is said"),
}
"""Case → kinds that the library says and the original did not, and why."""


LESS = {"agentos-0246": {"reminders", "graph", "observations"}}
"""Case → kinds whose one memory, with its heading, is over its share and passed over."""


@pytest.mark.parametrize("case", of("assemble_memory"))
def test_the_same_kinds_are_said_and_never_too_much(case: Case) -> None:
    result = rendered(case)
    assert result.token_count <= case.input["budget"]
    assert_fits(result, profile=RENDERER.profile)
    recorded = {TITLES[title] for title in case.output["sections"] if title in TITLES}
    more = MORE.get(case.id, (set[str](), ""))[0]
    assert set(kinds_said(result)) - {"preamble"} == (recorded | more) - LESS.get(case.id, set())


def test_over_the_budget_by_headings_and_preamble_is_a_fault_of_the_original() -> None:
    case = of_id(246)
    assert case.output["tokens_of_text"] > case.input["budget"]
    result = rendered(case)
    assert result.token_count <= case.input["budget"]
    assert result.messages[0].text.startswith(PREAMBLE)


def test_the_preamble_is_said_only_with_memories() -> None:
    assert rendered(of_id(239)).messages == ()
    assert rendered(of_id(242)).messages[0].text.startswith(PREAMBLE)
    assert kinds_said(rendered(of_id(242), preamble="")) == ["persistent"]


def test_what_is_too_big_is_passed_over_and_told() -> None:
    result = rendered(of_id(247))
    (semantic,) = (p for p in result.layout.walk() if p.path.endswith("semantic"))
    assert semantic.items == ("small",)
    assert semantic.omitted == 1
    assert "bbb" not in result.messages[0].text


def test_of_reminders_those_that_fit_are_said() -> None:
    text = rendered(of_id(248)).messages[0].text
    assert text.endswith("## Reminders\na\nc")


def test_persistent_text_is_cut_to_its_share() -> None:
    result = rendered(of_id(243))
    (persistent,) = (p for p in result.layout.walk() if p.path.endswith("persistent"))
    assert persistent.outcome == "cut"
    assert persistent.used <= 50


def test_a_share_of_nothing_leaves_a_kind_out() -> None:
    assert rendered(of_id(249)).messages == ()


def test_unused_shares_flow_to_those_that_are_named() -> None:
    case = of_id(244)
    only_semantic = rendered(case)
    unused = rendered(case, receivers=())
    episodic = rendered(case, receivers=["episodic"])
    count = {
        name: next(len(p.items) for p in r.layout.walk() if p.path.endswith("semantic"))
        for name, r in (("flow", only_semantic), ("none", unused), ("other", episodic))
    }
    assert count["flow"] > count["none"] == count["other"] > 0
