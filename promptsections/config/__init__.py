"""Prompts as files: read them, write them, and the settings that come along.

The only package that may import pydantic.
"""

from promptsections.config.document import load, loads, read_prompt_file
from promptsections.config.prompt_file import Place, PromptFile

__all__ = ["Place", "PromptFile", "load", "loads", "read_prompt_file"]
