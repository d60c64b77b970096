"""Notes about files: every code is in the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from promptsections.config.remarks import RemarkCode

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "other-formats.md"


def test_every_code_is_listed() -> None:
    notes = PAGE.read_text(encoding="utf-8").split("## Notes\n", 1)[1].split("\n## ", 1)[0]

    assert sorted(re.findall(r"^\| `(\w+)`", notes, re.MULTILINE)) == sorted(get_args(RemarkCode))
