"""What audio and files cost, in tokens: as declared, else by a stated estimate from their size.

No provider publishes a formula. These err on the dear side, and a count that used one says so.
It opens no file and decodes nothing.
"""

from __future__ import annotations

from attrs import frozen

from promptsections.messages import AudioPart, FilePart


@frozen
class MediaRule:
    """An estimate of audio and files whose `tokens` are not declared."""

    wav_bytes: int = 1_600
    """Bytes of WAV for each token: a tenth of a second of 8 kHz, 16 bit, mono.

    OpenAI's realtime guide counts one token for each 100 ms that a user speaks.
    """
    audio_bytes: int = 400
    """Bytes of compressed audio for each token: a tenth of a second at 32 kbit/s."""
    page_bytes: int = 15_000
    """Bytes of a file for each page begun."""
    page_tokens: int = 1_500
    """Tokens of a page: its text, and the image of it that the model is shown as well."""
    unknown_pages: int = 10
    """Pages of a file that the provider keeps, so that its size is not known here."""


NO_MEDIA = MediaRule(page_tokens=0, audio_bytes=0, wav_bytes=0)
"""Charges what is declared, and nothing for what is not."""


def audio_tokens(rule: MediaRule, audio: AudioPart) -> int:
    """Return what an audio part costs, in tokens."""
    if audio.tokens is not None:
        return audio.tokens
    each = rule.wav_bytes if audio.format == "wav" else rule.audio_bytes
    return -(-_decoded_bytes(audio.data) // each) if each else 0


def file_tokens(rule: MediaRule, file: FilePart) -> int:
    """Return what a file part costs, in tokens."""
    if file.tokens is not None:
        return file.tokens
    if file.data is None:
        return rule.unknown_pages * rule.page_tokens
    return max(1, -(-_decoded_bytes(file.data) // rule.page_bytes)) * rule.page_tokens


def _decoded_bytes(data: str) -> int:
    start = data.find(",", 0, 256) + 1 if data.startswith("data:") else 0
    return (len(data) - start) * 3 // 4
