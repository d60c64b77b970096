"""Prompts as files: read them, write them, and the settings that come along.

The only package that may import pydantic.
"""

from promptsections.config.document import load, loads, read_data, read_prompt_file
from promptsections.config.dump import dump
from promptsections.config.formats import open_prompt
from promptsections.config.prompt_file import Place, PromptFile
from promptsections.config.schema import json_schema
from promptsections.config.writing import dumps, save

__all__ = [
    "Place", "PromptFile", "dump", "dumps", "json_schema", "load", "loads", "open_prompt",
    "read_data", "read_prompt_file", "save",
]  # fmt: skip
