"""Prompts in Microsoft's `.prompty` format, versions 1 and 2: read and written."""

from promptsections.config.prompty.reading import read_prompty
from promptsections.config.prompty.writing import WrittenPrompty, write_prompty

__all__ = ["WrittenPrompty", "read_prompty", "write_prompty"]
