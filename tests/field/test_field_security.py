"""Text that tries to be more than text: it stays data, whichever way it comes in."""

from __future__ import annotations

from typing import Any

import pytest
from field_reading import case, check_error, decode, renderer_for, with_op

from promptsections import (
    ConversationHistory,
    DataSourceSection,
    MemorySection,
    Prompt,
    PromptSectionsError,
    Renderer,
    TemplateSection,
    UserInput,
)
from promptsections.scope import Scope

TEMPLATES: dict[str, Any] = {
    "renders a template <<a>>": lambda scope: scope.evaluate("<<a>>"),
    "renders a template <<b>>": lambda scope: scope.evaluate("<<b>>"),
}


@with_op("render_template", but=["tpl-030"])
def test_template_in_a_prompt(row: dict[str, Any]) -> None:
    data, expected = row["input"], row["expected"]
    functions = {name: TEMPLATES[text] for name, text in data.get("functions", {}).items()}
    renderer = Renderer(tokenizer="cl100k_base", functions=functions)
    prompt = Prompt([TemplateSection(data["template"], name="section")])
    if "raises" in expected:
        with pytest.raises(PromptSectionsError) as caught:
            renderer.render(prompt, decode(data["vars"]), budget=100)
        check_error(caught.value, expected["raises"])
        assert "'section'" in str(caught.value)
        for secret in expected.get("error_text_not_contains", ()):
            assert secret not in str(caught.value)
        return

    rendered = renderer.render(prompt, decode(data["vars"]), budget=100)

    assert rendered.messages[0].text == expected["equals"]


def test_documents_and_old_turns_are_no_templates() -> None:
    row = case("tpl-030")
    data, expected = row["input"], row["expected"]
    found, history = data["functions"]["src"].split("'")[1], data["sections"][1]["messages"]

    def source(query: str, scope: Scope) -> list[str]:
        return [found]

    prompt = Prompt(
        [
            DataSourceSection(source, tokens=50),
            ConversationHistory(),
            MemorySection("a"),
            UserInput("a"),
        ]
    )

    for text in (False, True):
        rendered = renderer_for("words", text=text).render(
            prompt, data["vars"] | {"history": history}, budget=100
        )
        sent = "\n".join(message.text for message in rendered.messages)
        assert all(part in sent for part in expected["contains"])
        assert not any(part in sent for part in expected["not_contains"])
        assert sent.count(data["vars"]["a"]) == 4
