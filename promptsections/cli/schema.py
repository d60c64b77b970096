"""`promptsections schema`: what an editor needs to help with prompt files."""

from __future__ import annotations

from promptsections.cli import streams
from promptsections.cli.options import JsonOption
from promptsections.config import json_schema


def run(*, json: JsonOption = False) -> None:  # noqa: ARG001  it always writes JSON
    """Write the JSON Schema of prompt files."""
    streams.write_json(json_schema())
