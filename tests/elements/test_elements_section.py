"""Elements in a prompt: where each type stands, and what the layout says of them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from promptsections import (
    ConversationHistory,
    DefinitionError,
    Prompt,
    Renderer,
    Template,
    TextSection,
    UserInput,
)
from promptsections.elements import (
    PLACES,
    Element,
    ElementRules,
    ElementsSection,
    element_sections,
)
from promptsections.providers import (
    anthropic_messages,
    bedrock_converse,
    gemini,
    mistral_chat,
    ollama_chat,
    openai_chat,
    openai_responses,
)

RENDERER = Renderer("gpt-4o")
MEMORY = {"input": "Q", "circumstances": {"mood": "sad"}}


def prompt_of(*elements: Element, **options: Any) -> Prompt:
    system, examples, turn, answer = element_sections(elements, **options)
    return Prompt([TextSection("BASE"), system, examples, ConversationHistory(), turn, answer])


def test_a_type_may_begin_the_answer_where_the_model_goes_on_with_it() -> None:
    element = Element("assistant_prompt_augmentation", "Sure:")

    places: dict[str, Any] = {"assistant_prompt_augmentation": "assistant"}
    rendered = RENDERER.render(prompt_of(element, places=places), MEMORY, budget=1000)

    assert (rendered.messages[-1].role, rendered.messages[-1].text) == ("assistant", "Sure:")


def test_every_type_is_said_at_its_place() -> None:
    elements = [Element(type_, type_.upper()) for type_ in PLACES]

    messages = RENDERER.render(prompt_of(*elements), MEMORY, budget=1000).messages

    by_role = [(message.role, message.text) for message in messages]
    assert by_role[0] == ("system", "BASE")
    system = "\n\n".join(t.upper() for t, place in PLACES.items() if place == "system")
    assert by_role[1:] == [
        ("system", system),
        ("system", "FEW_SHOT_EXAMPLE"),
        ("user", "Q\nUSER_PROMPT_AUGMENTATION"),
    ]


@pytest.mark.parametrize(
    ("module", "model"),
    [
        (openai_chat, "gpt-4o"),
        (openai_responses, "gpt-4o"),
        (anthropic_messages, "claude-3-5-sonnet-20241022"),
        (gemini, "gemini-2.5-flash"),
        (bedrock_converse, "claude-3-5-sonnet-20241022"),
        (mistral_chat, "mistral-large-latest"),
        (ollama_chat, "llama-3.1-8b"),
    ],
)
@pytest.mark.parametrize("type_", PLACES)
def test_every_type_reaches_every_provider(module: Any, model: str, type_: str) -> None:
    rendered = Renderer(model).render(prompt_of(Element(type_, "SAID HERE")), MEMORY, budget=1000)

    assert "SAID HERE" in str(module.to_request(rendered))


def test_examples_may_be_messages() -> None:
    example = [{"role": "user", "content": "1+1"}, {"role": "assistant", "content": "2"}]

    rendered = RENDERER.render(prompt_of(Element("few_shot_example", example)), MEMORY, budget=1000)

    assert [m.role for m in rendered.messages] == ["system", "user", "assistant", "user"]


def test_templates_are_filled_and_texts_are_not() -> None:
    elements = [
        Element("domain_context", Template("Mood: <<$circumstances.mood>>"), id="filled"),
        Element("domain_context", "<<$x>>", id="plain"),
    ]

    rendered = RENDERER.render(Prompt([ElementsSection(elements)]), MEMORY, budget=1000)

    assert rendered.messages[0].text == "Mood: sad\n\n<<$x>>"


def test_every_choice_and_refusal_is_in_the_layout() -> None:
    elements = [
        Element("domain_context", "said", id="said", criteria={"mood": "sad"}),
        Element("domain_context", "not now", id="glad", criteria={"mood": "glad"}),
        Element("domain_context", "too many", id="third"),
        Element("user_prompt_augmentation", "elsewhere", id="user", criteria={"mood": "x"}),
    ]
    section = ElementsSection(elements, rules=ElementRules(total=1))

    layout = RENDERER.render(Prompt([section]), MEMORY, budget=1000).layout

    assert layout["elements"].items == ("said",)
    assert [(note.code, note.detail) for note in layout.notes] == [
        ("element_not_applicable", "'glad': its criteria do not hold"),
        ("element_over_cap", "'third': at most 1 in all"),
    ]


def test_caps_hold_across_places() -> None:
    elements = [
        Element("domain_context", "SYSTEM", priority=1),
        Element("user_prompt_augmentation", "USER", priority=2),
    ]

    rendered = RENDERER.render(
        prompt_of(*elements, rules=ElementRules(total=1)), MEMORY, budget=1000
    )

    assert [m.text for m in rendered.messages] == ["BASE", "Q\nUSER"]


def test_the_least_important_elements_give_way() -> None:
    elements = [
        Element("domain_context", "low " * 20, id="low"),
        Element("domain_context", "high", id="high", priority=5),
    ]
    section = ElementsSection(elements, tokens=10)

    layout = RENDERER.render(Prompt([section, UserInput()]), MEMORY, budget=1000).layout

    assert (layout["elements"].items, layout["elements"].omitted) == (("high",), 1)


def test_more_elements_come_from_memory() -> None:
    memory = {"persona": {"elements": [Element("domain_context", "FROM MEMORY")]}}
    section = ElementsSection(variable="persona.elements")

    rendered = RENDERER.render(Prompt([section]), memory, budget=1000)

    assert rendered.messages[0].text == "FROM MEMORY"


def test_nothing_chosen_is_empty() -> None:
    empty = [Element("domain_context", ""), Element("few_shot_example", "")]
    prompt = Prompt([ElementsSection(empty), ElementsSection(empty, "examples", name="examples")])

    layout = RENDERER.render(prompt, budget=100).layout

    assert [layout[name].outcome for name in ("elements", "examples")] == ["empty", "empty"]


def test_types_of_ones_own_have_a_place() -> None:
    element = Element("house_rule", "Shoes off.")
    section = ElementsSection([element], places={"house_rule": "system"})

    assert RENDERER.render(Prompt([section]), budget=100).messages[0].text == "Shoes off."
    with pytest.raises(DefinitionError, match="'house_rule', which has no place"):
        ElementsSection([element])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: ElementsSection(cast("Any", ["text"])), "must be Element values, not str"),
        (lambda: ElementsSection(place=cast("Any", "top")), "place='top' must be one of"),
        (lambda: Element("", "x"), "type must be a name"),
        (lambda: Element("domain_context", cast("Any", 5)), "not int"),
        (lambda: Element("domain_context", {"a": 1}), "not dict"),
        (
            lambda: Element("domain_context", "x", priority=cast("Any", 1.5)),
            "priority must be a whole number",
        ),
        (
            lambda: RENDERER.render(
                Prompt([ElementsSection(variable="x")]), {"x": "text"}, budget=9
            ),
            "must be a list of Element values",
        ),
        (
            lambda: RENDERER.render(
                Prompt([ElementsSection()]), {"circumstances": "sad"}, budget=9
            ),
            "must be a mapping of what is the case",
        ),
    ],
)
def test_wrong_values_are_errors(wrong: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        wrong()
