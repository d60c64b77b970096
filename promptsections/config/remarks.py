"""What a reader or writer of a foreign format has to say about what it could not take over.

It collects notes; it knows no format.
"""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from promptsections.notes import Note

RemarkCode = Literal[
    "budget_left_out",
    "call_as_input",
    "image_as_text",
    "key_left_out",
    "not_written",
    "role_left_out",
    "section_left_out",
    "service_left_out",
    "sources_missing",
    "tools_left_out",
    "unknown_key",
    "white_space_left_out",
]
"""What a remark is about; the page on other formats lists them."""


@frozen
class Remarks:
    """Notes about a file, in the order in which they were made."""

    notes: list[Note] = field(factory=list[Note])

    def say(self, code: RemarkCode, path: str, detail: str) -> None:
        """Take note of something once.

        Args:
            code: What it is about.
            path: The key of the file, or the path of the section.
            detail: What was found and what was done, for people.
        """
        note = Note(code, path, detail)
        if note not in self.notes:
            self.notes.append(note)
