"""Prompts as files: read them, write them, and the settings that come along.

The only package that may import pydantic.
"""

from promptsections.config.document import load, loads, read_data, read_prompt_file
from promptsections.config.dump import dump
from promptsections.config.formats import open_prompt
from promptsections.config.prompt_file import Place, PromptFile
from promptsections.config.prompty import WrittenPrompty, read_prompty, write_prompty
from promptsections.config.schema import json_schema
from promptsections.config.semantic_kernel import read_semantic_kernel
from promptsections.config.teams_ai import TEAMS_AI_KINDS, PromptFolder, read_folder
from promptsections.config.writing import dumps, save

__all__ = [
    "TEAMS_AI_KINDS", "Place", "PromptFile", "PromptFolder", "WrittenPrompty", "dump", "dumps",
    "json_schema", "load", "loads", "open_prompt", "read_data", "read_folder", "read_prompt_file",
    "read_prompty", "read_semantic_kernel", "save", "write_prompty",
]  # fmt: skip
