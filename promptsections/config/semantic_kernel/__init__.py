"""Prompts of Semantic Kernel, as YAML or as a folder: read."""

from promptsections.config.semantic_kernel.reading import read_semantic_kernel

__all__ = ["read_semantic_kernel"]
