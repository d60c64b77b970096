"""Prompts of Semantic Kernel, as YAML or as a folder: read."""

from promptsections.config.semantic_kernel.reading import KERNEL_KEYS, read_semantic_kernel

__all__ = ["KERNEL_KEYS", "read_semantic_kernel"]
