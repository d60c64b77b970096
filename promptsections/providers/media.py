"""Images and files as providers take them: a media type and base64, or an address.

Nothing is fetched or opened. It knows no provider's format.
"""

from __future__ import annotations

import base64
import binascii
from urllib.parse import unquote_to_bytes

from attrs import frozen

from promptsections.errors import UnsupportedContentError
from promptsections.messages import FilePart


@frozen
class Data:
    """Content that is sent along."""

    media_type: str
    """As registered, in small letters: `image/jpeg`, never `image/jpg`."""
    base64: str

    @property
    def url(self) -> str:
        """The same as a `data:` URL."""
        return f"data:{self.media_type};base64,{self.base64}"

    def decoded(self, index: int) -> bytes:
        """Return the bytes.

        Raises:
            UnsupportedContentError: if it is no base64.
        """
        try:
            return base64.b64decode(self.base64, validate=True)
        except (binascii.Error, ValueError) as error:
            raise UnsupportedContentError(
                f"message {index}: data of type {self.media_type} is no base64: {error}"
            ) from error


def read_data_url(url: str, index: int) -> Data | None:
    """Return what a `data:` URL holds, or `None` if it is another kind of address.

    Raises:
        UnsupportedContentError: if it begins as a `data:` URL and names no media type.
    """
    if url[:5].lower() != "data:":
        return None
    head, comma, content = url[5:].partition(",")
    media_type, *parameters = head.split(";")
    if not comma or "/" not in media_type:
        raise UnsupportedContentError(
            f"message {index}: a data URL begins with data:<media type>;base64, not {url[:40]!r}"
        )
    if "base64" not in (parameter.strip().lower() for parameter in parameters):
        content = base64.b64encode(unquote_to_bytes(content)).decode("ascii")
    return Data(registered(media_type), content)


def read_file(file: FilePart, index: int) -> Data | None:
    """Return the content of a file, or `None` if it only has an id.

    Its media type is the one in its `data:` URL, the declared one, or that of its name.

    Raises:
        UnsupportedContentError: if the media type cannot be told.
    """
    if file.data is None:
        return None
    found = read_data_url(file.data, index)
    if found is not None:
        return found
    media_type = file.media_type or _BY_ENDING.get(ending(file.filename))
    if media_type is None:
        raise UnsupportedContentError(
            f"message {index}: what kind of file is {file.filename!r}? Give FilePart a media_type"
        )
    return Data(registered(media_type), file.data)


def registered(media_type: str) -> str:
    """Return the registered name of a media type."""
    name = media_type.strip().lower()
    return _ALIASES.get(name, name)


def ending(filename: str | None) -> str:
    """Return what follows the last dot of a name, in small letters; `""` if there is none."""
    _, dot, after = (filename or "").rpartition(".")
    return after.lower() if dot else ""


def media_type_of(name: str) -> str | None:
    """Return the media type that the ending of a file's name stands for, if it is known."""
    return _BY_ENDING.get(ending(name))


def ending_of(media_type: str) -> str | None:
    """Return the usual ending of a file's name for a media type, if it is known."""
    return next((end for end, known in _BY_ENDING.items() if known == media_type), None)


_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "application/x-pdf": "application/pdf",
}

_BY_ENDING = {
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}
"""A table of our own: `mimetypes` reads the files of the system that it runs on."""
