"""The models that are known by name, as data: one module for each maker, or for a few small ones.

Every number has a source and a date. There is no default: a name that is not here is an error. A
module is imported when a name is looked up that its makers give, so that one model does not cost
what all do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Generic, TypeVar

from attrs import frozen

from promptsections.profiles.models.vendor import Vendor
from promptsections.profiles.profile import ModelProfile

T = TypeVar("T")


@frozen
class Maker:
    """A maker as far as it must be known to look a name up: its models are in its `Vendor`."""

    module: str
    constant: str
    """The `Vendor` in that module."""
    prefixes: frozenset[str]
    """What stands in front of its names, before `/`, or before `.` on Bedrock."""
    starts: tuple[str, ...]
    """How the names of its models begin, other names included."""

    def vendor(self) -> Vendor:
        """Return what it makes."""
        module = import_module(f"promptsections.profiles.models.{self.module}")
        vendor: Vendor = getattr(module, self.constant)
        return vendor


def _maker(module: str, constant: str, prefixes: str, starts: str) -> Maker:
    return Maker(module, constant, frozenset(prefixes.split()), tuple(starts.split()))


MAKERS: tuple[Maker, ...] = (
    _maker("openai", "OPENAI", "openai", "gpt o1 o3 o4"),
    _maker("anthropic", "ANTHROPIC", "anthropic", "claude"),
    _maker("google", "GOOGLE", "google gemini", "gem"),
    _maker(
        "mistral", "MISTRAL", "mistral mistralai",
        "mistral ministral magistral codestral devstral pixtral open-mi",
    ),
    _maker("open_weights", "META", "meta meta-llama meta_llama", "llama meta-llama"),
    _maker("open_weights", "DEEPSEEK", "deepseek deepseek-ai", "deepseek r1"),
    _maker("open_weights", "QWEN", "qwen dashscope alibaba", "qwen"),
    _maker("open_weights", "MOONSHOT", "moonshot moonshotai", "kimi"),
    _maker("open_weights", "ZAI", "zai z-ai zhipu zai-org", "glm"),
    _maker("others", "XAI", "xai x-ai", "grok"),
    _maker("others", "COHERE", "cohere cohere_chat", "command"),
    _maker("others", "AMAZON", "amazon amazon-nova amazon_nova", "nova"),
)  # fmt: skip


class _Table(Mapping[str, T], Generic[T]):
    """Entries of all makers by name; a look-up imports only the makers of such names."""

    def __init__(self, entries: Callable[[Vendor], Mapping[str, T]]) -> None:
        self._entries = entries

    def __getitem__(self, name: str) -> T:
        for maker in MAKERS:
            if name.startswith(maker.starts):
                entries = self._entries(maker.vendor())
                if name in entries:
                    return entries[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for maker in MAKERS for name in self._entries(maker.vendor()))

    def __len__(self) -> int:
        return sum(len(self._entries(maker.vendor())) for maker in MAKERS)


MODELS: Mapping[str, ModelProfile] = _Table(lambda vendor: vendor.models)
"""Name → profile of each model that is known."""

ALIASES: Mapping[str, str] = _Table(lambda vendor: vendor.aliases)
"""Other names of the same models."""
