"""`promptsections models`: the table of models."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from promptsections import ModelProfile
from promptsections.cli import streams, tables
from promptsections.cli.failures import FINDINGS, Failed
from promptsections.cli.options import JsonOption
from promptsections.profiles import MODELS


def run(
    *,
    pattern: Annotated[
        str | None, typer.Argument(metavar="[WORD]", help="Only models whose name holds this.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a row for each model."""
    word = (pattern or "").lower()
    found = [profile for name, profile in MODELS.items() if word in name]
    if not found:
        raise Failed(f"promptsections: no known model has {pattern!r} in its name", FINDINGS)
    if json:
        streams.write_json([_facts(profile) for profile in found])
        return
    columns = [
        ("model", False), ("window", True), ("input", True), ("output", True),
        ("counted by", False), ("cache from", True), ("messages", False),
    ]  # fmt: skip
    tables.write_table(columns, [_row(profile) for profile in found])


def _row(profile: ModelProfile) -> tuple[str, ...]:
    return (
        profile.name,
        _number(profile.context_window),
        _number(profile.max_input_tokens),
        _number(profile.max_output_tokens),
        profile.tokenizer().name,
        _number(profile.cache.minimum if profile.cache else None),
        "exact" if profile.exact else "estimated",
    )


def _number(tokens: int | None) -> str:
    return "" if tokens is None else f"{tokens:,}"


def _facts(profile: ModelProfile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "context_window": profile.context_window,
        "max_input_tokens": profile.max_input_tokens,
        "max_output_tokens": profile.max_output_tokens,
        "tokenizer": profile.tokenizer().name,
        "exact": profile.exact,
        "form": profile.form,
        "cache_minimum": profile.cache.minimum if profile.cache else None,
        "source": profile.source,
    }
