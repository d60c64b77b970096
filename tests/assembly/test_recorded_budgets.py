"""What the original did about budgets: rows that agree, and the right behaviour for its faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from conatus_cases import CASES, cases_of

from promptsections import DefinitionError, Renderer
from promptsections.assembly.assembler import ContextAssembler
from promptsections.assembly.preset import goal_agent_catalog
from promptsections.assembly.slots import Catalog, Purpose, Slot
from promptsections.markup import XmlElement, enclose
from promptsections.selectors import within
from promptsections.tokens import CallableTokenizer, truncate

MARKER = "\n... (truncated)"
PRESET = goal_agent_catalog()
CATEGORIES = {
    "goalDefinition": "goal_definition",
    "observations": "observations",
    "knowledge": "knowledge",
    "transferKnowledge": "transfer_knowledge",
    "meta": "meta",
}


def quarters(text: str) -> int:
    """Count as the original does: a quarter of the UTF-16 units, rounded up."""
    return -(-len(text.encode("utf-16-le", "surrogatepass")) // 8)


QUARTERS = CallableTokenizer("quarters", quarters)


def test_every_row_is_tried_somewhere() -> None:
    here = {
        "estimate_tokens",
        "wrap_xml_tag",
        "trim_to_token_budget",
        "select_within_budget",
        "trim_to_budget",
        "enforce_budget",
    }
    elsewhere = {
        "build",  # test_assembler
        "extract_json",  # test_answers
        "gateway_execute",  # test_gateway
        "slot_definition",  # test_catalog
        "purpose_config",
        "allocate_budget",
        "allocate_tier_budget",
        "category_budgets",
    }
    formatted = {name for name in Counter(c["fn"] for c in CASES) if name.startswith("format_")}

    assert {case["fn"] for case in CASES} == here | elsewhere | formatted
    assert len(CASES) == 417


@pytest.mark.parametrize("case", cases_of("estimate_tokens"), ids=lambda case: case["id"])
def test_their_estimate_is_a_tokenizer_that_one_can_pass_in(case: dict[str, Any]) -> None:
    assert QUARTERS.count(case["input"]["text"]) == case["output"]


@pytest.mark.parametrize("case", cases_of("wrap_xml_tag"), ids=lambda case: case["id"])
def test_elements(case: dict[str, Any]) -> None:
    tag, content = case["input"]["tag"], case["input"]["content"]
    if not tag:
        with pytest.raises(DefinitionError):  # the original writes <>
            XmlElement(tag)
        return

    assert enclose(XmlElement(tag, escape="none"), content) == case["output"]
    written = enclose(XmlElement(tag), content)
    if f"</{tag}>" in content:
        assert written.count(f"</{tag}>") == 1  # the original lets the text end its element
    else:
        assert written == case["output"]


@pytest.mark.parametrize("case", cases_of("trim_to_token_budget"), ids=lambda case: case["id"])
def test_cuts_never_exceed_what_they_may_have(case: dict[str, Any]) -> None:
    text, limit = case["input"]["text"], case["input"]["max_tokens"]
    if not isinstance(limit, int) or limit < 0:
        return  # no budget at all: an InvalidBudgetError wherever one is given

    kept = truncate(text, limit, tokenizer=QUARTERS, boundary="line", marker=MARKER)

    assert quarters(kept) <= limit
    assert text.startswith(kept.removesuffix(MARKER))
    kept.encode("utf-8")  # no half of a pair, which could not be written
    if quarters(case["output"]) <= limit and case["output"] != f"<knowledge>{MARKER}":
        assert kept == case["output"]


def test_a_long_first_line_is_cut_inside() -> None:
    (case,) = (case for case in cases_of("trim_to_token_budget") if case["id"] == "conatus-0042")
    text, limit = case["input"]["text"], case["input"]["max_tokens"]
    element = XmlElement("knowledge")
    inner = text.removeprefix(element.before).removesuffix(element.after)

    kept = truncate(inner, limit - 6, tokenizer=QUARTERS, boundary="line", marker=MARKER)

    assert "z" in kept  # the original keeps nothing but the tag


@pytest.mark.parametrize("case", cases_of("select_within_budget"), ids=lambda case: case["id"])
def test_taking_what_fits(case: dict[str, Any]) -> None:
    texts = [candidate["text"] for candidate in case["input"]["candidates"]]

    stopping = within(texts, case["input"]["budget"], cost=quarters, skip=False)
    going_on = within(texts, case["input"]["budget"], cost=quarters)

    assert [len(text) for text in stopping] == case["output"]
    assert len(going_on) >= len(stopping)


@pytest.mark.parametrize("case", cases_of("trim_to_budget"), ids=lambda case: case["id"])
def test_what_is_reduced_is_use_and_not_what_nobody_uses(case: dict[str, Any]) -> None:
    """The original lowers what unused categories may have; here no category uses too much."""
    allocation, usage, total = (case["input"][name] for name in ("allocation", "usage", "total"))
    entries = [[name, "x" * 4 * tokens] for name, tokens in usage.items() if tokens]

    used = enforced(entries, total, allocation)

    for name, tokens in used.items():
        assert tokens <= min(allocation[name], usage[name])
        assert tokens == usage[name] or tokens > allocation[name] - 4
    assert sum(used.values()) <= total


def saying(text: str) -> Callable[[object], str]:
    return lambda _: text


def enforced(entries: list[list[str]], total: int, allocation: dict[str, int]) -> dict[str, int]:
    """Lay out texts, one slot each, under caps; return what each uses, in tokens."""
    slots = [
        Slot(
            name,
            category=name,
            formatter=str,
            tag=None,
            priority=len(entries) - at,
        )
        for at, (name, _) in enumerate(entries)
    ]
    shares = {name: allocation[name] / 10 for name, _ in entries}
    catalog = Catalog(
        slots=slots,
        purposes=[Purpose("p", [s.name for s in slots], system_prompt="")],
        shares=shares,
    )
    assembler = ContextAssembler(
        catalog,
        Renderer(tokenizer=QUARTERS),
        sources={name: saying(text) for name, text in entries},
    )
    layout = assembler.build("p", budget=total).layout
    return {name: layout[f"context/{name}/{name}"].used for name, _ in entries}


@pytest.mark.parametrize(
    "case",
    [case for case in cases_of("enforce_budget") if case["input"]["entries"]],
    ids=lambda case: case["id"],
)
def test_caps_hold_and_the_order_never_changes(case: dict[str, Any]) -> None:
    entries, budget = case["input"]["entries"], case["input"]["budget"]
    caps = case["input"]["category_budgets"] or {}
    # Caps are percentages of the budget here; one that is missing or above it caps nothing.
    shares = {
        CATEGORIES[name]: min(100.0, 100 * cap / budget) for name, cap in caps.items()
    } or dict.fromkeys(CATEGORIES.values(), 100.0)
    if any(not shares.get(PRESET.slot(name).category, 0) for name, _ in entries):
        with pytest.raises(DefinitionError):  # a category without a share is told beforehand
            catalog_of(entries, shares)
        return
    assembler = ContextAssembler(
        catalog_of(entries, shares),
        Renderer(tokenizer=QUARTERS),
        sources={name: saying(text) for name, text in entries},
    )

    rendered = assembler.build("p", budget=budget)

    assert quarters("".join(message.text for message in rendered.messages)) <= budget
    for category, share in shares.items():
        path = f"context/{category}"
        if path in rendered.layout:
            assert rendered.layout[path].used <= max(1, budget * share / 100 + 1)
    sent = [p.name for p in rendered.layout.walk() if p.kept and not p.children]
    order = [name for name, _ in by_category(entries)]
    assert sent == [name for name in order if name in sent]


def by_category(entries: list[list[str]]) -> list[list[str]]:
    first = list(dict.fromkeys(PRESET.slot(name).category for name, _ in entries))
    return sorted(entries, key=lambda entry: first.index(PRESET.slot(entry[0]).category))


def catalog_of(entries: list[list[str]], shares: dict[str, float]) -> Catalog:
    slots = [
        Slot(
            name,
            category=PRESET.slot(name).category,
            formatter=str,
            tag=None,
            priority=PRESET.slot(name).priority,
        )
        for name, _ in entries
    ]
    return Catalog(
        slots=slots,
        purposes=[Purpose("p", [slot.name for slot in slots], system_prompt="")],
        shares=shares,
        over_full="normalise",
    )
