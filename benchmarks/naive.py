"""The loop that everybody writes by hand: count newest first until the budget is full.

It divides the budget as our prompt does (three tenths for documents, the rest for the history, what
is left over for more documents), counts every message by the same formula, and that is all: no
sections, no report, no pairs kept together, no guarantee.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.workload import Turn

Message = dict[str, str]
REPLY_PRIMING = 3
TOKENS_PER_MESSAGE = 3


def trim(
    count: Callable[[str], int],
    budget: int,
    *,
    system: str,
    chunks: Sequence[str],
    history: Sequence[Turn],
    question: str,
) -> list[Message]:
    """Return the messages that fit, by OpenAI's published formula.

    Args:
        count: Counts the tokens of a text.
        budget: In tokens.
        system: Always sent.
        chunks: Documents, best first, sent in one message.
        history: Messages, oldest first.
        question: Always sent, last.
    """

    def cost(role: str, text: str) -> int:
        return TOKENS_PER_MESSAGE + count(role) + count(text)

    left = budget - REPLY_PRIMING - cost("system", system) - cost("user", question)
    between = count("\n\n")
    share = left * 3 // 10
    documents: list[str] = []
    used = TOKENS_PER_MESSAGE + count("system") - between
    sizes: list[int] = []
    for chunk in chunks:
        size = between + count(chunk)
        sizes.append(size)
        if used + size > share:
            break
        documents.append(chunk)
        used += size
    left -= used

    kept: list[Message] = []
    for turn in reversed(history):
        size = cost(turn.role, turn.text)
        if size > left:
            break
        kept.append({"role": turn.role, "content": turn.text})
        left -= size

    for position in range(len(documents), len(chunks)):
        size = sizes[position] if position < len(sizes) else between + count(chunks[position])
        if size > left:
            break
        documents.append(chunks[position])
        left -= size
    return [
        {"role": "system", "content": system},
        {"role": "system", "content": "\n\n".join(documents)},
        *reversed(kept),
        {"role": "user", "content": question},
    ]
