"""The template language: text with variables and functions, parsed before any value exists."""

from promptsections.templates.deferred import Deferred
from promptsections.templates.evaluate import Function, Names, Undefined, evaluate
from promptsections.templates.lexer import escape
from promptsections.templates.template import Template
from promptsections.templates.values import to_text

__all__ = [
    "Deferred",
    "Function",
    "Names",
    "Template",
    "Undefined",
    "escape",
    "evaluate",
    "to_text",
]
