"""Context for a call, assembled from slots: purposes, sources, formatters, and a gateway."""

from promptsections.assembly.answers import extract_json, parse_answer
from promptsections.assembly.assembler import ContextAssembler
from promptsections.assembly.clients import (
    AnthropicClient,
    ModelAnswer,
    ModelClient,
    ModelRequest,
    OpenAIClient,
)
from promptsections.assembly.gateway import GatewayResult, PromptGateway
from promptsections.assembly.preset import goal_agent_catalog
from promptsections.assembly.slots import Catalog, Purpose, Slot
from promptsections.assembly.sources import SlotQuery, SlotSource, goal_agent_sources

__all__ = [
    "AnthropicClient",
    "Catalog",
    "ContextAssembler",
    "GatewayResult",
    "ModelAnswer",
    "ModelClient",
    "ModelRequest",
    "OpenAIClient",
    "PromptGateway",
    "Purpose",
    "Slot",
    "SlotQuery",
    "SlotSource",
    "extract_json",
    "goal_agent_catalog",
    "goal_agent_sources",
    "parse_answer",
]
