"""Templates in the languages of others, as far as they are texts with values put in.

Each reader returns pieces; what is more than that (loops, conditions, filters) is refused.
"""

from promptsections.config.dialects.braces import read_braces
from promptsections.config.dialects.jinja import read_jinja
from promptsections.config.dialects.kernel import read_kernel
from promptsections.config.dialects.pieces import (
    Piece,
    Untranslatable,
    Verbatim,
    merged,
    path_of,
    to_template,
    trimmed,
)

__all__ = [
    "Piece",
    "Untranslatable",
    "Verbatim",
    "merged",
    "path_of",
    "read_braces",
    "read_jinja",
    "read_kernel",
    "to_template",
    "trimmed",
]
