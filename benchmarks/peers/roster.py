"""Who is measured beside us, and what must be known to read their numbers. It imports none."""

from __future__ import annotations

from typing import Literal, NamedTuple

Home = Literal["common", "teams-ai", "node"]
"""Which environment a peer runs in; see `environment`."""


class Peer(NamedTuple):
    """One library, used in one way."""

    name: str
    """As the tables show it."""
    distribution: str
    """What is installed, from PyPI or npm."""
    module: str
    """Its adapter: in `adapters`, a Python module, or a script of Node."""
    home: Home
    framing: bool
    """Whether it counts what a chat format adds to each message."""
    how: str
    """How it is used, for the page."""


PEERS = (
    Peer(
        "promptrix",
        "promptrix",
        "promptrix",
        "common",
        framing=False,
        how="Prompt with ConversationHistory, renderAsMessages; counts text only",
    ),
    Peer(
        "teams-ai",
        "teams-ai",
        "teams_ai",
        "teams-ai",
        framing=False,
        how="Prompt with ConversationHistorySection, render_as_messages; counts text only",
    ),
    Peer(
        "langchain-core trim_messages",
        "langchain-core",
        "langchain_core",
        "common",
        framing=True,
        how="strategy last, include_system, start_on human, with the message counter of its guide",
    ),
    Peer(
        "promptbudget pack_chat",
        "promptbudget",
        "promptbudget",
        "common",
        framing=True,
        how="tokens_per_message=4, which it pads with text that is counted",
    ),
    Peer(
        "cendor-contextkit",
        "cendor-contextkit",
        "cendor_contextkit",
        "common",
        framing=True,
        how="pinned blocks, and a block of messages that drops the oldest",
    ),
    Peer(
        "haystack-ai SlidingWindowCompactor",
        "haystack-ai",
        "haystack_ai",
        "common",
        framing=False,
        how="with its TiktokenCounter, which counts roles as text; leaves a note of what is gone",
    ),
    Peer(
        "convopack",
        "convopack",
        "convopack",
        "common",
        framing=True,
        how="Packer with Recency, system and last user message pinned",
    ),
    Peer(
        "prompt-poet",
        "prompt-poet",
        "prompt_poet",
        "common",
        framing=False,
        how="YAML and Jinja template, tokenize, truncate by priority; counts text only",
    ),
    Peer(
        "@vscode/prompt-tsx",
        "@vscode/prompt-tsx",
        "prompt_tsx.mjs",
        "node",
        framing=True,
        how="under Node, messages in a PrioritizedList, counted by tiktoken's WebAssembly build",
    ),
)
