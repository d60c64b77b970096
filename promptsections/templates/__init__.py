"""The template language: text with variables and functions, parsed before any value exists."""

from promptsections.templates.deferred import Deferred
from promptsections.templates.evaluate import (
    Function,
    Names,
    Undefined,
    evaluate,
    evaluate_parted,
)
from promptsections.templates.lexer import escape
from promptsections.templates.nodes import Node
from promptsections.templates.template import Template, functions_of, variables_of
from promptsections.templates.values import takes_long, to_text

__all__ = [
    "Deferred",
    "Function",
    "Names",
    "Node",
    "Template",
    "Undefined",
    "escape",
    "evaluate",
    "evaluate_parted",
    "functions_of",
    "takes_long",
    "to_text",
    "variables_of",
]
