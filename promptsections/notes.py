"""Notes: what a layout has to say about a section beyond its numbers."""

from __future__ import annotations

from attrs import frozen


@frozen
class Note:
    """One remark of a layout: a repair, an estimate, something missing."""

    code: str
    """Stable, for machines: `orphan_result`, `estimated`, `undefined_variable`, …"""
    path: str
    """Path of the section that it is about; `""` for the whole prompt."""
    detail: str
    """For people: what was found and what was done."""
