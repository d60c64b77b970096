"""Elements: pieces of a prompt that are said where their criteria hold."""

from promptsections.elements.criteria import FIELDS
from promptsections.elements.element import PLACES, Element, Place
from promptsections.elements.section import ElementsSection, element_sections
from promptsections.elements.selection import (
    ElementRules,
    ElementSelection,
    Refusal,
    select_elements,
)

__all__ = [
    "FIELDS",
    "PLACES",
    "Element",
    "ElementRules",
    "ElementSelection",
    "ElementsSection",
    "Place",
    "Refusal",
    "element_sections",
    "select_elements",
]
