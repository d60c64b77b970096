"""Text that changes often before text that does not: what a provider's cache then never keeps.

It asks sections how long their content stays the same; it knows no provider.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptsections.checking import walk
from promptsections.config.findings import Code, Finding, finding
from promptsections.config.prompt_file import PromptFile
from promptsections.sections import CacheBreakpoint, GroupSection
from promptsections.sections.stability import NOTHING_DECLARED, RANK, Stability

_CHANGES: dict[Stability, str] = {
    "static": "never changes",
    "tenant": "changes with the tenant",
    "session": "changes with the session",
    "turn": "may change with every turn",
}


def check_stability(file: PromptFile) -> Iterator[Finding]:
    """Yield a finding for each section that ends a prefix others behind it could still belong to.

    A cache keeps the beginning of a prompt up to the first byte that differs. Nothing is said of a
    prompt that is sent in cache order anyway.
    """
    if file.prompt.order == "cache":
        return
    leaves: list[tuple[str, Stability]] = [
        (path, section.how_stable(NOTHING_DECLARED))
        for path, section in walk(file.prompt)
        if not isinstance(section, GroupSection | CacheBreakpoint)
    ]
    for index, (path, stability) in enumerate(leaves):
        behind: list[tuple[str, Stability]] = [
            (other, longer)
            for other, longer in leaves[index + 1 :]
            if RANK[longer] < RANK[stability]
        ]
        if behind:
            other, longer = behind[0]
            more = f" and {len(behind) - 1} more" if len(behind) > 1 else ""
            message = (
                f"it {_CHANGES[stability]}, but {other!r}{more} behind it {_CHANGES[longer]}: move "
                "it behind them, say stability=… if it changes less, or use order='cache'"
            )
            yield finding(file, Code.VOLATILE_BEFORE_STABLE, path, message)
