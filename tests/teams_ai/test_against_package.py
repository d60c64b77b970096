"""The same prompts rendered by the `teams-ai` package and by us.

It needs `teams-ai`, which needs an older `openai` than the rest of our tests, so it has an
environment of its own:

    python -m venv teams && teams/bin/pip install -e ".[testing,teams-ai]" pytest
    teams/bin/python -m pytest -o addopts= tests/teams_ai/test_against_package.py
"""

from __future__ import annotations

import asyncio
import json
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the package's own dependencies are old
    pytest.importorskip("teams.ai.prompts", reason="teams-ai is not installed here")
    from teams.ai import prompts as theirs
    from teams.ai.data_sources import TextDataSource
    from teams.ai.tokenizers import GPTTokenizer
    from teams.state import ConversationState, Memory, TempState, TurnState, UserState

import tiktoken

import promptsections as ours
from promptsections.config import read_folder
from promptsections.tokens.tiktoken_encoding import CL100K_PATTERN, read_ranks

ENCODING = "cl100k_base"


class OfflineTokenizer(GPTTokenizer):
    """Their tokenizer with the vocabulary from our package: theirs is downloaded."""

    def __init__(self) -> None:
        self._encoding = tiktoken.Encoding(
            ENCODING,
            pat_str=CL100K_PATTERN,
            mergeable_ranks=read_ranks(ENCODING, 100_256),
            special_tokens={"<|endoftext|>": 100257},
        )


TOKENIZER = OfflineTokenizer()
AMPLE = 10_000
VALUES = {"name": "Ada", "count": 7, "ratio": 1.5, "yes": True, "none": None}

WORDS = ("one", "two", "red", "blue", "cat", "dog", "sun", "tea")
"""Each is one token, also behind a blank."""


def rendered_by_them(
    prompt: Any, budget: int, values: dict[str, object] | None = None, *, text: bool = False
) -> Any:
    memory = Memory()
    for path, value in (values or {}).items():
        memory.set(path, value)
    manager = theirs.PromptManager(theirs.PromptManagerOptions(prompts_folder=""))

    async def shout(context: Any, memory: Any, functions: Any, tokenizer: Any, args: Any) -> str:
        return "|".join(args).upper()

    manager.add_function("shout", shout)
    render = prompt.render_as_text if text else prompt.render_as_messages
    return asyncio.run(render(None, memory, manager, TOKENIZER, budget))


def rendered_by_us(
    prompt: ours.Prompt, budget: int, values: object = None, *, text: bool = False
) -> ours.RenderedPrompt:
    renderer = ours.Renderer(
        tokenizer=ENCODING,
        output="text" if text else "messages",
        functions={"shout": lambda *arguments: "|".join(arguments).upper()},
    )
    return renderer.render(prompt, ours.ScopedMemory({"temp": values or {}}), budget=budget)


def assert_same(result: Any, rendered: ours.RenderedPrompt) -> None:
    sent = [(message.role, message.text) for message in rendered.messages]

    assert sent == [(message.role, message.content) for message in result.output]
    assert rendered.token_count == result.length
    assert not result.too_long


def template(source: str) -> ours.Template:
    return ours.Template(source, delimiters=("{{", "}}"))


# --- where both agree -----------------------------------------------------------------------------

plain_texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
any_texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20).filter(
    lambda text: "<|" not in text  # Teams AI fails on what looks like a control token
)
roles = st.sampled_from(["system", "user", "assistant"])


@given(st.lists(st.tuples(any_texts, roles, st.booleans()), max_size=6))
def test_a_prompt_that_fits_has_the_same_messages_and_tokens(sections):
    """Empty texts, any characters, any roles, required or not."""
    their_prompt = theirs.Prompt(
        [theirs.TextSection(text, role, -1, required) for text, role, required in sections]
    )
    our_prompt = ours.Prompt(
        [ours.TextSection(text, role, required=required) for text, role, required in sections]
    )

    assert_same(rendered_by_them(their_prompt, AMPLE), rendered_by_us(our_prompt, AMPLE))


@given(st.lists(plain_texts, min_size=1, max_size=5), st.sampled_from(["\n\n", "\n", " "]))
def test_a_text_that_fits_is_the_same_text(texts, separator):
    """With any separator, the count of the finished text included."""
    their_prompt = theirs.Prompt(
        [theirs.TextSection(text, "user") for text in texts], separator=separator
    )
    our_prompt = ours.Prompt(
        [ours.TextSection(text, "user") for text in texts], separator=separator
    )

    result = rendered_by_them(their_prompt, AMPLE, text=True)
    rendered = rendered_by_us(our_prompt, AMPLE, text=True)

    assert rendered.text == result.output
    assert rendered.token_count == result.length


@given(plain_texts, st.integers(2, 8))
def test_a_section_with_a_number_is_cut_to_the_same_words(text, tokens):
    """Where each word is a token, cutting between words is cutting between tokens."""
    their_prompt = theirs.Prompt([theirs.TextSection(text, "user", tokens)])
    our_prompt = ours.Prompt([ours.TextSection(text, "user", tokens=tokens)])

    assert_same(rendered_by_them(their_prompt, AMPLE), rendered_by_us(our_prompt, AMPLE))


@given(plain_texts, plain_texts, st.integers(0, 12))
def test_the_last_optional_section_is_left_out_at_the_same_budgets(first, last, more):
    """From the budget on that holds what is required, up to ample ones."""
    budget = len(first.split()) + more
    their_prompt = theirs.Prompt([
        theirs.TextSection(first, "system"), theirs.TextSection(last, "user", -1, False)
    ])  # fmt: skip
    our_prompt = ours.Prompt([
        ours.TextSection(first, "system"), ours.TextSection(last, "user", required=False)
    ])  # fmt: skip

    assert_same(rendered_by_them(their_prompt, budget), rendered_by_us(our_prompt, budget))


@given(st.lists(st.tuples(plain_texts, plain_texts), max_size=4), plain_texts)
def test_a_history_that_fits_is_the_same(turns, system):
    """Their message objects are read after `to_dict()`."""
    history = [
        theirs.Message(role=role, content=content)
        for turn in turns
        for role, content in zip(("user", "assistant"), turn, strict=True)
    ]
    their_prompt = theirs.Prompt([
        theirs.SystemMessage(system), theirs.ConversationHistorySection("history")
    ])  # fmt: skip
    our_prompt = ours.Prompt([ours.SystemMessage(system), ours.ConversationHistory()])

    result = rendered_by_them(their_prompt, AMPLE, {"temp.history": history})
    rendered = rendered_by_us(our_prompt, AMPLE, {"history": [m.to_dict() for m in history]})

    assert_same(result, rendered)


pieces = st.one_of(
    plain_texts,
    st.sampled_from([
        "{{$name}}", "{{ $count }}", "{{$temp.ratio}}", "{{$yes}}", "{{$none}}", "{{shout}}",
        "{{shout a}}", "{{ shout a  b }}", "{{shout 'a b' \"c\" `d`}}", "{ ", "}} ", " } ",
    ]),
)  # fmt: skip


@given(
    st.lists(pieces, max_size=6).map("".join).filter(lambda s: "{{{" not in s and "}}}" not in s)
)
def test_a_template_renders_the_same(source):
    """Values, functions, the three quotes, and braces that are text."""
    their_prompt = theirs.Prompt([theirs.UserMessage(source)])
    our_prompt = ours.Prompt([ours.UserMessage(template(source))])

    result = rendered_by_them(their_prompt, AMPLE, {f"temp.{k}": v for k, v in VALUES.items()})

    assert_same(result, rendered_by_us(our_prompt, AMPLE, VALUES))


@given(st.lists(plain_texts, min_size=1, max_size=4), roles)
def test_a_group_with_a_role_is_the_same_message(texts, role):
    """Joined by a blank line."""
    their_prompt = theirs.Prompt([
        theirs.GroupSection([theirs.TextSection(text, "user") for text in texts], role)
    ])  # fmt: skip
    our_prompt = ours.Prompt([
        ours.GroupSection([ours.TextSection(text, "user") for text in texts], role)
    ])  # fmt: skip

    assert_same(rendered_by_them(their_prompt, AMPLE), rendered_by_us(our_prompt, AMPLE))


def test_their_state_and_their_memory_can_be_wrapped():
    state = TurnState(
        conversation=ConversationState(topic="tea"), user=UserState(), temp=TempState(input="Hi")
    )
    memory = Memory(parent=state)
    memory.set("temp.mood", "calm")

    for scoped in (ours.ScopedMemory(state), ours.ScopedMemory(memory)):
        assert scoped.get("conversation.topic") == "tea"
        assert scoped.get("input") == "Hi"
        assert scoped.get("nothing", "default") == "default"
    assert ours.ScopedMemory(memory).get("mood") == "calm"


# --- what the page "Coming from Teams AI" says of it ----------------------------------------------


def test_they_hand_everything_to_each_fraction_and_we_divide():
    text = " ".join(WORDS)
    turns = [theirs.Message("user", text), theirs.Message("assistant", text)] * 10
    their_prompt = theirs.Prompt([
        theirs.ConversationHistorySection("a", 0.5), theirs.ConversationHistorySection("b", 0.5)
    ])  # fmt: skip
    our_prompt = ours.Prompt([
        ours.ConversationHistory("a", tokens=0.5), ours.ConversationHistory("b", tokens=0.5)
    ])  # fmt: skip

    result = rendered_by_them(their_prompt, 64, {"temp.a": turns, "temp.b": turns})
    history = [turn.to_dict() for turn in turns]
    rendered = rendered_by_us(our_prompt, 64, {"a": history, "b": history})

    assert len(result.output) == 8, "the first takes all, the second is dropped"
    assert [placement.used for placement in rendered.layout.placements] == [32, 32]


def test_they_return_what_is_too_long_and_we_refuse():
    text = " ".join(WORDS)

    assert rendered_by_them(theirs.Prompt([theirs.TextSection(text, "user")]), 2).length == 8
    with pytest.raises(ours.BudgetExceededError):
        rendered_by_us(ours.Prompt([ours.TextSection(text, "user")]), 2)


def test_they_fail_on_what_looks_like_a_control_token_and_we_count_it():
    text = "<|endoftext|>"

    with pytest.raises(ValueError, match="disallowed special token"):
        rendered_by_them(theirs.Prompt([theirs.TextSection(text, "user")]), AMPLE)
    rendered = rendered_by_us(ours.Prompt([ours.TextSection(text, "user")]), AMPLE)
    assert rendered.messages[0].text == text
    assert rendered.token_count == 7


def test_they_drop_sections_that_free_nothing_and_we_keep_what_fits():
    def sections(kind: Any) -> list[Any]:
        return [
            kind(words, role, tokens=-1, required=required)
            for words, role, required in (
                ("one", "system", True),
                ("red " * 9 + "red", "user", False),
                ("two", "user", False),
                ("cat " * 8 + "cat", "user", True),
            )
        ]

    result = rendered_by_them(theirs.Prompt(sections(theirs.TextSection)), 15)
    rendered = rendered_by_us(ours.Prompt(sections(ours.TextSection)), 15)

    assert len(result.output) == 2
    assert [message.text for message in rendered.messages][1] == "two"


def test_their_calls_are_free_and_ours_are_counted():
    call = theirs.ActionCall(
        id="c1",
        type="function",
        function=theirs.ActionFunction(name="find", arguments='{"q": "' + "tea " * 50 + '"}'),
    )
    turns = [
        theirs.Message(role="user", content="find"),
        theirs.Message(role="assistant", action_calls=[call]),
        theirs.Message(role="tool", content="found", action_call_id="c1"),
    ]
    their_prompt = theirs.Prompt([theirs.ConversationHistorySection("history")])
    our_prompt = ours.Prompt([ours.ConversationHistory()])

    result = rendered_by_them(their_prompt, AMPLE, {"temp.history": turns})
    rendered = rendered_by_us(our_prompt, AMPLE, {"history": [turn.to_dict() for turn in turns]})

    assert result.length < 10
    assert rendered.token_count > 50
    assert [message.role for message in rendered.messages] == ["user", "assistant", "tool"]


# --- prompt folders -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("completion", "augmentation"),
    [
        ({}, {}),
        ({"include_history": False}, {"augmentation_type": "none"}),
        ({"include_input": False, "max_input_tokens": 900}, {"data_sources": {"docs": 100}}),
        ({"model": "gpt-4o", "temperature": 0.5}, {"augmentation_type": "tools"}),
    ],
)
def test_a_folder_is_the_same_prompt(tmp_path, completion, augmentation):
    folder = tmp_path / "chat"
    folder.mkdir()
    config = {"schema": 1.1, "completion": completion, "augmentation": augmentation}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "skprompt.txt").write_text("You are {{$user.mood}}.\n{{shout a}}", encoding="utf-8")
    (folder / "actions.json").write_text(
        '[{"name": "f", "description": "d", "parameters": {"type": "object"}}]', encoding="utf-8"
    )
    turns = [theirs.Message("user", "one"), theirs.Message("assistant", "two")]
    values = {"user.mood": "calm", "conversation.chat_history": turns, "temp.input": "three"}
    manager = theirs.PromptManager(theirs.PromptManagerOptions(prompts_folder=str(tmp_path)))
    manager.add_data_source(TextDataSource("docs", "a page"))

    their_file = asyncio.run(manager.get_prompt("chat"))
    our_file = read_folder(folder, data_sources={"docs": lambda query, scope: ["a page"]})
    state = {
        "user": {"mood": "calm"},
        "conversation": {"chat_history": [turn.to_dict() for turn in turns]},
        "temp": {"input": "three"},
    }
    renderer = ours.Renderer(
        tokenizer=ENCODING, functions={"shout": lambda *words: "|".join(words).upper()}
    )

    result = rendered_by_them(their_file.prompt, 900, values)
    rendered = renderer.render(our_file.prompt, ours.ScopedMemory(state), budget=900)

    assert [(m.role, text_of(m)) for m in result.output] == [
        (m.role, m.text) for m in rendered.messages
    ]
    theirs_completion = their_file.config.completion
    assert our_file.budget == theirs_completion.max_input_tokens
    assert our_file.reserve_output_tokens == theirs_completion.max_tokens
    assert our_file.model == theirs_completion.model
    for key in ("temperature", "top_p", "presence_penalty", "frequency_penalty", "max_tokens"):
        assert our_file.options[key] == getattr(theirs_completion, key)


def text_of(message: Any) -> str:
    return message.content if isinstance(message.content, str) else message.content[0].text
