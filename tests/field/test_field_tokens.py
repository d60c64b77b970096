"""Counting that went wrong elsewhere, seen from whole renders."""

from __future__ import annotations

import subprocess
import sys
from time import process_time
from typing import Any

import pytest
from field_reading import case, check_error, decode, with_op

from promptsections import (
    FunctionCallMessage,
    FunctionResponseMessage,
    ModelProfile,
    Prompt,
    Renderer,
    Rest,
    TextSection,
    UnknownModelError,
    find_profile,
    lay_out,
    truncate,
)
from promptsections.tokens import ScaledTokenizer, TiktokenTokenizer


@with_op("count")
def test_a_text_costs_what_its_ordinary_tokens_are(row: dict[str, Any]) -> None:
    data, equals = row["input"], row["expected"]["equals"]
    texts = decode(data["text"])
    for encoding in data["encodings"]:
        wanted = equals[encoding] if isinstance(equals, dict) else equals
        for text, tokens in zip(
            texts if isinstance(texts, list) else [texts],
            wanted if isinstance(wanted, list) else [wanted],
            strict=True,
        ):
            started = process_time()
            renderer = Renderer(tokenizer=encoding)
            rendered = renderer.render(Prompt([TextSection(text)]), budget=100_000)
            assert process_time() - started <= row["expected"].get("max_seconds", 60)
            assert rendered.token_count == tokens


@with_op("truncate")
def test_a_cut_never_parts_a_character(row: dict[str, Any]) -> None:
    data, expected = row["input"], row["expected"]
    [text] = data["texts"]
    [encoding] = data["encodings"]
    tokenizer = TiktokenTokenizer(encoding)

    cuts = [truncate(text, tokens, tokenizer=tokenizer) for tokens in data["truncate_to"]]

    assert cuts == expected["equals_each"]
    assert not any(part in cut for cut in cuts for part in expected["not_contains"])
    for tokens in data["truncate_to"][1:]:  # the same at the end of a whole render
        prompt = Prompt([TextSection(text * 20, tokens=Rest(at_most=tokens), required=False)])
        for message in Renderer(tokenizer=tokenizer).render(prompt, budget=100).messages:
            assert tokenizer.count(message.text) <= tokens
            assert "\ufffd" not in message.text


def test_a_section_that_serves_two_tokenizers_is_counted_by_each() -> None:
    row = case("tok-012")
    counters: dict[str, Any] = {"words": lambda text: len(text.split()), "characters": len}
    [call] = row["input"]["section"]["calls"]
    section, result = FunctionCallMessage(call), FunctionResponseMessage(call["id"], "found it")

    def sizes(*sections: Any) -> list[int]:
        prompt = Prompt(sections)
        return [
            Renderer(tokenizer=counters[name]).render(prompt, budget=1_000).layout.token_count
            for name in row["input"]["counters"]
        ]

    shared = sizes(section, result)
    fresh = sizes(FunctionCallMessage(call), FunctionResponseMessage(call["id"], "found it"))

    assert shared == fresh
    assert shared[0] < shared[1]
    assert shared[1] == len(call["name"]) + len('{"q":"alpha beta gamma"}') + len("found it")


@with_op("context_window")
def test_an_unknown_model_is_an_error(row: dict[str, Any]) -> None:
    with pytest.raises(UnknownModelError) as caught:
        Renderer(row["input"]["model"])

    check_error(caught.value, row["expected"]["raises"])
    assert caught.value.name == row["input"]["model"]


@with_op("encoding_for")
def test_models_are_known_by_every_name_they_go_by(row: dict[str, Any]) -> None:
    *known, unknown = row["input"]["models"]

    assert [find_profile(name).encoding for name in known] == [
        *[row["expected"]["first_three"]] * 3,
        row["expected"]["fourth"],
    ]
    with pytest.raises(UnknownModelError, match=unknown) as caught:
        find_profile(unknown)
    assert not isinstance(caught.value, KeyError)


OFFLINE = """
import socket, sys

def refuse(*_, **__):
    raise AssertionError("a socket was opened")

socket.socket.connect = refuse
socket.create_connection = refuse
socket.getaddrinfo = refuse
import promptsections as ps
prompt = ps.Prompt([ps.SystemMessage("Be brief."), ps.UserInput()])
rendered = ps.Renderer("gpt-4o").render(prompt, {"input": "hello world"})
assert rendered.exact
print(rendered.token_count)
"""


def test_a_render_needs_no_network_and_no_cache(tmp_path: Any) -> None:
    row = case("tok-015")

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", OFFLINE],
        capture_output=True,
        text=True,
        env={
            "TIKTOKEN_CACHE_DIR": str(tmp_path),
            "HOME": str(tmp_path),
            "PYTHONPATH": ":".join(filter(None, sys.path)),
        },
    )

    assert (done.returncode, done.stderr) == (row["expected"]["exit"], row["expected"]["stderr"])
    assert done.stdout.strip() == str(3 + (3 + 1 + 3) + (3 + 1 + 2))
    assert not list(tmp_path.iterdir())


def test_a_foreign_tokenizer_never_counts_too_low_in_silence() -> None:
    row = case("tok-017")
    budget = row["input"]["budget"]
    sentence = "The river ran past the old mill and nobody knew where it went. "
    cl100k = TiktokenTokenizer("cl100k_base")
    text = sentence * (90_000 // cl100k.count(sentence))
    margin = ScaledTokenizer(cl100k, row["expected"]["factor_at_least"])
    renderer = Renderer(ModelProfile(name="claude", encoding=margin))
    resolved = renderer.resolve(Prompt([TextSection(text, tokens=Rest())]), budget=budget)

    rendered = lay_out(resolved)

    assert not rendered.exact
    [note] = rendered.layout.notes
    assert note.code == "estimated"
    assert note.detail.startswith("tokenizer cl100k_base")
    sent = cl100k.count(rendered.messages[0].text)
    assert rendered.layout["text"].outcome == "cut"  # 90,000 tokens, and a fifth, are too many
    assert budget >= rendered.token_count >= row["expected"]["factor_at_least"] * sent
