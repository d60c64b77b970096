"""Make any Python string one that can be sent as UTF-8; it knows nothing else."""

from __future__ import annotations


def well_formed(text: str) -> str:
    """Return the text with split surrogate pairs joined and lone surrogates as U+FFFD.

    Clients that send JSON as UTF-8 refuse lone surrogates, and tokenizers count them as U+FFFD.
    A text without surrogates comes back as the same object.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
