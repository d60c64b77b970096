"""The parts that a message's content may have: texts, images, files, sound.

Immutable values for every provider alike. It knows no messages, no tokens and no provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from attrs import Attribute, field, frozen

from promptsections.errors import DefinitionError
from promptsections.unicode import well_formed


def checked_text(value: object) -> str:
    """Return a text without lone surrogates; anything else is a `DefinitionError`."""
    if not isinstance(value, str):
        raise DefinitionError(f"a text is needed here, not {type(value).__name__}")
    return well_formed(value)


def _check_size(part: object, attribute: Attribute[Any], value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise DefinitionError(
            f"{type(part).__name__}: {attribute.name}={value!r} must be a whole number, or None"
        )


def _check_detail(_: object, __: Attribute[Any], value: object) -> None:
    if value not in (None, "auto", "low", "high", "original"):
        raise DefinitionError(f'detail={value!r} must be "auto", "low", "high", "original" or None')


@frozen
class TextPart:
    """A text among other parts."""

    text: str = field(converter=checked_text)


@frozen
class ImagePart:
    """An image by its address or as a `data:` URL; it is never fetched, opened or read as text."""

    url: str
    detail: Literal["auto", "low", "high", "original"] | None = field(
        default=None, kw_only=True, validator=_check_detail
    )
    """How closely the model looks, where it lets one choose."""
    width: int | None = field(default=None, kw_only=True, validator=_check_size)
    """In pixels; unknown sizes count as the most that an image can cost."""
    height: int | None = field(default=None, kw_only=True, validator=_check_size)
    """In pixels."""


@frozen
class FilePart:
    """A file that the provider keeps (`file_id`) or that is sent along (`data`)."""

    filename: str | None = field(default=None, kw_only=True)
    file_id: str | None = field(default=None, kw_only=True)
    data: str | None = field(default=None, kw_only=True)
    """A `data:` URL or base64, as the provider wants it."""
    media_type: str | None = field(default=None, kw_only=True)
    tokens: int | None = field(default=None, kw_only=True, validator=_check_size)
    """What the file costs, if it is known; `None` is estimated."""


@frozen
class AudioPart:
    """Spoken input, base64."""

    data: str
    format: str = field(default="wav", kw_only=True)
    tokens: int | None = field(default=None, kw_only=True, validator=_check_size)
    """What the audio costs, if it is known; `None` is estimated."""


Part = TextPart | ImagePart | FilePart | AudioPart


# --- reading ------------------------------------------------------------------------------------


def to_part(value: object) -> Part:
    """Read a part, a text, or a dict as OpenAI's chat and Responses formats have it.

    Raises:
        DefinitionError: if it is no part that is known.
    """
    if isinstance(value, TextPart | ImagePart | FilePart | AudioPart):
        return value
    if isinstance(value, str):
        return TextPart(value)
    fields = as_mapping(value)
    kind = fields.get("type") if fields is not None else None
    if fields is None or not isinstance(kind, str):
        raise DefinitionError(f"{type(value).__name__} is no part: pass TextPart, ImagePart, …")
    match kind:
        case "text" | "input_text" | "output_text" if isinstance(fields.get("text"), str):
            return TextPart(fields["text"])
        case "refusal" if isinstance(fields.get("refusal"), str):
            return TextPart(fields["refusal"])
        case "image_url" | "input_image" | "image":
            return _image(fields)
        case "input_audio" | "audio":
            audio = as_mapping(fields.get("input_audio")) or fields
            return AudioPart(audio.get("data", ""), format=audio.get("format", "wav"))
        case "file" | "input_file":
            file = as_mapping(fields.get("file")) or fields
            return FilePart(
                filename=file.get("filename"),
                file_id=file.get("file_id"),
                data=file.get("file_data"),
            )
        case _:
            raise DefinitionError(
                f"a part of type {kind!r} with {sorted(map(str, fields))} is not known: "
                "text, image_url, input_audio and file are"
            )


def _image(fields: Mapping[str, Any]) -> ImagePart:
    image = fields.get("image_url", fields.get("url"))
    nested = as_mapping(image)
    source: Mapping[str, Any] = nested if nested is not None else fields
    url = nested.get("url") if nested is not None else image
    if not isinstance(url, str):
        raise DefinitionError(f"an image part needs a url; this one has {sorted(map(str, fields))}")
    return ImagePart(
        url,
        detail=source.get("detail"),
        width=source.get("width"),
        height=source.get("height"),
    )


def as_mapping(value: object) -> Mapping[str, Any] | None:
    """Return a mapping as it is, what an object with `model_dump()` gives, or `None`."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        dumped = dump()
        if isinstance(dumped, Mapping):
            return cast("Mapping[str, Any]", dumped)
    return None
